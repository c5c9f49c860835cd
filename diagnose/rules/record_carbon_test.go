//go:build extract

package rules

import (
	"flag"
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

// carbonDir has runs that were made before, NAME/*.kasoku; empty: they are made.
var carbonDir = flag.String("carbon-runs", "", "directory of runs of the lab carbon")

// A carbonRun is one run of the lab carbon.
type carbonRun struct {
	name string
	lab  []string // arguments
	keep string   // "TS-01/fires TS-02/silent"
}

func carbonRuns() []carbonRun {
	silent := "TS-01/silent TS-02/silent TS-03/silent TS-05/silent TS-06/silent"
	return []carbonRun{
		{"off", []string{"--variant", "limits-off", "--duration", "30s"}, silent + " TS-02/under TS-06/under"},
		{"caches", []string{"--variant", "caches", "--duration", "30s"}, silent + " TS-08/silent TS-08/under"},
		{"cachesb", []string{"--variant", "caches", "--duration", "31s"}, "TS-08/silent TS-05/silent"},
		{"cachesc", []string{"--variant", "caches", "--duration", "32s"}, "TS-08/silent"},
		{"go", []string{"--variant", "go-carbon", "--duration", "30s"}, silent},
		// From a shell in a cgroup whose blkio.throttle.write_iops_device allows 200 writes a second.
		{"slow", []string{"--variant", "flush", "--duration", "30s"}, "TS-01/silent TS-03/silent"},
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
	}
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
			t.Run(r.name, func(t *testing.T) { r.record(t, program) })
		}
	}
}

func (r carbonRun) record(t *testing.T, program string) {
	dir := filepath.Join(*carbonDir, r.name)
	if *carbonDir == "" {
		dir = t.TempDir()
		cmd := exec.CommandContext(t.Context(), program, append([]string{"lab", "run", "carbon", "--dir", dir}, r.lab...)...)
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
	origin := fmt.Sprintf("recorded: %s, go test -tags extract ./diagnose/rules -run TestRecordCarbon "+
		"-args -only %s\ncarbon: %s\n",
		rec.Run.Started.Format(time.DateOnly), r.name, strings.Join(r.lab, " "))
	c := diagnose.NewCase(rec, nil)
	for want := range strings.FieldsSeq(r.keep) {
		id, kind, _ := strings.Cut(want, "/")
		if wrong := wrongCase(c, id, kind); wrong != "" {
			t.Errorf("%s %s", want, wrong)
			continue
		}
		more := ""
		if kind == "fires" {
			more = map[string]string{"TS-05": "want: load load\n", "TS-08": "want: relay relays.\n"}[id]
			if more == "" {
				more = "want: server agents.\n"
			}
		}
		keepExtract(t, rec, nil, id, kind+"/carbon-"+r.name, origin+more)
	}
}
