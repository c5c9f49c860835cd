package split

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/split/splittest"
)

func measure(t *testing.T, o splittest.Shop, clients int) *Service {
	t.Helper()
	s, err := Measure(diagnose.NewCase(o.Recording(), nil), clients)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func plan(t *testing.T, s *Service, added ...string) *Plan {
	t.Helper()
	var hosts []Host
	for _, name := range added {
		hosts = append(hosts, Host{Name: name, Cores: s.Hosts[0].Cores, Memory: s.Hosts[0].Memory})
	}
	p, err := NewPlan(s, hosts, DefaultAssume())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// full is a shop whose one core has no time left: 20 clients, 100 requests/s of 10 ms CPU.
func full() splittest.Shop {
	return splittest.Shop{Cores: 1, Web: 0.001, App: 0.004, DB: 0.005, PerSec: 100, Took: 200 * time.Millisecond,
		Questions: 3, Score: 1000}
}

// TestMeasure: what a run shows of its members is what was put into it.
func TestMeasure(t *testing.T) {
	s := measure(t, full(), 0)
	if len(s.Members) != 3 || s.Members[0].Name != "mariadbd" || s.Members[2].Name != "nginx" ||
		s.Members[2].Fixed == "" ||
		s.Members[0].Fixed != "" || len(s.Edges) != 2 || s.Seconds != splittest.Seconds || s.Score != 1000 {
		t.Fatalf("%+v", s)
	}
	near(t, "CPU of the database", s.Members[0].CPU, 0.005, 1e-6)
	near(t, "cores of the database", s.Members[0].Cores, 0.5, 1e-6)
	near(t, "requests", s.Load.PerSec, 100, 1e-6)
	near(t, "clients", s.Load.Clients, 20, 1e-6)
	near(t, "statements", s.Edges[1].Trips, 3, 1e-6)
	near(t, "passed on", s.Edges[0].Trips, 1, 1e-6)
	near(t, "memory", float64(s.Members[0].RSS), 12*(100<<20), 1e-6)
	if !slices.ContainsFunc(s.Blind, func(b string) bool { return strings.Contains(b, "--clients") }) {
		t.Errorf("who the clients are is guessed without a word: %q", s.Blind)
	}
	if s := measure(t, full(), 33); s.Load.Clients != 33 || !s.Load.Given {
		t.Errorf("clients that were said: %+v", s.Load)
	}
}

// TestMeasure_Others: who makes the load stays, strangers take from what there is, a quota is the host's size.
func TestMeasure_Others(t *testing.T) {
	o := full()
	o.Cores, o.Generator, o.Stranger = 2, 0.002, 0.3
	s := measure(t, o, 0)
	if n := len(s.Members); n != 4 || s.Members[3].Fixed == "" || s.Members[3].Of != nil {
		t.Fatalf("%+v", s.Members)
	}
	near(t, "the generator", s.Members[3].CPU, 0.002, 1e-6)
	near(t, "strangers", s.Hosts[0].Used, 0.3, 1e-6)
	o = full()
	o.Cores, o.Quota = 2, 0.5
	if h := measure(t, o, 0).Hosts[0]; h.Cores != 0.5 || !h.Quota || h.Used != 0 {
		t.Errorf("%+v", h)
	}
}

// TestMeasure_Lacks: what is not there is an error or a word, never a figure.
func TestMeasure_Lacks(t *testing.T) {
	f := func(want string, spoil func(*kasoku.Recording)) {
		t.Helper()
		rec := full().Recording()
		spoil(rec)
		if s, err := Measure(diagnose.NewCase(rec, nil), 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %+v; want %s", err, s, want)
		}
	}
	f("not known", func(r *kasoku.Recording) { r.Service = nil })
	f("counted requests", func(r *kasoku.Recording) { r.Endpoints = nil })
	f("nothing to split", func(r *kasoku.Recording) { r.Service.Members = r.Service.Members[:1] })
	f("want 5", func(r *kasoku.Recording) { r.Phases[0].Interval.To = 4 * time.Second })
	f("recorded", func(r *kasoku.Recording) { r.Series = nil })
	o := full()
	o.Questions = 0
	if s := measure(t, o, 0); s.Edges[1].Trips >= 0 || !slices.ContainsFunc(s.Blind,
		func(b string) bool { return strings.Contains(b, "how often shop asks mariadbd") }) {
		t.Errorf("%+v, %q", s.Edges, s.Blind)
	}
}

// TestMeasure_Elsewhere: a member that is on a host of which nothing is known is named.
func TestMeasure_Elsewhere(t *testing.T) {
	rec := full().Recording()
	rec.Service.Edges[1].To, rec.Service.Edges[1].At.Address = "", "10.0.0.3:9000"
	s, err := Measure(diagnose.NewCase(rec, nil), 0)
	if err != nil || !slices.ContainsFunc(s.Blind, func(b string) bool {
		return strings.Contains(b,
			"10.0.0.3:9000")
	}) {
		t.Errorf("%v, %q", err, s.Blind)
	}
}

// TestPlan: of a full host the database goes first, and what stays is the limit then.
func TestPlan(t *testing.T) {
	p := plan(t, measure(t, full(), 0), "app2", "db2")
	near(t, "now", p.Now.PerSec.Mid, 100, 1e-6)
	if p.Now.Gain.Mid != 1 || p.Now.Limit != "CPU of web: mariadbd, shop, nginx" {
		t.Errorf("now: %+v", p.Now)
	}
	x := p.Layouts[p.First]
	if got := p.MoveWords(x.Layout); !slices.Equal(got, []string{"mariadbd=db2"}) {
		t.Errorf("first: %q", got)
	}
	// Both hosts need 5 ms a request: of 20 clients in a balanced network each has 20/21 of its core.
	near(t, "gain", x.Gain.Mid, 2*20.0/21, 0.02)
	near(t, "score", x.Score.Mid, 1000*x.Gain.Mid, 1e-9)
	if !(x.Gain.Low > 1 && x.Gain.Low < x.Gain.Mid && x.Gain.High >= x.Gain.Mid) || !x.Known50 ||
		x.P50 > 120*time.Millisecond {
		t.Errorf("%+v", x)
	}
	last := p.Layouts[len(p.Layouts)-1]
	if last.Gain.Mid < x.Gain.Mid || last.Moves != 2 {
		t.Errorf("the best layout: %s, %+v", p.Words(last.Layout), last)
	}
	for i := range p.Layouts {
		l := &p.Layouts[i]
		// nginx and the database are 5 ms of 10 at least
		if l.Gain.Mid > 2.0001 || l.Gain.Low > l.Gain.Mid || l.Gain.Mid > l.Gain.High {
			if l.Moves < 2 || l.Gain.Mid > 3 {
				t.Errorf("%s: %+v", p.Words(l.Layout), l.Gain)
			}
		}
		back, err := p.LayoutOf(p.MoveWords(l.Layout))
		if err != nil || p.Words(back) != p.Words(l.Layout) {
			t.Errorf("%q: %v, %q", p.MoveWords(l.Layout), err, p.Words(back))
		}
	}
}

// TestPlan_Clients: few clients wait for no host, and a layout gains nothing; more clients have more of it.
func TestPlan_Clients(t *testing.T) {
	o := full()
	o.PerSec, o.Took = 20, 12*time.Millisecond // a fifth of a core
	p := plan(t, measure(t, o, 2), "db")
	if x := p.Layouts[0]; x.Gain.Mid > 1.03 || p.Now.At >= 0 || p.First >= 0 {
		t.Errorf("two clients who pause: %+v", x.Gain)
	}
	gain := 0.0
	for _, clients := range []int{2, 5, 20, 100, 1000} {
		x := plan(t, measure(t, full(), clients), "db").Layouts[0]
		if x.Gain.Mid < gain {
			t.Errorf("%d clients: %+v, fewer had %g", clients, x.Gain, gain)
		}
		gain = x.Gain.Mid
	}
	near(t, "clients without end", gain, 2, 0.01)
	o = full()
	o.Took = 30 * time.Millisecond // 3 clients
	few := plan(t, measure(t, o, 0), "db").Layouts[0].Gain
	o.Levels = true
	if more := plan(t, measure(t, o, 0), "db").Layouts[0].Gain; more.Mid <= few.Mid || more.Low > few.Mid {
		t.Errorf("clients that come with the score: %+v, without %+v", more, few)
	}
}

// TestPlan_Open: of a load at a rate the rate that hosts can take is judged.
func TestPlan_Open(t *testing.T) {
	o := full()
	o.Open, o.PerSec, o.Took = true, 40, 20*time.Millisecond
	p := plan(t, measure(t, o, 0), "db")
	x := p.Layouts[p.First]
	near(t, "now", p.Now.PerSec.Mid, 100, 1e-6)
	near(t, "gain", x.Gain.Mid, 2, 0.01)
	near(t, "busy", x.Busy[0], 0.2, 0.01)
	if !x.Known50 || x.P50 >= 20*time.Millisecond {
		t.Errorf("median %v", x.P50)
	}
	o.PerSec = 99 // it queues without end
	if x := plan(t, measure(t, o, 0), "db").Layouts[0]; x.Known50 {
		t.Errorf("the median of a queue without end: %v", x.P50)
	}
}

// TestPlan_Network: what a network costs is in the middle, and its ends are in the interval.
func TestPlan_Network(t *testing.T) {
	o := full()
	o.Questions = 200 // an N+1
	s := measure(t, o, 0)
	far := plan(t, s, "db").Layouts[0].Gain
	s.Edges[1].Trips = 0
	if near := plan(t, s, "db").Layouts[0].Gain; far.Mid >= near.Mid-0.05 || far.High-far.Low <= near.High-near.Low {
		t.Errorf("200 statements a request: %+v, none: %+v", far, near)
	}
	s = measure(t, o, 0)
	p, err := NewPlan(s, []Host{{Name: "db", Cores: 1}}, DefaultAssume().TripOf(5*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	if x := p.Layouts[0]; x.Gain.Mid >= 1 || p.First >= 0 { // a second of waiting for each request
		t.Errorf("5 ms a round trip: %+v", x.Gain)
	}
}

// TestPlan_Interval: seconds that differ make it wider, and it is the same each time.
func TestPlan_Interval(t *testing.T) {
	width := 0.0
	for _, noise := range []float64{0, 0.3} {
		o := full()
		o.Noise = noise
		s := measure(t, o, 0)
		for i := range s.samples { // not in step with the requests
			s.samples[i].cores[0] *= 1 + noise*math.Sin(float64(3*i))
		}
		x := plan(t, s, "db").Layouts[0].Gain
		if again := plan(t, s, "db").Layouts[0].Gain; again != x {
			t.Errorf("%+v, and again %+v", x, again)
		}
		if x.High-x.Low <= width {
			t.Errorf("noise %g: %+v", noise, x)
		}
		width = x.High - x.Low
	}
}

// TestPlan_Memory: a host whose memory is too little is no place.
func TestPlan_Memory(t *testing.T) {
	p, err := NewPlan(measure(t, full(), 0), []Host{{Name: "db", Cores: 1, Memory: 1300 << 20}}, DefaultAssume())
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Layouts {
		x := &p.Layouts[i]
		db := slices.Contains(p.MoveWords(x.Layout), "mariadbd=db")
		if db != (x.Fits == FitNo) && x.Fits == FitNo {
			t.Errorf("%s: %v", p.Words(x.Layout), x.Fits)
		}
		if db && i == p.First {
			t.Error("a database of 1.2 GB is moved to a host of 1.3 GB")
		}
	}
}

func TestPlan_LayoutOf(t *testing.T) {
	p := plan(t, measure(t, full(), 0), "db")
	for word, want := range map[string]string{
		"mariadbd": "want MEMBER=HOST", "redis=db": "no member", "mariadbd=cache": "no host",
		"nginx=db": "stays where it is", "mariadbd=web+db": "only applications", "shop=db+db": "no host",
	} {
		if _, err := p.LayoutOf([]string{word}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", word, err, want)
		}
	}
	if _, err := NewPlan(p.Service, nil, DefaultAssume()); err == nil {
		t.Error("a plan over one host")
	}
}

// BenchmarkMove is what a rule pays that says what a move gives.
func BenchmarkMove(b *testing.B) {
	c := diagnose.NewCase(full().Recording(), nil)
	for b.Loop() {
		if _, _, err := Move(c, c.Service.Members[2].ID, false); err != nil {
			b.Fatal(err)
		}
	}
}
