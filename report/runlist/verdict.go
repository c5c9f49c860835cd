package runlist

import (
	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/store"
)

// compareWith compares what decides between two steps: p99 where both reach the same asked
// rate, else the figure itself. The name is empty for that.
func (s *listStep) compareWith(o *listStep) (x compare.Significance, name string) {
	if _, ok := s.atRate(o); ok {
		return compare.Samples(o.slowest(), s.slowest(), compare.Less), "p99 "
	}
	return compare.Samples(o.values, s.values, compare.More), ""
}

// measureName is what the figure is called.
func (s *listStep) measureName() string {
	if s.scored {
		return "score"
	}
	return "req/s"
}

// highest reports whether no step before it was better: had a higher median or, where
// both reach the same asked rate, a lower p99. One with failures is never the best: a
// wrong answer can be fast.
func (s *listStep) highest() bool {
	if len(s.values) == 0 || s.failures().Failures > 0 || s.best == nil {
		return len(s.values) > 0 && s.failures().Failures == 0
	}
	if _, ok := s.atRate(s.best); ok {
		x, _ := s.compareWith(s.best)
		return x.After.Median < x.Before.Median
	}
	return s.figure.Median > s.best.figure.Median
}

// verdict describes how the step did against its base, or the one before.
func (s *listStep) verdict() report.Cell {
	switch {
	case len(s.values) == 0:
		return s.unmeasured()
	case s.before == nil && s.other != "":
		return cell.Text(s.other).Toned(report.Dim)
	case s.before == nil:
		return cell.Text("first").Toned(report.Dim)
	}
	c := s.against(s.before)
	if s.first().Base != "" && s.before.number != s.number-1 {
		c.Text += ", upon " + s.before.name
	}
	return c
}

// againstBest describes how the step did against the best so far.
func (s *listStep) againstBest() report.Cell {
	failed := s.failures()
	switch {
	case len(s.values) == 0:
		return cell.None()
	case failed.Failures > 0:
		return cell.Text(report.FailuresOf(&failed)).Toned(report.Bad)
	case s.highest():
		return cell.Text("highest").Toned(report.Strong)
	case s.best == s.before:
		return cell.Text("the one before").Toned(report.Dim)
	}
	return s.against(s.best)
}

// against compares the step with an earlier one in as few words as say how sure it
// is. Steps that were not watched alike are not judged.
func (s *listStep) against(o *listStep) report.Cell {
	x, name := s.compareWith(o)
	if s.figure.Most == 0 && o.figure.Most == 0 && s.figure.Least == 0 && o.figure.Least == 0 {
		return cell.Text("0 as before: nothing to compare").Toned(report.Bad)
	}
	moved := name + unit.Change(x.Before.Median, x.After.Median)
	if s.observers() != o.observers() {
		return cell.Text(moved + ", " + s.observers()).Toned(report.Dim)
	}
	switch x.Verdict {
	case compare.OneAgainst:
		return cell.Text(moved + " one run")
	case compare.NotShown:
		return cell.Text(string(x.Verdict)).Toned(report.Dim)
	case compare.IsBetter:
		return cell.Text(string(x.Verdict) + " " + moved).Toned(report.Good)
	case compare.IsWorse:
		return cell.Text(string(x.Verdict) + " " + moved).Toned(report.Bad)
	}
	return cell.Text(moved + " " + string(x.Verdict))
}

// whyMoved describes how sure it is that the step differs from an earlier one.
func (s *listStep) whyMoved(o *listStep) string {
	x, name := s.compareWith(o)
	if name == "" {
		return x.Why
	}
	return name + unit.Duration(cell.AsDuration(x.Before.Median)) + " → " +
		unit.Duration(cell.AsDuration(x.After.Median)) + " at the rate that was asked for; " + x.Why
}

// unmeasured describes in a few words why the step has no figure.
func (s *listStep) unmeasured() report.Cell {
	r := s.last()
	for _, other := range s.runs {
		if r.State == kasoku.Incomplete && other.State == kasoku.Finished { // nameCell marks the incomplete
			r = other
		}
	}
	_, judged := s.passed()
	switch {
	case r.Err != nil:
		return cell.Text("unreadable").Toned(report.Bad)
	case r.Checkpoint():
		return cell.Text(store.Checkpoint)
	case r.State == kasoku.Running:
		return cell.Text("being recorded").Toned(report.Mark)
	case r.State == kasoku.Incomplete:
		return cell.Text(string(r.State)).Toned(report.Mark)
	case judged > 0:
		return cell.Text("failed").Toned(report.Bad)
	case r.Exit != 0:
		return cell.Text("benchmark failed").Toned(report.Bad)
	case kasoku.WhyFailed(r.Exit, r.Score, r.Summary) != "":
		return cell.Text("nothing succeeded").Toned(report.Bad)
	}
	return cell.Text("no figure").Toned(report.Dim)
}
