package prove

import (
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/median"
)

// A Timing is how long a statement took in repeated runs.
type Timing []time.Duration

// Median is the time in the middle; 0 where it was not run.
func (t Timing) Median() time.Duration {
	if len(t) == 0 {
		return 0
	}
	return median.High(t)
}

// apart reports whether all runs after took less than all before, or all took more, and the medians differ by
// what is called a change. Of five runs a side that comes by chance once in 126 times.
func apart(before, after Timing) bool {
	if len(before) == 0 || len(after) == 0 {
		return false
	}
	b, a := before.Median().Seconds(), after.Median().Seconds()
	far := b > 0 && max(a/b, b/max(a, 1e-9))-1 >= compare.LeastChange
	return far && (slices.Max(after) < slices.Min(before) || slices.Min(after) > slices.Max(before))
}

// replanned reports whether the server reads a statement another way than before: by another key, order of
// tables or step. How many rows it expects is no way of reading.
func replanned(before, after *kasoku.Plan) bool {
	if before == nil || after == nil {
		return false
	}
	same := func(x, y kasoku.PlanRow) bool {
		return x.Table == y.Table && x.Access == y.Access && x.Key == y.Key && x.KeyLen == y.KeyLen && x.Ref == y.Ref && x.Extra == y.Extra
	}
	return !slices.EqualFunc(before.Rows, after.Rows, same)
}

// relate finds which statements the trial is about. An index changes the time of those alone whose plans it
// changes: what else differs is noise of the host. What a variable changes no plan may show.
func (r *Trial) relate(edits []kasoku.Edit) {
	indexOnly := !slices.ContainsFunc(edits, func(e kasoku.Edit) bool { return e.Kind != kasoku.EditIndex })
	for i := range r.Samples {
		s := &r.Samples[i]
		s.Shown = apart(s.Before, s.After)
		unknown := s.PlanBefore == nil || s.PlanAfter == nil
		s.About = replanned(s.PlanBefore, s.PlanAfter) || s.Shown && (unknown || !indexOnly)
	}
	r.Unused = indexOnly && !slices.ContainsFunc(r.Samples, func(s Sample) bool {
		return s.About || s.PlanBefore == nil || s.PlanAfter == nil
	})
}

// quotes reports whether a finding quotes statements of the class: it is one of those that the change is for.
// A quotation may be cut.
func quotes(f *kasoku.Finding, q *kasoku.Query) bool {
	return slices.ContainsFunc(f.Evidence, func(e kasoku.Evidence) bool {
		text := strings.TrimSpace(strings.TrimSuffix(e.Text, "…"))
		return text != "" && strings.HasPrefix(q.Fingerprint, text)
	})
}
