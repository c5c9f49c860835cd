package diagnose

import (
	"fmt"
	"math"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// Whole prints a number that counts things: 6,612.
func Whole(v float64) string {
	if math.IsNaN(v) || math.Abs(v) > 1e18 {
		return unit.Missing
	}
	return unit.Count(int64(math.Round(v)))
}

// More prints by how much something grew: +6,612, +0, −3.
func More(v float64) string {
	if v < 0 {
		return Whole(v)
	}
	return "+" + Whole(v)
}

// Span prints the focus as people read it on a clock: 14:02:39–14:02:50, or
// 28–39 s when the run has no wall clock.
func (qt Quote) Span() string {
	iv := qt.c.Focus.Interval
	if qt.c.Run.Started.IsZero() {
		return fmt.Sprintf("%.0f–%.0f s", iv.From.Seconds(), iv.To.Seconds())
	}
	return qt.Clock(iv.From) + "–" + qt.Clock(iv.To)
}

// Clock prints an offset as the time of day, or in seconds when the run has no wall
// clock.
func (qt Quote) Clock(at time.Duration) string {
	if qt.c.Run.Started.IsZero() {
		return fmt.Sprintf("%.0f s", at.Seconds())
	}
	return qt.c.Wall(at).Format("15:04:05")
}

// Counted is the evidence of a counter that grew over the focus.
func (qt Quote) Counted(g Grown, strong bool) kasoku.Evidence {
	note := qt.Span()
	if g.First == 0 && g.By > 0 {
		note = "0 → " + Whole(g.Last)
	}
	return kasoku.Evidence{
		Source: evidenceSource(g.Key.Source), Text: g.Key.Name, Note: note, Value: More(g.By), Number: g.By,
		Strong: strong, Series: []kasoku.Key{g.Key}, Interval: qt.c.Focus.Interval,
	}
}

// Variable is the evidence of a server variable.
func (qt Quote) Variable(name string) kasoku.Evidence {
	value, _ := qt.c.Setting(scopeMySQL, name)
	e := kasoku.Evidence{Source: "var", Text: name, Value: value, Strong: true}
	if v, ok := qt.c.Number(name); ok && !math.IsNaN(v) && !math.IsInf(v, 0) {
		e.Value, e.Number = unit.Plain(v), v
	}
	return e
}

// appLogSource is where evidence quotes the application's log.
const appLogSource = "app.log"

// Quoted is the evidence of a line of an application's log.
func (qt Quote) Quoted(s Said, strong bool) kasoku.Evidence {
	e := kasoku.Evidence{
		Source: appLogSource, Text: s.Text(), Value: "× " + unit.Count(s.Count), Number: float64(s.Count),
		Strong: strong, Interval: qt.c.Focus.Interval,
	}
	if s.Last > 0 {
		e.Note = "first " + qt.Clock(s.First)
	}
	return e
}

// Asked is the evidence of how many requests came in the focus.
func (qt Quote) Asked(r Requests) kasoku.Evidence {
	source := "access"
	if r.Source != "access log" {
		source = "load"
	}
	e := kasoku.Evidence{
		Source: source, Text: "requests", Note: qt.Span(), Value: unit.Count(r.Count), Number: float64(r.Count),
		Interval: qt.c.Focus.Interval,
	}
	if r.Failed > 0 {
		e.Note = unit.Count(r.Failed) + " failed"
	}
	return e
}

// evidenceSource is what evidence calls a source of series.
func evidenceSource(source string) string {
	if source == MySQL {
		return "status"
	}
	return source
}
