package attack

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/store"
)

// lookers are the commands that read run files; RUN and OTHER stand for them.
var lookers = []string{
	"show RUN", "show RUN -o json", "diagnose RUN", "diagnose RUN --html page.html", "list --dir .", "compare RUN OTHER", "export RUN --to csv",
	"scrub RUN --out scrubbed.kasoku", "explain RUN", "advise RUN", "show RUN --configs",
}

// TestRunFiles reads run files with mutated bytes, cut ends and holes by all commands
// that read run files.
func TestRunFiles(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	w := newWorld(t)
	good := w.recorded()
	w.kept = []string{w.path("good.kasoku")}
	for n := range times(3, 40) {
		b := w.mutate(good)
		if err := os.WriteFile(w.path("bad.kasoku"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		w.look(fmt.Sprintf("damage %d", n), lookers)
		if w.Failed() {
			_ = os.WriteFile(os.TempDir()+"/kasoku-attack-bad.kasoku", b, 0o600) // to be looked at
			return
		}
	}
}

// recorded makes a recording, good.kasoku, and returns its bytes.
func (w *world) recorded() []byte {
	w.Helper()
	log := w.write("access.log", "")
	p := w.start("record", "--accesslog", log, "--interval", "100ms", "--for", "1s", "--out", "good.kasoku")
	p.sampled("good.kasoku")
	appendTo(w, log, strings.Repeat(accessLine(time.Now(), "/a"), 30))
	w.wants("record", p.wait(patience), p.printed(), 0)
	b, err := os.ReadFile(w.path("good.kasoku"))
	if err != nil {
		w.Fatal(err)
	}
	return b
}

// mutate returns a damaged copy.
func (w *world) mutate(good []byte) []byte {
	b := bytes.Clone(good)
	switch w.rand.IntN(5) {
	case 0:
		return b[:w.rand.IntN(len(b))]
	case 1: // a hole
		at := w.rand.IntN(len(b))
		clear(b[at:min(len(b), at+4096)])
	case 2: // a page that is another's
		at, from := w.rand.IntN(len(b)/4096)*4096, w.rand.IntN(len(b)/4096)*4096
		copy(b[at:at+4096], good[from:from+4096])
	case 3: // its head
		for range 4 {
			b[w.rand.IntN(200)] = byte(w.rand.Uint32())
		}
	default:
		for range 1 + w.rand.IntN(200) {
			b[w.rand.IntN(len(b))] = byte(w.rand.Uint32())
		}
	}
	return b
}

// look reads bad.kasoku.
func (w *world) look(what string, commands []string) {
	w.Helper()
	w.unchanged(what, func() {
		for _, line := range commands {
			args := strings.Fields(strings.NewReplacer("RUN", "bad.kasoku", "OTHER", "good.kasoku").Replace(line))
			p := w.start(args...)
			w.wants(what+": "+line, p.wait(patience), p.printed(), 0, 1, 2, 3)
			w.bounded(what, p)
			_ = os.Remove(w.path("scrubbed.kasoku"))
		}
	})
}

// evil is a text that must reach no terminal and no page as it is.
const evil = "\x1b[2J\x1b]0;evil\x07</script><script>alert('evil')</script>\u202e\r\nexit 0: good"

// TestHostileRun: the texts of a run are of who made it. They are neither run by a page
// nor obeyed by a terminal, and megabytes of them take no minutes.
func TestHostileRun(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	w := newWorld(t)
	good := w.recorded()
	for _, size := range []int{1, times(2_000, 40_000)} {
		if err := os.WriteFile(w.path("bad.kasoku"), good, 0o600); err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat(evil, size)
		ed, err := store.Edit(w.path("bad.kasoku"))
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{
			ed.SetLabel("evil"), ed.SetNote(text),
			ed.SaveWarnings([]kasoku.Warning{{Code: "evil", Text: text, Hint: text}}),
			ed.SaveChanges([]kasoku.Change{{Object: text, Name: text, Before: text, During: text, Note: text}}),
			ed.SaveAdvice([]kasoku.Advice{{Title: text, Variable: text, Proposed: text}}), ed.Close(),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		w.look(fmt.Sprintf("hostile texts, %d", size), lookers)
		if page, err := os.ReadFile(w.path("page.html")); err == nil && bytes.Contains(page, []byte("<script>alert")) {
			t.Error("the page runs a script of the run's")
		}
	}
}
