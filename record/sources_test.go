package record

import (
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/process"
)

// Each source can be switched off by a word that a kasoku.toml may hold.
func TestSourcesOff(t *testing.T) {
	f := func(off, want []string) {
		t.Helper()
		sources, _, err := newSession(Options{Sources: Sources{Off: off}}, nil).sampling.sources()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, src := range sources {
			got = append(got, src.Name())
			if !slices.Contains(config.SourceNames(), src.Name()) {
				t.Errorf("no word for %q", src.Name())
			}
			if c, ok := src.(interface{ Close() error }); ok {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("off %q: %q, want %q", off, got, want)
		}
	}
	f(nil, []string{"host", "process", "cgroup", "sockets"})
	f([]string{"host", "sockets"}, []string{"process", "cgroup"})
	f([]string{"process"}, []string{"host", "sockets"}) // no processes, no groups of theirs
	f(config.SourceNames(), nil)
}

// The words for the sources of a database switch them off; without its status it is
// not known when to look for waits.
func TestSourcesOffDatabase(t *testing.T) {
	f := func(want string, off ...string) {
		t.Helper()
		s := newSession(Options{Sources: Sources{Off: append(off, "host")}, Observers: kasoku.ObserversOff}, nil)
		s.db = &database{
			source: mysql.New(nil), locks: mysql.NewLocks(nil, nil, shapeOf), detail: mysql.NewDetail(nil, mysql.New(nil), shapeOf),
		}
		sources, _, err := s.sampling.sources()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, src := range sources {
			got = append(got, src.Name())
			if !slices.Contains(config.SourceNames(), src.Name()) {
				t.Errorf("no word for %q", src.Name())
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("off %q: %q, want %q", off, got, want)
		}
	}
	f("mysql replication digests tables locks")
	f("replication digests tables", "mysql")
	f("mysql locks", "replication", "digests", "tables")
}

func TestFastSources(t *testing.T) {
	if (&Options{}).every() != nil {
		t.Fatal("fast without being asked")
	}
	every := (&Options{Sources: Sources{Fast: true}}).every()
	for _, name := range []string{host.Name, process.Name} {
		if every[name] != config.FastInterval {
			t.Fatal(every)
		}
	}
}
