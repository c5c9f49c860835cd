package runlist

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/store"
)

// A listStep is one step of the story that a list describes: a run, or the runs that
// repeat one another.
type listStep struct {
	number int
	name   string         // that finds it again
	runs   []store.Info   // the oldest first
	scored bool           // its figures are scores, else requests a second
	values []float64      // of the runs that count: finished and not failed
	figure compare.Sample // of values

	before *listStep // that it was tried upon, else the step before it of the same measure; nil for the first
	best   *listStep // the step before it with the highest median so far
	other  string    // what sets it apart from the project's step before it, when that is of another series
	series int       // steps of one number are compared
}

// listSteps puts runs into steps, in the order in which they began, and finds for
// each what it is to be compared with. Files that cannot be read come last.
func listSteps(runs []store.Info) []*listStep {
	sorted := slices.Clone(runs)
	slices.SortStableFunc(sorted, func(a, b store.Info) int {
		return cmp.Or(cmp.Compare(flag(a.Err != nil), flag(b.Err != nil)), a.Started.Compare(b.Started),
			cmp.Compare(a.Repeat, b.Repeat), cmp.Compare(a.ID, b.ID))
	})
	var steps []*listStep
	groups := map[string]*listStep{}
	for _, r := range sorted {
		if s := groups[r.Group]; r.Group != "" && s != nil {
			s.runs = append(s.runs, r)
			continue
		}
		s := &listStep{number: len(steps) + 1, runs: []store.Info{r}}
		steps = append(steps, s)
		if r.Group != "" {
			groups[r.Group] = s
		}
	}
	var series []*stepSeries
	for _, s := range steps {
		s.measure()
		if len(s.values) == 0 {
			continue
		}
		in := seriesOf(series, s)
		if in == nil {
			in = &stepSeries{number: len(series) + 1}
			series = append(series, in)
		}
		s.series, s.before, s.best = in.number, in.last, in.best
		if base := baseOf(steps, s); base != nil {
			s.before = base
		}
		in.last = s
		if s.highest() {
			in.best = s
		}
	}
	nameSteps(steps)
	return steps
}

// baseOf returns the step that a step was tried upon; nil where it is not known, is not
// there, or has figures of another series.
func baseOf(steps []*listStep, s *listStep) *listStep {
	base := s.first().Base
	for _, b := range steps {
		if b == s || base == "" {
			return nil
		}
		if b.series == s.series && slices.ContainsFunc(b.runs, func(r store.Info) bool { return r.ID == base }) {
			return b
		}
	}
	return nil
}

// A stepSeries is steps whose figures may be compared: of one project and measure, loaded
// alike.
type stepSeries struct {
	number     int
	last, best *listStep
}

// seriesOf returns the series that a step goes on, nil when it begins another one; the
// step then knows what sets it apart from the last one of its project and measure.
func seriesOf(series []*stepSeries, s *listStep) *stepSeries {
	var near *listStep
	for _, x := range series {
		if x.last.kind() != s.kind() {
			continue
		}
		why := loaded(x.last.first()).Apart(loaded(s.first()))
		if why == "" {
			s.other = ""
			return x
		}
		if near == nil || x.last.number > near.number {
			near, s.other = x.last, why
		}
	}
	return nil
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// nameSteps names each step by its label where that means it, else by its id: of
// several with one label it means the newest.
func nameSteps(steps []*listStep) {
	taken := map[string]bool{}
	for _, s := range slices.Backward(steps) {
		r := s.first()
		s.name = r.Label
		if s.name == "" || taken[s.name] {
			s.name = r.ID
			if len(s.runs) > 1 {
				s.name = r.Group
			}
		}
		taken[r.Label] = true
	}
}

func (s *listStep) first() store.Info { return s.runs[0] }
func (s *listStep) last() store.Info  { return s.runs[len(s.runs)-1] }

// measure takes the figures of the step: the scores where there is one, else the
// successful requests a second.
func (s *listStep) measure() {
	s.scored = slices.ContainsFunc(s.runs, func(r store.Info) bool { return r.Score != nil })
	for _, r := range s.runs {
		if v, ok := s.value(r); ok && counts(r) {
			s.values = append(s.values, v)
		}
	}
	s.figure = compare.Samples(s.values, nil, compare.More).Before
}

// counts reports whether a run's figures are worth comparing.
func counts(r store.Info) bool {
	return r.Err == nil && r.State == kasoku.Finished && !r.Checkpoint() &&
		kasoku.WhyFailed(r.Exit, r.Score, r.Summary) == ""
}

// failed reports whether a run of the step failed, so that its figures do not count.
func (s *listStep) failed() bool {
	return slices.ContainsFunc(s.runs, func(r store.Info) bool {
		return r.Err == nil && !r.Checkpoint() && r.State == kasoku.Finished &&
			kasoku.WhyFailed(r.Exit, r.Score, r.Summary) != ""
	})
}

func (s *listStep) value(r store.Info) (v float64, ok bool) {
	switch {
	case s.scored && r.Score != nil:
		v = r.Score.Value
	case !s.scored && r.Summary != nil && r.Summary.Source != "":
		v = r.Summary.PerSec
	default:
		return 0, false
	}
	return v, !math.IsNaN(v) && !math.IsInf(v, 0)
}

// loaded returns what a run was loaded with.
func loaded(r store.Info) compare.Loaded {
	return compare.Loaded{Load: r.Load, Targets: r.Targets, Steps: r.Steps, Entries: r.Entries, Hosts: r.Hosts,
		Reached: compare.ReachedLast(r.Steps, r.Summary)}
}

// kind distinguishes figures that must not be compared, whatever the loads were.
func (s *listStep) kind() string {
	measure := "load"
	if s.scored {
		measure = "score"
	}
	return measure + "\x00" + s.first().Project
}

// atRate returns the rate that both steps were asked for and reached; ok is false when
// they were not, and the requests a second decide. Where a rate is reached it says
// nothing of how fast a service is: how many succeed does, and how long they take.
func (s *listStep) atRate(o *listStep) (perSec float64, ok bool) {
	for _, x := range []*listStep{s, o} {
		for _, r := range x.runs {
			if !counts(r) || r.Score != nil || r.Summary == nil {
				continue
			}
			asked := r.Summary.Asked
			if asked <= 0 || r.Summary.P99 <= 0 || perSec > 0 && asked != perSec || r.Summary.PerSec < compare.KeepsUp*asked {
				return 0, false
			}
			perSec = asked
		}
	}
	return perSec, perSec > 0 && len(s.values) > 0 && len(o.values) > 0
}

// slowest returns the p99 of the runs that count, in s.
func (s *listStep) slowest() []float64 {
	var out []float64
	for _, r := range s.runs {
		if counts(r) && r.Summary != nil && r.Summary.P99 > 0 {
			out = append(out, r.Summary.P99.Seconds())
		}
	}
	return out
}

// failures returns how many requests of the step failed by what its benchmark printed,
// and of how many; those of a load that failed as a whole count as well.
func (s *listStep) failures() (sum kasoku.Score) {
	for _, r := range s.runs {
		if r.Score != nil {
			sum.Requests += max(r.Score.Requests, r.Score.Failures)
			sum.Failures += r.Score.Failures
		}
		// Of a ladder the steps that broke are no fault, and of a score its benchmark is the judge.
		if x := r.Summary; x != nil && x.Requests > x.Succeeded &&
			(x.Succeeded == 0 || r.Score == nil && (len(r.Steps) == 1 || x.Source == "access log")) {
			sum.Requests, sum.Failures = sum.Requests+x.Requests, sum.Failures+x.Requests-x.Succeeded
		}
	}
	return sum
}

// passed returns how many runs passed, of those that were judged.
func (s *listStep) passed() (n, of int) {
	for _, r := range s.runs {
		if r.Score != nil && r.Score.Outcome != kasoku.Unjudged {
			of++
			n += flag(r.Score.Outcome == kasoku.Passed)
		}
	}
	return n, of
}

func (s *listStep) finished() int {
	n := 0
	for _, r := range s.runs {
		n += flag(r.Err == nil && r.State == kasoku.Finished)
	}
	return n
}

// observers describes what watched the step.
func (s *listStep) observers() string {
	switch o := s.first().Observers; o {
	case "", kasoku.ObserversOn:
		return "observers on"
	case kasoku.ObserversOff:
		return "observers off"
	default:
		return o
	}
}

func (s *listStep) observed() bool {
	o := s.first().Observers
	return o == "" || o == kasoku.ObserversOn
}

// median returns the median of what f returns for the runs that count, among those of
// which it is known.
func (s *listStep) median(f func(*kasoku.Summary) float64) (v float64, ok bool) {
	var vs []float64
	for _, r := range s.runs {
		if r.Summary != nil && counts(r) {
			if x := f(r.Summary); x > 0 {
				vs = append(vs, x)
			}
		}
	}
	if len(vs) == 0 {
		return 0, false
	}
	return compare.Samples(vs, nil, compare.Neither).Before.Median, true
}

// bottleneck returns what most runs of the step met, with the figure of the last
// that did; empty when none met anything.
func (s *listStep) bottleneck() string {
	often, said := map[string]int{}, map[string]string{}
	best := ""
	for _, r := range s.runs {
		if r.Summary == nil || !counts(r) {
			continue
		}
		k := subject(r.Summary.Bottleneck)
		often[k]++
		said[k] = r.Summary.Bottleneck
		if often[k] >= often[best] {
			best = k
		}
	}
	return said[best]
}

// moved names the bottleneck, and from where it moved since the step before.
func (s *listStep) moved() string {
	now := s.bottleneck()
	if s.before == nil {
		return now
	}
	was := subject(s.before.bottleneck())
	switch {
	case was == "" || was == subject(now):
		return now
	case now == "":
		return was + " → none"
	}
	return was + " → " + now
}

// subject is what a bottleneck is of, without its figures: mysqld, disk vda.
func subject(bottleneck string) string {
	s := strings.TrimSpace(bottleneck)
	words := strings.Fields(s)
	for i, w := range words {
		if i > 0 && unicode.IsDigit([]rune(w)[0]) {
			return strings.Join(words[:i], " ")
		}
	}
	return s
}

// revision is the code that was measured, marked when the work tree had changes.
func revision(r store.Info) string {
	if r.Revision != "" && r.Dirty {
		return r.Revision + "*"
	}
	return r.Revision
}
