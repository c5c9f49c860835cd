//go:build extract

package rules

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/store"
)

// A clientRun is one run of the lab goldrush.
type clientRun struct {
	name, variant, defects string
	keep                   string // "CLI-01/fires CLI-02/silent"
}

func clientRuns() []clientRun {
	return []clientRun{
		{name: "reference", variant: "reference", keep: "CLI-01/fires CLI-02/fires CLI-03/fires CLI-06/silent"},
		{name: "pipelined", variant: "pipelined", keep: "CLI-01/under CLI-02/fires CLI-03/silent"},
		{name: "free", variant: "free", keep: "CLI-01/silent CLI-02/silent CLI-03/fires"},
		{name: "author", variant: "author", keep: "CLI-01/silent CLI-02/silent CLI-03/silent CLI-06/silent"},
		{name: "tuned", variant: "tuned", keep: "CLI-01/silent CLI-02/silent CLI-03/silent CLI-06/silent"},
		{name: "alone", variant: "tuned", defects: "CLI-01", keep: "CLI-01/fires"},
		{name: "one-license", variant: "tuned", defects: "CLI-02", keep: "CLI-02/fires"},
		{name: "late", variant: "tuned", defects: "CLI-03", keep: "CLI-03/fires"},
		{name: "unbounded", variant: "tuned", defects: "CLI-06", keep: "CLI-06/fires"},
		{name: "author-unbounded", variant: "author", defects: "CLI-06", keep: "CLI-06/fires"},
	}
}

// TestRecordClients makes the runs of clients that testdata keeps:
//
//	go test -tags extract ./diagnose/rules -run TestRecordClients
//
// With -args -only reference,tuned only those.
func TestRecordClients(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "kasoku")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/kasoku").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, r := range clientRuns() {
		if *only == "" || named(r.name) {
			t.Run(r.name, func(t *testing.T) { r.record(t, program) })
		}
	}
}

func (r clientRun) record(t *testing.T, program string) {
	dir := t.TempDir()
	args := []string{"lab", "run", "goldrush", "--seed", "42", "--duration", "12s", "--dir", dir, "--variant", r.variant}
	if r.defects != "" {
		args = append(args, "--defects", r.defects)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.kasoku"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	rec, err := store.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	origin := fmt.Sprintf("recorded: %s, go test -tags extract ./diagnose/rules -run TestRecordClients -args -only %s\nclient: %s\n",
		rec.Run.Started.Format(time.DateOnly), r.name, strings.TrimSpace(r.variant+" "+r.defects))
	c := diagnose.NewCase(rec, nil)
	for want := range strings.FieldsSeq(r.keep) {
		id, kind, _ := strings.Cut(want, "/")
		if wrong := wrongCase(c, id, kind); wrong != "" {
			t.Errorf("%s %s", want, wrong)
			continue
		}
		if kind == "fires" {
			keepExtract(t, rec, nil, id, kind+"/goldrush-"+r.name, origin+"want: process client\n")
			continue
		}
		keepExtract(t, rec, nil, id, kind+"/goldrush-"+r.name, origin)
	}
}
