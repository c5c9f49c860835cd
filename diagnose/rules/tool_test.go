//go:build extract

package rules

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
	"github.com/kasoku/kasoku/store"
)

// A run file becomes a case with
//
//	go test -tags extract ./diagnose/rules -run TestExtractRun \
//	  -from before.kasoku -rule POOL-01 -as fires/mariadb-1000 -origin 'recorded: 2026-11-20, MariaDB 10.11.19, kasoku run …'
//
// and then go test ./diagnose/rules reports whether it is what it should be. Several files with commas are runs
// that repeat one another.
var (
	from     = flag.String("from", "", "run `files`")
	baseline = flag.String("baseline", "", "run `files` to compare with")
	rule     = flag.String("rule", "", "rule `id`")
	as       = flag.String("as", "", "`kind/name` of the case")
	origin   = flag.String("origin", "", "first lines of the case")
	logged   = flag.Bool("logged", false, "leave out what the load counted each second: the access log has it too")
)

func TestExtractRun(t *testing.T) {
	if *from == "" {
		t.Skip("no -from")
	}
	open := func(paths string) (first *kasoku.Recording, others []*kasoku.Recording) {
		if paths == "" {
			return nil, nil
		}
		for i, path := range strings.Split(paths, ",") {
			rec, err := store.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(*from, ",") {
				bareRun(rec)
			}
			if i == 0 {
				first = rec
			} else {
				others = append(others, rec)
			}
		}
		return first, others
	}
	var g extract.Group
	g.Run, g.Repeats = open(*from)
	g.Baseline, g.Baselines = open(*baseline)
	if *logged {
		g.Run.Seconds = nil
	}
	if c := caseOf(g); testing.Verbose() {
		for _, r := range All() {
			if r.ID() == *rule {
				found, silent := r.Check(c)
				t.Logf("%+v\n%+v", found, silent)
			}
		}
	}
	keepGroup(t, g, *rule, *as, *origin)
}

// bareRun leaves to a run of a group what figures of it are made of: the processes of the service, settings of the
// database and the application, and what nginx says.
func bareRun(rec *kasoku.Recording) {
	rec.Settings = slices.DeleteFunc(rec.Settings, func(s kasoku.Setting) bool {
		return s.Scope != "mysql" && s.Scope != "app"
	})
	if rec.Service != nil {
		var pids []int
		for _, m := range rec.Service.Members {
			for _, p := range m.Processes {
				pids = append(pids, p.PID)
			}
		}
		keepOnly(rec, pids...)
	}
	rec.Service, rec.Phases, rec.Summary = nil, nil, nil
	rec.Messages = slices.DeleteFunc(rec.Messages, func(m kasoku.Message) bool { return m.Kind != kasoku.MessageNginx })
	for i := range rec.Configs { // of nginx, the level of its log
		lines := slices.DeleteFunc(strings.Split(rec.Configs[i].Text, "\n"), func(line string) bool {
			return !strings.Contains(line, "error_log")
		})
		rec.Configs[i].Text = strings.Join(lines, "\n")
	}
}

// keepExtract writes what the rule reads of a run to its testdata.
func keepExtract(t *testing.T, rec, baseline *kasoku.Recording, rule, as, origin string) {
	t.Helper()
	keepGroup(t, extract.Group{Run: rec, Baseline: baseline}, rule, as, origin)
}

// keepGroup is keepExtract of runs with those that repeat them.
func keepGroup(t *testing.T, g extract.Group, rule, as, origin string) {
	t.Helper()
	keys := reads(rule, g.Run.Load != nil)
	keys.Figures = len(g.Repeats)+len(g.Baselines) > 0
	data, err := extract.WriteGroup(g, keys, origin)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", rule, filepath.FromSlash(as)+".txtar")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
