package observe

import (
	"context"

	"github.com/kasoku/kasoku"
)

// A Declaration describes one source as data: what it records, what it needs for that,
// and every signal that is read of it. The folder of the source holds it, and nothing
// outside of that folder repeats a name or a key of it; other packages use the exported
// constants. observe/sources has the list of all declarations.
//
// Texts are Markdown of one line in plain English, without a final full stop.
// A Declaration is not changed after the program has started.
type Declaration struct {
	Name  string // in run files, and in [sources] off of kasoku.toml
	Title string // of its server or its chart, for people
	Role  Role
	// Of is the source under whose name the signals are recorded, where this is a part
	// of another source that can be switched off by itself; empty: Name.
	Of      string
	Always  bool   // cannot be switched off
	Table   string // in kasoku.toml; empty: there is none of its own
	Records string // what is recorded
	From    string // what is read
	Rights  string // what kasoku needs to read it
	Grant   Grant  // how these rights are given; zero: none are needed, or it depends on the host
	Lost    string // what a recording lacks without it
	Chart   Chart  // its chart in a report; zero: none that is made of the declaration alone
	Signals []Signal
	// Open says that the server names further signals, which are recorded too. Signals
	// then holds those that are read by name.
	Open bool
	Pace string // how often a server has new values, where that is not each tick: once a minute
	// Server says how its server is configured and found; nil where it has no table of its
	// own in kasoku.toml.
	Server *Server
}

// A Role is what a source watches.
type Role string

// The roles of sources.
const (
	RoleHost        Role = "host"
	RoleProcess     Role = "process"
	RoleApplication Role = "application"
	RoleWebServer   Role = "web server"
	RoleCache       Role = "cache"
	RoleDatabase    Role = "database"
	RoleMetrics     Role = "metrics"
	RoleLog         Role = "log"
	RoleSelf        Role = "kasoku"
)

// IsServer reports whether the role is that of a server, other than the database, that
// publishes numbers about itself.
func (r Role) IsServer() bool {
	return r == RoleApplication || r == RoleWebServer || r == RoleCache || r == RoleMetrics
}

// A Grant is a line that gives rights, and where it belongs.
type Grant struct{ Where, Line string }

// A Chart describes the chart of a server: its gauges as they are, or the growth of its
// counters per second. It shows the signals that have a colour, in their order.
type Chart struct {
	Title string
	Rates bool
}

// A Signal is one value over time. With an Entity there is a series for each of them.
type Signal struct {
	Key    string
	Unit   string // s, bytes, count or ratio; a database's status may have ms
	Kind   kasoku.Kind
	Entity string // what an instance is: core, disk, listener; empty: there is one series
	Label  string // for people; empty: the key
	Colour string // role of its line in the source's chart; empty: it is not shown there
	Meter  int    // rank of its meter in watch, 1 first; 0: it has none by its declaration
}

// A Server says how the server of a source is configured, found and read.
type Server struct {
	NewTable func() Table
	Programs []string // names of its processes, for Find
	// Find is nil for servers about which package topology knows more: those it describes
	// itself, with where they answer. It returns a key of the table, and its value as text, for a server at an address,
	// host:port on loopback; an error where what answers there is no such server.
	Find func(ctx context.Context, address string) (key, value string, err error)
}

// A Table is the table of a server in kasoku.toml: a pointer to a struct whose fields
// have the tags toml and eg, as the structs of package config have them.
type Table interface {
	// IsSet reports whether the server is to be read.
	IsSet() bool
	// Check returns what is wrong with the table.
	Check() []Fault
	// Address is where the server is, for people.
	Address() string
	// Open returns the source. It connects when it collects first.
	Open() (Source, error)
}

// A Reader is a table of a server of which files are read.
type Reader interface{ Files() []string }

// A Needer is a table that needs something of the environment: Missing returns what is not
// there, empty when all is, and how it is given.
type Needer interface {
	Missing() (what string, how Grant)
}

// InShell is where a Grant belongs that is typed before kasoku is started.
const InShell = "in a shell"

// A Fault is something wrong with a key of a table: the key, empty for the table as such,
// what is wrong, and what to do about it.
type Fault struct{ Key, Text, Hint string }

// SourceName returns the name under which the signals are recorded.
func (d *Declaration) SourceName() string {
	if d.Of != "" {
		return d.Of
	}
	return d.Name
}

// Signal returns the signal with that key; ok is false where there is none.
func (d *Declaration) Signal(key string) (s Signal, ok bool) {
	for _, s := range d.Signals {
		if s.Key == key {
			return s, true
		}
	}
	return Signal{}, false
}
