package members

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/topology/internal/programs"
	"github.com/kasoku/kasoku/topology/scan"
)

// A callee is an instance that a member is connected to.
type callee struct {
	in   *instance
	at   *scan.Socket
	seen int
	weak bool
	by   kasoku.FoundBy
	text string
	sure kasoku.Level
}

// follow finds what a member calls.
func (d *decision) follow(f *found) {
	switch f.role {
	case kasoku.RoleDatabase, kasoku.RoleStore, kasoku.RoleQueue:
		return // its own connections, as of a replica, are no part of a request's way
	}
	to := d.callees(f)
	if f.role != kasoku.RoleApplication {
		to = d.restrict(f, to)
	}
	for _, c := range to {
		sure := weaker(f.sure, c.sure)
		if c.weak {
			sure = kasoku.Low
		}
		why := kasoku.Reason{By: c.by, Text: c.text}
		if m := d.draft.admit(c.in, kind(c.in).Role, sure, why); m != nil {
			d.draft.connect(f, m, kasoku.Edge{At: d.wires.listener(c.at), Protocol: kind(c.in).Protocol, Seen: c.seen,
				Weak: c.weak, Found: []kasoku.Reason{why}})
		} else if isPM2(c.in.leader) {
			d.missListener(place(c.at), answer{instances: []*instance{c.in}, at: c.at})
		}
	}
}

// callees returns what an instance is connected to on this host, and keeps edges to
// other hosts.
func (d *decision) callees(f *found) []callee {
	var out []callee
	far, perhapsHere := map[string]int{}, map[string]bool{}
	for _, k := range f.called {
		a := d.wires.calleeOf(k)
		if a.elsewhere {
			far[k.Remote.String()]++
			perhapsHere[k.Remote.String()] = perhapsHere[k.Remote.String()] || a.private
			continue
		}
		if len(a.instances) == 0 && a.at != nil {
			d.missListener(place(a.at), a)
		}
		for _, in := range a.instances {
			if in == f.instance || in.load || in.self || in.system() || a.at == nil {
				continue
			}
			weak := d.q.Idle > 0 && k.Idle >= d.q.Idle
			i := slices.IndexFunc(out, func(c callee) bool { return c.in == in })
			if i < 0 {
				i = len(out)
				out = append(out, callee{in: in, at: a.at, weak: true, by: kasoku.ByConnection, sure: kasoku.High})
			}
			if !k.Past {
				out[i].seen++
			}
			out[i].weak = out[i].weak && weak
		}
	}
	for i := range out {
		out[i].seen = max(out[i].seen, 1)
		out[i].text = fmt.Sprintf("%s has %s to %s", f.program(), count(out[i].seen, "connection"), place(out[i].at))
	}
	if f.role != kasoku.RoleWeb {
		for _, at := range slices.Sorted(maps.Keys(far)) {
			n := far[at]
			d.draft.connect(f, nil, kasoku.Edge{At: kasoku.Listener{Network: "tcp", Address: at}, Seen: n,
				Found: []kasoku.Reason{{By: kasoku.ByConnection,
					Text: f.program() + " has " + count(n, "connection") + " to " + at}}})
			if perhapsHere[at] {
				d.draft.miss("what is at "+at, "it is on another host, or in a container of this one that has the address "+
					"and whose end of the connection was not seen", "look again under load")
				continue
			}
			d.draft.missFar("what is at " + at)
		}
	}
	slices.SortStableFunc(out, func(a, b callee) int { return cmp.Compare(a.in.leader.PID, b.in.leader.PID) })
	return out
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// place names a listening socket.
func place(k *scan.Socket) string {
	if k.Network == "unix" {
		return k.Path
	}
	return k.Local.String()
}

// restrict keeps, of what a server of several sites is connected to, what the site that
// is measured is passed on to: by its configuration; without one only when all it is
// connected to is one program.
func (d *decision) restrict(f *found, to []callee) []callee {
	web, read := d.q.Webs[f.leader.PID]
	if f.role == kasoku.RoleWeb && !read && f.doubt() == "" && isNginx(f.instance) {
		if !slices.Contains(d.draft.read, f.leader.PID) {
			d.draft.read = append(d.draft.read, f.leader.PID)
		}
	}
	if !read {
		if len(to) == 0 && f.role == kasoku.RoleWeb && !isNginx(f.instance) {
			d.draft.miss("which program answers for "+f.program()+" "+listensAt(f),
				"no connection of it was seen, and its configuration was not read", "name it: [service] in kasoku.toml")
		}
		return lessSure(d.wires, f, d.unmistakable(f, to))
	}
	blocks, known := d.answering(f, web)
	if !known && !samePlaces(blocks) {
		return d.perhaps(f, blocks, to)
	}
	var allowed []callee
	variable := false
	for _, b := range blocks {
		variable = variable || b.Variable
		for _, up := range b.Upstreams {
			allowed = append(allowed, d.upstream(f, up, to)...)
		}
	}
	if variable && len(allowed) == 0 {
		return d.unmistakable(f, to)
	}
	return distinctCallees(allowed)
}

func distinctCallees(all []callee) (out []callee) {
	for _, c := range all {
		if !slices.ContainsFunc(out, func(o callee) bool { return o.in == c.in }) {
			out = append(out, c)
		}
	}
	return out
}

// samePlaces reports whether all blocks that pass requests on do so to the same places.
func samePlaces(blocks []Block) bool {
	var first *Block
	for i := range blocks {
		b := &blocks[i]
		switch {
		case len(b.Upstreams) == 0 && !b.Variable:
		case first == nil:
			first = b
		case b.Variable || first.Variable || !sameSet(b.Upstreams, first.Upstreams):
			return false
		}
	}
	return true
}

func sameSet(a, b []Place) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(p Place) bool { return !slices.Contains(b, p) })
}

// perhaps keeps what server blocks pass requests on to of which any may answer: nothing, unless
// it is one program whichever does.
func (d *decision) perhaps(f *found, blocks []Block, to []callee) []callee {
	var all []callee
	one := true
	for _, b := range blocks {
		one = one && !b.Variable
		for _, up := range b.Upstreams {
			a := d.wires.at(f.leader.NetNS, f.leader.MntNS, up)
			if one = one && !a.elsewhere && len(a.instances) > 0 && alike(a.instances); one {
				all = append(all, d.upstream(f, up, to)...)
			}
		}
	}
	all = distinctCallees(all)
	var ins []*instance
	for _, c := range all {
		ins = append(ins, c.in)
	}
	if one && alike(ins) {
		return all
	}
	d.draft.miss("which program answers for "+f.program()+" "+listensAt(f), strconv.Itoa(len(blocks))+
		" of its server blocks may answer the load, which pass requests on to several programs",
		"name it: [service] in kasoku.toml")
	return nil
}

// upstream returns who is at an upstream of a server block, with the connections that
// were seen to it.
func (d *decision) upstream(f *found, up Place, to []callee) []callee {
	a := d.wires.at(f.leader.NetNS, f.leader.MntNS, up)
	if a.elsewhere {
		d.draft.connect(f, nil, kasoku.Edge{At: kasoku.Listener{Network: up.Network, Address: up.Address},
			Found: []kasoku.Reason{{By: kasoku.ByConfig, Text: "the configuration of " + f.program() + " names it"}}})
		d.draft.miss("what is at "+up.Address, "it is on another host", "run kasoku there too and merge the runs")
		return nil
	}
	if len(a.instances) == 0 {
		d.missListener(up.Address, a)
		return nil
	}
	if len(a.instances) > 1 && !alike(a.instances) {
		d.draft.miss("who listens at "+up.Address, names(a.instances)+" do", "stop the one that is not measured")
		return nil
	}
	var out []callee
	for _, in := range a.instances {
		i := slices.IndexFunc(to, func(c callee) bool { return c.in == in })
		if i >= 0 {
			out = append(out, to[i])
			continue
		}
		out = append(out, callee{in: in, at: a.at, by: kasoku.ByConfig, sure: kasoku.Medium,
			text: "the configuration of " + f.program() + " passes requests on to " + up.Address})
	}
	return out
}

// unmistakable keeps, for each role, the only program that is called. Several copies of
// one program are one. What passes requests on to an application asks databases for other
// sites of its own.
func (d *decision) unmistakable(f *found, to []callee) []callee {
	if slices.ContainsFunc(to, func(c callee) bool { return answersRequests(c.in) }) {
		to = slices.DeleteFunc(slices.Clone(to), func(c callee) bool { return !answersRequests(c.in) })
	}
	byRole := map[kasoku.MemberRole][]*instance{}
	for _, c := range to {
		r := kind(c.in).Role
		byRole[r] = append(byRole[r], c.in)
	}
	return slices.DeleteFunc(slices.Clone(to), func(c callee) bool {
		ins := byRole[kind(c.in).Role]
		if alike(ins) {
			return false
		}
		d.draft.miss("which program answers for "+f.program()+" "+listensAt(f), names(ins)+
			" are connected, and its configuration was not read", "name it: [service] in kasoku.toml")
		return true
	})
}

// lessSure makes what a web server is connected to less sure while no load comes in there: the only
// program that is seen may be that of another site, which is in use.
func lessSure(w *wiring, f *found, to []callee) []callee {
	loaded := slices.ContainsFunc(f.accepted, func(k *scan.Socket) bool {
		from := w.callerOf(k)
		return from != nil && from.load
	})
	for i := range to {
		if !loaded && f.role == kasoku.RoleWeb && answersRequests(to[i].in) {
			to[i].sure = weaker(to[i].sure, kasoku.Medium)
			to[i].text += "; no load was seen, and the configuration was not read: it may be for another site"
		}
	}
	return to
}

// answersRequests reports whether a program is one that a web server passes requests on to.
func answersRequests(in *instance) bool {
	switch kind(in).Role {
	case kasoku.RoleWeb, kasoku.RoleCache, kasoku.RoleApplication:
		return true
	}
	return false
}

// silent returns the processes of members that may call others and were not seen to, and those
// of web servers whose configuration is not read: what else they call is then known by what is
// seen alone.
func (d *decision) silent() (pids []int) {
	for _, in := range d.draft.holders {
		pids = append(pids, d.wires.below(in)...)
	}
	for _, f := range d.draft.members {
		_, read := d.q.Webs[f.leader.PID]
		calls := slices.ContainsFunc(d.draft.edges, func(e edge) bool { return e.from == f && !e.Weak })
		switch f.role {
		case kasoku.RoleDatabase, kasoku.RoleStore, kasoku.RoleQueue:
			continue
		case kasoku.RoleWeb:
			if read {
				continue
			}
		default:
			if calls {
				continue
			}
		}
		pids = append(pids, d.wires.below(f.instance)...)
	}
	return pids[:min(len(pids), mostSilent)]
}

// mostSilent bounds the processes that are looked at again.
const mostSilent = 256

// settle gives members the roles that they have in this service: a balancer that an application
// calls and that calls databases alone is a pooler, a web server that itself asks a database
// runs the application, as with mod_php.
func (d *decision) settle() {
	for _, f := range d.draft.members {
		if f.role != kasoku.RoleWeb {
			continue
		}
		calls, answers, called := 0, 0, f.entry
		for _, e := range d.draft.edges {
			switch {
			case e.from == f && e.to != nil && answersRequests(e.to.instance):
				answers++
			case e.from == f && e.to != nil:
				calls++
			case e.to == f && e.from != nil && e.from.role != kasoku.RoleApplication:
				called = true // by what comes before an application
			}
		}
		switch {
		case calls == 0 || answers > 0:
		case called && runsApplications(f.instance):
			f.role = kasoku.RoleApplication
		case !called:
			f.role = kasoku.RolePooler
		}
	}
}

// runsApplications reports whether a web server has modules that run applications in its own
// processes.
func runsApplications(in *instance) bool {
	return slices.Contains([]string{"apache", "httpd", "litespeed"}, programs.Name(in.leader.Exe))
}

// alike reports whether instances are copies of one program. That two run nginx, or another
// server that is known by its program, says nothing, unless they do so in the same words.
func alike(ins []*instance) bool {
	a := ins[0].leader
	for _, in := range ins[1:] {
		b := in.leader
		if a.Exe != b.Exe || a.Exe == "" || a.UID != b.UID || a.Dir != b.Dir ||
			a.Container != b.Container && a.Container == "" {
			return false
		}
		if isInterpreter(programs.Name(a.Exe)) && (len(a.Args) < 2 || len(b.Args) < 2 || a.Args[1] != b.Args[1]) ||
			known(in) && !slices.Equal(a.Args, b.Args) {
			return false
		}
	}
	return true
}

func listensAt(f *found) string {
	if len(f.listens) == 0 {
		return ""
	}
	return place(f.listens[0])
}

func isNginx(in *instance) bool {
	return programs.IsNginx(in.leader.Exe)
}

// databases admits the database that kasoku was given. One that members are connected to
// instead is a guess from then on.
func (d *decision) databases() {
	for _, p := range d.q.Databases {
		a := d.wires.atHome(p)
		why := kasoku.Reason{By: kasoku.ByDSN, Text: "listens at " + p.Address + ", the database that kasoku was given"}
		var given []*found
		for _, in := range a.instances {
			role := kind(in).Role
			if role != kasoku.RolePooler && role != kasoku.RoleForwarder {
				role = kasoku.RoleDatabase
			}
			if f := d.draft.admit(in, role, kasoku.High, why); f != nil {
				f.role = role
				given = append(given, f)
			}
		}
		if len(given) == 0 {
			if a.elsewhere {
				d.draft.miss("the database at "+p.Address, "it is not on this host",
					"run kasoku there too and merge the runs")
			} else {
				d.missListener(p.Address, a)
			}
			continue
		}
		d.doubtOthers(given, p)
	}
}

// doubtOthers: the members are connected to another database than the one that was given.
func (d *decision) doubtOthers(given []*found, p Place) {
	called := func(f *found) bool {
		return slices.ContainsFunc(d.draft.edges, func(e edge) bool { return e.to == f && !e.Weak })
	}
	if slices.ContainsFunc(given, called) || given[0].role != kasoku.RoleDatabase {
		return
	}
	for _, f := range d.draft.members {
		if f.role == kasoku.RoleDatabase && !slices.Contains(given, f) && !f.given && called(f) {
			f.sure = kasoku.Low
			d.draft.miss("whether "+f.program()+" "+listensAt(f)+" is the service's",
				"the application is connected to it, and kasoku was given the database at "+p.Address,
				"correct the DSN in kasoku.toml")
		}
	}
}
