package merge

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// world is the traffic that all hosts see, requests a second at true time t.
type world struct{ bursts []float64 }

func newWorld(seed uint64, n int) world {
	rng := rand.New(rand.NewPCG(seed, 3))
	w := world{make([]float64, n)}
	level := 100.0
	for i := range w.bursts {
		if rng.IntN(4) == 0 {
			level = 20 + 400*rng.Float64()
		}
		w.bursts[i] = level
	}
	return w
}

// total is how many requests there were until true time t, s.
func (w world) total(t float64) float64 {
	sum := 0.0
	for i, v := range w.bursts {
		share := math.Min(math.Max(t-float64(i), 0), 1)
		sum += share * v
	}
	return sum
}

// record makes the recording of a host whose clock is ahead by offset, from true
// time from to to, s.
func (w world) record(name string, offset, from, to float64, noise *rand.Rand, counters map[string]float64) *kasoku.Recording {
	rec := &kasoku.Recording{Run: kasoku.Run{
		ID: name, Label: name, State: kasoku.Finished, Length: seconds(to - from),
		Started: noon.Add(time.Duration((from + offset) * 1e9)),
		Hosts:   []kasoku.Host{{Name: name, BootID: name}},
	}}
	for counter, scale := range counters {
		source, key, _ := strings.Cut(counter, "/")
		s := kasoku.Series{Key: kasoku.Key{Host: name, Source: source, Name: key}, Kind: kasoku.Counter}
		if source == "host" {
			s.Key.Instance = "eth0"
		}
		for tick := 1.0; tick < to-from; tick++ {
			jitter := noise.Float64() * 0.004
			t := from + tick + jitter
			s.Points = append(s.Points, kasoku.Point{At: time.Duration((tick + jitter) * 1e9), Value: math.Floor(scale*w.total(t) + 10*scale*noise.Float64() + 50*t)})
		}
		rec.Series = append(rec.Series, s)
	}
	return rec
}

func TestOffsets(t *testing.T) {
	worst, covered, rounds := 0.0, 0, 0
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(seed, 90)
		offset := 60*rng.Float64() - 30
		app := w.record("app1", 0, 2, 80, rng, map[string]float64{"host/net.tx_bytes": 500})
		db := w.record("db", offset, 5+rng.Float64(), 85, rng, map[string]float64{"host/net.rx_bytes": 510})
		out, err := Merge([]*kasoku.Recording{app, db}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		h := out.Run.Hosts[1]
		rounds++
		wrong := math.Abs(h.ClockOffset.Seconds() - offset)
		worst = max(worst, wrong)
		if wrong <= h.ClockError.Seconds() {
			covered++
		}
	}
	if worst > 0.1 {
		t.Errorf("an offset is wrong by %.3f s", worst)
	}
	if covered < rounds*9/10 {
		t.Errorf("the error bar held the truth in %d of %d", covered, rounds)
	}
	t.Logf("worst %.3f s, covered %d of %d", worst, covered, rounds)
}

func TestMergePlacesAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	w := newWorld(7, 60)
	gen := w.record("gen", 0, 10, 55, rng, nil)
	gen.Steps = []kasoku.Step{{Number: 1, PerSec: 100, Interval: kasoku.Interval{From: 2 * time.Second, To: 40 * time.Second}}}
	gen.Run.Price = kasoku.Price{PerHour: 1, Currency: "USD"}
	for sec := 2; sec < 40; sec++ {
		gen.Seconds = append(gen.Seconds, kasoku.LoadSecond{Second: sec, Step: 1, Asked: uint64(w.bursts[sec+10])})
	}
	db := w.record("db", 4, 3.25, 58, rng, map[string]float64{"mysql/Questions": 3})
	db.Run.Price = kasoku.Price{PerHour: 2}
	db.Events = []kasoku.Event{{At: 10 * time.Second, Host: "db", Kind: "mark"}}
	db.Warnings = []kasoku.Warning{{Code: "x", Text: "y"}}

	out, err := Merge([]*kasoku.Recording{db, gen}, Options{Label: "both"})
	if err != nil {
		t.Fatal(err)
	}
	if r := out.Run; r.Hosts[0].Name != "gen" || r.Hosts[1].Name != "db" || r.Label != "both" || r.Price.PerHour != 3 || r.State != kasoku.Finished {
		t.Errorf("run %+v", r)
	}
	if off := out.Run.Hosts[1].ClockOffset.Seconds(); math.Abs(off-4) > 0.2 {
		t.Errorf("offset %v, %s", off, out.Run.Hosts[1].ClockNote)
	}
	// The database began 6.75 s before the generator: the run begins 7 s before it.
	if !out.Run.Started.Equal(gen.Run.Started.Add(-7 * time.Second)) {
		t.Errorf("started %v", out.Run.Started)
	}
	if out.Steps[0].Interval.From != 9*time.Second || out.Seconds[0].Second != 9 {
		t.Errorf("step %v, second %d", out.Steps[0].Interval, out.Seconds[0].Second)
	}
	if at := out.Events[0].At.Seconds(); math.Abs(at-10.25) > 0.2 { // true 13.25, and the run starts at true 3
		t.Errorf("event at %v", at)
	}
	if out.Find(kasoku.Key{Source: "mysql", Name: "Questions"}) == nil || out.Warnings[0].Text != "db: y" {
		t.Errorf("warnings %v", out.Warnings)
	}
	if db.Events[0].At != 10*time.Second || db.Run.Hosts[0].ClockOffset != 0 {
		t.Error("the recording was changed")
	}
}

// TestMergeKeepsStatementSources merges a host whose queries are statement digests with one
// whose queries are of its slow log: each class keeps where it is known from, also where both
// hosts run it.
func TestMergeKeepsStatementSources(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	w := newWorld(3, 60)
	logged := w.record("one", 0, 10, 50, rng, map[string]float64{"mysql/Questions": 3})
	counted := w.record("two", 1, 10, 50, rng, map[string]float64{"mysql/Questions": 3})
	logged.Queries = []kasoku.Query{{Host: "one", ID: "A", Fingerprint: "select ?"}}
	counted.Queries = []kasoku.Query{{Host: "two", ID: "A", Fingerprint: "select ?"}}
	counted.Warnings = []kasoku.Warning{{Code: kasoku.CodeDigests, Text: "digests"}}
	f := func(want string, recs ...*kasoku.Recording) {
		t.Helper()
		out := recs[0]
		if len(recs) > 1 {
			var err error
			if out, err = Merge(recs, Options{}); err != nil {
				t.Fatal(err)
			}
			for host, source := range map[string]string{"one": "slow.log", "two": "digests"} {
				at := slices.IndexFunc(out.Queries, func(q kasoku.Query) bool { return q.Host == host })
				if got := out.StatementSource(&out.Queries[at]); got != source {
					t.Errorf("the statement of %s is from %q, want %q", host, got, source)
				}
			}
		}
		if got := out.StatementSource(); got != want || !kasoku.IsStatementSource(got) {
			t.Errorf("statements are from %q, want %q", got, want)
		}
	}
	f("slow.log", logged)
	f("digests", counted)
	f("slow.log, digests", logged, counted)
	f("slow.log, digests", counted, logged)
}

func TestKernelClocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	w := world{make([]float64, 60)} // no traffic
	a := w.record("a", 0, 0, 50, rng, nil)
	b := w.record("b", 0, 1, 50, rng, nil)
	f := func(errA, errB time.Duration, wantErr time.Duration, wantCode string) {
		t.Helper()
		a.Run.Hosts[0].ClockError, b.Run.Hosts[0].ClockError = errA, errB
		out, err := Merge([]*kasoku.Recording{a, b}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		code := ""
		if len(out.Warnings) > 0 {
			code = out.Warnings[0].Code
		}
		if h := out.Run.Hosts[1]; h.ClockError != wantErr || h.ClockOffset != 0 || code != wantCode {
			t.Errorf("host %+v, warnings %v", h, out.Warnings)
		}
	}
	f(2*time.Millisecond, 3*time.Millisecond, 5*time.Millisecond, "")
	f(2*time.Millisecond, 0, 0, "clocks-unknown")
}

// Traffic that repeats itself fits at several shifts, and so at none.
func TestPeriodicTraffic(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	w := world{make([]float64, 120)}
	for i := range w.bursts {
		w.bursts[i] = 100
		if i%10 < 3 {
			w.bursts[i] = 900
		}
	}
	a := w.record("a", 0, 0, 110, rng, map[string]float64{"host/net.tx_bytes": 500})
	b := w.record("b", 3, 0, 110, rng, map[string]float64{"host/net.rx_bytes": 500})
	out, err := Merge([]*kasoku.Recording{a, b}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Warnings) != 1 || out.Warnings[0].Code != "clocks-unknown" {
		t.Errorf("host %+v, warnings %v", out.Run.Hosts[1], out.Warnings)
	}
}

func TestGivenOffset(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 1))
	w := newWorld(13, 60)
	a, b := w.record("a", 0, 0, 50, rng, nil), w.record("b", 3600, 1, 50, rng, nil)
	out, err := Merge([]*kasoku.Recording{a, b}, Options{Offsets: map[string]time.Duration{"b": time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	if h := out.Run.Hosts[1]; h.ClockOffset != time.Hour || h.ClockNote != "given" || len(out.Warnings) != 0 {
		t.Errorf("host %+v, %v", h, out.Warnings)
	}
}

func TestSameNames(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 1))
	w := newWorld(15, 60)
	a, b := w.record("box", 0, 0, 50, rng, nil), w.record("box", 0, 1, 50, rng, map[string]float64{"mysql/Questions": 1})
	a.Run.Hosts[0].BootID, b.Run.Label = "other", "db"
	b.Settings = []kasoku.Setting{{Host: "box", Scope: "mysql", Name: "x"}}
	out, err := Merge([]*kasoku.Recording{a, b}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if out.Run.Hosts[1].Name != "box (db)" || out.Series[0].Key.Host != "box (db)" || out.Settings[0].Host != "box (db)" {
		t.Errorf("hosts %v, series %v", out.Run.Hosts, out.Series[0].Key)
	}
	if b.Settings[0].Host != "box" {
		t.Error("the recording was changed")
	}
}

// TestEveryHost: whatever a recording says of a host is in the merged run, under
// the host's new name, and the recording stays as it was.
func TestEveryHost(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 1))
	w := newWorld(15, 60)
	a, b := w.record("box", 0, 0, 50, rng, nil), w.record("box", 0, 1, 50, rng, nil)
	a.Run.Hosts[0].BootID, b.Run.Label = "other", "db"
	listed := func(r *kasoku.Recording, each func(name string, list reflect.Value)) {
		v := reflect.ValueOf(r).Elem()
		for i := range v.NumField() {
			if f := v.Field(i); f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct {
				if _, ok := f.Type().Elem().FieldByName("Host"); ok {
					each(v.Type().Field(i).Name, f)
				}
			}
		}
	}
	listed(b, func(_ string, list reflect.Value) {
		v := reflect.New(list.Type().Elem()).Elem()
		v.FieldByName("Host").SetString("box")
		list.Set(reflect.Append(list, v))
	})
	out, err := Merge([]*kasoku.Recording{a, b}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	listed(out, func(name string, list reflect.Value) {
		if list.Len() == 0 || list.Index(list.Len()-1).FieldByName("Host").String() != "box (db)" {
			t.Errorf("%s: %v", name, list)
		}
	})
	listed(b, func(name string, list reflect.Value) {
		if got := list.Index(list.Len() - 1).FieldByName("Host").String(); got != "box" {
			t.Errorf("the recording's %s were changed: host %q", name, got)
		}
	})
}

func TestMerge_Failure(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 1))
	w := newWorld(17, 60)
	a, b, late := w.record("a", 0, 0, 50, rng, nil), w.record("b", 0, 1, 50, rng, nil), w.record("c", 7200, 0, 50, rng, nil)
	again := w.record("a", 0, 0, 50, rng, nil)
	loaded, loaded2 := *a, *b
	loaded.Steps, loaded2.Steps = []kasoku.Step{{Number: 1}}, []kasoku.Step{{Number: 1}}
	f := func(want string, o Options, recs ...*kasoku.Recording) {
		t.Helper()
		_, err := Merge(recs, o)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.What, want) || e.Help == "" {
			t.Errorf("error %v", err)
		}
	}
	f("nothing to merge", Options{}, a)
	f("both a and b hold a load", Options{}, &loaded, &loaded2)
	f("not recorded at the same time", Options{}, a, late)
	f("on the same host, a", Options{}, a, again)
	f(`no recording is of host "x"`, Options{Offsets: map[string]time.Duration{"x": 1}}, a, b)
}

func TestEveryTimeMoves(t *testing.T) {
	rec := &kasoku.Recording{
		Steps: []kasoku.Step{{}}, Phases: []kasoku.Phase{{}}, Gaps: []kasoku.Gap{{}}, Events: []kasoku.Event{{}},
		Series: []kasoku.Series{{Points: []kasoku.Point{{}}}}, Queries: []kasoku.Query{{Seconds: map[int]kasoku.QuerySecond{0: {Calls: 1}}}}, Seconds: []kasoku.LoadSecond{{}},
		Endpoints: []kasoku.Endpoint{{Seconds: map[int]kasoku.EndpointSecond{0: {Count: 1}}}},
		Messages:  []kasoku.Message{{Seconds: map[int]uint64{0: 1}}}, Slowest: []kasoku.SlowRequest{{}},
	}
	d := 90 * time.Second
	m := moved(rec, d)
	for name, got := range map[string]time.Duration{
		"step": m.Steps[0].Interval.From, "phase": m.Phases[0].Interval.To, "gap": m.Gaps[0].Interval.To, "event": m.Events[0].At,
		"series": m.Series[0].Points[0].At, "query": m.Queries[0].Last, "second": time.Duration(m.Seconds[0].Second) * time.Second,
		"endpoint": m.Endpoints[0].First, "message": m.Messages[0].Last, "slow request": m.Slowest[0].At,
	} {
		if got != d {
			t.Errorf("%s at %v", name, got)
		}
	}
	if m.Endpoints[0].Seconds[90].Count != 1 || m.Messages[0].Seconds[90] != 1 || m.Queries[0].Seconds[90].Calls != 1 || rec.Series[0].Points[0].At != 0 {
		t.Error("seconds")
	}
}

// Two recordings of one machine have one clock, whatever their traffic says.
func TestOneMachine(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 1))
	w := newWorld(19, 60)
	f := func(bootA, bootB, wantNote string, wantWarnings int) {
		t.Helper()
		a := w.record("a", 0, 0, 50, rng, map[string]float64{"host/net.tx_bytes": 500})
		b := w.record("b", 0, 1, 50, rng, nil)
		a.Run.Hosts[0].BootID, b.Run.Hosts[0].BootID = bootA, bootB
		a.Run.Hosts[0].ClockError, b.Run.Hosts[0].ClockError = 0, time.Second
		out, err := Merge([]*kasoku.Recording{a, b}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if h := out.Run.Hosts[1]; h.ClockOffset != 0 || h.ClockError != 0 || !strings.Contains(h.ClockNote, wantNote) || len(out.Warnings) != wantWarnings {
			t.Errorf("host %+v, warnings %v", h, out.Warnings)
		}
	}
	f("x", "x", "one machine, one clock", 0)
	f("", "", "not known", 1)
	f("x", "y", "not known", 1)
}

// TestCounters: what a counter shows after a restart of its server has grown from zero.
func TestCounters(t *testing.T) {
	s := kasoku.Series{Kind: kasoku.Counter}
	for i, v := range []float64{100, 130, 5, 25} {
		s.Points = append(s.Points, kasoku.Point{At: time.Duration(i) * time.Second, Value: v})
	}
	got := counters("statements", []*kasoku.Series{&s, &s}, time.Second)
	if want := []float64{0, 60, 70, 110}; !slices.Equal(got.total, want) || got.at[0] != 1 {
		t.Errorf("%v at %v, want %v", got.total, got.at, want)
	}
}

// TestMergeConnects: an edge that left its host leads to the member that listens there, and to none
// where two may be meant.
func TestMergeConnects(t *testing.T) {
	web := kasoku.Member{ID: "web", Host: "web", Listeners: []kasoku.Listener{{Network: "tcp", Address: "0.0.0.0:80"}}}
	all := kasoku.Member{ID: "db", Host: "db", Listeners: []kasoku.Listener{{Network: "tcp", Address: "0.0.0.0:3306"}}}
	one := kasoku.Member{ID: "db2", Host: "db2", Listeners: []kasoku.Listener{{Network: "tcp",
		Address: "10.0.0.4:3306"}}}
	twin := kasoku.Member{ID: "twin", Host: "twin", Listeners: []kasoku.Listener{{Network: "tcp",
		Address: "[::]:3306"}}}
	local := kasoku.Member{ID: "local", Host: "db3", Listeners: []kasoku.Listener{{Network: "tcp",
		Address: "127.0.0.1:3306"}}}
	f := func(want, at string, members ...kasoku.Member) {
		t.Helper()
		s := &kasoku.Service{Members: append([]kasoku.Member{web}, members...),
			Edges: []kasoku.Edge{{From: "web", At: kasoku.Listener{Network: "tcp", Address: at}}}}
		connect(s)
		if got := s.Edges[0].To; got != want || (want != "") != (len(s.Edges[0].Found) == 1) {
			t.Errorf("%s: leads to %q, want %q; %v", at, got, want, s.Edges[0].Found)
		}
	}
	f("db", "10.0.0.3:3306", all)
	f("db2", "10.0.0.4:3306", all, one)
	f("db", "10.0.0.3:3306", all, one)
	f("", "10.0.0.3:3306", all, twin)
	f("", "10.0.0.3:3306", local)
	f("", "127.0.0.1:3306", all)
	f("", "10.0.0.3:80", all) // the web host itself
	connect(nil)
}

// TestClaim: a recording that came from another host is of that host alone, whatever it says, and
// holds no load.
func TestClaim(t *testing.T) {
	w := newWorld(3, 60)
	rng := rand.New(rand.NewPCG(3, 1))
	rec := w.record("own", 0, 10, 50, rng, map[string]float64{"mysql/Questions": 3})
	rec.Run.Hosts = append(rec.Run.Hosts, kasoku.Host{Name: "db"})
	rec.Series[0].Key.Host = "db"
	rec.Queries = []kasoku.Query{{Host: "app"}, {}}
	rec.Steps, rec.Seconds, rec.Load = []kasoku.Step{{}}, []kasoku.LoadSecond{{}}, &kasoku.LoadSummary{}
	rec.Run.Score, rec.Run.Command = &kasoku.Score{}, &kasoku.Command{}
	Claim(rec, "web")
	if len(rec.Run.Hosts) != 1 || rec.Run.Hosts[0].Name != "web" || rec.Series[0].Key.Host != "web" ||
		rec.Queries[0].Host != "web" || rec.Queries[1].Host != "web" {
		t.Errorf("hosts %v, series of %q, queries %v", rec.Run.Hosts, rec.Series[0].Key.Host, rec.Queries)
	}
	if rec.Steps != nil || rec.Seconds != nil || rec.Load != nil || rec.Run.Score != nil || rec.Run.Command != nil {
		t.Error("a load is left")
	}
	empty := &kasoku.Recording{}
	if Claim(empty, "web"); empty.Run.Hosts[0].Name != "web" {
		t.Error("a recording without a host")
	}
}

// TestMergeClocks: where clocks were compared, that is where the recordings lie.
func TestMergeClocks(t *testing.T) {
	w := newWorld(3, 60)
	rng := rand.New(rand.NewPCG(3, 1))
	own := w.record("own", 0, 10, 50, rng, nil)
	db := w.record("db", 3, 8, 52, rng, nil) // its wall clock is 3 s ahead
	db.Events = []kasoku.Event{{At: 10 * time.Second, Host: "db"}}
	out, err := Merge([]*kasoku.Recording{own, db}, Options{Clocks: map[string]Clock{
		"db": {Shift: -2 * time.Second, Bound: time.Millisecond, Note: "compared"}}})
	if err != nil {
		t.Fatal(err)
	}
	if h := out.Run.Hosts[1]; h.ClockOffset != 3*time.Second || h.ClockError != time.Millisecond ||
		h.ClockNote != "compared" {
		t.Errorf("%+v", h)
	}
	if at := out.Events[0].At; at != 10*time.Second { // 8 s after own's start, and the run begins 2 s earlier
		t.Errorf("event at %s", at)
	}
}
