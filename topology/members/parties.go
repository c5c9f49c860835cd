package members

import (
	"slices"

	"github.com/kasoku/kasoku/topology/scan"
)

// A Party is a program that may call a database of this host, and of which a look may see no
// connection: a member of the service, or a program outside of it that may connect anew for each of
// its requests.
type Party struct {
	Member bool
	Leader int
	PIDs   []int
	// At are inodes of sockets at which it listens, where its leader leads other programs too:
	// the leader's children that are its own hold one of them.
	At []uint32
}

// partiesOf returns the programs that may call a database, members first. Kasoku and the load are none.
func partiesOf(d *decision) (out []Party) {
	var others []Party
	for _, in := range d.wires.all {
		p := Party{Member: d.draft.has(in), Leader: in.leader.PID}
		if in.self || in.load || len(in.parts) > 0 || !p.Member && (in.system() || !connectsAnew(in)) {
			continue
		}
		for _, one := range in.procs {
			if one != in.leader || !in.shared {
				p.PIDs = append(p.PIDs, one.PID)
			}
		}
		if in.shared {
			p.At = inodesOf(in.listens)
		}
		if p.Member {
			out = append(out, p)
		} else {
			others = append(others, p)
		}
	}
	return append(out, others...)
}

// connectsAnew reports whether a program may connect to its database for each request: one of several
// that a leader leads, and what runs in a language whose frameworks do so unless they are configured otherwise.
func connectsAnew(in *instance) bool {
	return in.shared || slices.Contains([]string{"php", "python", "ruby", "perl"}, languageOf(in))
}

// At returns where a database listens that a look found: of TCP, and of Unix sockets.
func (r *Result) At(id string) (at scan.Server) {
	if m := r.Service.Member(id); m != nil {
		for _, l := range m.Listeners {
			at.Add(l.Network, l.Address, l.Private)
		}
	}
	return at
}
