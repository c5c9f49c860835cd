package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/diagnose/split/splittest"
	"github.com/kasoku/kasoku/store"
)

// splitRun writes a run whose members' CPU is known, and returns what runs a command beside it.
func splitRun(t *testing.T, o splittest.Shop) (run func(args ...string) (out string, code int)) {
	t.Helper()
	dir := t.TempDir()
	rec := o.Recording()
	rec.Run.ID, rec.Run.Label = "20261120-140211-before", "before"
	if err := store.Write(filepath.Join(dir, "before.kasoku"), rec); err != nil {
		t.Fatal(err)
	}
	return func(args ...string) (string, int) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "kasoku", append([]string{"split"}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "COLUMNS=120")
		out, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
}

// shop is a service whose one core has no time left.
func shop() splittest.Shop {
	return splittest.Shop{Cores: 1, Web: 0.001, App: 0.004, DB: 0.005, PerSec: 100, Took: 200 * time.Millisecond,
		Questions: 3, Score: 1000}
}

// TestSplit: the command's formats, its exit codes, and what it refuses.
func TestSplit(t *testing.T) {
	run := splitRun(t, shop())
	out, code := run("before")
	for _, want := range []string{"mariadbd to host2", "fits", "a round trip between hosts takes 0.20 ms",
		"--clients"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit %d, without %q:\n%s", code, want, out)
		}
	}
	var got splitAnswer
	out, code = run("--hosts", "db=2/4G", "-o", "json")
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 {
		t.Fatalf("exit %d, %v: %s", code, err, out)
	}
	first := got.Layouts[*got.First]
	if got.Kind != "split" || len(got.Hosts) != 2 || got.Hosts[1].Cores != 2 || *got.Hosts[1].Memory != 4e9 &&
		*got.Hosts[1].Memory != 4<<30 ||
		first.Moves[0] != "mariadbd=db" || first.Gain.Mid < 1.8 || first.Gain.Low > first.Gain.Mid ||
		first.Score.Mid != 1000*first.Gain.Mid {
		t.Errorf("%s", out)
	}
	if out, code := run("--layout", "shop=web+db", "--hosts", "db", "-o", "tsv"); code != 0 || !strings.Contains(out,
		"shop on web and db") {
		t.Errorf("exit %d: %s", code, out)
	}
	if out, code := run("--fail-on-advice", "-o", "md"); code != 1 || !strings.Contains(out, "| mariadbd to host2") {
		t.Errorf("exit %d: %s", code, out)
	}
	f := func(code int, want string, args ...string) {
		t.Helper()
		if out, got := run(args...); got != code || !strings.Contains(out, want) {
			t.Errorf("%q: exit %d, want %d with %q: %s", args, got, code, want, out)
		}
	}
	f(2, "want 2 to 6", "--hosts", "9")
	f(2, "one host", "--hosts", "1")
	f(2, "no number of cores", "--hosts", "db=many")
	f(2, "is no size", "--hosts", "db=2/much")
	f(2, "is there already", "--hosts", "web")
	f(2, "bad host name", "--hosts", "a,,b")
	f(2, "stays where it is", "--layout", "nginx=host2")
	f(2, "no member", "--layout", "redis=host2")
	f(2, "--clients", "--clients", "-1")
	f(2, "--rtt", "--rtt", "-1s")
	f(2, "no run", "after")
	f(2, "--addresses goes with --edits", "--addresses", "db=10.0.0.4")
	f(2, "no HOST=ADDRESS", "--edits", "--addresses", "db=0.0.0.0")

	var edits struct {
		Kind  string
		Edits []struct {
			Host, Title, Text, Back string
			Fill                    []string `json:"fill_in"`
		}
	}
	out, code = run("--hosts", "db", "--edits", "--addresses", "db=10.0.0.4", "-o", "json")
	if err := json.Unmarshal([]byte(out), &edits); err != nil || code != 0 || edits.Kind != "split edits" ||
		len(edits.Edits) != 4 || !strings.Contains(edits.Edits[0].Text, "10.0.0.4") || edits.Edits[0].Back == "" {
		t.Errorf("exit %d, %v: %s", code, err, out)
	}
	out, code = run("--layout", "mariadbd=db", "--hosts", "db", "--edits")
	if code != 0 || !strings.Contains(out, "bind-address = ADDRESS_OF_DB") || !strings.Contains(out, "back") {
		t.Errorf("exit %d: %s", code, out)
	}
}

// A splitAnswer is what the test reads of the JSON.
type splitAnswer struct {
	Kind  string
	Hosts []struct {
		Name   string
		Cores  float64
		Memory *uint64 `json:"memory_bytes"`
	}
	Layouts []struct {
		Moves []string
		Gain  splitRange `json:"gain_ratio"`
		Score splitRange
	}
	First *int
}

type splitRange struct{ Low, Mid, High float64 }

// TestSplit_Fleet: the hosts of [fleet] record are those that members may be moved to.
func TestSplit_Fleet(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(store.Write(filepath.Join(dir, "a.kasoku"), shop().Recording()),
		os.WriteFile(filepath.Join(dir, "kasoku.toml"),
			[]byte("project = 'shop'\n[fleet]\nrecord = ['web', 'app1', 'db1']\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "kasoku", "split", "a.kasoku")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "mariadbd to db1") {
		t.Errorf("%v: %s", err, out)
	}
	toml := "project = 'shop'\n[fleet]\nrecord = ['web', 'db1']\nhosts = ['web', 'db1=deploy@10.0.0.7']\n"
	if err := os.WriteFile(filepath.Join(dir, "kasoku.toml"), []byte(toml), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd = exec.CommandContext(t.Context(), "kasoku", "split", "a.kasoku", "--edits")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "bind-address = 10.0.0.7") {
		t.Errorf("an address of [fleet] hosts: %v: %s", err, out)
	}
}

// TestSplit_Lacks: a run that lacks what is needed is exit code 3, with a word.
func TestSplit_Lacks(t *testing.T) {
	dir := t.TempDir()
	rec := shop().Recording()
	rec.Service = nil
	if err := store.Write(filepath.Join(dir, "a.kasoku"), rec); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "kasoku", "split", "a.kasoku")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 3 || !strings.Contains(string(out),
		"a.kasoku cannot be split: which processes are the service's") {
		t.Errorf("%v: %s", err, out)
	}
}
