package slowlog

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/lines"
)

// Entries that make the parser panic are dropped; the log is read to its end.
func TestBugIsADroppedLine(t *testing.T) {
	defer contain.Forget()
	log := strings.Repeat("# Time: 2026-11-22T12:00:00.000000Z\n# User@Host: a[a] @ localhost []  Id: 1\n# Query_time: 0.1  Lock_time: 0 Rows_sent: 1  Rows_examined: 1\nSELECT 1;\n", 3)
	w := &worker{}
	b := &batch{buf: []byte("x"), entries: []entry{{lines: 4, line: 1}, {lines: 4, line: 5, textEnd: 1}}}
	defer contain.Plant(slowPart)()
	w.namer = &namer{}
	w.work(b)
	var a logs.Account
	for i := range b.events {
		if accountFor(&a, &b.events[i]) {
			t.Error("an entry was parsed")
		}
	}
	if a.Dropped != 8 || len(a.Bad) != 2 || a.Bad[0].Why != logs.Bug {
		t.Errorf("%+v", a)
	}
	for _, part := range []contain.Part{slowPart, namePart, tablePart, cutPart} {
		for workers := range 2 {
			contain.Plant(part)
			_, w, err := Collect(lines.NewReader(strings.NewReader(log), 0), Options{Workers: workers + 1})
			if noted := strings.Contains(w.Note, contain.Phrase); err != nil || w.Records != 0 || w.Dropped != 12 && !noted {
				t.Errorf("%v in the log as a whole: %+v, %v", part, w, err)
			}
		}
	}
}

// An event that makes the table panic is dropped, not a record, so that the account is
// whole: lines = records + continued + blank + dropped.
func TestBugOfTheTableIsADroppedLine(t *testing.T) {
	defer contain.Forget()
	p := &pipeline{results: make([]result, 1)} // no table: adding to it panics
	p.add(&batch{events: []Event{{Place: Place{Line: 1}, fate: fate{lines: 4}}, {Place: Place{Line: 5}, fate: fate{lines: 3}}}})
	a := p.results[0].account
	if a.Records != 0 || a.Continued != 0 || a.Dropped != 7 || len(a.Bad) != 2 || a.Bad[1].Why != logs.Bug {
		t.Errorf("%+v", a)
	}
}
