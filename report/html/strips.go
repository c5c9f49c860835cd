package html

import (
	"html/template"

	"github.com/kasoku/kasoku/report"
)

// A strip of the page: the runs of one figure.
type strip struct {
	report.Strip
	Tag    string
	Shapes []shape
	Aria   string
}

// The heights of the two rows of a strip, in the units of its view box.
const (
	beforeAt = 8
	afterAt  = 22
)

func stripsView(s *report.Strips) []strip {
	out := make([]strip, 0, len(s.List))
	for _, x := range s.List {
		v := strip{Strip: x, Tag: verdictTag(x.Verdict, x.Tone), Aria: x.Name + ", each run"}
		for _, y := range []string{trim(beforeAt), trim(afterAt)} {
			v.Shapes = append(v.Shapes, shape{D: "M0 " + y + "H260", Stroke: "var(--line)", Width: "1"})
		}
		for _, d := range x.Before {
			v.Shapes = append(v.Shapes, shape{D: circle(drawn*d.At, beforeAt, 3.5), Fill: "var(--bg)",
				Stroke: "var(--s5)", Width: "2"})
		}
		for _, d := range x.After {
			v.Shapes = append(v.Shapes, shape{D: circle(drawn*d.At, afterAt, 3.5), Fill: "var(--s1)",
				Stroke: "var(--s1)", Width: "1"})
		}
		out = append(out, v)
	}
	return out
}

// strips renders the runs of both sides.
func (r *renderer) strips(s *report.Strips) (template.HTML, error) {
	return r.execute("strips", stripsView(s))
}
