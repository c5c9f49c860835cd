//go:build extract

package rules

import (
	"cmp"
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

// A clientRun is one run of the lab goldrush.
type clientRun struct {
	name, variant, defects string
	seed                   string // of the world; default 42
	baseline               string // the run that it is compared with
	keep                   string // "CLI-01/fires CLI-02/silent"
}

func clientRuns() []clientRun {
	return []clientRun{
		{name: "tuned", variant: "tuned",
			keep: "CLI-01/silent CLI-02/silent CLI-03/silent CLI-04/silent CLI-05/silent CLI-06/silent CLI-13/silent"},
		{name: "author", variant: "author",
			keep: "CLI-01/silent CLI-02/silent CLI-03/silent CLI-04/silent CLI-05/silent " +
				"CLI-06/silent CLI-13/fires"},
		{name: "reference", variant: "reference", keep: "CLI-01/fires CLI-02/fires CLI-03/fires CLI-06/silent"},
		{name: "pipelined", variant: "pipelined", keep: "CLI-01/under CLI-02/fires CLI-03/silent"},
		{name: "free", variant: "free", keep: "CLI-01/silent CLI-02/silent CLI-03/fires CLI-04/silent CLI-05/silent"},
		{name: "alone", variant: "tuned", defects: "CLI-01", keep: "CLI-01/fires"},
		{name: "one-license", variant: "tuned", defects: "CLI-02", keep: "CLI-02/fires"},
		{name: "late", variant: "tuned", defects: "CLI-03", keep: "CLI-03/fires"},
		{name: "dig-by-dig", variant: "tuned", defects: "CLI-04", keep: "CLI-04/fires"},
		{name: "free-dig-by-dig", variant: "free", defects: "CLI-04", keep: "CLI-04/fires"},
		{name: "foot-of-step", variant: "tuned", defects: "CLI-05", keep: "CLI-05/fires CLI-13/silent"},
		{name: "author-foot", variant: "author", defects: "CLI-05", keep: "CLI-05/fires"},
		{name: "unbounded", variant: "tuned", defects: "CLI-06", keep: "CLI-06/fires"},
		{name: "author-unbounded", variant: "author", defects: "CLI-06", keep: "CLI-06/fires"},
		{name: "cash-all", variant: "tuned", defects: "CLI-13", keep: "CLI-13/fires"},
		{name: "tuned-other", variant: "tuned", seed: "7", keep: "CLI-13/silent"},
		// Against a baseline.
		{name: "own", variant: "tuned", defects: "CLI-09", baseline: "tuned", keep: "CLI-09/fires CLI-12/fires"},
		{name: "connections", variant: "tuned", defects: "CLI-10", baseline: "tuned",
			keep: "CLI-09/fires CLI-12/fires"},
		{name: "tuned-other", variant: "tuned", seed: "7", baseline: "tuned", keep: "CLI-09/silent CLI-12/silent"},
		{name: "tuned", variant: "tuned", baseline: "free", keep: "CLI-09/silent CLI-12/silent"},
		{name: "author", variant: "author", baseline: "pipelined", keep: "CLI-09/silent"},
		{name: "author", variant: "author", baseline: "tuned", keep: "CLI-12/silent"},
		{name: "tuned", variant: "tuned", baseline: "tuned-other", keep: "CLI-12/under"},
	}
}

var made = flag.String("made", "", "`DIRECTORY` with a directory for each run of clients that is made already")

// TestRecordClients makes the runs of clients that testdata keeps:
//
//	go test -tags extract ./diagnose/rules -run TestRecordClients
//
// With -args -only reference,tuned only those, and the baselines that they need.
func TestRecordClients(t *testing.T) {
	m := &clientMaker{program: filepath.Join(t.TempDir(), "kasoku"), runs: map[string]*kasoku.Recording{}}
	if *made == "" {
		build := exec.CommandContext(t.Context(), "go", "build", "-o", m.program, "../../cmd/kasoku")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for _, r := range clientRuns() {
		if *only == "" || named(r.name) {
			t.Run(r.name, func(t *testing.T) { m.keep(t, r) })
		}
	}
}

// A clientMaker makes runs, each once.
type clientMaker struct {
	program string
	runs    map[string]*kasoku.Recording
}

// keep keeps the cases of a run.
func (m *clientMaker) keep(t *testing.T, r clientRun) {
	rec, as := m.run(t, r), "goldrush-"+r.name
	var baseline *kasoku.Recording
	origin := fmt.Sprintf("recorded: %s, go test -tags extract ./diagnose/rules -run TestRecordClients -args -only %s\nclient: %s\n",
		rec.Run.Started.Format(time.DateOnly), r.name, strings.TrimSpace(r.variant+" "+r.defects))
	if r.baseline != "" {
		runs := clientRuns()
		baseline = m.run(t, runs[slices.IndexFunc(runs, func(x clientRun) bool { return x.name == r.baseline })])
		origin += "baseline: the run " + r.baseline + "\n"
		if r.baseline != "tuned" {
			as += "-after-" + r.baseline
		}
	}
	c := diagnose.NewCase(rec, baseline)
	for want := range strings.FieldsSeq(r.keep) {
		id, kind, _ := strings.Cut(want, "/")
		if wrong := wrongCase(c, id, kind); wrong != "" {
			t.Errorf("%s %s", want, wrong)
			continue
		}
		wants := ""
		if kind == "fires" {
			wants = "want: process client\n"
		}
		keepExtract(t, rec, baseline, id, kind+"/"+as, origin+wants)
	}
}

// run makes a run, or takes the one that is made.
func (m *clientMaker) run(t *testing.T, r clientRun) *kasoku.Recording {
	t.Helper()
	if rec := m.runs[r.name]; rec != nil {
		return rec
	}
	dir := filepath.Join(*made, r.name)
	if *made == "" {
		dir = t.TempDir()
		args := []string{"lab", "run", "goldrush", "--seed", cmp.Or(r.seed, "42"), "--duration", "12s", "--dir", dir,
			"--variant", r.variant}
		if r.defects != "" {
			args = append(args, "--defects", r.defects)
		}
		cmd := exec.CommandContext(t.Context(), m.program, args...)
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
	m.runs[r.name] = rec
	return rec
}
