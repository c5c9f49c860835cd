package kasoku

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Service is what a run measures: the processes that answer the load, and those that
// they need for it. What runs on the same hosts and is no member is a neighbour: it is
// pressure, and never a cause inside of the service.
//
// The zero value says that nothing is known, as in files before version 8.
type Service struct {
	Members []Member
	Edges   []Edge
	Unknown []Unseen // what could not be seen, and what would show it
}

// A MemberRole is what a member does for the service.
type MemberRole string

// The roles, in the order of a request's way.
const (
	RoleWeb         MemberRole = "web server" // proxies and balancers too
	RoleCache       MemberRole = "cache"      // of answers: Varnish
	RoleApplication MemberRole = "application"
	RolePooler      MemberRole = "pooler" // of connections to a database
	RoleDatabase    MemberRole = "database"
	RoleStore       MemberRole = "key-value store" // Redis, memcached
	RoleQueue       MemberRole = "queue"
	RoleForwarder   MemberRole = "forwarder" // passes bytes on, as docker-proxy does
	RoleUnknown     MemberRole = ""
)

// Languages are those that fixes are written in.
var Languages = []string{"go", "java", "javascript", "php", "python", "ruby", "rust"}

// A Member is one program of the service on one host, with all of its processes. It
// stays the same member when it is restarted.
type Member struct {
	ID        string // "database mariadbd :3306"; unique within the service
	Role      MemberRole
	Program   string // puma, nginx, mariadbd: for people
	Host      string
	Unit      string // of systemd; empty without
	Container string // short id; empty outside of one
	Cgroup    string // path below the hierarchy's root; empty when unknown

	// Processes are all that were ever seen, those of the leader first.
	Processes []MemberProcess
	Listeners []Listener

	Language  string // one of Languages, or another such as perl; empty when unknown
	Framework string // puma, gunicorn, php-fpm …; empty when unknown
	Version   string // of the program or its runtime; empty when unknown
	Workers   int    // processes that work, the leader left out when it has children; at least 1
	Threads   int    // of each worker; 0 when unknown

	Logs    []string // files that it has open for writing
	Configs []string // files that this instance read
	// Blocks are the server blocks of Configs that may answer the load, of a web server;
	// more than one where it is not known which, none where nothing is.
	Blocks []ConfigBlock
	Limits Limits

	Found []Reason // how it was found, the strongest first
	Sure  Level
	// Others is how many connections programs outside of the service had to it: a
	// database that two applications share.
	Others int
}

// A MemberProcess is one process of a member. PID and Start together identify it.
type MemberProcess struct {
	PID    int
	Start  uint64 // clock ticks since boot; 0 when unknown
	Leader bool
	Ended  time.Duration // offset at which it was seen to have gone; 0 while it lives
}

// A ConfigBlock is where a block of a configuration begins.
type ConfigBlock struct {
	File string
	Line int // from 1
}

// Limits are those that the kernel holds a member's leader to; 0 when unknown or none.
type Limits struct {
	OpenFiles   uint64
	Processes   uint64
	MemoryBytes uint64  // of its control group
	Cores       float64 // of its control group
	CPUs        string  // the cores that its processes may run on, as the kernel lists them: 0-1,4; empty when unknown
}

// A Listener is where a member listens, or another host that a member calls.
type Listener struct {
	Network string // tcp, unix
	Address string // 127.0.0.1:8080, [::]:80, /run/app.sock
	Private bool   // in a network namespace of its own
}

// Port returns the port of a TCP endpoint, 0 of others.
func (e Listener) Port() int {
	if e.Network != "tcp" {
		return 0
	}
	n, err := strconv.Atoi(e.Address[strings.LastIndexByte(e.Address, ':')+1:])
	if err != nil {
		return 0
	}
	return n
}

// String returns ":8080" for TCP, "unix:/run/app.sock" for a Unix socket.
func (e Listener) String() string {
	if e.Network == "unix" {
		return "unix:" + e.Address
	}
	return ":" + strconv.Itoa(e.Port())
}

// An Edge leads from a member to one that it calls.
type Edge struct {
	From     string // id of a member; empty: the load
	To       string // id of a member; empty: At is on another host, or it is not known who listens
	At       Listener
	Protocol string // http, mysql, redis …; empty when unknown
	Seen     int    // the most connections that were seen at a time
	Weak     bool   // nothing was carried by those that were seen
	Found    []Reason
}

// A Reason is a piece of evidence: how a member or an edge was found.
type Reason struct {
	By   FoundBy
	Text string // "listens at 127.0.0.1:8080, the target of the load"
}

// FoundBy is the kind of a reason.
type FoundBy string

// The kinds of reasons; each overrules those after it.
const (
	ByUser       FoundBy = "user"          // kasoku.toml, a flag
	ByLoad       FoundBy = "load"          // the target of the load
	ByConnection FoundBy = "connection"    // a member is connected to it
	ByConfig     FoundBy = "configuration" // a member's configuration names it
	ByLog        FoundBy = "log"           // it writes the log that is read
	ByDSN        FoundBy = "dsn"           // the database that kasoku was given
)

// An Unseen is something about the service that is not known.
type Unseen struct {
	What string // "who listens at 127.0.0.1:8080"
	Why  string // "its process may be seen by root alone"
	Show string // what would show it: "run kasoku with sudo"; may be empty
}

// HasWebConfig reports whether a captured file is of a web server of the service, as far as is
// known: any file is where neither web servers nor applications are.
func (s *Service) HasWebConfig(f *Config) bool {
	webs := s.Of(RoleWeb)
	if len(webs) == 0 {
		return len(s.Of(RoleApplication)) == 0 // else the load goes to the application
	}
	return slices.ContainsFunc(webs, func(m *Member) bool {
		return (m.Host == f.Host || f.Host == "" || m.Host == "") &&
			(len(m.Configs) == 0 || slices.Contains(m.Configs, f.Name))
	})
}

// Of returns the members of a role on any host, those that are surest first; the ones
// that are a guess (Low) are left out.
func (s *Service) Of(role MemberRole) []*Member {
	if s == nil {
		return nil
	}
	var out []*Member
	for _, level := range []Level{High, Medium} {
		for i := range s.Members {
			if m := &s.Members[i]; m.Role == role && m.Sure == level {
				out = append(out, m)
			}
		}
	}
	return out
}

// Member returns the member with an id, nil without one.
func (s *Service) Member(id string) *Member {
	if s == nil {
		return nil
	}
	i := slices.IndexFunc(s.Members, func(m Member) bool { return m.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Members[i]
}

// Known reports whether anything is known of the service.
func (s *Service) Known() bool { return s != nil && len(s.Members) > 0 }

// Leader returns the process that leads a member now; the zero value without one.
func (m *Member) Leader() MemberProcess {
	for _, p := range m.Processes {
		if p.Leader && p.Ended == 0 {
			return p
		}
	}
	return MemberProcess{}
}

// Has reports whether a process was one of the member's.
func (m *Member) Has(pid int) bool {
	return slices.ContainsFunc(m.Processes, func(p MemberProcess) bool { return p.PID == pid })
}

// InGroup reports whether the member runs in the control group that a source names so: by its
// unit, its container, or the group's path or last name. A whole path is of a group whose last name
// another one has too, and so is no one's but that of the member with that path.
func (m *Member) InGroup(name string) bool {
	switch {
	case name == "":
		return false
	case name == m.Cgroup:
		return true
	case name[0] == '/':
		return false
	case name == m.Unit, m.Cgroup != "" && name == path.Base(m.Cgroup):
		return true
	}
	return m.Container != "" && m.inContainer(name)
}

// inContainer reports whether a group with that last name is the member's container, as the source of
// control groups names it, with the id cut: that of its path, where the id stands in that.
func (m *Member) inContainer(name string) bool {
	const shortID, hex = 12, "0123456789abcdef"
	id := m.Container[:min(len(m.Container), shortID)]
	inPath := false
	for part := range strings.SplitSeq(m.Cgroup, "/") {
		before, after, ok := strings.Cut(part, id)
		if !ok {
			continue
		}
		if inPath = true; name == before+id+strings.TrimLeft(after, hex) {
			return true
		}
	}
	return !inPath && strings.Contains(name, id)
}

// Within reports whether the member runs in that control group, or in one below it.
func (m *Member) Within(group string) bool {
	if m.InGroup(group) {
		return true
	}
	for p := path.Dir(m.Cgroup); len(p) > 1; p = path.Dir(p) {
		if above := (Member{Cgroup: p}); above.InGroup(group) {
			return true
		}
	}
	return false
}

// Label names the member in a picture: "puma (3 × 5)", "nginx :80".
func (m *Member) Label() string {
	name := m.Program
	switch {
	case m.Role == RoleApplication && m.Workers > 1 && m.Threads > 1:
		name += " (" + strconv.Itoa(m.Workers) + " × " + strconv.Itoa(m.Threads) + ")"
	case m.Role == RoleApplication && m.Workers > 1:
		name += " (" + strconv.Itoa(m.Workers) + ")"
	case m.Role == RoleApplication && m.Threads > 1:
		name += " (1 × " + strconv.Itoa(m.Threads) + ")"
	}
	if m.Role != RoleApplication && len(m.Listeners) > 0 {
		name += " " + m.Listeners[0].String()
	}
	return name
}

// Picture draws the service in one line: "load → nginx :80 → puma (3 × 5) → mariadbd
// :3306". Members that are called side by side stand in one place: "mariadbd :3306,
// redis-server :6379". It is empty when nothing is known.
func (s *Service) Picture() string {
	if !s.Known() {
		return ""
	}
	out := "load"
	for _, members := range s.Stops() {
		var names []string
		for _, m := range members {
			name := m.Label()
			if m.Sure == Low {
				name += "?"
			}
			names = append(names, name)
		}
		out += " → " + strings.Join(names, ", ")
	}
	return out
}

// Stops returns the members in the order in which requests reach them; those that are called
// side by side stand in one place.
func (s *Service) Stops() [][]*Member {
	if !s.Known() {
		return nil
	}
	rank := s.ranks()
	most := 0
	for _, r := range rank {
		most = max(most, r)
	}
	stops := make([][]*Member, most+1)
	for i := range s.Members {
		m := &s.Members[i]
		stops[rank[m.ID]] = append(stops[rank[m.ID]], m)
	}
	return slices.DeleteFunc(stops, func(members []*Member) bool { return len(members) == 0 })
}

// ranks returns how far from the load each member is. A member that no edge leads to
// stands where its role does.
func (s *Service) ranks() map[string]int {
	rank := map[string]int{}
	s.follow(rank)
	applied := -1
	for i := range s.Members {
		if m := &s.Members[i]; m.Role == RoleApplication {
			applied = max(applied, rank[m.ID])
		}
	}
	for i := range s.Members {
		m := &s.Members[i]
		called := slices.ContainsFunc(s.Edges, func(e Edge) bool { return e.From != "" && e.To == m.ID && e.From != m.ID })
		switch m.Role {
		case RoleDatabase, RoleStore, RoleQueue, RolePooler: // its connections were not seen
			if applied >= 0 && !called {
				rank[m.ID] = applied + 1
			}
		}
	}
	s.follow(rank)
	return rank
}

// follow puts each member that another one calls after that one.
func (s *Service) follow(rank map[string]int) {
	for range s.Members { // where calls form a cycle, this ends it
		for _, e := range s.Edges {
			if e.From == "" || e.To == "" || e.From == e.To {
				continue
			}
			if want := rank[e.From] + 1; rank[e.To] < want && want < len(s.Members) {
				rank[e.To] = want
			}
		}
	}
}
