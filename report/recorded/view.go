package recorded

import (
	"math"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
)

// View is a recording with the options by which it is reported.
type View struct {
	*kasoku.Recording
	Options report.Options
}

// Of is a run as it is reported by the options.
func Of(run *kasoku.Recording, o report.Options) View { return View{run, o} }

// Wall returns the wall time of an offset, in the zone asked for.
func (r View) Wall(at time.Duration) time.Time {
	t := r.Recording.Wall(at)
	if r.Options.Location != nil {
		t = t.In(r.Options.Location)
	}
	return t
}

// Clock prints the wall time of an offset without its day: 14:02:39.
func (r View) Clock(at time.Duration) string { return r.Wall(at).Format("15:04:05") }

// Length returns how long the run is; of one that was never closed, how far its
// data goes.
func (r View) Length() time.Duration {
	d := r.Run.Length
	if d > 0 {
		return d
	}
	for i := range r.Series {
		if n := len(r.Series[i].Points); n > 0 {
			d = max(d, r.Series[i].Points[n-1].At)
		}
	}
	for i := range r.Seconds {
		d = max(d, time.Duration(r.Seconds[i].Second+1)*time.Second)
	}
	for _, s := range r.Steps {
		d = max(d, s.Interval.To)
	}
	return d
}

// Lasted prints the length of the run, to the second when it has many.
func (r View) Lasted() string {
	if d := r.Length(); d >= 10*time.Second {
		return unit.Exact(d.Round(time.Second))
	}
	return unit.Elapsed(r.Length())
}

// Name is what people call the run.
func (r View) Name() string {
	if r.Run.Label != "" {
		return r.Run.Label
	}
	return r.Run.ID
}

// Title is project and name.
func (r View) Title() string {
	if r.Run.Project == "" {
		return r.Name()
	}
	return r.Run.Project + " / " + r.Name()
}

// Host returns the first host, empty when none was recorded.
func (r View) Host() kasoku.Host {
	if len(r.Run.Hosts) == 0 {
		return kasoku.Host{}
	}
	return r.Run.Hosts[0]
}

// Database returns MariaDB or MySQL with its version, empty when none was
// recorded.
func (r View) Database() (product, version string) {
	v, ok := r.Setting("mysql", "version")
	if !ok {
		return "", ""
	}
	number, _, _ := strings.Cut(v, "-")
	if strings.Contains(strings.ToLower(v), "mariadb") {
		return "MariaDB", number
	}
	return "MySQL", number
}

// DatabaseOr names the database, "the database" when it is unknown.
func (r View) DatabaseOr() string {
	if p, _ := r.Database(); p != "" {
		return p
	}
	return "database"
}

// All is the interval of the run, whatever its file says of its end.
func (r View) All() kasoku.Interval { return kasoku.Interval{To: r.Length() + 1} }

// Highest returns the largest value of a gauge, the last one at the run's end
// included, NaN without one.
func (r View) Highest(s *kasoku.Series) float64 {
	if s == nil {
		return math.NaN()
	}
	if v, ok := s.Max(kasoku.Interval{To: math.MaxInt64}); ok {
		return v
	}
	return math.NaN()
}

// Gained returns how much a counter grew, NaN where that is not known.
func (r View) Gained(s *kasoku.Series) float64 {
	if s == nil {
		return math.NaN()
	}
	if v, ok := s.Delta(r.All()); ok {
		return v
	}
	return math.NaN()
}

// LastOf returns the last value of another series of the same thing, NaN without one.
func (r View) LastOf(k kasoku.Key, name string) float64 {
	k.Name = name
	x := r.Find(k)
	if x == nil || len(x.Points) == 0 {
		return math.NaN()
	}
	return x.Points[len(x.Points)-1].Value
}

// onHosts is the run as each of its hosts saw it: that host's series and gaps alone. Both
// are gone through once, however many hosts there are.
func (r View) onHosts() []View {
	series, gaps := map[string][]kasoku.Series{}, map[string][]kasoku.Gap{}
	for i := range r.Series {
		series[r.Series[i].Key.Host] = append(series[r.Series[i].Key.Host], r.Series[i])
	}
	for _, g := range r.Gaps {
		gaps[g.Host] = append(gaps[g.Host], g)
	}
	out := make([]View, len(r.Run.Hosts))
	for i, h := range r.Run.Hosts {
		one := *r.Recording
		one.Run.Hosts, one.Series, one.Gaps = []kasoku.Host{h}, series[h.Name], gaps[h.Name]
		out[i] = Of(&one, r.Options)
	}
	return out
}

// Each calls do for the run as each of its hosts saw it, with the host's place and
// what to put before what is said of it; with one host that is the run itself, and
// nothing is put before.
func (r View) Each(do func(one View, place int, before string)) {
	if len(r.Run.Hosts) < 2 {
		do(r, 0, "")
		return
	}
	for i, one := range r.onHosts() {
		do(one, i, r.Run.Hosts[i].Name+": ")
	}
}
