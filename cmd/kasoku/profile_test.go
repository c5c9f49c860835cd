package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli/clitest"
	"github.com/kasoku/kasoku/observe/profile"
	"github.com/kasoku/kasoku/store"
)

// keepProfiles writes a run with profiles of the programs, whose hot function has so
// much of a second.
func keepProfiles(t *testing.T, path string, hot string, programs ...string) {
	t.Helper()
	rec := &kasoku.Recording{Run: kasoku.Run{Label: strings.TrimSuffix(filepath.Base(path), ".kasoku"), State: kasoku.Finished, Started: time.Unix(1e9, 0), Length: 20 * time.Second,
		Hosts: []kasoku.Host{{Name: "lab1", Cores: 2}}}}
	for i, name := range programs {
		p, err := profile.ReadFolded("main.main;main.hot "+hot+"\nmain.main;main.cold 100000000\n", kasoku.ProfileCPU, "nanoseconds")
		if err != nil {
			t.Fatal(err)
		}
		p.Program, p.Address, p.Interval = name, "http://127.0.0.1:606"+string(rune('0'+i))+"/debug/pprof/", kasoku.Interval{From: 5 * time.Second, To: 15 * time.Second}
		rec.Profiles = append(rec.Profiles, p)
	}
	if err := store.Write(path, rec); err != nil {
		t.Fatal(err)
	}
}

func TestProfile(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.kasoku"), filepath.Join(dir, "two.kasoku")
	keepProfiles(t, one, "900000000", "shop")
	keepProfiles(t, two, "300000000", "shop", "cart")
	f := func(wantCode int, want string, args ...string) string {
		t.Helper()
		e, out, errs := clitest.New()
		e.Args = args
		if code := run(e); code != wantCode || !strings.Contains(out.String()+errs.String(), want) {
			t.Errorf("%q: exit %d, no %q in\n%s%s", args, code, want, out, errs)
		}
		return out.String()
	}
	f(cli.ExitGood, "main.hot", "show", one)
	f(cli.ExitGood, "main.main;main.hot 900000000\n", "show", one, "--profile", "cpu", "--folded")
	f(cli.ExitGood, "main.main;main.hot 300000000\n", "show", two, "--profile", "cpu", "--folded", "--program", "cart")
	f(cli.ExitUsage, "the run has 2 cpu profiles", "show", two, "--profile", "cpu")
	f(cli.ExitUsage, "the run has no heap profile, but cpu", "show", one, "--profile", "heap")
	f(cli.ExitUsage, `--profile "hepa": want cpu`, "show", one, "--profile", "hepa")
	f(cli.ExitUsage, "go with --profile", "show", one, "--folded")
	f(cli.ExitGood, "0.10 → 0.04 cores", "compare", one, two)

	raw := f(cli.ExitGood, "", "show", one, "--profile", "cpu")
	path := filepath.Join(dir, "cpu.pb.gz")
	if err := os.WriteFile(path, []byte(raw), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "tool", "pprof", "-top", path).CombinedOutput(); err != nil || !strings.Contains(string(out), "main.hot") {
		t.Errorf("go tool pprof: %v\n%s", err, out)
	}
	e, out, errs := clitest.New()
	e.Args, e.StdoutTTY = []string{"show", one, "--profile", "cpu"}, true
	if code := run(e); code != cli.ExitUsage || out.Len() > 0 || !bytes.Contains(errs.Bytes(), []byte("> cpu.pb.gz")) {
		t.Errorf("on a terminal: exit %d, %q, %s", code, out, errs)
	}
}
