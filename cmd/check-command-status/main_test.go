package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/agenttest"
	"github.com/kasoku/kasoku/wire/mackerel/check"
	"github.com/kasoku/kasoku/wire/mackerel/timed"
)

// TestBinary runs real commands below the agent.
func TestBinary(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds the command")
	}
	bin := agenttest.Build(t)
	a := agenttest.New(t)
	broken := filepath.Join(t.TempDir(), "broken")
	job := []string{bin, "--after", "3", "-n", "job", "--", "sh", "-c", "echo asking; if [ -e " + broken + " ]; then echo refused >&2; exit 2; fi"}
	run := func(want agenttest.Status, message string) {
		t.Helper()
		status, got, r := a.Check(t, job...)
		if status != want || !regexp.MustCompile("^check-command-status "+string(want)+": job: "+message+"$").MatchString(got) || r.Stderr != "" {
			t.Errorf("%s %q, want %s %q, %+v", status, got, want, message, r)
		}
		agenttest.Show(t, r, name+" --after 3 -n job -- /usr/local/bin/job")
	}
	run(agenttest.OK, `exit status 0 after \d+ms: asking`)
	for range 2 {
		if err := os.WriteFile(broken, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		run(agenttest.OK, `exit status 2 after \d+ms: refused \(CRITICAL, failure 1, reported from 3 in a row on\)`)
		run(agenttest.OK, `exit status 2 after \d+ms: refused \(CRITICAL, failure 2, reported from 3 in a row on\)`)
		run(agenttest.Critical, `exit status 2 after \d+ms: refused \(failure 3 in a row\)`)
		run(agenttest.Critical, `exit status 2 after \d+ms: refused \(failure 4 in a row\)`)
		if err := os.Remove(broken); err != nil {
			t.Fatal(err)
		}
		run(agenttest.OK, `exit status 0 after \d+ms: asking`)
	}
	for _, tt := range []struct {
		flags, words []string
		want         agenttest.Status
		message      string
	}{
		{nil, []string{"true"}, agenttest.OK, `true: exit status 0 after`},
		{nil, []string{"false"}, agenttest.Critical, `false: exit status 1 after`},
		{[]string{"--warning-exit-code", "1", "--warning-exit-code", "4"}, []string{"sh", "-c", "exit 4"}, agenttest.Warning, `sh: exit status 4`},
		{nil, []string{"/no/such/job"}, agenttest.Critical, `job: start "/no/such/job": no such file or directory`},
		{nil, []string{"sh", "-c", "kill -KILL $$"}, agenttest.Critical, `sh: killed by signal: killed`},
		{[]string{"--timeout", "200ms"}, []string{"sleep", "60"}, agenttest.Critical, `sleep: no end in 200ms, killed$`},
		{[]string{"-w", "1ms"}, []string{"sleep", "0.01"}, agenttest.Warning, `sleep: took \d+ms, more than 1ms`},
		{[]string{"-w", "1ms", "-c", "2ms"}, []string{"sleep", "0.01"}, agenttest.Critical, `sleep: took \d+ms, more than 2ms`},
		{[]string{"-q"}, []string{"sh", "-c", "echo x; exit 1"}, agenttest.Critical, `sh: exit status 1 after \d+ms$`},
	} {
		status, got, _ := a.Check(t, slices.Concat([]string{bin}, tt.flags, []string{"--"}, tt.words)...)
		if status != tt.want || !regexp.MustCompile("^check-command-status "+string(tt.want)+": "+tt.message).MatchString(got) {
			t.Errorf("%q %q: %s %q, want %s %q", tt.flags, tt.words, status, got, tt.want, tt.message)
		}
	}
	if files, _ := os.ReadDir(a.WorkDir); len(files) != 1 {
		t.Errorf("files: %v", files)
	}
}

// TestStreak: what happens to the count.
func TestStreak(t *testing.T) {
	path := filepath.Join(t.TempDir(), "count")
	o := options{Name: "job", After: 2}
	bad := func() check.Result {
		return o.streak(o.judge(timed.Result{ExitCode: 1, Problem: "exit status 1"}), path)
	}
	steps := []check.Status{check.OK, check.Critical, check.Critical}
	for i, want := range steps {
		if r := bad(); r.Status != want {
			t.Errorf("failure %d: %s", i+1, r)
		}
	}
	for _, broken := range []string{"", "{", `{"Failures":-5}`, `{"Failures":"x"}`} {
		if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		for i, want := range steps {
			if r := bad(); r.Status != want {
				t.Errorf("%q, failure %d: %s", broken, i+1, r)
			}
		}
	}
	path = filepath.Join(t.TempDir(), "none", "count")
	if r := bad(); r.Status != check.Critical || !strings.Contains(r.Message, "failures are not counted: ") {
		t.Errorf("not counted: %s", r)
	}
	if r := o.streak(o.judge(timed.Result{Took: time.Second}), path); r.String() != "check-command-status OK: job: exit status 0 after 1s" {
		t.Errorf("nothing to count: %s", r)
	}
}

// TestStates: each command line and each name is counted alone.
func TestStates(t *testing.T) {
	none := func(string) string { return "" }
	paths := []string{
		statePath(options{Name: "a"}, []string{"x", "y"}, none),
		statePath(options{Name: "a"}, []string{"x y"}, none),
		statePath(options{Name: "b"}, []string{"x", "y"}, none),
	}
	slices.Sort(paths)
	if len(slices.Compact(paths)) != 3 {
		t.Errorf("got %q", paths)
	}
	if p := statePath(options{Name: "../../etc/x"}, nil, none); filepath.Dir(p) != "/tmp" {
		t.Errorf("a name leads to %s", p)
	}
}

func TestLastLine(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a": "a", "a\nb\n\n \n": "b", "\n\n": "", strings.Repeat("ä", 500): strings.Repeat("ä", 400) + "…",
	} {
		if got := lastLine(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"", "no command; check-command-status --help"},
		{"--after 0 -- true", "--after 0: less than 1"},
		{"--timeout 0 -- true", "--timeout 0s: no time to run in"},
		{"--after x -- true", "bad command line, see stderr"},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), strings.Fields(tt.args), env{&out, &errs, func(string) string { return "" }})
		if want := "check-command-status UNKNOWN: " + tt.want + "\n"; code != 3 || out.String() != want {
			t.Errorf("%q: exit %d, %q, want %q", tt.args, code, &out, want)
		}
	}
	var out bytes.Buffer
	if code := run(t.Context(), []string{"--help"}, env{stdout: &out}); code != 0 || !strings.Contains(out.String(), "--after=N") || !strings.Contains(out.String(), "(default: 25s)") {
		t.Errorf("--help: exit %d, %q", code, &out)
	}
}
