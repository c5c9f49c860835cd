// Package cmd_test looks at the commands that mackerel-agent runs, as they are
// shipped: small, static, and without what only kasoku itself needs.
package cmd_test

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/test/turn"
)

// maxBytes is the most that one binary may have: ten of them are in one archive.
const maxBytes = 10 << 20

// heavy are the modules that no plugin or check links, its own or through others.
var heavy = []string{
	"modernc.org/sqlite", "modernc.org/libc", "github.com/nats-io/", "github.com/pingcap/", "github.com/chromedp/",
	"github.com/spf13/cobra", "charm.land/", "github.com/kasoku/kasoku/store", "testing",
}

// commands are the directories of all plugins and checks.
func commands(t *testing.T) []string {
	t.Helper()
	var dirs []string
	for _, pattern := range []string{"mackerel-plugin-*", "check-*"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range found {
			if files, _ := filepath.Glob(dir + "/*.go"); len(files) > 0 {
				dirs = append(dirs, "./"+dir)
			}
		}
	}
	if len(dirs) < 2 {
		t.Fatalf("only %q", dirs)
	}
	return dirs
}

// binaries is where [build] puts the commands; TestMain makes and removes it.
var binaries string

func TestMain(m *testing.M) {
	os.Exit(runWithBinaries(m))
}

func runWithBinaries(m *testing.M) int {
	var err error
	if binaries, err = os.MkdirTemp("", "kasoku-commands-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(binaries)
	return m.Run()
}

// build makes all commands, as they are shipped; each is linked once.
func build(t *testing.T) {
	t.Helper()
	goTool(t, append([]string{"build", "-trimpath", "-ldflags", "-s -w", "-o", binaries + "/"}, commands(t)...)...)
}

func goTool(t *testing.T, args ...string) string {
	t.Helper()
	out, err := command.Output(t.Context(), command.Spec{Path: "go", Args: args, Env: []string{"CGO_ENABLED=0"}}, 4<<20)
	var exit *command.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("%v\n%s", err, exit.Stderr)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestDependencies: a small job has small dependencies.
func TestDependencies(t *testing.T) {
	for _, dir := range commands(t) {
		for dep := range strings.Lines(goTool(t, "list", "-deps", dir)) {
			dep = strings.TrimSpace(dep)
			for _, h := range heavy {
				if dep == h || strings.HasPrefix(dep, strings.TrimSuffix(h, "/")+"/") {
					t.Errorf("%s links %s", dir, dep)
				}
			}
		}
	}
}

// TestBinaries: each is one static file of the name that the agent's installer looks
// for.
func TestBinaries(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("-short: builds all of them")
	}
	build(t)
	for _, d := range commands(t) {
		path := filepath.Join(binaries, filepath.Base(d))
		info, err := os.Stat(path)
		if err != nil {
			t.Error(err)
			continue
		}
		t.Logf("%s: %.1f MB", d, float64(info.Size())/1e6)
		if info.Size() > maxBytes {
			t.Errorf("%s has %d bytes, at most %d", d, info.Size(), maxBytes)
		}
		f, err := elf.Open(path)
		if err != nil {
			t.Errorf("%s: %v", d, err)
			continue
		}
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
				t.Errorf("%s is not static: it has a segment %s", d, p.Type)
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
