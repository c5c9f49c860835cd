//go:build extract

package rules

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/store"
)

// carbonDir has runs that were made before, NAME/*.kasoku; empty: they are made.
var carbonDir = flag.String("carbon-runs", "", "directory of runs of the lab carbon")

// A carbonRun is one run of the lab carbon.
type carbonRun struct {
	name     string
	lab      []string // arguments
	keep     string   // "TS-01/fires TS-02/silent"
	baseline string   // the run that it is compared with
}

func carbonRuns() []carbonRun {
	all := []carbonRun{
		{"shared", []string{"--defects", "TS-04", "--duration", "30s"}, "TS-04/fires", "slow"},
	}
	silent := "TS-01/silent TS-02/silent TS-03/silent TS-05/silent TS-06/silent"
	for _, r := range []struct {
		name string
		lab  []string
		keep string
	}{
		{"off", []string{"--variant", "limits-off", "--duration", "30s"}, silent + " TS-02/under TS-06/under"},
		{"caches", []string{"--variant", "caches", "--duration", "30s"},
			silent + " TS-08/silent TS-08/under TS-04/silent TS-07/silent"},
		{"cachesb", []string{"--variant", "caches", "--duration", "31s"},
			"TS-08/silent TS-05/silent TS-04/silent TS-07/silent"},
		{"cachesc", []string{"--variant", "caches", "--duration", "32s"}, "TS-08/silent TS-04/silent TS-07/silent"},
		{"go", []string{"--variant", "go-carbon", "--duration", "30s"}, silent},
		// On a disk that a cgroup makes slow.
		{"slow", []string{"--variant", "slow-disk", "--duration", "30s"}, "TS-01/silent TS-03/silent"},
		{"shared", []string{"--defects", "TS-04", "--duration", "30s"}, "TS-04/fires TS-01/silent"},
		{"sharedb", []string{"--defects", "TS-04", "--duration", "35s"}, "TS-04/fires"},
		{"fine", []string{"--defects", "TS-07", "--duration", "30s"}, "TS-07/fires"},
		{"fineb", []string{"--defects", "TS-07", "--duration", "35s"}, "TS-07/fires"},
		{"u50", []string{"--defects", "TS-01", "--duration", "40s"}, "TS-01/fires TS-02/silent TS-06/silent"},
		{"u50b", []string{"--defects", "TS-01", "--duration", "30s"}, "TS-01/fires"},
		{"c50", []string{"--defects", "TS-02", "--duration", "30s"}, "TS-02/fires TS-01/silent"},
		{"initial", []string{"--variant", "initial", "--duration", "40s"}, "TS-02/fires TS-01/silent"},
		{"full", []string{"--defects", "TS-06", "--duration", "30s"}, "TS-06/fires"},
		{"u50full", []string{"--defects", "TS-01,TS-06", "--duration", "30s"}, "TS-06/fires"},
		{"core", []string{"--defects", "TS-03", "--duration", "30s"}, "TS-03/fires TS-01/silent"},
		{"coreb", []string{"--defects", "TS-03", "--duration", "35s"}, "TS-03/fires"},
		{"grows", []string{"--defects", "TS-05", "--duration", "30s"}, "TS-05/fires TS-03/silent"},
		{"growsb", []string{"--defects", "TS-05", "--duration", "35s"}, "TS-05/fires"},
		{"down", []string{"--defects", "TS-08", "--duration", "30s"}, "TS-08/fires"},
		{"downb", []string{"--defects", "TS-08", "--duration", "35s"}, "TS-08/fires"},
	} {
		all = append(all, carbonRun{name: r.name, lab: r.lab, keep: r.keep})
	}
	return all
}

// TestRecordCarbon makes the runs of carbon that testdata keeps:
//
//	go test -tags extract ./diagnose/rules -run TestRecordCarbon
//
// With -args -only off,u50 only those. go-carbon has to be on PATH.
func TestRecordCarbon(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "kasoku")
	if *carbonDir == "" {
		cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/kasoku")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for _, r := range carbonRuns() {
		if *only == "" || named(r.name) {
			t.Run(r.name, func(t *testing.T) { r.keepCases(t, program) })
		}
	}
}

// run makes the run, or takes the one that is made.
func (r carbonRun) run(t *testing.T, program string) *kasoku.Recording {
	t.Helper()
	dir := filepath.Join(*carbonDir, r.name)
	if *carbonDir == "" {
		dir = t.TempDir()
		cmd := exec.CommandContext(t.Context(), program,
			append([]string{"lab", "run", "carbon", "--dir", dir}, r.lab...)...)
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.kasoku"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	rec, err := store.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func (r carbonRun) keepCases(t *testing.T, program string) {
	rec, as := r.run(t, program), "/carbon-"+r.name
	origin := fmt.Sprintf("recorded: %s, go test -tags extract ./diagnose/rules -run TestRecordCarbon "+
		"-args -only %s\ncarbon: %s\n",
		rec.Run.Started.Format(time.DateOnly), r.name, strings.Join(r.lab, " "))
	var baseline *kasoku.Recording
	if r.baseline != "" {
		runs := carbonRuns()
		i := slices.IndexFunc(runs, func(x carbonRun) bool { return x.name == r.baseline })
		baseline = runs[i].run(t, program)
		origin, as = origin+"baseline: the run "+r.baseline+"\n", as+"-after-"+r.baseline
	}
	c := diagnose.NewCase(rec, baseline)
	for want := range strings.FieldsSeq(r.keep) {
		id, kind, _ := strings.Cut(want, "/")
		if wrong := wrongCase(c, id, kind); wrong != "" {
			t.Errorf("%s %s", want, wrong)
			continue
		}
		more := ""
		if kind == "fires" {
			more = map[string]string{"TS-04": "want: disk of 2 caches\n", "TS-05": "want: load load\n",
				"TS-07": "want: retention 1s:6m\n", "TS-08": "want: relay relays.\n"}[id]
			if more == "" {
				more = "want: server agents.\n"
			}
		}
		keepExtract(t, rec, baseline, id, kind+as, origin+more)
	}
}
