package members

import (
	"slices"

	"github.com/kasoku/kasoku"
)

// A draft is the service as far as it is decided.
type draft struct {
	members []*found
	queue   []*found // those of which it is still to be found what they call
	edges   []edge
	unknown []kasoku.Unseen
	far     int         // of unknown: what is called on other hosts
	read    []int       // leaders of web servers whose configuration is missing
	holders []*instance // those that listen for others, whose connections show for whom
}

// A found is a member in the making.
type found struct {
	*instance
	role    kasoku.MemberRole
	reasons []kasoku.Reason
	sure    kasoku.Level
	entry   bool
	given   bool // by the user's word
}

// An edge joins two of them.
type edge struct {
	from, to *found // from nil: the load; to nil: elsewhere
	kasoku.Edge
}

// admit makes an instance a member, or adds a reason to one. It returns nil when the
// instance can be none.
func (d *draft) admit(in *instance, role kasoku.MemberRole, sure kasoku.Level, why kasoku.Reason) *found {
	given := why.By == kasoku.ByUser || why.By == kasoku.ByLoad || why.By == kasoku.ByDSN
	if in.load || in.self || isInit(in.leader) || in.system() && !given {
		return nil
	}
	if isPM2(in.leader) && why.By != kasoku.ByUser {
		d.holders = append(d.holders, in)
		return nil
	}
	if in.doubt() != "" && known(in) && !given {
		sure = kasoku.Low
	}
	i := slices.IndexFunc(d.members, func(f *found) bool { return f.instance == in })
	if i < 0 {
		f := &found{instance: in, role: role, sure: sure, reasons: []kasoku.Reason{why}, given: given}
		d.members = append(d.members, f)
		d.queue = append(d.queue, f)
		return f
	}
	f := d.members[i]
	if !slices.Contains(f.reasons, why) {
		f.reasons = append(f.reasons, why)
	}
	if levelRank(sure) < levelRank(f.sure) {
		f.sure = sure
		d.queue = append(d.queue, f) // what it calls is surer too
	}
	f.given = f.given || given
	return f
}

// connect keeps an edge, each once.
func (d *draft) connect(from, to *found, e kasoku.Edge) {
	for i := range d.edges {
		o := &d.edges[i]
		if o.from == from && o.to == to && (to != nil || o.At == e.At) {
			o.Seen = max(o.Seen, e.Seen)
			o.Weak = o.Weak && e.Weak
			for _, r := range e.Found {
				if !slices.Contains(o.Found, r) {
					o.Found = append(o.Found, r)
				}
			}
			return
		}
	}
	d.edges = append(d.edges, edge{from, to, e})
}

// miss keeps what is not known, each once.
func (d *draft) miss(what, why, show string) {
	u := kasoku.Unseen{What: what, Why: why, Show: show}
	if !slices.ContainsFunc(d.unknown, func(o kasoku.Unseen) bool { return o.What == what }) {
		d.unknown = append(d.unknown, u)
	}
}

// missFar keeps that what is called at an address is on another host.
func (d *draft) missFar(what string) {
	before := len(d.unknown)
	d.miss(what, "it is on another host", "run kasoku there too and merge the runs")
	d.far += len(d.unknown) - before
}

// dropEmptyForwarders drops programs that pass bytes on and of which nothing is known to
// come: a shell that is connected by ncat is no part of a service.
func (d *draft) dropEmptyForwarders() {
	d.members = slices.DeleteFunc(d.members, func(f *found) bool {
		drop := f.role == kasoku.RoleForwarder && !f.given &&
			!slices.ContainsFunc(d.edges, func(e edge) bool { return e.from == f && e.to != nil })
		if drop {
			d.edges = slices.DeleteFunc(d.edges, func(e edge) bool { return e.from == f || e.to == f })
		}
		return drop
	})
}

// next takes a member off the queue; nil when none is left.
func (d *draft) next() *found {
	if len(d.queue) == 0 {
		return nil
	}
	f := d.queue[0]
	d.queue = d.queue[1:]
	return f
}

// has reports whether an instance is a member.
func (d *draft) has(in *instance) bool {
	return slices.ContainsFunc(d.members, func(f *found) bool { return f.instance == in })
}
