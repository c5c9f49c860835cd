package kasoku

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kasoku/kasoku/internal/contain"
)

// Contained runs f, one part of an answer that carries warnings. A panic in it adds a
// warning, and the caller goes on with the other parts. It reports whether f returned.
func Contained(p contain.Part, warnings *[]Warning, f func()) (done bool) {
	w, lost := LostPart(contain.Run(p, f))
	if lost {
		*warnings = append(*warnings, w)
	}
	return !lost
}

// LostPart returns the warning that a part is lost to a bug of kasoku; ok is false for
// an error that is no such bug.
func LostPart(err error) (w Warning, ok bool) {
	var bug *contain.Bug
	if !errors.As(err, &bug) {
		return Warning{}, false
	}
	return Warning{Code: "part-lost", Text: "a part is lost: " + bug.Error(), Hint: bug.Hint()}, true
}

// Lost reports whether the rule could not look because of a bug of kasoku.
func (s *Silence) Lost() bool { return s.Blind && strings.Contains(s.Reason, contain.Phrase) }

// DroppedLines returns the warning that lines of a log are in no table; ok is false when
// all of them could be read.
func DroppedLines(w *LogWindow) (_ Warning, ok bool) {
	if w.Dropped == 0 {
		return Warning{}, false
	}
	text := fmt.Sprintf("%s: %d of %d lines could not be read", w.Path, w.Dropped, w.Lines)
	if len(w.BadSample) > 0 {
		b := w.BadSample[0]
		text += fmt.Sprintf("; line %d of the window: %s: %q", b.Line, b.Why, b.Text)
	}
	return Warning{Code: "bad-lines", Text: text}, true
}

// LackWords joins the names of what a log lacks, and what is not known without it.
func LackWords(lacks []LogLack) (variables, lost string) {
	var names, losses []string
	for _, l := range lacks {
		names, losses = append(names, l.Variable), append(losses, l.Lost)
	}
	return strings.Join(names, ", "), strings.Join(losses, "; ")
}
