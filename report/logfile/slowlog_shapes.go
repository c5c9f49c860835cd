package logfile

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/statements"
)

// From when on a class of statements is reported to stand out. Smaller ones cost little.
const (
	leastCalls   = 20  // of a class, or in rows of at least 10 one after another
	leastRepeats = 5   // calls per different statement
	leastRatio   = 100 // rows examined for one that is sent
	leastRows    = 500 // rows examined per call
	mostShapes   = 12  // remarks that are shown
)

// A shape is a remark on a class, with what it may cost.
type shape struct {
	note report.Note
	cost time.Duration
}

// shapesSection shows which statements stand out: the same ones again and again,
// rows of them on one connection, many rows examined for few that are sent.
func (l *SlowLog) shapesSection() report.Section {
	s := report.Section{ID: SectionShapes, Title: "What stands out"}
	if l.By != "" {
		return s
	}
	var all []shape
	for i := range l.Classes {
		c := &l.Classes[i]
		for _, of := range []func(*slowlog.Class) (string, report.Prose){l.manyRows, l.rowByRow, l.repeats,
			l.noneAffected} {
			if text, hint := of(c); text != "" {
				label := statements.ShortID(c.ID)
				all = append(all, shape{report.Note{Sign: "!", Tone: report.Mark, Label: label, Code: true,
					Text: statements.Item(&c.Query) + ": " + text, Hint: hint}, c.Total})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b shape) int { return cmp.Compare(b.cost, a.cost) })
	notes := &report.Notes{}
	hinted := map[report.Prose]bool{} // what to do is said once
	for _, x := range all[:min(len(all), mostShapes)] {
		if hinted[x.note.Hint] {
			x.note.Hint = ""
		}
		hinted[x.note.Hint] = true
		notes.List = append(notes.List, x.note)
	}
	notes.List = append(notes.List, l.readOnly()...)
	notes.List = append(notes.List, l.saves()...)
	if len(notes.List) > 0 {
		s.Count = len(notes.List)
		s.Blocks = []report.Block{notes}
	}
	return s
}

// repeats is for reads that ask for the same again and again.
func (l *SlowLog) repeats(c *slowlog.Class) (string, report.Prose) {
	if c.Verb != "SELECT" || c.Calls < leastCalls || c.Distinct == 0 || c.Calls/c.Distinct < leastRepeats ||
		c.Calls == c.Streaks {
		return "", ""
	}
	saved := time.Duration(float64(c.Total) * (1 - float64(c.Distinct)/float64(c.Calls)))
	text := fmt.Sprintf("%s ask for only %s", unit.Counted(c.Calls, "call", "calls"),
		unit.Counted(c.Distinct, "thing", "different things"))
	if c.Total > 0 {
		text += fmt.Sprintf("; the repetitions take %s", unit.Duration(saved))
	}
	return text + ".", "Keep the answers in the application's memory, where they may be a moment old."
}

// rowByRow is for statements that come one after another on a connection: N+1
// reads, and INSERTs of single rows.
func (l *SlowLog) rowByRow(c *slowlog.Class) (string, report.Prose) {
	if c.Streaks < leastCalls || c.Streaks*4 < c.Calls {
		return "", ""
	}
	text := fmt.Sprintf("%s of %s stand in rows of 10 and more on one connection, the longest of %s",
		unit.Count(c.Streaks), unit.Counted(c.Calls, "call", "calls"), unit.Count(c.Streak))
	switch {
	case c.Verb == "SELECT":
		return text + ".", "One statement can fetch them all: a JOIN, or IN with a list."
	case c.SingleRow > 0 && c.SingleRow*2 > c.Calls:
		return text + ", each of one row.", "One INSERT can take many rows."
	case c.Verb == "UPDATE" || c.Verb == "DELETE":
		return text + ".", "One statement can change many rows."
	}
	return "", ""
}

// manyRows is for reads that examine far more than they send.
func (l *SlowLog) manyRows(c *slowlog.Class) (string, report.Prose) {
	calls := max(c.Calls, 1)
	if c.Verb != "SELECT" || c.RowsExamined/calls < leastRows || c.RowsExamined/max(c.RowsSent, 1) < leastRatio {
		return "", ""
	}
	text := unit.Sig3(float64(c.RowsExamined)/float64(calls)) + " rows examined a call, "
	if c.RowsSent == 0 {
		text += "none sent."
	} else {
		text += unit.Sig3(float64(c.RowsExamined)/float64(c.RowsSent)) + " for each that is sent."
	}
	return text, "An index on the columns of WHERE and ORDER BY lets the server skip the others; `kasoku explain` " +
		"shows what it uses now."
}

// noneAffected is for writes that change nothing.
func (l *SlowLog) noneAffected(c *slowlog.Class) (string, report.Prose) {
	if c.Verb != "UPDATE" && c.Verb != "DELETE" || !c.HasAffected || c.NoneAffected < leastCalls ||
		c.NoneAffected*2 < c.Calls {
		return "", ""
	}
	return fmt.Sprintf("%s of %s affect no row.", unit.Count(c.NoneAffected), unit.Counted(c.Calls, "call", "calls")),
		""
}

// readOnly is for transactions that only read.
func (l *SlowLog) readOnly() []report.Note {
	var n, statements uint64
	for i := range l.Transactions {
		if t := &l.Transactions[i]; t.ReadOnly {
			n += t.Count
			statements += t.Statements
		}
	}
	if n < leastCalls {
		return nil
	}
	return []report.Note{{
		Sign: "!", Tone: report.Mark, Label: "transactions",
		Text: fmt.Sprintf("%s only read, %s statements each.", unit.Counted(n, "transaction", "transactions"),
			unit.Sig3(float64(statements)/float64(n))),
		Hint: "Without BEGIN and COMMIT each of them takes two round trips less, unless its reads must agree with " +
			"one another.",
	}}
}

// saves is for an ORM's way to write.
func (l *SlowLog) saves() []report.Note {
	var out []report.Note
	for _, s := range l.Saves {
		if s.Count < leastCalls {
			continue
		}
		out = append(out, report.Note{
			Sign: "!", Tone: report.Mark, Label: "saves",
			Text: fmt.Sprintf("%s into %s come after an UPDATE that changed nothing and a SELECT that found nothing.",
				unit.Counted(s.Count, "INSERT", "INSERTs"), s.Table),
			Hint: "Where the row is known to be new, insert it; else INSERT … ON DUPLICATE KEY UPDATE does it in one statement.",
		})
	}
	return out
}
