package members

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/topology/internal/programs"
	"github.com/kasoku/kasoku/topology/scan"
)

// enter finds the members at which the load comes in, and those that the user named.
func (d *decision) enter() {
	d.byUser()
	targets := 0
	for _, p := range d.q.Targets {
		why := kasoku.Reason{By: kasoku.ByLoad, Text: "listens at " + p.Address + ", the target of the load"}
		targets += d.target(p, why)
	}
	if len(d.q.Targets) == 0 {
		targets += d.loadConnections()
	}
	d.writers(targets > 0 || len(d.q.Targets) > 0)
	named := len(d.q.Targets) + len(d.q.User) + len(d.q.PIDs) + len(d.q.Units) + len(d.q.Databases) + len(d.q.Asked)
	if len(d.draft.members) == 0 && named == 0 {
		d.draft.miss("what the load is sent to", "no target, no log and no database was named",
			"name the URL: kasoku init --url URL, or targets in kasoku.toml")
	}
}

// byUser admits what the user named.
func (d *decision) byUser() {
	for _, p := range d.q.User {
		d.target(p, kasoku.Reason{By: kasoku.ByUser, Text: "listens at " + p.Address + ", as was said"})
	}
	for _, pid := range d.q.PIDs {
		in := d.wires.byPID[pid]
		if in == nil {
			d.draft.miss("pid "+strconv.Itoa(pid), "there is no such process", "")
			continue
		}
		why := kasoku.Reason{By: kasoku.ByUser, Text: "pid " + strconv.Itoa(pid) + ", as was said"}
		for _, in := range in.whole() {
			d.draft.admit(in, kind(in).Role, kasoku.High, why)
		}
	}
	for _, unit := range d.q.Units {
		seen := false
		for _, in := range d.wires.all {
			if in.leader.Unit == unit && !isShell(programs.Name(in.leader.Exe)) && len(in.parts) == 0 {
				seen = true
				why := kasoku.Reason{By: kasoku.ByUser, Text: "is of unit " + unit + ", as was said"}
				d.draft.admit(in, kind(in).Role, kasoku.High, why)
			}
		}
		if !seen {
			d.draft.miss("unit "+unit, "no process of it runs", "systemctl status "+unit)
		}
	}
}

// target admits who listens at a place, as the entry of the load.
func (d *decision) target(p Place, why kasoku.Reason) int {
	a := d.wires.atHome(p)
	n := 0
	for _, in := range a.instances {
		if f := d.draft.admit(in, kind(in).Role, kasoku.High, why); f != nil {
			f.entry = true
			n++
			d.draft.connect(nil, f, kasoku.Edge{At: d.wires.listener(a.at), Protocol: kind(in).Protocol,
				Seen: atATime(f.accepted), Found: []kasoku.Reason{why}})
		}
	}
	switch {
	case n > 0:
	case a.elsewhere:
		d.draft.miss("the service at "+p.Address, "it is not on this host", "run kasoku there too and merge the runs")
		d.draft.connect(nil, nil, kasoku.Edge{At: kasoku.Listener{Network: p.Network, Address: p.Address},
			Found: []kasoku.Reason{why}})
	default:
		d.missListener(p.Address, a)
	}
	return n
}

// missListener describes why it is not known who listens.
func (d *decision) missListener(address string, a answer) {
	what := "who listens at " + address
	switch {
	case a.at == nil:
		d.draft.miss(what, "nothing listens there now", "start the service, then look again")
	case len(a.instances) > 0:
		d.draft.miss(what, a.instances[0].program()+" (pid "+strconv.Itoa(a.instances[0].leader.PID)+
			") holds the socket, and no program of a service took it", "send a request, then look again")
	default:
		d.draft.miss(what, "its process may be seen by root alone", "run kasoku with sudo, or grant it CAP_SYS_PTRACE")
	}
}

// loadConnections admits what the processes that make the load are connected to: web
// servers and applications; a database only when there is nothing else, as a benchmark
// may prepare it by itself.
func (d *decision) loadConnections() int {
	type called struct {
		in *instance
		at *scan.Socket
	}
	var to []called
	for _, in := range d.wires.all {
		if !in.load || in.self {
			continue
		}
		for _, k := range in.called {
			a := d.wires.calleeOf(k)
			for _, callee := range a.instances {
				if !callee.load && !callee.self && !callee.system() &&
					!slices.ContainsFunc(to, func(c called) bool { return c.in == callee }) {
					to = append(to, called{callee, a.at})
				}
			}
		}
	}
	front := func(c called) bool {
		r := kind(c.in).Role
		return r == kasoku.RoleWeb || r == kasoku.RoleCache || r == kasoku.RoleApplication || r == kasoku.RoleForwarder
	}
	if slices.ContainsFunc(to, front) {
		to = slices.DeleteFunc(to, func(c called) bool { return !front(c) })
	}
	for _, c := range to {
		why := kasoku.Reason{By: kasoku.ByLoad, Text: "the load is connected to it"}
		if f := d.draft.admit(c.in, kind(c.in).Role, kasoku.High, why); f != nil {
			f.entry = true
			d.draft.connect(nil, f, kasoku.Edge{At: d.wires.listener(c.at), Protocol: kind(c.in).Protocol,
				Found: []kasoku.Reason{why}})
		}
	}
	return len(to)
}

// writers admits the web server that writes an access log that is read. Where the load's
// target is known, a server that writes such a log and is no member is reported by
// foreignLogs, and is not admitted.
func (d *decision) writers(targeted bool) {
	for _, path := range d.q.Logs {
		by := d.writersOf(path)
		webs := slices.DeleteFunc(slices.Clone(by), func(in *instance) bool { return kind(in).Role != kasoku.RoleWeb })
		if len(webs) > 0 {
			by = webs
		}
		why := kasoku.Reason{By: kasoku.ByLog, Text: "writes " + path + ", which is read"}
		member := slices.ContainsFunc(by, func(in *instance) bool {
			return d.draft.has(in)
		})
		switch {
		case len(by) == 0:
		case len(by) > 1 && !member:
			d.draft.miss("which server writes "+path, names(by)+" have it open",
				"name the URL or the port of the service")
		case targeted && !member:
			// It may be found along connections: an nginx after another. Said by the caller.
		case len(by) == 1 && (member || kind(by[0]).Role == kasoku.RoleWeb && by[0].doubt() == ""):
			if f := d.draft.admit(by[0], kind(by[0]).Role, kasoku.High, why); f != nil && !targeted && !member {
				f.entry = true
				d.draft.connect(nil, f, kasoku.Edge{At: d.wires.firstListener(f), Protocol: "http",
					Found: []kasoku.Reason{why}})
			}
		}
	}
}

// writersOf returns who has a log open for writing.
func (d *decision) writersOf(path string) (by []*instance) {
	for _, in := range d.wires.all {
		writes := slices.ContainsFunc(in.procs, func(p *scan.Process) bool {
			return slices.Contains(p.Logs, path)
		})
		if writes && !in.load && !in.self {
			by = append(by, in)
		}
	}
	return by
}

// foreignLogs returns the logs that others write. It is known only where the load comes
// in, and where all that a member calls on this host is known: who writes a log of this host
// is not called by way of another.
func (d *decision) foreignLogs() map[string]string {
	entered := slices.ContainsFunc(d.draft.members, func(f *found) bool { return f.entry })
	if !entered || len(d.draft.unknown) > d.draft.far {
		return nil
	}
	out := map[string]string{}
	for _, path := range d.q.Logs {
		by := d.writersOf(path)
		member := slices.ContainsFunc(by, d.draft.has)
		if len(by) > 0 && !member {
			out[path] = names(by)
		}
	}
	return out
}

// asked admits the servers that kasoku was given to ask. They say nothing of where the
// load comes in, so what they call is not followed: a web server may have other sites.
func (d *decision) asked() {
	for _, p := range d.q.Asked {
		a := d.wires.atHome(p)
		if len(a.instances) == 1 {
			in := a.instances[0]
			d.draft.admit(in, kind(in).Role, kasoku.High, kasoku.Reason{By: kasoku.ByUser,
				Text: "listens at " + p.Address + ", which was named"})
		}
	}
}

func (w *wiring) firstListener(f *found) kasoku.Listener {
	if len(f.listens) == 0 {
		return kasoku.Listener{}
	}
	return w.listener(f.listens[0])
}

// names lists instances.
func names(ins []*instance) string {
	var out []string
	for _, in := range ins {
		out = append(out, in.program()+" (pid "+strconv.Itoa(in.leader.PID)+")")
	}
	const most = 4
	if n := len(out); n > most {
		return strings.Join(out[:most], ", ") + " and " + strconv.Itoa(n-most) + " more"
	}
	return strings.Join(out, ", ")
}
