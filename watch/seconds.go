package watch

import (
	"math"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/median"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/host"
)

// Data is what a screen is drawn of.
type Data struct {
	seconds
	Load   Load
	Oldest time.Duration // nothing older is there
	Live   bool          // more comes
	Silent time.Duration // nothing has come for so long

	Findings []kasoku.Finding // on the run's clock
	Notes    []string         // what is not seen, and why
	Recorded string           // run that is being recorded meanwhile

	looks      []counted   // at statements, when that is known; oldest first
	routeLooks []routeLook // at routes, of what is live; oldest first
	lateLog    bool        // lines of an access log came late
	made       struct {
		span   span
		meters []meter
	} // the meters that were asked for last
}

// seconds reads the series of a recording second by second.
type seconds struct {
	Rec   *kasoku.Recording
	index map[seriesName][]*kasoku.Series
	tick  int // seconds between two samples, at least 1; 0: not known yet
}

// seriesName is a key without host and instance.
type seriesName struct{ source, name string }

// Replay returns the data of a run file.
func Replay(rec *kasoku.Recording) *Data {
	d := &Data{seconds: seconds{Rec: rec}, Load: LoadOf(rec)}
	if rec.Diagnosis != nil {
		d.Findings = rec.Diagnosis.Findings
	}
	return d
}

// all returns every series of a source and a name.
func (r *seconds) all(source, name string) []*kasoku.Series {
	if r.index == nil {
		r.index = map[seriesName][]*kasoku.Series{}
		for i := range r.Rec.Series {
			s := &r.Rec.Series[i]
			k := seriesName{s.Key.Source, s.Key.Name}
			r.index[k] = append(r.index[k], s)
		}
	}
	return r.index[seriesName{source, name}]
}

// one returns the series of a source and a name without an instance, nil without
// one.
func (r *seconds) one(source, name string) *kasoku.Series {
	for _, s := range r.all(source, name) {
		if s.Key.Instance == "" {
			return s
		}
	}
	return nil
}

// has reports whether a source gave anything.
func (r *seconds) has(source string) bool {
	r.all(source, "")
	for k := range r.index {
		if k.source == source {
			return true
		}
	}
	return false
}

// every returns how many seconds lie between two samples.
func (r *seconds) every() int {
	if r.tick > 0 {
		return r.tick
	}
	r.tick = 1
	s := r.one(host.Name, host.CPUUser)
	if s == nil {
		s = r.one(observe.SelfName, observe.SelfCPUUser)
	}
	if s != nil && len(s.Points) > 2 {
		n := len(s.Points)
		gaps := make([]float64, 0, 16)
		for i := max(1, n-15); i < n; i++ {
			gaps = append(gaps, (s.Points[i].At - s.Points[i-1].At).Seconds())
		}
		r.tick = max(1, int(math.Round(median.High(gaps))))
	}
	return r.tick
}

// secondOf is the second that a sample stands for: that at whose end it was due.
func secondOf(at time.Duration) int { return int((at + 50*time.Millisecond) / time.Second) }

// values returns what a series was in each second from the first to the last: a
// counter's growth a second, a gauge's value. Not a number where it is not known.
func (r *seconds) values(s *kasoku.Series, from, to int) []float64 {
	out := make([]float64, to-from+1)
	for i := range out {
		out[i] = math.NaN()
	}
	if s == nil {
		return out
	}
	iv := kasoku.Interval{From: time.Duration(from-1-2*r.every())*time.Second - 50*time.Millisecond,
		To: time.Duration(to+1)*time.Second - 50*time.Millisecond}
	points := s.Within(iv)
	if s.Kind == kasoku.Gauge {
		r.gauge(out, points, from)
		return out
	}
	rates(out, points, from)
	return out
}

// gauge fills in a gauge's values; one holds until the next is due.
func (r *seconds) gauge(out []float64, points []kasoku.Point, from int) {
	for _, p := range points {
		at := secondOf(p.At) - from
		for i := max(at, 0); i < min(at+r.every(), len(out)); i++ {
			out[i] = p.Value
		}
	}
}

// rates fills in how fast a counter grew over the seconds between two samples.
func rates(out []float64, points []kasoku.Point, from int) {
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		// Of several samples in a second the last one counts.
		for i+1 < len(points) && secondOf(points[i+1].At) == secondOf(b.At) {
			i++
			b = points[i]
		}
		took := (b.At - a.At).Seconds()
		if took <= 0 {
			continue
		}
		grown := kasoku.Growth(a.Value, b.Value)
		for at := max(secondOf(a.At)+1, from); at <= secondOf(b.At) && at-from < len(out); at++ {
			out[at-from] = grown / took
		}
	}
}

// sum adds up several series second by second; not a number where all are.
func (r *seconds) sum(all []*kasoku.Series, from, to int) []float64 {
	return r.merge(all, from, to, func(a, b float64) float64 { return a + b })
}

// most takes the greatest of several series.
func (r *seconds) most(all []*kasoku.Series, from, to int) []float64 {
	return r.merge(all, from, to, math.Max)
}

func (r *seconds) merge(all []*kasoku.Series, from, to int, how func(a, b float64) float64) []float64 {
	out := r.values(nil, from, to)
	for _, s := range all {
		for i, v := range r.values(s, from, to) {
			switch {
			case math.IsNaN(v):
			case math.IsNaN(out[i]):
				out[i] = v
			default:
				out[i] = how(out[i], v)
			}
		}
	}
	return out
}

// valueAt returns a series' value at a second, or at the one before while its source has
// not answered yet.
func (r *seconds) valueAt(s *kasoku.Series, second int) float64 {
	return last(r.values(s, second-1, second))
}

// last is the latest value of the last two seconds.
func last(v []float64) float64 {
	n := len(v)
	if n > 1 && math.IsNaN(v[n-1]) {
		return v[n-2]
	}
	return v[n-1]
}

// named returns the series of a source and a name for which the instance is wanted.
func (r *seconds) named(source, name string, want func(instance string) bool) (out []*kasoku.Series) {
	for _, s := range r.all(source, name) {
		if want(s.Key.Instance) {
			out = append(out, s)
		}
	}
	return out
}

// each reports whether an instance is one of several, not their sum.
func each(instance string) bool { return instance != "" }

// outside reports whether a network device leads out of the host.
func outside(instance string) bool { return instance != "" && instance != "lo" }

// scale multiplies values in place.
func scale(v []float64, by float64) []float64 {
	for i := range v {
		v[i] *= by
	}
	return v
}

// add adds the values of b to a; what is not known of b counts as nothing.
func add(a, b []float64) []float64 {
	for i := range a {
		if !math.IsNaN(b[i]) {
			a[i] += b[i]
		}
	}
	return a
}

// prefixed returns the series of a source whose names begin so.
func (r *seconds) prefixed(source, prefix string) (out []*kasoku.Series) {
	for i := range r.Rec.Series {
		if s := &r.Rec.Series[i]; s.Key.Source == source && strings.HasPrefix(s.Key.Name, prefix) {
			out = append(out, s)
		}
	}
	return out
}
