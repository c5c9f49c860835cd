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
// Start at [Decide]; [Follow] keeps members the same over restarts.
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
}

// A Question is what is known about the service from outside.
type Question struct {
	User      []Place  // the user said: this is it
	PIDs      []int    // likewise
	Units     []string // likewise, units of systemd
	Targets   []Place  // of the load
	Hosts     []string // names in the targets' URLs, for server blocks
	Logs      []string // access logs that are read
	Databases []Place  // of the DSN
	Load      []int    // processes that make the load, with all that they started
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
}

// A Block is one server block.
type Block struct {
	Ports     []int    // that it listens at; empty: Unix sockets alone
	Names     []string // server names; empty: any
	Upstreams []Place
	Variable  bool // an upstream is made of variables
	Default   bool // of its ports
}

// A Result is a service, and what reading more of would decide more.
type Result struct {
	Service kasoku.Service
	// Read are the leaders of web servers whose configuration was not in the question.
	Read []int
	// Neighbours is how many other programs listen here.
	Neighbours int
}

// Decide returns the service.
func Decide(s *scan.Snapshot, q Question) Result {
	d := &decision{snap: s, q: q, byPID: map[int]*instance{}, procs: map[int]*scan.Process{}}
	d.index = newIndex(s)
	d.group()
	d.excludeLoad()
	d.enter()
	for len(d.queue) > 0 {
		m := d.queue[0]
		d.queue = d.queue[1:]
		d.follow(m)
	}
	d.databases()
	for len(d.queue) > 0 {
		m := d.queue[0]
		d.queue = d.queue[1:]
		d.follow(m)
	}
	d.dropEmptyForwarders()
	return d.result()
}

// A decision is one being made.
type decision struct {
	snap  *scan.Snapshot
	q     Question
	index *index
	procs map[int]*scan.Process
	all   []*instance
	byPID map[int]*instance

	members []*found
	queue   []*found
	edges   []edge
	unknown []kasoku.Unseen
	read    []int
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
func (d *decision) admit(in *instance, role kasoku.MemberRole, sure kasoku.Level, why kasoku.Reason) *found {
	given := why.By == kasoku.ByUser || why.By == kasoku.ByLoad || why.By == kasoku.ByDSN
	if in.load || in.self || isInit(in.leader) || in.system() && !given {
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
func (d *decision) connect(from, to *found, e kasoku.Edge) {
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
func (d *decision) miss(what, why, show string) {
	u := kasoku.Unseen{What: what, Why: why, Show: show}
	if !slices.ContainsFunc(d.unknown, func(o kasoku.Unseen) bool { return o.What == what }) {
		d.unknown = append(d.unknown, u)
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

// dropEmptyForwarders drops programs that pass bytes on and of which nothing is known to
// come: a shell that is connected by ncat is no part of a service.
func (d *decision) dropEmptyForwarders() {
	d.members = slices.DeleteFunc(d.members, func(f *found) bool {
		drop := f.role == kasoku.RoleForwarder && !f.given &&
			!slices.ContainsFunc(d.edges, func(e edge) bool { return e.from == f && e.to != nil })
		if drop {
			d.edges = slices.DeleteFunc(d.edges, func(e edge) bool { return e.from == f || e.to == f })
		}
		return drop
	})
}

// result puts members in the order of a request's way and names them.
func (d *decision) result() Result {
	slices.SortStableFunc(d.members, func(a, b *found) int {
		return cmp.Or(cmp.Compare(roleRank(a.role), roleRank(b.role)), cmp.Compare(a.leader.PID, b.leader.PID))
	})
	out := Result{Read: d.read}
	ids := map[*found]string{}
	taken := map[string]bool{}
	for _, f := range d.members {
		m := d.member(f)
		base := m.ID
		for n := 2; taken[m.ID]; n++ {
			m.ID = base + " #" + strconv.Itoa(n)
		}
		taken[m.ID], ids[f] = true, m.ID
		out.Service.Members = append(out.Service.Members, m)
	}
	for _, e := range d.edges {
		if e.from != nil {
			e.From = ids[e.from]
		}
		if e.to != nil {
			e.To = ids[e.to]
		}
		out.Service.Edges = append(out.Service.Edges, e.Edge)
	}
	out.Service.Unknown = d.unknown
	for _, in := range d.all {
		isMember := slices.ContainsFunc(d.members, func(f *found) bool { return f.instance == in })
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
		Role: f.role, Program: f.program(), Host: d.snap.Host, Unit: p.Unit, Container: p.Container, Cgroup: p.Cgroup,
		Language: languageOf(f.instance), Framework: frameworkOf(f.instance), Workers: max(1, len(f.procs)-1),
		Found: f.reasons, Sure: f.sure,
	}
	slices.SortStableFunc(m.Found, func(a, b kasoku.Reason) int { return cmp.Compare(reasonRank(a), reasonRank(b)) })
	for _, p := range f.procs {
		m.Processes = append(m.Processes, kasoku.MemberProcess{PID: p.PID, Start: p.Start, Leader: p == f.leader})
		for _, log := range p.Logs {
			if !slices.Contains(m.Logs, log) {
				m.Logs = append(m.Logs, log)
			}
		}
	}
	slices.SortStableFunc(m.Processes, func(a, b kasoku.MemberProcess) int {
		return cmp.Compare(asInt(b.Leader), asInt(a.Leader))
	})
	for _, k := range f.listens {
		l := d.listener(k)
		if !slices.Contains(m.Listeners, l) {
			m.Listeners = append(m.Listeners, l)
		}
	}
	slices.SortStableFunc(m.Listeners, func(a, b kasoku.Listener) int { return cmp.Compare(a.Network, b.Network) })
	if web, ok := d.q.Webs[p.PID]; ok {
		m.Configs = web.Configs
	}
	m.Others = d.others(f)
	name := string(cmp.Or(m.Role, "program"))
	m.ID = name + " " + m.Program
	switch {
	case p.Unit != "":
		m.ID += " " + p.Unit
	case len(m.Listeners) > 0:
		m.ID += " " + m.Listeners[0].String()
	}
	return m
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

// listener describes a listening socket.
func (d *decision) listener(k *scan.Socket) kasoku.Listener {
	l := kasoku.Listener{Network: k.Network, Address: k.Path, Private: k.NetNS != d.snap.NetNS}
	if k.Network == "tcp" {
		l.Address = k.Local.String()
	}
	return l
}

// others counts the connections to a member from programs that are none.
func (d *decision) others(f *found) int {
	n := 0
	for _, k := range f.accepted {
		from := d.callerOf(k)
		if from == nil || from.self || from.load || from == f.instance {
			continue
		}
		if !slices.ContainsFunc(d.members, func(m *found) bool { return m.instance == from }) {
			n++
		}
	}
	return n
}
