package members

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/topology/scan"
)

// A Door is a place at which a load can come in.
type Door struct {
	Place Place
	Host  string // of a site of a web server that is known by its name; empty else
	PID   int    // of the program that listens
	Web   bool   // it is a web server
}

// Doors returns the places at which web servers, caches, forwarders and applications
// listen. Of a web server whose configuration is known, each site is one. Programs of the
// system, and those that are not believed, have none.
func Doors(s *scan.Snapshot, webs map[int]Web) []Door {
	w := newWiring(s)
	var out []Door
	for _, in := range w.all {
		role := kind(in).role
		front := role == kasoku.RoleWeb || role == kasoku.RoleCache || role == kasoku.RoleApplication ||
			role == kasoku.RoleForwarder
		if !front || in.self || in.system() || isInit(in.leader) || isShell(programName(in.leader.Exe)) || in.doubt() != "" {
			continue
		}
		for _, door := range w.doorsOf(in, webs[in.leader.PID]) {
			if door.Web = role == kasoku.RoleWeb; !slices.Contains(out, door) {
				out = append(out, door)
			}
		}
	}
	return out
}

// doorsOf lists the doors of one program.
func (w *wiring) doorsOf(in *instance, web Web) (out []Door) {
	for _, k := range in.listens {
		if k.Network != "tcp" || k.NetNS != w.snap.NetNS {
			continue
		}
		at := Place{"tcp", net.JoinHostPort(reachable(k.Local.Addr()), strconv.Itoa(int(k.Local.Port())))}
		sites := 0
		for _, b := range web.Blocks {
			if !slices.Contains(b.Ports, int(k.Local.Port())) {
				continue
			}
			sites++
			door := Door{Place: at, PID: in.leader.PID}
			if i := slices.IndexFunc(b.Names, isHost); i >= 0 {
				door.Host = b.Names[i]
			}
			out = append(out, door)
		}
		if sites == 0 {
			out = append(out, Door{Place: at, PID: in.leader.PID})
		}
	}
	return out
}

// reachable returns the address by which this host reaches a listener.
func reachable(a netip.Addr) string {
	switch {
	case a.IsUnspecified():
		return "127.0.0.1"
	case a.Is4In6():
		return a.Unmap().String()
	}
	return a.String()
}

// isHost reports whether a server_name is that of one host.
func isHost(name string) bool {
	return name != "" && name != "_" && !strings.ContainsAny(name, "*~$\"'") && !strings.HasPrefix(name, ".")
}
