package accesslog

import (
	"context"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/lines"
)

// Lines that make the parser panic are dropped, each is counted, and the reading goes
// on after them.
func TestBugIsADroppedLine(t *testing.T) {
	defer contain.Forget()
	w := &worker{c: &collection{inputs: make([]inputPart, 1)},
		table: NewTable(Options{By: []string{"method", "route"}}).beside(), input: -1}
	defer contain.Plant(accessPart)()
	if err := w.read(&lines.Block{Data: []byte("a\n\nb\nlast")}); err != nil {
		t.Fatal(err)
	}
	a := w.parts[0].counts
	if a.Lines != 4 || a.Dropped != 4 || a.Bad[0].Why != logs.Bug || w.parts[0].bytes != 9 {
		t.Errorf("%+v", a)
	}
	if bugs, all := contain.Bugs(); len(bugs) != 1 || all != 4 {
		t.Errorf("%d bugs, %d in all", len(bugs), all)
	}
}

// A log that begins with very many blank lines is read as any other. Each line of the
// sample that decides on the format is looked at once: this took minutes before.
func TestManyBlankLines(t *testing.T) {
	t.Parallel()
	log := strings.Repeat("\n", 1_000_000) + "time:2026-11-22T12:00:00+00:00\tmethod:GET\turi:/a\tstatus:200\tsize:1\treqtime:0.1\n"
	in := []lines.Input{{Path: "a", R: strings.NewReader(log)}}
	table, windows, err := CollectAll(context.Background(), in, Options{By: []string{"method", "route"}}, nil)
	if err != nil || table.Records() != 1 || windows[0].Lines != 1_000_001 || windows[0].Blank != 1_000_000 {
		t.Errorf("%v, %+v", err, windows)
	}
}
