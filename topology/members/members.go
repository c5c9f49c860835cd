// Package members decides which processes of a snapshot belong to the service that is
// measured.
//
// The one idea: the decision is a pure function of data ([Decide]), so that it can be
// tried on any arrangement, hostile ones too. It goes forward alone, from the load along
// connections to what is called, and never from a server to its other clients: a
// monitoring agent, a shell or a second application at the same database is no member.
// What the kernel says counts (who holds which socket, which end is connected to which);
// what a process says of itself (name, title, command line) names a member at most. Where
// two answers are possible, neither is given: [kasoku.Service.Unknown] says what would
// show it.
//
// In this order, each overruling the next: the user's word; the target of the load; the
// connections of members; the configuration of the server block that answered; who
// writes the access log; the database that kasoku was given.
//
// Start at [Decide]; [Follow] keeps members the same over restarts, [Join] adds what only their
// sockets showed.
package members

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/topology/scan"
)

// A Place is where something is asked to be: an address, or a path of a Unix socket.
type Place struct {
	Network string // tcp, unix
	Address string // host:port with a host that is a number or localhost; a path
	Host    string // by which requests ask for a site there; empty: not known
}

// A Question is what is known about the service from outside.
type Question struct {
	User      []Place  // the user said: this is it
	PIDs      []int    // likewise
	Units     []string // likewise, units of systemd
	Targets   []Place  // of the load
	Logs      []string // access logs that are read
	Databases []Place  // of the DSN
	Asked     []Place  // servers that kasoku was given to ask, such as nginx's for its status
	Load      []int    // processes that make the load, with all that they started
	Own       []int    // kasoku's other processes, such as its guard
	// Idle is how long a connection must have carried nothing for its edge to be weak.
	// 0: there is no load, and none is.
	Idle time.Duration
	// Webs are the configurations of web servers, by the process that leads them. Those
	// that are needed and not there are in Service.Unknown.
	Webs map[int]Web
}

// A Web is what a web server's configuration says.
type Web struct {
	Blocks  []Block
	Configs []string // files that it read
	Version string   // of the program; empty when unknown
}

// A Block is one server block.
type Block struct {
	Listens   []Listen
	Names     []string // server names
	Logs      []string // that it writes, by their names on this host; empty when that is not known
	Upstreams []Place
	Variable  bool // an upstream is made of variables
	Default   bool // of its ports
	At        kasoku.ConfigBlock
}

// A Result is a service, and what reading more of would decide more.
type Result struct {
	Service kasoku.Service
	// Read are the leaders of web servers whose configuration was not in the question.
	Read []int
	// Neighbours is how many other programs listen here.
	Neighbours int
	// Silent are processes of members that may call others and were not seen to, and of web
	// servers of which only what is seen shows what they call.
	Silent []int
	// Shared are members whose leaders lead other programs too, by their ids: the inodes at
	// which they listen, by which the leader's children that are theirs are known.
	Shared map[string][]uint32
	// Foreign are logs of the question that programs outside of the service write, by what
	// they are: "nginx (pid 812)".
	Foreign map[string]string
	// Callers are the connections to databases that programs outside of the service use too,
	// by the ids of those members.
	Callers map[string]Callers
	// Parties are the programs that may call the database that kasoku was given.
	Parties []Party
}

// Callers are the ports from which a member is called by TCP, and the inodes of its own ends of
// Unix sockets, apart by who calls. Of a connection that is in neither it is not known, or
// kasoku's own.
type Callers struct {
	Members, Others             []uint16
	MemberSockets, OtherSockets []uint32
}

// Decide returns the service.
func Decide(s *scan.Snapshot, q Question) Result {
	d := &decision{q: q, wires: newWiring(s)}
	d.wires.markLoad(q.Load)
	d.wires.markOwn(q.Own)
	d.enter()
	d.followAll()
	d.databases()
	d.followAll()
	d.asked()
	d.draft.dropEmptyForwarders()
	d.settle()
	return d.result()
}

// A decision is one being made.
type decision struct {
	q     Question
	wires *wiring
	draft draft
}

// followAll follows the members until nothing new is found.
func (d *decision) followAll() {
	for f := d.draft.next(); f != nil; f = d.draft.next() {
		d.follow(f)
	}
}

func levelRank(l kasoku.Level) int {
	return slices.Index([]kasoku.Level{kasoku.High, kasoku.Medium, kasoku.Low}, l)
}

// weaker returns the less sure of two levels.
func weaker(a, b kasoku.Level) kasoku.Level {
	if levelRank(a) < levelRank(b) {
		return b
	}
	return a
}

// result puts members in the order of a request's way and names them.
func (d *decision) result() Result {
	slices.SortStableFunc(d.draft.members, func(a, b *found) int {
		return cmp.Or(cmp.Compare(roleRank(a.role), roleRank(b.role)), cmp.Compare(a.leader.PID, b.leader.PID))
	})
	out := Result{Read: d.draft.read, Shared: map[string][]uint32{}, Callers: map[string]Callers{}}
	ids := map[*found]string{}
	taken := map[string]bool{}
	for _, f := range d.draft.members {
		m := d.member(f)
		base := m.ID
		for n := 2; taken[m.ID]; n++ {
			m.ID = base + " #" + strconv.Itoa(n)
		}
		taken[m.ID], ids[f] = true, m.ID
		if f.shared {
			out.Shared[m.ID] = inodesOf(f.listens)
		}
		if m.Role == kasoku.RoleDatabase && m.Others > 0 {
			out.Callers[m.ID] = d.callers(f)
		}
		out.Service.Members = append(out.Service.Members, m)
	}
	for _, e := range d.draft.edges {
		if e.from != nil {
			e.From = ids[e.from]
		}
		if e.to != nil {
			e.To = ids[e.to]
		}
		out.Service.Edges = append(out.Service.Edges, e.Edge)
	}
	out.Silent = d.silent()
	if len(d.q.Databases) > 0 {
		out.Parties = partiesOf(d)
	}
	out.Service.Unknown = d.draft.unknown
	out.Foreign = d.foreignLogs()
	for _, in := range d.wires.all {
		isMember := d.draft.has(in)
		if len(in.listens) > 0 && !isMember && !in.self && !in.load {
			out.Neighbours++
		}
	}
	return out
}

var roleOrder = []kasoku.MemberRole{kasoku.RoleForwarder, kasoku.RoleWeb, kasoku.RoleCache, kasoku.RoleApplication,
	kasoku.RolePooler, kasoku.RoleDatabase, kasoku.RoleStore, kasoku.RoleQueue, kasoku.RoleUnknown}

func roleRank(r kasoku.MemberRole) int { return slices.Index(roleOrder, r) }

// member describes a member for a run.
func (d *decision) member(f *found) kasoku.Member {
	p := f.leader
	m := kasoku.Member{
		Role: f.role, Program: f.program(), Host: d.wires.snap.Host, Unit: p.Unit, Container: p.Container,
		Cgroup: p.Cgroup, Language: languageOf(f.instance), Framework: frameworkOf(f.instance), Workers: max(1, len(f.procs)-1),
		Found: f.reasons, Sure: f.sure,
	}
	slices.SortStableFunc(m.Found, func(a, b kasoku.Reason) int { return cmp.Compare(reasonRank(a), reasonRank(b)) })
	for _, p := range f.procs {
		m.Processes = append(m.Processes, kasoku.MemberProcess{PID: p.PID, Start: p.Start, Leader: p == f.leader})
		for _, log := range p.Logs {
			of := !f.shared || p != f.leader // a leader of several has those of each
			if of && !slices.Contains(m.Logs, log) {
				m.Logs = append(m.Logs, log)
			}
		}
	}
	slices.SortStableFunc(m.Processes, func(a, b kasoku.MemberProcess) int {
		return cmp.Compare(asInt(b.Leader), asInt(a.Leader))
	})
	for _, k := range f.listens {
		l := d.wires.listener(k)
		if !slices.Contains(m.Listeners, l) {
			m.Listeners = append(m.Listeners, l)
		}
	}
	slices.SortStableFunc(m.Listeners, func(a, b kasoku.Listener) int { return cmp.Compare(a.Network, b.Network) })
	if web, ok := d.q.Webs[p.PID]; ok {
		m.Configs = web.Configs
		m.Logs = d.siteLogs(f, web, m.Logs)
		m.Version = web.Version
		blocks, _ := d.answering(f, web)
		for _, b := range blocks {
			m.Blocks = append(m.Blocks, b.At)
		}
	}
	m.Others = d.others(f)
	name := string(cmp.Or(m.Role, "program"))
	m.ID = name + " " + m.Program
	switch {
	case p.Unit != "" && !f.shared:
		m.ID += " " + p.Unit
	case len(m.Listeners) > 0:
		m.ID += " " + m.Listeners[0].String()
	}
	return m
}

// siteLogs are those of the sites that answer, where that is known; else all.
func (d *decision) siteLogs(f *found, web Web, all []string) []string {
	var out []string
	blocks, _ := d.answering(f, web)
	for _, b := range blocks {
		if len(b.Logs) == 0 {
			return all
		}
		for _, log := range b.Logs {
			if !slices.Contains(out, log) {
				out = append(out, log)
			}
		}
	}
	if len(out) == 0 {
		return all
	}
	return out
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

var reasonOrder = []kasoku.FoundBy{kasoku.ByUser, kasoku.ByLoad, kasoku.ByConnection, kasoku.ByConfig, kasoku.ByLog,
	kasoku.ByDSN}

func reasonRank(r kasoku.Reason) int { return slices.Index(reasonOrder, r.By) }

// others counts the connections to a member from programs that are none.
func (d *decision) others(f *found) int {
	return atATime(slices.DeleteFunc(slices.Clone(f.accepted), func(k *scan.Socket) bool { return !d.isOther(f, k) }))
}

// isOther reports whether a connection to a member is a neighbour's.
func (d *decision) isOther(f *found, k *scan.Socket) bool {
	from := d.wires.callerOf(k)
	return from != nil && !from.self && !from.load && from != f.instance && !d.draft.has(from)
}

// callers returns from where a member is called.
func (d *decision) callers(f *found) (out Callers) {
	for _, k := range f.accepted {
		from := d.wires.callerOf(k)
		unix := k.Network == "unix"
		switch {
		case k.Past || from == nil:
		case d.isOther(f, k) && unix:
			out.OtherSockets = append(out.OtherSockets, k.Inode)
		case d.isOther(f, k):
			out.Others = append(out.Others, k.Remote.Port())
		case d.draft.has(from) && unix:
			out.MemberSockets = append(out.MemberSockets, k.Inode)
		case d.draft.has(from):
			out.Members = append(out.Members, k.Remote.Port())
		}
	}
	return out
}

// atATime returns how many of some connections there are at a time, as far as is known: those
// that are there now, else one of those that were.
func atATime(all []*scan.Socket) (n int) {
	for _, k := range all {
		if !k.Past {
			n++
		}
	}
	return max(n, min(len(all), 1))
}
