package finalize

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// A Status is what came of one item.
type Status string

// The statuses.
const (
	OK      Status = "ok"
	Bad     Status = "bad"
	Skipped Status = "skipped"
)

// An Item is one line of the checklist.
type Item struct {
	Part   string // of Parts
	What   string // in a word or two: settings
	Status Status
	Saw    []string // what was seen, one fact each
	Fix    string   // what to do, `code` in backticks; empty when there is nothing
}

// A Result is what the walk saw.
type Result struct {
	Started time.Time
	Length  time.Duration
	Items   []Item
	Probes  []diagnose.Probe
	LastRun *kasoku.Recording // nil when it was not made
	Path    string            // of its file
	// Stopped says why the walk ended early, empty when it did not.
	Stopped string
}

func (r *Result) add(i Item) { r.Items = append(r.Items, i) }

// check adds an item that is ok when nothing speaks against it.
func (r *Result) check(part, what string, bad, good []string, fix string) {
	i := Item{Part: part, What: what, Status: OK, Saw: good}
	if len(bad) > 0 {
		i.Status, i.Saw, i.Fix = Bad, bad, fix
	}
	r.add(i)
}

func (r *Result) skip(part, what, why string) {
	r.add(Item{Part: part, What: what, Status: Skipped, Saw: []string{why}})
}

// cannot adds an item that could not be looked at, which is bad.
func (r *Result) cannot(part, what string, err error, fix string) {
	r.add(Item{Part: part, What: what, Status: Bad, Saw: []string{err.Error()}, Fix: fix})
}

// Count returns how many items have the status.
func (r *Result) Count(s Status) (n int) {
	for _, i := range r.Items {
		if i.Status == s {
			n++
		}
	}
	return n
}

// Verdict describes in one sentence how the end looks.
func (r *Result) Verdict() string {
	bad, ok, skipped := r.Count(Bad), r.Count(OK), r.Count(Skipped)
	text := fmt.Sprintf("All %d checks are ok", ok)
	switch {
	case r.Stopped != "":
		text = fmt.Sprintf("Stopped early, %s: %d of %d checks are bad", r.Stopped, bad, bad+ok)
	case bad == 1:
		text = fmt.Sprintf("1 of %d checks is bad", bad+ok)
	case bad > 0:
		text = fmt.Sprintf("%d of %d checks are bad", bad, bad+ok)
	case ok == 0:
		text = "Nothing was checked"
	}
	if skipped > 0 {
		text += fmt.Sprintf(", %d skipped", skipped)
	}
	return text + "."
}
