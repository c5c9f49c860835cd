package part_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare/part"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/logs/lines"
)

// began is when the run of these tests began.
var began = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

const length = 40 * time.Second

// logged returns the endpoints of a log of random requests, and the requests' times by second and route.
func logged(t *testing.T, rnd *rand.Rand) (endpoints []kasoku.Endpoint, times map[string][][]time.Duration) {
	t.Helper()
	var text strings.Builder
	times = map[string][][]time.Duration{}
	for range 3000 {
		second, route := rnd.IntN(40), fmt.Sprintf("/%c", 'a'+rnd.IntN(3))
		d := time.Duration(rnd.IntN(900)) * time.Millisecond
		if times[route] == nil {
			times[route] = make([][]time.Duration, 40)
		}
		times[route][second] = append(times[route][second], d)
		fmt.Fprintf(&text, "time:%s\tmethod:GET\turi:%s\tstatus:%d\tsize:3\treqtime:%.3f\n",
			began.Add(time.Duration(second)*time.Second).Format(time.RFC3339), route, []int{200, 500}[rnd.IntN(2)],
			d.Seconds())
	}
	path := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	o := accesslog.Options{Workers: 3, Seconds: true, Interval: kasoku.Interval{To: length},
		Clock: func(at time.Time) time.Duration { return at.Sub(began) }}
	table, _, err := accesslog.CollectAll(t.Context(), []lines.Input{{Path: path}}, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return table.Endpoints(), times
}

// TestOf: an endpoint's requests and times of any stretch are those of its lines.
func TestOf(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	endpoints, times := logged(t, rnd)
	rec := &kasoku.Recording{Endpoints: endpoints}
	for range 200 {
		from, to := rnd.IntN(40), 1+rnd.IntN(45)
		iv := kasoku.Interval{From: time.Duration(from) * time.Second, To: time.Duration(to) * time.Second}
		p, err := part.Of(rec, length, iv)
		var empty *part.EmptyError
		if from >= to {
			if !errors.As(err, &empty) {
				t.Fatalf("%d s to %d s: %v", from, to, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if !p.Complete() || len(p.Endpoints) != len(times) {
			t.Fatalf("%d s to %d s: %d endpoints, complete %t", from, to, len(p.Endpoints), p.Complete())
		}
		for _, e := range p.Endpoints {
			want := histogram.NewExact(time.Millisecond)
			for _, ds := range times[e.Route][from:min(to, 40)] {
				for _, d := range ds {
					want.Record(d)
				}
			}
			if e.Count != want.Count() || e.Latency.Count() != want.Count() || e.Latency.Sum() != want.Sum() ||
				e.Latency.Quantile(0.99) != want.Quantile(0.99) {
				t.Errorf("%s, %d s to %d s: %d requests of %s, want %d of %s", e.Route, from, to,
					e.Count, e.Latency.Sum(), want.Count(), want.Sum())
			}
		}
	}
}

// TestOf_Run: what was sampled, asked and said in a stretch lies on a clock that begins with it; what is of the
// whole run is left out, and the run stays as it is.
func TestOf_Run(t *testing.T) {
	second := func(n int) kasoku.LoadSecond {
		h := histogram.New()
		h.Record(time.Duration(n) * time.Millisecond)
		return kasoku.LoadSecond{Second: n, Asked: 1, Codes: map[int]uint64{200: 1}, Latency: h}
	}
	at := func(n int) time.Duration { return time.Duration(n) * time.Second }
	rec := &kasoku.Recording{
		Run:     kasoku.Run{Started: began, Length: at(10), Score: &kasoku.Score{Value: 7}},
		Seconds: []kasoku.LoadSecond{second(3), second(4), second(5)},
		Series: []kasoku.Series{{Key: kasoku.Key{Source: "host", Name: "load.1"},
			Points: []kasoku.Point{{At: at(3), Value: 3}, {At: at(4), Value: 4}, {At: at(6), Value: 6}, {At: at(7), Value: 7}}},
			{Kind: kasoku.Counter, Points: []kasoku.Point{{At: at(2), Value: 2}, {At: at(3), Value: 3}, {At: at(5), Value: 5},
				{At: at(7), Value: 7}, {At: at(8), Value: 8}}},
			{Kind: kasoku.Counter, Points: []kasoku.Point{{At: at(2), Value: 2}, {At: at(8), Value: 8}}}},
		Events: []kasoku.Event{{At: at(3), Kind: "mark"}, {At: at(5), Kind: "mark"}},
		Gaps:   []kasoku.Gap{{Source: "host", Interval: kasoku.Interval{From: at(1), To: at(5)}}},
		Messages: []kasoku.Message{{Pattern: "early", Count: 9, Seconds: map[int]uint64{3: 9}},
			{Pattern: "late", Count: 5, Seconds: map[int]uint64{3: 1, 5: 4}}},
		Queries: []kasoku.Query{{ID: "A", Calls: 3, Total: at(3),
			Seconds: map[int]kasoku.QuerySecond{3: {Calls: 1, Total: at(1)}, 5: {Calls: 2, Total: at(2), Rows: 8}}}},
	}
	p, err := part.Of(rec, at(10), kasoku.Interval{From: at(4), To: at(6)})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Run().Series) != 2 || fmt.Sprint(p.Run().Series[1].Points) != "[{-1s 3} {1s 5} {3s 7}]" {
		t.Errorf("series %+v", p.Run().Series)
	}
	got := fmt.Sprintf("%s %s %v %v %v %v", p.Run().Run.Started.Sub(began), p.Run().Run.Length, p.Run().Run.Score,
		p.Run().Series[0].Points, p.Run().Events, p.Run().Gaps[0].Interval)
	if want := "4s 2s <nil> [{0s 4} {2s 6}] [{1s  mark }] {0s 1s}"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if p.Load.Asked != 2 || p.Load.Latency.Max() != 5*time.Millisecond {
		t.Errorf("asked %d, at most %s", p.Load.Asked, p.Load.Latency.Max())
	}
	if len(p.Messages) != 1 || p.Messages[0] != (part.Message{Pattern: "late", Count: 4}) {
		t.Errorf("messages %+v", p.Messages)
	}
	if q := p.Queries[0]; q.Calls != 2 || q.Total != at(2) || q.Rows != 8 || q.Latency != nil || p.Complete() {
		t.Errorf("%+v, complete %t", q, p.Complete())
	}
	all, err := part.Of(rec, at(10), kasoku.Interval{From: math.MinInt64, To: math.MaxInt64})
	if err != nil || all.Interval != (kasoku.Interval{To: at(10)}) || all.Load.Asked != 3 {
		t.Errorf("all of it: %+v, %v", all, err)
	}
	if rec.Seconds[1].Second != 4 || rec.Run.Score == nil || rec.Events[1].At != at(5) {
		t.Error("the run was changed")
	}
}
