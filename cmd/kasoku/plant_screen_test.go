package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// A plantedScreen is a `kasoku watch` on a terminal, in each part of which a panic is
// planted, one after the other.
type plantedScreen struct {
	args  string
	keys  []string // that reach all parts
	parts []string // that are among those which it enters
}

var plantedScreens = map[string]plantedScreen{
	"live": {"--out seen.kasoku --mysql @DSN", []string{"Tab", "w"},
		[]string{"panel load", "panel statements", "panel findings", "panel samples", "panel save", "panel header", "panel wide", "panel narrow",
			"panel meters", "panel pane", "panel footer", "panel table processes", "source host", "rule IDX-01"}},
	"replay": {"run.kasoku", []string{"End", "Tab", "1"},
		[]string{"panel finding", "panel table findings", "panel update", "panel screen"}},
}

// A screenAfter is a watch that was left.
type screenAfter struct {
	answered
	parts []contain.Part // that it entered
}

// TestPlantedOnATerminal plants a panic in each part of `kasoku watch` on a terminal. The
// screen says what is lost, q leaves it, the terminal is as it was, and the end is that of
// every command that lost a part.
func TestPlantedOnATerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a terminal for each part of the screen")
	}
	t.Parallel()
	plants.begin(t)
	dsn := sandboxtest.MariaDB(t, sandbox.Options{}).DSN("", "")
	for name, s := range plantedScreens {
		s.args = strings.Replace(s.args, "@DSN", `"`+dsn+`"`, 1)
		whole := s.onTerminal(t, contain.Part{})
		if whole.code != 0 {
			t.Errorf("%s: exit %d: %s", name, whole.code, whole.stderr)
		}
		first := map[string]bool{} // of the kinds in which all parts are alike
		for _, part := range whole.parts {
			switch part.Kind {
			case contain.Table, contain.Command, contain.Check: // of what is before the screen
				continue
			case contain.Rule, contain.Source:
				if first[part.Kind] {
					continue
				}
				first[part.Kind] = true
			}
			if unsaid[part.String()] != "" || ofHost[part.String()] != "" { // no screen has it, or not each time
				continue
			}
			plants.add(part)
			t.Run(name+" "+part.String(), func(t *testing.T) {
				turn.Wait(t)
				t.Parallel()
				got := s.onTerminal(t, part)
				checkNote(t, part, got.answered)
				if !strings.Contains(got.stdout, contain.Phrase) {
					t.Errorf("no screen says what is lost:\n%s", got.stdout)
				}
			})
		}
	}
}

// onTerminal runs the watch with a panic planted in a part, or without one, and types keys
// until the screen says that something is lost, or all parts were entered. stdout is the
// last screen.
func (s plantedScreen) onTerminal(t *testing.T, part contain.Part) (a screenAfter) {
	t.Helper()
	plant := ""
	if part.Kind != "" {
		plant = part.Kind + "/" + part.Name
	}
	p := newPane(t, 200, 50, "PARTS=parts PLANT='"+plant+"' sh -c 'read go; stty -g >before; planted watch "+s.args+
		" 2>errors; code=$?; stty -g >after; exit $code'")
	rec := filledRun("run")
	if err := store.Write(filepath.Join(p.dir, "run"+store.Extension), rec); err != nil {
		t.Fatal(err)
	}
	state := p.modes()
	p.tmux("send-keys", "Enter")
	read := func(name string) string {
		b, _ := os.ReadFile(filepath.Join(p.dir, name)) // none is empty
		return string(b)
	}
	n := 0
	var typed time.Time
	if !eventually(func() bool {
		if a.stdout = p.screen(); part.Kind != "" && strings.Contains(a.stdout, contain.Phrase) {
			return true
		}
		if p.modes() == state || time.Since(typed) < betweenKeys {
			return false
		}
		if typed = time.Now(); n%10 == 5 { // what is narrow has other parts
			p.tmux("resize-window", "-x", fmt.Sprint(200-120*(n/10%2)), "-y", "50")
		}
		p.tmux("send-keys", s.keys[n%len(s.keys)])
		n++
		a.parts = enteredParts(read("parts"))
		return part.Kind == "" && n > 40 && len(s.missing(a.parts)) == 0
	}) && part.Kind == "" {
		if missing := s.missing(a.parts); len(missing) > 0 {
			t.Errorf("not entered: %v", missing)
		}
	}
	p.tmux("send-keys", "q")
	eventually(func() bool { // else it stays that of no end
		a.code = -1
		if end := exited.FindStringSubmatch(p.screen()); end != nil {
			a.code, _ = strconv.Atoi(end[1])
		}
		return a.code >= 0
	})
	if after := p.modes(); after != state || read("before") == "" || read("before") != read("after") {
		t.Errorf("the terminal was %q %q, is %q %q", state, read("before"), after, read("after"))
	}
	a.stderr = read("errors")
	return a
}

// betweenKeys is enough for a picture of what the key before did.
const betweenKeys = 120 * time.Millisecond

// missing are those of its parts that are not among these.
func (s plantedScreen) missing(entered []contain.Part) []string {
	return slices.DeleteFunc(slices.Clone(s.parts), func(must string) bool {
		return slices.ContainsFunc(entered, func(p contain.Part) bool { return p.String() == must })
	})
}

// exited is what newPane says in the end.
var exited = regexp.MustCompile(`(?m)^exit (\d+)$`)

// modes are those of the terminal that a full screen changes: which screen is shown, cursor,
// mouse, keypad.
func (p *tmuxPane) modes() string {
	p.t.Helper()
	return p.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_flag} #{keypad_cursor_flag}")
}
