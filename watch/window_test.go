package watch

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

const sec = time.Second

func filled(t *testing.T, keep time.Duration, seconds int) *Window {
	t.Helper()
	rec := sample()
	w := NewWindow(rec.Run, rec.Settings, keep)
	for s := 0; s <= seconds; s++ {
		for _, f := range frames(s) {
			if err := w.Frame(&f); err != nil {
				t.Fatal(err)
			}
		}
	}
	return w
}

// TestWindowForgets: what is older than the window goes, what is younger stays, and
// what was handed out before does not change.
func TestWindowForgets(t *testing.T) {
	w := filled(t, 2*time.Minute, 100)
	before := w.Take()
	s := before.one("host", "cpu.user")
	n, first := len(s.Points), s.Points[0]
	_ = w.Mark(50*sec, "old")
	w.AddSeconds([]kasoku.LoadSecond{loadSecond(50), loadSecond(290)}, nil)
	w.AddQueries([]kasoku.Query{{ID: "A", Calls: 1}}, 50, 5*sec)
	w.AddQueries([]kasoku.Query{{ID: "A", Calls: 2}}, 290, 5*sec)
	for i := 101; i <= 300; i++ {
		for _, f := range frames(i) {
			_ = w.Frame(&f)
		}
	}
	if len(s.Points) != n || s.Points[0] != first {
		t.Error("what was taken before has changed")
	}
	d := w.Take()
	if got := d.one("host", "cpu.user").Points[0].At; got < 100*sec || got > 181*sec {
		t.Errorf("the oldest point is of %s, want within 2 to 3 minutes of 300 s", got)
	}
	if secondOf(d.Oldest) != secondOf(d.one("host", "cpu.user").Points[0].At) {
		t.Errorf("oldest %s, but the first point is of %s", d.Oldest, d.one("host", "cpu.user").Points[0].At)
	}
	if len(d.Rec.Events) != 0 || d.Load.Any(0, 100) || !d.Load.Any(290, 290) {
		t.Errorf("events %v, load of 50 s %t and 290 s %t", d.Rec.Events, d.Load.Any(0, 100), d.Load.Any(290, 290))
	}
	if len(d.looks) != 1 || d.looks[0].queries[0].Calls != 2 {
		t.Errorf("statements %+v, want 2 calls", d.looks)
	}
}

// TestMinute: the last minute is a run by itself.
func TestMinute(t *testing.T) {
	w := filled(t, time.Hour, 250)
	w.AddQueries([]kasoku.Query{{ID: "A", Calls: 7, RowsExamined: 70}}, 180, 5*sec)
	w.AddQueries([]kasoku.Query{{ID: "A", Calls: 5, RowsExamined: 50}}, 240, 5*sec)
	rec, from, _ := w.Minute(time.Minute)
	if want := 190*sec + 3*time.Millisecond; from != want || rec.Run.Length != time.Minute {
		t.Errorf("from %s for %s, want %s for a minute", from, rec.Run.Length, want)
	}
	if !slices.IsSortedFunc(rec.Series, func(a, b kasoku.Series) int { return compareKeys(a.Key, b.Key) }) {
		t.Error("the series are not sorted")
	}
	s := rec.Find(kasoku.Key{Source: "host", Name: "cpu.user"})
	if n := len(s.Points); n != 61 || s.Points[0].At != 0 || s.Points[n-1].At != time.Minute {
		t.Errorf("%d points from %s to %s", n, s.Points[0].At, s.Points[n-1].At)
	}
	if len(rec.Queries) != 1 || rec.Queries[0].Calls != 5 || rec.Queries[0].RowsExamined != 50 {
		t.Errorf("queries %+v", rec.Queries)
	}
	if got := w.Take().one("host", "cpu.user").Points[0].At; got != 3*time.Millisecond {
		t.Errorf("the window itself has changed: begins at %s", got)
	}
}

// TestGapsOfADeadSource: a gap each second is one gap.
func TestGapsOfADeadSource(t *testing.T) {
	w := NewWindow(kasoku.Run{}, nil, 0)
	for s := range 30 {
		_ = w.Gap(kasoku.Gap{Source: "mysql", Reason: "refused", Interval: kasoku.Interval{From: time.Duration(s) * sec, To: time.Duration(s+1) * sec}})
		_ = w.Gap(kasoku.Gap{Source: "nginx", Reason: "refused", Interval: kasoku.Interval{From: time.Duration(s) * sec, To: time.Duration(s+1) * sec}})
	}
	d := w.Take()
	if len(d.Rec.Gaps) != 2 || d.Rec.Gaps[0].Interval.Len() != 30*sec {
		t.Errorf("gaps %+v", d.Rec.Gaps)
	}
}

// TestMissing: a source that is down is named while it is, and is one gap.
func TestMissing(t *testing.T) {
	f := &fakeFeed{window: filled(t, time.Hour, 30), now: 30 * sec}
	gap := kasoku.Gap{Source: "nginx", Reason: "refused\x1b[2J", Interval: kasoku.Interval{From: 25 * sec, To: 26 * sec}}
	for ; gap.Interval.To <= 30*sec; gap.Interval.To += sec {
		f.window.Missing(gap)
	}
	m := NewModel(f.Take(), f, Options{})
	if s := m.Screen(); !strings.Contains(s, "no nginx: refused") || strings.Contains(s, "\x1b") {
		t.Errorf("nginx is not named:\n%s", s)
	}
	_ = f.window.Gap(gap)
	if g := f.window.Take().Rec.Gaps; len(g) != 1 || g[0].Interval != gap.Interval {
		t.Errorf("gaps %+v", g)
	}
}

// speaks is a rule that says what it was shown.
type speaks struct {
	id  string
	saw *kasoku.Interval
}

func (s speaks) ID() string        { return s.id }
func (s speaks) Doc() diagnose.Doc { return diagnose.Doc{} }
func (s speaks) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	*s.saw = c.Focus.Interval
	return []kasoku.Finding{{ID: s.id, Title: "speaks", Interval: kasoku.Interval{From: 0, To: sec},
		Evidence: []kasoku.Evidence{{Source: "test", Text: "it"}}}}, nil
}

// TestFindingsOnAWindow: rules look at the last minute, and what they find is on the
// window's clock. Rules about runs are not asked.
func TestFindingsOnAWindow(t *testing.T) {
	var saw kasoku.Interval
	all := OnWindow([]diagnose.Rule{speaks{"POOL-01", &saw}, speaks{"MES-01", &saw}})
	if len(all) != 1 {
		t.Fatalf("%d rules on a window, want 1", len(all))
	}
	if got, _ := Findings(filled(t, 0, 3), all); got != nil {
		t.Errorf("after 3 s: %v", got)
	}
	got, _ := Findings(filled(t, 0, 250), all)
	if len(got) != 1 || secondOf(got[0].Interval.From) != 190 {
		t.Fatalf("findings %+v", got)
	}
	if saw.Len() > time.Minute {
		t.Errorf("the rule was shown %v", saw)
	}
}

// TestValues: a rate belongs to the seconds that it covers, a gauge's gap stays one.
func TestValues(t *testing.T) {
	at := func(s float64) time.Duration { return time.Duration(s * float64(sec)) }
	rec := &kasoku.Recording{Series: []kasoku.Series{
		{Key: kasoku.Key{Source: "host", Name: "cpu.user"}, Kind: kasoku.Counter, Points: []kasoku.Point{{At: 0, Value: 0}, {At: at(1.003), Value: 1}, {At: at(2.001), Value: 2}, {At: at(5), Value: 11}, {At: at(6), Value: 3}}},
		{Key: kasoku.Key{Source: "mysql", Name: "Threads_running"}, Points: []kasoku.Point{{At: at(1.4), Value: 4}, {At: at(2.4), Value: 5}, {At: at(5.4), Value: 6}}},
		{Key: kasoku.Key{Source: "host", Name: "fast"}, Kind: kasoku.Counter, Points: []kasoku.Point{{At: at(1), Value: 0}, {At: at(1.5), Value: 10}, {At: at(1.9), Value: 18}, {At: at(2.4), Value: 28}, {At: at(2.9), Value: 38}}},
	}}
	d := Replay(rec)
	nan := math.NaN()
	for _, tc := range []struct {
		source, name string
		want         []float64
	}{
		{"host", "cpu.user", []float64{nan, 1, 1, 3, 3, 3, 3, nan}},
		{"mysql", "Threads_running", []float64{nan, 4, 5, nan, nan, 6, nan, nan}},
		{"host", "fast", []float64{nan, nan, 20, nan, nan, nan, nan, nan}},
		{"host", "none", []float64{nan, nan, nan, nan, nan, nan, nan, nan}},
	} {
		got := d.values(d.one(tc.source, tc.name), 0, 7)
		for i := range got {
			if math.IsNaN(got[i]) != math.IsNaN(tc.want[i]) || math.Abs(zero(got[i])-zero(tc.want[i])) > 0.05 {
				t.Errorf("%s %s: %v, want %v", tc.source, tc.name, got, tc.want)
				break
			}
		}
	}
}

// TestColumnsStand: time that goes on does not change the columns that are drawn.
func TestColumnsStand(t *testing.T) {
	d := Replay(sample())
	m := func(at int) []float64 {
		s := span{at - lookBack + 1, at}
		one := meter{v: d.values(d.one("mysql", "Threads_running"), s.from, s.to)}
		return one.columns(s, 12)
	}
	a, b := m(305), m(310)
	for i := 1; i < len(a)-1; i++ {
		if a[i] != b[i] && !(math.IsNaN(a[i]) && math.IsNaN(b[i])) {
			t.Errorf("column %d is %v at 305 s and %v at 310 s", i, a[i], b[i])
		}
	}
}

// TestStatementsOfSlowLooks: calls are divided by the time in which they were counted.
func TestStatementsOfSlowLooks(t *testing.T) {
	for _, tc := range []struct {
		every, at int
		title     string
	}{
		{5, 200, "statements, last 10 s"}, {25, 200, "statements, last 25 s"}, {25, 220, "statements, last 25 s"}, {8, 203, "statements, last 8 s"},
	} {
		w := filled(t, time.Hour, 230)
		for s := tc.every; s <= 200; s += tc.every {
			w.AddQueries([]kasoku.Query{{ID: "A", Fingerprint: "select 1", Calls: uint64(40 * tc.every), Total: 2 * time.Duration(tc.every) * sec,
				Seconds: map[int]kasoku.QuerySecond{}}}, s, time.Duration(tc.every)*sec)
		}
		table := look{w.Take(), tc.at}.statements()
		if len(table.rows) != 1 || table.title != tc.title || table.rows[0].values[1] != 40 || table.rows[0].values[2] != 2 {
			t.Errorf("looks each %d s, at %d s: %q %+v", tc.every, tc.at, table.title, table.rows)
		}
	}
}

// TestWindow_KeepsLoadOfRun: of a run that is recorded the load is kept with the window
// as it is seen.
func TestWindow_KeepsLoadOfRun(t *testing.T) {
	w := NewWindow(kasoku.Run{Started: time.Now()}, nil, 0)
	rec := sample()
	if err := w.Frame(&kasoku.Frame{At: 300 * time.Second}); err != nil {
		t.Fatal(err)
	}
	w.SetLoad(LoadOf(rec), rec.Steps)
	seen, asked := w.Take().Load, 0
	for _, s := range w.seconds(0) {
		if s.Asked > 0 {
			asked++
		}
	}
	if asked == 0 || asked != len(seen.points) {
		t.Errorf("%d seconds of the load are kept, %d seen", asked, len(seen.points))
	}
}
