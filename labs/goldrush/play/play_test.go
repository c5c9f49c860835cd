package play_test

import (
	"context"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/labs/goldrush"
	"github.com/kasoku/kasoku/labs/goldrush/digger"
	"github.com/kasoku/kasoku/labs/goldrush/mine"
	"github.com/kasoku/kasoku/labs/goldrush/play"
	"github.com/kasoku/kasoku/labs/goldrush/server"
	"github.com/kasoku/kasoku/load/scenario"
	"github.com/kasoku/kasoku/observe/expvar"
)

// simulate plays a minute.
func simulate(p digger.Params, seed int64) *play.Result {
	return play.Simulate(play.Simulated{Game: mine.Options{Rules: goldrush.Published(), Seed: seed}, Params: p,
		Lasts: time.Minute, Each: true})
}

func variant(t *testing.T, name string) digger.Params {
	t.Helper()
	v, err := digger.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return v.Params
}

// alike are seeds whose worlds have the values of seed 42, of which figures were published.
var alike = []int64{11, 15, 17, 20, 42}

// TestLadder: each step of the story earns about what was measured on the published server,
// and the last at least fifteen times the first, in five worlds, with nothing refused.
func TestLadder(t *testing.T) {
	means := map[string]float64{}
	for _, v := range digger.Variants() {
		for _, seed := range alike {
			r := simulate(v.Params, seed)
			means[v.Name] += r.PerSec() / float64(len(alike))
			c := r.Counts
			if v.Name == "tuned" && c.Of(429)+c.Of(403) > 0 {
				t.Errorf("tuned, seed %d: %d answers of 429, %d of 403", seed, c.Of(429), c.Of(403))
			}
			t.Logf("%s, seed %d: %.1f coins a second, CPU %.3f, refused %d of %d, starved %.3f", v.Name, seed, r.PerSec(), r.Busy(),
				c.Refused(), c.All(), c.Starved.Seconds()/60)
		}
		t.Logf("%s: %.1f", v.Name, means[v.Name])
	}
	for name, want := range map[string][2]float64{"reference": {43, 53}, "pipelined": {250, 300}, "free": {470, 570},
		"author": {865, 920}, "tuned": {955, 1000}} {
		if got := means[name]; got < want[0] || got > want[1] {
			t.Errorf("%s: %.1f coins a second, want %v", name, got, want)
		}
	}
	if times := means["tuned"] / means["reference"]; times < 15 {
		t.Errorf("tuned earns %.1f times what the reference does, want 15", times)
	}
}

// TestSimulate: for a seed it comes out the same, and all that was earned is there.
func TestSimulate(t *testing.T) {
	p := variant(t, "tuned")
	a, b := simulate(p, 7), simulate(p, 7)
	if !reflect.DeepEqual(a, b) {
		t.Error("two games of one seed differ")
	}
	if len(a.Seconds) != 60 || a.Seconds[59].At != time.Minute || a.Seconds[59].Counts.Coins() != a.Coins() {
		t.Errorf("%d seconds", len(a.Seconds))
	}
}

// BenchmarkSimulate is a minute of the game.
func BenchmarkSimulate(b *testing.B) {
	for _, v := range digger.Variants() {
		b.Run("variant="+v.Name, func(b *testing.B) {
			for b.Loop() {
				simulate(v.Params, 42)
			}
		})
	}
}

// TestRun: on the real clock and by HTTP, client and server have counted the same, and nothing
// was refused.
func TestRun(t *testing.T) {
	s := server.New(mine.Options{Rules: goldrush.Published(), Seed: 42})
	ctx, end := context.WithCancel(t.Context())
	var runs sync.WaitGroup
	runs.Go(func() { s.Run(ctx) })
	web := httptest.NewServer(s)
	defer func() { web.Close(); end(); runs.Wait() }()
	h := newHTTP(t, web.URL+"/", play.HTTPOptions{})
	rules := goldrush.Published()
	heard, vars := 0, play.NewVars()
	var looks sync.WaitGroup
	looks.Go(func() {
		if found := look(t, vars); found["client"][expvar.PermitsMost] != 10 || found["memstats"][expvar.HeapAlloc] == 0 {
			t.Errorf("while it plays it shows %v", found)
		}
	})
	var reports []*scenario.Report
	r := play.Run(t.Context(), play.Played{Asker: h, Rules: rules, Params: variant(t, "tuned"),
		Lasts: 2500 * time.Millisecond, OnSecond: func(play.Second) { heard++ }, Vars: vars,
		Sink: func(r *scenario.Report) { reports = append(reports, r) }})
	looks.Wait()
	found := look(t, vars)
	if c := found["client"]; int64(c[expvar.Sent]) < r.Counts.All() || c[expvar.Gained] != float64(r.Counts.Earned) ||
		c[expvar.InFlightTime] == 0 || math.Abs(c[expvar.PermitWait]-r.Counts.Starved.Seconds()) > 1e-9 { // of nanoseconds
		t.Errorf("at the end it shows %v of %+v", c, r.Counts)
	}
	if op := found["operations.explore 31"]; op[expvar.Size] != 31 || int64(op[expvar.Answers]) != r.Counts.Cells[31].N ||
		found["operations.explore"][expvar.Answers] <= op[expvar.Answers] || found["operations.dig"][expvar.ServiceTime] == 0 {
		t.Errorf("operations are %v", found)
	}
	checkReports(t, reports, r)
	if heard != 3 || r.Lasted != 2500*time.Millisecond {
		t.Errorf("%d seconds of %s were called", heard, r.Lasted)
	}
	if r.Coins() == 0 || r.Counts.Of(429)+r.Counts.Of(403)+r.Counts.Of(0) > 0 {
		t.Errorf("%d coins, answers %v", r.Coins(), r.Counts.Answers)
	}
	stats, _ := s.Stats()
	for c := range goldrush.Calls {
		for status, n := range r.Counts.Answers[c] {
			if got := stats.Answers[c][status]; got < n { // what was on its way at the end is not counted
				t.Errorf("%s %d: the client has %d, the server %d", c, status, n, got)
			}
		}
	}
	for _, o := range ways {
		if used, ok := newHTTP(t, web.URL, o).CPU(t.Context()); !ok || used[goldrush.Cash] < r.CPU[goldrush.Cash] {
			t.Errorf("%+v: cash used %s, %t", o, used[goldrush.Cash], ok)
		}
	}
	if r.CPU[goldrush.Cash] == 0 || r.CPU[goldrush.Cash] > r.Lasted {
		t.Errorf("cash used %s", r.CPU[goldrush.Cash])
	}
}

// look returns what a client shows, as the source expvar reads it, by place and name.
func look(t *testing.T, v *play.Vars) map[string]map[string]float64 {
	t.Helper()
	w := httptest.NewRecorder()
	v.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/debug/vars", nil))
	found, err := expvar.Parse(w.Body.Bytes())
	if err != nil {
		t.Error(err)
	}
	out := map[string]map[string]float64{}
	for _, f := range found {
		out[f.Place] = map[string]float64{}
		for _, x := range f.Values {
			out[f.Place][x.Name] = x.Value
		}
	}
	return out
}

// checkReports holds what a recording gets to what the client has counted.
func checkReports(t *testing.T, reports []*scenario.Report, r *play.Result) {
	t.Helper()
	sum := kasoku.NewTally()
	for _, of := range reports {
		for i := range of.Seconds {
			sum.Add(&of.Seconds[i])
		}
	}
	if nothing := uint64(r.Counts.Answers[goldrush.Dig][404]); nothing == 0 || sum.Expected != nothing ||
		sum.Errors["404 Not Found"] > 0 || sum.Failed() != uint64(r.Counts.All()-r.Counts.Of(200))-nothing {
		t.Errorf("%d digs found nothing; %d answers were expected, %d failed, errors %v", nothing, sum.Expected, sum.Failed(),
			sum.Errors)
	}
	last := reports[len(reports)-1]
	if int64(sum.Asked) != r.Counts.All() || int64(sum.Codes[404]) != r.Counts.Of(404) || sum.Service.Count() != sum.Asked {
		t.Errorf("%d requests were reported of %d", sum.Asked, r.Counts.All())
	}
	if last.Result == nil || !last.Result.Pass || int(last.Result.Score) != r.Coins() || last.Summary.PeakInFlight < 10 {
		t.Errorf("the last report is %+v", last)
	}
}

// TestHTTP: what is read of each answer.
func TestHTTP(t *testing.T) {
	answers := map[string]string{"/balance": `{"balance":3,"wallet":[7,8,9]}`, "/licenses": `[{"id":4,"digAllowed":5,"digUsed":1}]`,
		"/explore": `{"area":{"posX":1},"amount":6}`, "/dig": `["abc"]`, "/cash": `[1,2]`, "/health-check": `"OK"`}
	var body, kind string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body, kind = string(b), r.Header.Get("Content-Type")
		if r.Method == http.MethodPost && r.URL.Path == "/licenses" {
			io.WriteString(w, `{"id":4,"digAllowed":5,"digUsed":1}`)
			return
		}
		io.WriteString(w, answers[r.URL.Path])
	}))
	defer web.Close()
	license := []goldrush.License{{ID: 4, DigAllowed: 5, DigUsed: 1}}
	for _, c := range []struct {
		request goldrush.Request
		body    string
		want    goldrush.Answer
	}{
		{goldrush.Request{Call: goldrush.Health}, "", goldrush.Answer{Status: 200}},
		{goldrush.Request{Call: goldrush.Balance}, "", goldrush.Answer{Status: 200, Balance: 3, Coins: []goldrush.Coin{7, 8, 9}}},
		{goldrush.Request{Call: goldrush.Licenses}, "", goldrush.Answer{Status: 200, Licenses: license}},
		{goldrush.Request{Call: goldrush.Issue}, "[]", goldrush.Answer{Status: 200, Licenses: license}},
		{goldrush.Request{Call: goldrush.Issue, Coins: []goldrush.Coin{1}}, "[1]", goldrush.Answer{Status: 200, Licenses: license}},
		{goldrush.Request{Call: goldrush.Explore, Area: goldrush.Area{PosX: 1, SizeX: 15, SizeY: 1}},
			`{"posX":1,"posY":0,"sizeX":15,"sizeY":1}`, goldrush.Answer{Status: 200, Amount: 6}},
		{goldrush.Request{Call: goldrush.Dig, Hole: goldrush.Hole{LicenseID: 1, Depth: 2}},
			`{"licenseID":1,"posX":0,"posY":0,"depth":2}`, goldrush.Answer{Status: 200, Treasure: "abc"}},
		{goldrush.Request{Call: goldrush.Cash, Treasure: "abc"}, `"abc"`, goldrush.Answer{Status: 200, Coins: []goldrush.Coin{1, 2}}},
	} {
		for _, o := range ways {
			if got := newHTTP(t, web.URL, o).Ask(t.Context(), c.request); !reflect.DeepEqual(got, c.want) || body != c.body ||
				c.body != "" && kind != "application/json" {
				t.Errorf("%s, %+v: %+v of body %s as %q, want %+v", c.request.Call, o, got, body, kind, c.want)
			}
		}
	}
	web.Close()
	for _, o := range ways {
		if got := newHTTP(t, web.URL, o).Ask(t.Context(), goldrush.Request{Call: goldrush.Cash}); got.Status != 0 {
			t.Errorf("no server, %+v: %+v", o, got)
		}
	}
}

// ways are all in which requests are sent.
var ways = []play.HTTPOptions{{}, {OneRequest: true}, {Own: true}, {Own: true, OneRequest: true}, {ByHand: true}}

func newHTTP(t *testing.T, base string, o play.HTTPOptions) *play.HTTP {
	t.Helper()
	h, err := play.NewHTTP(base, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

// TestOwn: a connection is kept from request to request, one that the server closes is not, and a
// request that takes too long is given up.
func TestOwn(t *testing.T) {
	var opened atomic.Int32
	wait := make(chan struct{})
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/cash":
			<-wait
		case "/licenses":
			w.Header().Set("Connection", "close")
		}
		io.WriteString(w, `{"balance":1,"wallet":[]}`)
	}))
	web.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	web.Start()
	defer web.Close()
	h := newHTTP(t, web.URL, play.HTTPOptions{Own: true})
	for _, c := range []goldrush.Call{goldrush.Balance, goldrush.Balance, goldrush.Licenses, goldrush.Balance} {
		h.Ask(t.Context(), goldrush.Request{Call: c})
	}
	if opened.Load() != 2 {
		t.Errorf("%d connections were opened, want 2", opened.Load())
	}
	ctx, end := context.WithTimeout(t.Context(), time.Millisecond)
	defer end()
	if got := h.Ask(ctx, goldrush.Request{Call: goldrush.Cash}); got.Status != 0 {
		t.Errorf("%+v", got)
	}
	close(wait)
}

// TestDefects: each mistake alone costs the tuned client something, and shows in what was counted.
func TestDefects(t *testing.T) {
	tuned := variant(t, "tuned")
	best := simulate(tuned, 42)
	shows := map[string]func(*digger.Counts) bool{
		"CLI-01": func(c *digger.Counts) bool { return c.MeanInFlight(time.Minute) <= 1 },
		"CLI-02": func(c *digger.Counts) bool { return c.Starved > time.Minute/5 },
		"CLI-03": func(c *digger.Counts) bool { return c.Starved > time.Minute/5 && c.Spent == 0 },
		"CLI-04": func(c *digger.Counts) bool { return c.MostDigs == 1 && c.Queued > time.Minute/5 },
		"CLI-05": func(c *digger.Counts) bool { return c.Cells[16].N > 0 && c.Cells[15].N == 0 },
		"CLI-13": func(c *digger.Counts) bool { return c.Paid[1].N > 0 && best.Counts.Paid[1].N == 0 },
		"CLI-06": func(c *digger.Counts) bool { return c.Refused()*100 > c.All() },
	}
	for _, d := range digger.Defects() {
		p, err := tuned.With(d.ID)
		if err != nil {
			t.Fatal(err)
		}
		r := simulate(p, 42)
		t.Logf("%s: %.1f coins a second instead of %.1f, CPU %.2f, in flight %.1f, starved %s, refused %d of %d", d.ID, r.PerSec(),
			best.PerSec(), r.Busy(), r.Counts.MeanInFlight(time.Minute), r.Counts.Starved, r.Counts.Refused(), r.Counts.All())
		if r.PerSec() >= best.PerSec() {
			t.Errorf("%s costs nothing", d.ID)
		}
		if is := shows[d.ID]; is != nil && !is(&r.Counts) {
			t.Errorf("%s does not show: %+v", d.ID, r.Counts)
		}
	}
}
