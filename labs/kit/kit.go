// Package kit is what the small labs share: a set of defects, the servers that a lab
// needs, and a recorded run of its load.
//
// The one idea: a [Lab] is a table of texts and functions of a set of defects: the
// arguments of the database, schema and rows, nginx.conf, what the service does. Each
// defect changes the one part that it is about; without any the lab is tuned.
//
// Start with a lab's own package, then [Up], [Stack.Record] and [Stack.Down].
package kit

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/labs/writeup"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/prove/answers"
)

// A Defect is something that makes a lab slow and can be seeded by itself.
type Defect struct {
	ID    string // of the catalogue
	Where string // "service", "database", "nginx", "varnish"
	About string
	// Object is a regular expression of what a finding has to name, kind and name
	// as kasoku.Object prints them; empty: anything.
	Object string
	// Also is another id under which it may be reported, because both mean one signal.
	Also string
	// Slight says why it costs too little in the lab to be looked for: it is seeded with all,
	// and neither missed nor a false alarm; empty: it does not.
	Slight string
	// Apart says why it is seeded alone and not with all; empty: it is.
	Apart string
	// Brings are ids of findings that are true while this defect is seeded, because
	// they are the same trouble seen from another side.
	Brings []string
}

// Set is a set of seeded defects by id.
type Set []string

// Has reports whether the set holds the id.
func (s Set) Has(id string) bool { return slices.Contains(s, id) }

// String lists the ids, "none" for an empty set.
func (s Set) String() string {
	if len(s) == 0 {
		return "none"
	}
	return strings.Join(s, ",")
}

// A Variant is a state of a lab with a name, such as a step of its author's story.
type Variant struct {
	Name, About string
	Defects     Set
	Twin        bool    // the lab's work is done by its program in another language
	Memory      bool    // the files of the database are in memory
	Pool        int     // connections that the service opens at most; 0: as it has them
	Shed        float64 // share of what may be lost that is confirmed and dropped, 0 to 1
	Capacity    int     // of what the lab lets in, such as teams; 0: as it has it
	// Hosts is on how many hosts of [HostCores] the servers stand: 1: all on one; 2: the database on one of its
	// own; 3: nginx and Varnish too; 0: they have the whole machine.
	Hosts int
}

// A Lab is one small system.
type Lab struct {
	Name    string // also of its schema and its process
	About   string
	Defects []Defect
	// Controls are changes of the story that bring nothing or make it slower: they can be
	// asked for by their ids, and are no part of all.
	Controls []Defect
	// Variants are states with a name, in the order of the lab's story; none: there are none.
	Variants []Variant

	// Args are arguments of the database server; database is mariadb or mysql.
	Args func(d Set, database string) []string
	// Fill makes schema and rows, in a database that is there and empty.
	Fill func(ctx context.Context, db *sql.DB, d Set) error
	// Nginx is the nginx.conf in front of the service, as sandbox.NginxOptions take
	// it, with {files} for the directory of the lab's files and {beside} for the address of
	// the other service; nil: there is none.
	Nginx func(d Set) string
	// VCL is the configuration of a Varnish between nginx, which has {cache} for it,
	// and the service; nil: there is none.
	VCL   func(d Set) string
	Pages Pages // that are watched
	// Serve is the service, or with Program what makes the load itself.
	Serve func(ctx context.Context, c Config) error
	// Beside is another service, a process of its own that the service asks; nil: there is none.
	Beside func(ctx context.Context, c Config) error
	// Neighbour is a program of the host that is none of the service, a process of its own.
	Neighbour Neighbour
	// Program says that Serve works for a time and ends, rather than answers requests.
	Program bool
	// Files makes the files of the lab in a directory that is there and empty; nil: there
	// are none.
	Files func(dir string) error
	// Twin makes what the program in another language takes, in a directory that stays
	// from run to run, and returns its command line, to which --files and --seconds are
	// added; nil: there is none.
	Twin func(ctx context.Context, dir string) ([]string, error)
	Load Load
	// Story is the write-up that the lab is made after, whose steps are its variants of
	// that name; nil: there is none.
	Story *writeup.Story
}

// A Neighbour is what runs on the host of a lab and is none of its service.
type Neighbour struct {
	Name string // of the process
	Seed string // the defect with which it runs
	Run  func(ctx context.Context, c Config) error
}

// Load is what a lab's service has to answer.
type Load struct {
	// Initialize is the path that is posted to first, when all is watched; empty: to none.
	Initialize string
	// Targets are the requests; nil: the lab has a benchmark, which is its load.
	Targets func(base string, d Set) ([]load.Target, error)
	PerSec  float64
	// Least is how long it has to be for all defects to show; 0: a few seconds will do.
	Least time.Duration
	// Asked are golden answers of the run, asked at its end; their URLs are paths.
	Asked []answers.Request
	// Contract is what the clients are promised; nil: nothing is said.
	Contract []kasoku.Terms
}

// Pages are those at which a lab shows what it counts.
type Pages struct {
	// Expvar is the path at which the service publishes its pool, Status that at which
	// nginx shows its counts; empty: there is none.
	Expvar, Status string
	// Pprof is the path at which the service shows profiles, empty where none are taken; nil: nowhere.
	Pprof func(d Set) string
}

// Config is what a lab's service gets.
type Config struct {
	Listen   string // host:port; port 0 takes a free one
	DSN      string // of the schema
	Defects  Set
	Pool     int           // connections to the database at most; 0: as the service has them
	Shed     float64       // share of what may be lost that is confirmed and dropped
	Capacity int           // of what the lab lets in; 0: as the service has it
	Files    string        // directory of the lab's own
	Beside   string        // base URL of the other service, empty without one
	Duration time.Duration // of a program
	Log, Out io.Writer
	Ready    func(addr string) // called once, when requests are accepted
}

// Parse reads a list of ids with commas, "all" or "none". The order is that of the
// lab's table, so that equal sets print alike.
func (l *Lab) Parse(s string) (Set, error) {
	switch s = strings.TrimSpace(s); s {
	case "all":
		return l.All(), nil
	case "none", "":
		return Set{}, nil
	}
	chosen := map[string]bool{}
	for id := range strings.SplitSeq(s, ",") {
		id = strings.ToUpper(strings.TrimSpace(id))
		if !l.Known().Has(id) {
			return nil, fmt.Errorf("unknown defect %q: want %s, all or none", id, l.Known())
		}
		chosen[id] = true
	}
	return slices.DeleteFunc(l.Known(), func(id string) bool { return !chosen[id] }), nil
}

// Variant returns the variant of that name.
func (l *Lab) Variant(name string) (Variant, error) {
	var names []string
	for _, v := range l.Variants {
		if v.Name == name {
			return v, nil
		}
		names = append(names, v.Name)
	}
	return Variant{}, fmt.Errorf("unknown variant %q: want one of %s", name, strings.Join(names, ", "))
}

// All returns every defect of the lab, but for those that are seeded apart.
func (l *Lab) All() Set {
	return idsOf(slices.DeleteFunc(slices.Clone(l.Defects), func(d Defect) bool { return d.Apart != "" }))
}

// Known returns all that can be asked for: every defect and every control.
func (l *Lab) Known() Set { return append(idsOf(l.Defects), idsOf(l.Controls)...) }

func idsOf(defects []Defect) Set {
	out := make(Set, len(defects))
	for i, d := range defects {
		out[i] = d.ID
	}
	return out
}

// Without returns a text without the lines that mend one of the defects: those that
// end in "# mends ID"; and without those that end in "# seeds ID" of what is not seeded.
func Without(text string, d Set) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		_, mends, _ := strings.Cut(line, "# mends ")
		_, seeds, only := strings.Cut(line, "# seeds ")
		if d.Has(strings.TrimSpace(mends)) || only && !d.Has(strings.TrimSpace(seeds)) {
			continue
		}
		out.WriteString(line)
	}
	return out.String()
}
