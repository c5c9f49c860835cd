package logs

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/lines"
)

// A Clock turns a wall time from a log into an offset of the run, which
// is negative before its start.
type Clock func(wall time.Time) time.Duration

// Place returns the offset of a record that took from start to start + length,
// both clamped to the interval, and whether the two overlap. An empty interval
// has no bounds. A time that a log gives in whole seconds is given as a length
// of a second: it may have been any moment of it.
func Place(iv kasoku.Interval, start, length time.Duration) (at time.Duration, inside bool) {
	if iv.Empty() {
		return max(start, 0), true
	}
	if start >= iv.To || start+max(length, 1) <= iv.From {
		return 0, false
	}
	return max(start, iv.From), true
}

// Bug is why a line is dropped that made its parser panic: see package contain.
const Bug = "a bug of kasoku"

// MaxBad is how many bad lines are kept as samples.
const MaxBad = 5

// maxBadText is how many bytes of each are kept.
const maxBadText = 200

// An Account counts the lines of a log by what became of them:
// Lines = Records + Continued + Blank + Dropped, once a log is read.
type Account struct {
	Lines     uint64
	Records   uint64
	Continued uint64 // further lines of records, and lines of the server's own between them
	Blank     uint64
	Dropped   uint64
	Cut       uint64 // lines longer than the bound, of which only the start was read
	Bad       []kasoku.BadLine
}

// Drop counts a line that no parser understood, or several lines from that one
// on, and keeps the first few. The text may change afterwards.
func (a *Account) Drop(n uint64, line int64, text []byte, why string) {
	a.Dropped += n
	if len(a.Bad) < MaxBad {
		a.Bad = append(a.Bad, kasoku.BadLine{Line: line, Text: string(AppendSafe(nil, text, maxBadText)), Why: why})
	}
}

// Add adds the account of another part of the same log.
func (a *Account) Add(o *Account) {
	a.Lines += o.Lines
	a.Records += o.Records
	a.Continued += o.Continued
	a.Blank += o.Blank
	a.Dropped += o.Dropped
	a.Cut += o.Cut
	a.Bad = append(a.Bad, o.Bad[:min(len(o.Bad), MaxBad-len(a.Bad))]...)
}

// CutNote describes how many lines were cut, nothing when none was.
func (a *Account) CutNote() string {
	switch a.Cut {
	case 0:
		return ""
	case 1:
		return "1 line longer than " + unit.BytesIEC(lines.DefaultMaxLine) + " was cut"
	}
	return fmt.Sprintf("%s lines longer than %s were cut", unit.Count(a.Cut), unit.BytesIEC(lines.DefaultMaxLine))
}

// Window describes what was read from the lines. The notes are joined to what
// the lines themselves say.
func (a *Account) Window(kind, format string, src *lines.Window, notes ...string) kasoku.LogWindow {
	return a.Describe(kind, format, src.Files(), append([]string{src.Note()}, notes...)...)
}

// Describe returns what was read from the parts of files, oldest first.
func (a *Account) Describe(kind, format string, files []lines.Segment, notes ...string) kasoku.LogWindow {
	w := kasoku.LogWindow{
		Kind: kind, Format: format,
		Lines: a.Lines, Records: a.Records, Continued: a.Continued, Blank: a.Blank, Dropped: a.Dropped,
		BadSample: a.Bad,
	}
	if len(files) > 0 {
		first, last := files[0], files[len(files)-1]
		w.Path, w.Device, w.Inode = last.Path, last.Device, last.Inode
		w.From, w.To, w.Files = first.From, last.To, len(files)
	}
	for _, n := range append(notes, a.CutNote()) {
		if n == "" {
			continue
		}
		if w.Note != "" {
			w.Note += "; "
		}
		w.Note += n
	}
	return w
}
