package runlist

import (
	"cmp"
	"strings"

	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
)

// How many times the lowest figure the highest must be for a trend to be drawn on a
// logarithmic axis, and may be for all of it to be seen there.
const (
	logFrom = 10
	logTo   = 1e9
)

// What a trend can be drawn of; figures beyond are typed in error, or by somebody who
// wants to see what happens.
const (
	leastDrawn = 1e-6
	mostDrawn  = 1e15
)

// trends draws the figures that may be compared, where there are two or more.
func trends(steps []*listStep) []*report.Trend {
	lines := measured(steps)
	var out []*report.Trend
	for _, line := range lines {
		if len(line) < 2 {
			continue
		}
		t := trend(line)
		t.ID = "trend"
		if n := len(out); n > 0 {
			t.ID += "-" + unit.Plain(float64(n+1))
		}
		if len(lines) > 1 {
			r := line[0].first()
			t.Title = strings.Trim(r.Project+", "+r.Load, ", ")
		}
		out = append(out, t)
	}
	return out
}

func trend(line []*listStep) *report.Trend {
	t := &report.Trend{Name: line[0].measureName()}
	var figures []float64
	best := line[0]
	for _, s := range line {
		p := report.TrendPoint{Number: s.number, Name: s.name, Text: figureText(s.figure.Median),
			Value: s.figure.Median,
			Low:   s.figure.Least, High: s.figure.Most, Record: s.highest()}
		t.Points = append(t.Points, p)
		figures = append(figures, p.Value, p.Low, p.High)
		if s.figure.Median > best.figure.Median {
			best = s
		}
	}
	t.Peak = "max " + figureText(best.figure.Median) + " (" + best.name + ")"
	t.Axis = trendAxis(report.Smallest(figures), report.Largest(figures))
	if t.Log {
		t.Peak += ", log scale from " + figureText(report.Smallest(figures))
	}
	return t
}

func trendAxis(low, high float64) report.Axis {
	switch {
	case !(high >= leastDrawn && high <= mostDrawn): // also when it is not known
		return report.LinearAxis(1, nil, figureText)
	case high >= logFrom*low && high <= logTo*low:
		return report.LogAxis(low, high, figureText)
	}
	return report.LinearAxis(high, nil, figureText)
}

// tale describes each step in a few sentences: what was changed, what came of it, and
// what held it up.
func tale(steps []*listStep, o ListOptions) *report.Tale {
	t := &report.Tale{}
	for _, s := range steps {
		if s.first().Err == nil {
			t.List = append(t.List, report.Chapter{Number: s.number, Name: s.title(),
				Text: strings.Join(s.sentences(o), " ")})
		}
	}
	return t
}

func (s *listStep) title() string {
	if n := len(s.runs); n > 1 {
		return s.name + " ×" + unit.Count(n)
	}
	return s.name
}

func (s *listStep) sentences(o ListOptions) []string {
	r := s.last()
	out := sentence(nil, "", r.Note)
	was := ""
	if s.before != nil {
		was = revision(s.before.last())
	}
	switch now := revision(r); {
	case was != "" && now != "" && was != now:
		out = sentence(out, "Code ", was+" → "+now)
	case now != "" && was == "":
		out = sentence(out, "Code ", now)
	}
	if s.before != nil && o.Changes != nil {
		out = sentence(out, "Changed since "+s.before.name+": ", changedWords(o.Changes(s.before.last(), s.first())))
	}
	if len(s.values) == 0 {
		out = sentence(out, "", report.Sentence(s.unmeasured().Text))
	} else {
		out = s.figures(out)
	}
	if b := s.bottleneck(); b != "" {
		out = sentence(out, "Bottleneck: ", s.moved())
	}
	return sentence(out, "", r.Verdict)
}

// mostChanges is how many changes a sentence names.
const mostChanges = 6

// changedWords names what was changed apart from the code, which is reported separately.
func changedWords(changes []compare.Changed) string {
	var out []string
	for _, c := range changes {
		switch {
		case c.Kind == compare.CodeChange:
		case c.Before != "" || c.After != "":
			out = append(out, c.String()+" "+cmp.Or(c.Before, unit.Missing)+" → "+cmp.Or(c.After, unit.Missing))
		default:
			out = append(out, c.String())
		}
	}
	if n := len(out) - mostChanges; n > 1 {
		out = append(out[:mostChanges], unit.Count(n)+" more")
	}
	return strings.Join(out, "; ")
}

// figures words the figure, and how sure it is that it moved.
func (s *listStep) figures(out []string) []string {
	what := figureWords(s) + " " + figureText(s.figure.Median)
	if s.figure.N > 1 {
		what += ", median of " + unit.Count(s.figure.N) + " runs from " + figureText(s.figure.Least) + " to " +
			figureText(s.figure.Most)
	}
	if n, of := s.passed(); of > 0 {
		what += ", " + unit.Count(n) + " of " + unit.Count(of) + " passed"
	}
	if n := len(s.runs) - s.finished(); n > 0 {
		what += ", " + unit.Count(n) + " of " + unit.Count(len(s.runs)) + " incomplete"
	}
	if !s.observed() {
		what += ", " + s.observers()
	}
	out = sentence(out, "", what)
	switch {
	case s.before == nil:
	case s.observers() != s.before.observers():
		out = sentence(out, "Against "+s.before.name+": ", s.against(s.before).Text+
			", so not judged: what watches a run costs")
	default:
		out = sentence(out, "Against "+s.before.name+": ", s.whyMoved(s.before))
	}
	if s.best != nil && s.best != s.before && !s.highest() {
		out = sentence(out, "Against the best so far, "+s.best.name+": ", s.againstBest().Text)
	}
	return out
}

// sentence adds a sentence that says something, with a full stop.
func sentence(out []string, lead, s string) []string {
	s = strings.TrimSpace(s)
	if s == "" {
		return out
	}
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return append(out, lead+s)
}
