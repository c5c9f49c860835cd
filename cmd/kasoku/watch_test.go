package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/store"
)

// A pane is a terminal of tmux in which a command runs.
type tmuxPane struct {
	t   *testing.T
	dir string
}

// newPane starts a command in a terminal of that size, in a directory of its own.
func newPane(t *testing.T, width, height int, command string) *tmuxPane {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Fatal("tmux is missing: `tools/setup test` installs it")
	}
	p := &tmuxPane{t: t, dir: t.TempDir()}
	// With it nothing is watched of what else runs on this host.
	if err := os.WriteFile(filepath.Join(p.dir, "kasoku.toml"), []byte("project = 'shop'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.tmux("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "-c", p.dir,
		"TMPDIR="+p.dir+" HOME="+p.dir+" TERM=screen "+command+"; echo exit $?; exec cat")
	t.Cleanup(func() { p.tmux("kill-server") })
	return p
}

func (p *tmuxPane) tmux(args ...string) string {
	p.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", filepath.Join(p.dir, "s")}, args...)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (p *tmuxPane) screen(args ...string) string {
	p.t.Helper()
	return p.tmux(append([]string{"capture-pane", "-p"}, args...)...)
}

// wants waits until the screen has all of these.
func (p *tmuxPane) wants(texts ...string) string {
	p.t.Helper()
	var got string
	if !eventually(func() bool {
		got = p.screen()
		for _, text := range texts {
			if !strings.Contains(got, text) {
				return false
			}
		}
		return true
	}) {
		p.t.Fatalf("the screen does not come to hold all of %q:\n%s", texts, got)
	}
	return got
}

// background is an escape sequence that sets one; 49 is the terminal's own.
var background = regexp.MustCompile("\x1b\\[([0-9;]*;)?(4[0-8]|10[0-7])[;m]")

// TestWatchOnATerminal runs `kasoku watch` as people do, while a load runs.
func TestWatchOnATerminal(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("starts a terminal")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") }))
	defer server.Close()
	p := newPane(t, 80, 24, "kasoku watch --out seen.kasoku")
	p.wants("shop   live", "busiest core", "processes", "q quit")
	if colors := p.screen("-e"); background.MatchString(colors) || !strings.Contains(colors, "\x1b[36m") {
		t.Errorf("want cyan and no background:\n%q", colors)
	}
	attack := exec.Command("kasoku", "attack", "-target", "GET "+server.URL+"/", "-rate", "50", "-duration", "4s", "-o", "text")
	attack.Env = append(os.Environ(), "TMPDIR="+p.dir)
	if out, err := attack.CombinedOutput(); err != nil {
		t.Fatalf("attack: %v: %s", err, out)
	}
	p.wants("succeeded", "p99", "max 50 of 50")
	for _, key := range []string{"p", "m", "h", "e", "r", "e", "Enter"} {
		p.tmux("send-keys", key)
	}
	p.wants("paused", "marked")
	p.tmux("resize-window", "-x", "200", "-y", "50")
	p.wants("disks", "w keep as a run", "network")
	p.tmux("send-keys", "C-c")
	p.wants("saved  seen.kasoku", "exit 0")
	rec, err := store.Open(filepath.Join(p.dir, "seen.kasoku"))
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.Events) != 1 || rec.Events[0].Text != "here" {
		t.Errorf("events %v, want the mark", rec.Events)
	}
	if got := rec.Tally(0).Success; got != 200 {
		t.Errorf("%d successes of the load are kept, want 200", got)
	}
	if left, _ := filepath.Glob(filepath.Join(p.dir, "kasoku-*", "*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// replayAt is where a replay stands.
var replayAt = regexp.MustCompile(`replay paused, (\d+) of (\d+) s`)

// TestWatchARunInATerminal replays what was kept, without colour.
func TestWatchARunInATerminal(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("starts a terminal")
	}
	t.Parallel()
	dir := t.TempDir()
	run := filepath.Join(dir, "r.kasoku")
	if out, err := exec.Command("kasoku", "record", "--for", "2s", "--out", run).CombinedOutput(); err != nil {
		t.Fatalf("record: %v: %s", err, out)
	}
	p := newPane(t, 80, 24, "NO_COLOR=1 kasoku watch --ascii "+run)
	// A recording of two seconds may have more on a crowded machine.
	var last, of int
	at := replayAt.FindStringSubmatch(p.wants("replay paused, ", " s ", "CPU"))
	if at == nil {
		t.Fatal("no place in the replay")
	}
	if _, err := fmt.Sscan(at[1]+" "+at[2], &last, &of); err != nil || last != of || of < 2 {
		t.Fatalf("the replay stands at %v: %v", at, err)
	}
	if colors := p.screen("-e"); strings.Contains(colors, "\x1b[36m") {
		t.Errorf("colours with NO_COLOR:\n%q", colors)
	}
	p.tmux("send-keys", "Left")
	p.wants(fmt.Sprintf("%d of %d s", of-1, of))
	p.tmux("send-keys", "q")
	p.wants("exit 0")
}
