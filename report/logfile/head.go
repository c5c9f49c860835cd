package logfile

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
)

// A logHead is what the documents of logs begin with, whatever the logs hold.
type logHead struct {
	kind    report.Kind
	what    string // access log
	name    string // of the log, or how many there are
	verdict string
	when    string // the time that they cover
	lines   string // what became of them
	stopped string // why reading ended early; empty when it did not
	logs    []kasoku.LogWindow
}

// document is one with that head and no section.
func (h *logHead) document(o report.Options) *report.Document {
	format := formatsOf(h.logs)
	d := &report.Document{
		Kind: h.kind, Title: h.what + " " + h.name, Name: h.name, Head: []string{h.name, format, h.when, h.lines},
		Verdict:  h.verdict,
		Commands: o.Commands, Footer: report.FooterOf(o, ""),
	}
	for _, f := range []report.Fact{{Label: "When", Value: h.when}, {Label: "Format", Value: format},
		{Label: "Lines", Value: h.lines}} {
		if f.Value != "" {
			d.Facts = append(d.Facts, f)
		}
	}
	alertStopped(d, h.stopped)
	if w := sumOf(h.logs); w.Dropped > 0 && w.Dropped*100 >= w.Lines {
		d.Alerts = append(d.Alerts, report.Alert{Tone: report.Mark,
			Text: unit.Percent(float64(w.Dropped)/float64(w.Lines)) +
				" of the lines were not understood."})
	}
	return d
}

// alertStopped alerts to why reading ended early, if it did.
func alertStopped(d *report.Document, why string) {
	if why != "" {
		d.Alerts = append(d.Alerts, report.Alert{Tone: report.Mark, Text: why})
	}
}

// nameOf is the file of logs, or how many there are: 3 access logs.
func nameOf(logs []kasoku.LogWindow, none, several string) string {
	switch len(logs) {
	case 0:
		return none
	case 1:
		if p := logs[0].Path; p != "" && p != "-" {
			return filepath.Base(p)
		}
		return "standard input"
	}
	return unit.Count(len(logs)) + " " + several
}

// formatsOf names the formats of logs, each once.
func formatsOf(logs []kasoku.LogWindow) string {
	var out []string
	for _, w := range logs {
		if w.Format != "" && !slices.Contains(out, w.Format) {
			out = append(out, w.Format)
		}
	}
	return strings.Join(out, "; ")
}

// sumOf adds up what became of the lines of logs.
func sumOf(logs []kasoku.LogWindow) (sum kasoku.LogWindow) {
	for _, w := range logs {
		sum.Lines += w.Lines
		sum.Records += w.Records
		sum.Continued += w.Continued
		sum.Blank += w.Blank
		sum.Dropped += w.Dropped
	}
	return sum
}

// equation describes what became of the lines of logs, n of whose records are reported:
// 10,020 lines = 10,012 requests + 8 dropped.
func equation(logs []kasoku.LogWindow, n uint64, one, many string) string {
	s := sumOf(logs)
	parts := []string{unit.Counted(n, one, many)}
	add := func(n uint64, what string) {
		if n > 0 {
			parts = append(parts, unit.Count(n)+" "+what)
		}
	}
	if s.Records > n {
		add(s.Records-n, "left out")
	}
	add(s.Continued, "further lines")
	add(s.Blank, "blank")
	add(s.Dropped, "dropped")
	return unit.Counted(s.Lines, "line", "lines") + " = " + strings.Join(parts, " + ")
}

// stretch prints the time from the first to the last record, which is so long.
func stretch(first, last time.Time, long time.Duration) string {
	end := last.Format("15:04:05 MST")
	if first.Format(time.DateOnly) != last.Format(time.DateOnly) {
		end = report.FormatDay(last)
	}
	return first.Format("2 Jan 2006, 15:04:05") + " – " + end + ", " + unit.Exact(long)
}

// covered is how long a log covers: all seconds from the first to the last.
func covered(from, to time.Duration) time.Duration {
	return to.Truncate(time.Second) - from.Truncate(time.Second) + time.Second
}

// logsTable accounts for each log, whose records stand in that column.
func logsTable(logs []kasoku.LogWindow, records report.Column) *report.Table {
	t := &report.Table{ID: "logs", Narrow: true, Columns: []report.Column{
		{Key: "path", Head: "log", Code: true, Cut: true},
		{Key: "format", Head: "format", Drop: 1},
		{Key: "lines", Head: "lines", Align: report.Right},
		records,
		{Key: "dropped", Head: "dropped", Align: report.Right},
	}}
	for _, w := range logs {
		dropped := cell.Count(w.Dropped)
		if w.Dropped > 0 {
			dropped.Tone = report.Mark
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(w.Path),
			cell.Text(cmp.Or(w.Format, unit.Missing)), cell.Count(w.Lines),
			cell.Count(w.Records), dropped}})
	}
	return t
}

// mostSamples is how many lines that were not understood are quoted.
const mostSamples = 3

// notesOf quotes lines that were dropped and says what was unusual about logs.
func notesOf(logs []kasoku.LogWindow) []report.Note {
	var out []report.Note
	for _, w := range logs {
		name := filepath.Base(cmp.Or(w.Path, "-"))
		for i, b := range w.BadSample[:min(len(w.BadSample), mostSamples)] {
			n := report.Note{Sign: "!", Tone: report.Mark, Label: name + ":" + unit.Plain(float64(b.Line)), Code: true,
				Text: "dropped, " + b.Why + ": " + b.Text}
			if more := w.Dropped - uint64(i) - 1; i == mostSamples-1 && more > 0 {
				n.Text += " (and " + unit.Count(more) + " more)"
			}
			out = append(out, n)
		}
		if w.Note != "" {
			out = append(out, report.Note{Sign: "·", Label: name, Code: true, Text: w.Note})
		}
	}
	return out
}

// notesSection is that of a log's document.
func notesSection(notes []report.Note) report.Section {
	s := report.Section{ID: SectionNotes, Title: "Notes"}
	if len(notes) > 0 {
		s.Blocks = []report.Block{&report.Notes{List: notes}}
	}
	return s
}

// Limited are the first rows, so many as the limit says; 0 is all.
func Limited[R any](rows []R, limit int) []R {
	if limit > 0 && len(rows) > limit {
		return rows[:limit]
	}
	return rows
}

// deviation is the standard deviation of n times, in s, from their sum and the sum
// of their squares.
func deviation(n uint64, total time.Duration, squares float64) float64 {
	mean := total.Seconds() / float64(n)
	return math.Sqrt(max(squares/float64(n)-mean*mean, 0))
}
