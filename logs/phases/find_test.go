package phases

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// counts makes traffic from stretches of "SECONDS×COUNT".
func counts(spec string) map[int]uint64 {
	out := map[int]uint64{}
	at := 0
	for _, f := range strings.Fields(spec) {
		var n, k int
		if _, err := fmt.Sscanf(f, "%d×%d", &n, &k); err != nil {
			panic(err)
		}
		for range n {
			if k > 0 {
				out[at] = uint64(k)
			}
			at++
		}
	}
	return out
}

func words(all []kasoku.Phase) string {
	var out []string
	for _, p := range all {
		out = append(out, fmt.Sprintf("%s %g-%g", p.Kind, p.Interval.From.Seconds(), p.Interval.To.Seconds()))
	}
	return strings.Join(out, ", ")
}

func TestFind(t *testing.T) {
	f := func(length time.Duration, inits map[int]uint64, took time.Duration, rest, want string) {
		t.Helper()
		traffic := []Traffic{{Method: "POST", Route: "/initialize", Seconds: inits, Mean: took}, {Method: "GET", Route: "/", Seconds: counts(rest)}}
		if got := words(Find(traffic, length, Request{})); got != want {
			t.Errorf("%s: got %s\nwant %s", rest, got, want)
		}
	}
	const s = time.Second
	// a contest's benchmark: 5 s before, an initialize of 2.3 s, checks, load, a last check, nothing
	f(90*s, map[int]uint64{7: 1}, 2300*time.Millisecond, "8×0 6×4 60×500 3×2 13×0",
		"idle 0-4.7, initialize 4.7-8, verify 8-14, load 14-74, verify 74-77, idle 77-90")
	// a verify that fetches a page with its pictures, a second without requests, a load that grows
	f(40*s, map[int]uint64{1: 1}, s, "2×0 1×3 1×90 1×2 1×0 1×100 1×200 1×300 20×400 11×0",
		"initialize 0-2, verify 2-6, load 6-29, idle 29-40")
	// a load with a short dip, and one with a long stall
	f(30*s, nil, 0, "2×0 10×100 3×0 10×100 5×0", "idle 0-2, load 2-25, idle 25-30")
	f(30*s, nil, 0, "2×0 10×100 6×0 10×100 2×0", "idle 0-2, load 2-12, idle 12-18, load 18-28, idle 28-30")
	// without an initialize, what asks once a second whether all is well is no load
	f(30*s, nil, 0, "10×1 10×50 10×1", "idle 0-10, load 10-20, idle 20-30")
	// shorter than a level can hold
	f(5500*time.Millisecond, nil, 0, "2×0 1×900 3×0", "idle 0-2, load 2-3, idle 3-5.5")
	// two benchmarks in one recording
	f(40*s, map[int]uint64{0: 1, 20: 1}, 0, "1×0 9×50 11×0 9×50 10×0",
		"initialize 0-1, load 1-10, idle 10-20, initialize 20-21, load 21-30, idle 30-40")
	// initialize failed, or the checks did: there was no load
	f(10*s, map[int]uint64{3: 1}, s, "", "idle 0-2, initialize 2-4, idle 4-10")
	f(20*s, map[int]uint64{3: 1}, s, "4×0 5×3", "idle 0-2, initialize 2-4, verify 4-9, idle 9-20")
	// few people who come at random: seconds without a request are no pause, of one a second
	f(56*s, nil, 0, "11×0 1×2 1×1 1×2 5×0 1×4 1×0 1×3 4×0 1×5 2×3 1×1 1×0 4×1 3×2 5×0 1×2 2×1 9×0",
		"idle 0-11, load 11-46, idle 46-56")
	// eight clients of slow pages with their pictures: bursts, and a few requests between them, are one load
	f(35*s, nil, 0, "1×2 1×5 3×0 1×50 1×36 1×28 1×0 1×3 1×4 1×32 1×2 2×1 1×6 1×34 1×2 "+
		"1×4 2×1 1×7 1×29 1×3 1×1 1×3 1×5 1×56 1×28 1×7 1×2 1×6 1×101 1×9 1×7",
		"idle 0-5, load 5-35")
	// less than a fifth of the load, or a stop in it, is a pause
	f(50*s, nil, 0, "10×100 20×15 20×100", "load 0-10, idle 10-30, load 30-50")
	f(50*s, nil, 0, "10×100 8×25 4×0 8×25 20×100", "load 0-18, idle 18-22, load 22-50")
	// a short load of few requests beside what asks each five seconds whether all is well
	f(50*s, nil, 0, "1×1 4×0 1×1 4×0 1×1 4×0 10×4 4×0 1×1 4×0 1×1 4×0 1×1 9×0", "idle 0-15, load 15-25, idle 25-50")
	// all the time the same
	f(20*s, nil, 0, "20×7", "load 0-20")
	f(20*s, nil, 0, "", "")
	f(0, nil, 0, "5×1", "")
}

// TestFind_Alone: few requests are a load all the same when several are under way
// at once.
func TestFind_Alone(t *testing.T) {
	f := func(mean time.Duration, want string) {
		t.Helper()
		traffic := []Traffic{{Method: "POST", Route: "/initialize", Seconds: counts("1×1")},
			{Method: "GET", Route: "/slow", Mean: mean, Seconds: counts("1×0 9×5")}}
		if got := words(Find(traffic, 10*time.Second, Request{})); got != want {
			t.Errorf("requests of %s: %s, want %s", mean, got, want)
		}
	}
	f(100*time.Millisecond, "initialize 0-1, verify 1-10")
	f(2*time.Second, "initialize 0-1, load 1-10")
}

func TestFind_Why(t *testing.T) {
	traffic := []Traffic{{Method: "POST", Route: "/initialize", Seconds: counts("3×0 1×1"), Mean: 2310 * time.Millisecond},
		{Method: "GET", Route: "/", Seconds: counts("4×0 5×2 20×100")}}
	want := []string{"no request for 1 s", "POST /initialize, 1 request, 2.31 s", "10 requests in 5 s", "2,000 requests in 20 s", "no request for 6 s"}
	got := Find(traffic, 35*time.Second, Request{})
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, w := range want {
		if got[i].Why != w {
			t.Errorf("%s: %q, want %q", got[i].Kind, got[i].Why, w)
		}
	}
}

func TestOfLog(t *testing.T) {
	h := histogram.New()
	h.Record(time.Second)
	h.Record(3 * time.Second)
	got := OfLog([]kasoku.Endpoint{{Method: "POST", Route: "/initialize", Latency: h, Total: 4 * time.Second,
		Seconds: map[int]kasoku.EndpointSecond{4: {Count: 2, Failed: 1}}}})
	if len(got) != 1 || got[0].Mean != 2*time.Second || got[0].Seconds[4] != 2 {
		t.Errorf("%+v", got)
	}
}

// TestFind_Anything: phases are in order, touch each other and cover the run; each
// initialize lies in one of its kind; the load has most requests of a run whose
// level held.
func TestFind_Anything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := time.Duration(rapid.IntRange(0, 200_000).Draw(t, "ms")) * time.Millisecond
		inits := rapid.MapOfN(rapid.IntRange(-3, 210), rapid.Uint64Range(0, 3), 0, 4).Draw(t, "inits")
		rest := rapid.MapOf(rapid.IntRange(-3, 210), rapid.Uint64Range(0, 1000)).Draw(t, "rest")
		mean := time.Duration(rapid.IntRange(0, 40_000).Draw(t, "mean")) * time.Millisecond
		got := Find([]Traffic{{Method: "POST", Route: "/initialize", Seconds: inits, Mean: mean}, {Method: "GET", Route: "/", Seconds: rest, Mean: mean}}, length, Request{})
		if len(got) == 0 {
			for s, n := range rest {
				if n > 0 && s >= 0 && time.Duration(s)*time.Second < length {
					t.Fatalf("second %d is in no phase", s)
				}
			}
			return
		}
		var last time.Duration
		for i, p := range got {
			if p.Interval.From != last || p.Interval.Empty() || p.Why == "" {
				t.Fatalf("phase %d: %+v", i, got)
			}
			if i > 0 && p.Kind == got[i-1].Kind && p.Kind != kasoku.PhaseInitialize {
				t.Fatalf("phase %d is of the kind of the one before: %s", i, words(got))
			}
			last = p.Interval.To
		}
		if last != length {
			t.Fatalf("they end at %s of %s", last, length)
		}
		for s, n := range inits {
			at := time.Duration(s) * time.Second
			if n == 0 || s < 0 || at >= length {
				continue
			}
			for _, p := range got {
				if p.Interval.Contains(at) && p.Kind != kasoku.PhaseInitialize {
					t.Fatalf("the initialize of second %d is in %s", s, words(got))
				}
			}
		}
	})
}

// TestFind_Bursts: bursts and dips of a second or two do not move the bounds of a
// load that holds.
func TestFind_Bursts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, n := rapid.IntRange(20, 40).Draw(t, "from"), rapid.IntRange(20, 60).Draw(t, "seconds")
		rest := map[int]uint64{}
		for s := from; s < from+n; s++ {
			rest[s] = rapid.Uint64Range(70, 130).Draw(t, "count")
		}
		rest[rapid.IntRange(0, from-8).Draw(t, "burst")] = 5000
		rest[from+n+rapid.IntRange(8, 15).Draw(t, "after")] = 5000
		dip := rapid.IntRange(from+4, from+n-7).Draw(t, "dip")
		delete(rest, dip)
		delete(rest, dip+1)
		rest[rapid.IntRange(from+4, from+n-7).Draw(t, "peak")] = 9000
		var load []kasoku.Phase
		for _, p := range Find([]Traffic{{Seconds: rest, Route: "/"}}, time.Duration(from+n+20)*time.Second, Request{}) {
			if p.Kind == kasoku.PhaseLoad {
				load = append(load, p)
			}
		}
		if len(load) != 1 || load[0].Interval != (kasoku.Interval{From: time.Duration(from) * time.Second, To: time.Duration(from+n) * time.Second}) {
			t.Fatalf("load of %d-%d: %s", from, from+n, words(load))
		}
	})
}

// TestFind_Open: few clients that wait in line for one worker are answered in bursts, with seconds of nothing
// between them; that their requests are open shows that the load went on.
func TestFind_Open(t *testing.T) {
	routes := 3
	const bursts = "2×0 1×1 12×0 1×9 6×0 2×20 10×0 1×2 1×30 9×0"
	f := func(spec, open, want string) {
		t.Helper()
		var slow []kasoku.SlowRequest
		for i, o := range strings.Fields(open) {
			var from, to int
			if _, err := fmt.Sscanf(o, "%d-%d", &from, &to); err != nil {
				t.Fatal(err)
			}
			slow = append(slow, kasoku.SlowRequest{Route: fmt.Sprint("/", min(i, routes-1)), At: time.Duration(to) * time.Second, Latency: time.Duration(to-from) * time.Second})
		}
		if got := words(Find([]Traffic{{Method: "GET", Route: "/", Seconds: counts(spec)}}, 45*time.Second, Request{}, OpenOf(slow)...)); got != want {
			t.Errorf("%s, %s: got %s\nwant %s", spec, open, got, want)
		}
	}
	f(bursts, "", "idle 0-15, load 15-16, idle 16-22, load 22-24, idle 24-35, load 35-36, idle 36-45")
	f(bursts, "3-15 3-16 15-24 16-23 23-36 24-35", "idle 0-3, load 3-36, idle 36-45")
	f(bursts, "15-23 16-23 23-36", "idle 0-15, load 15-24, idle 24-35, load 35-36, idle 36-45") // one alone, as who waits for news
	f(bursts, "23-36 24-30 1-2", "idle 0-15, load 15-16, idle 16-22, load 22-24, idle 24-35, load 35-36, idle 36-45")
	f("2×0 10×101 10×0 10×100 13×0", "5-30 5-30 8-25", "idle 0-2, load 2-12, idle 12-22, load 22-32, idle 32-45") // many requests show it
	routes = 2
	f(bursts, "3-15 3-16 15-24 16-23 23-36 24-35", "idle 0-15, load 15-16, idle 16-22, load 22-24, idle 24-35, load 35-36, idle 36-45") // they may wait by design
}

func TestParseRequest(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if r, err := ParseRequest(text); err != nil || r.String() != want {
			t.Errorf("%q: %q, %v; want %q", text, r, err, want)
		}
	}
	f("POST /initialize", "POST /initialize")
	f(" post  /initialize/ ", "POST /initialize")
	f("/api/init?x=1", "/api/init")
	f("POST http://127.0.0.1:8080/initialize", "POST /initialize")
	f("GET http://127.0.0.1", "GET /")
	f("GET /", "GET /")
	f("GET /from/http://a", "GET /from/http://a")
}

func TestParseRequest_Failure(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if r, err := ParseRequest(text); err == nil || r != (Request{}) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v; want %q", text, r, err, want)
		}
	}
	f("", "want METHOD PATH")
	f("POST", `"POST" is not a path`)
	f("POST initialize", `"initialize" is not a path`)
	f("PO5T /x", "not a method")
	f("POST /a b", "want METHOD PATH")
}

func TestMatches(t *testing.T) {
	f := func(r Request, method, path string, want bool) {
		t.Helper()
		if got := r.Matches(method, path); got != want {
			t.Errorf("%s, %s %s: %t", r, method, path, got)
		}
	}
	f(Initialize, "POST", "/initialize", true)
	f(Initialize, "POST", "/initialize?lang=go", true)
	f(Initialize, "POST", "/initialize/", true)
	f(Initialize, "GET", "/initialize", false)
	f(Initialize, "POST", "/initialize2", false)
	f(Initialize, "", "", false)
	f(Request{Path: "/"}, "GET", "/?a", true)
	f(Request{Path: "/"}, "GET", "//", true)
}

func FuzzParseRequest(f *testing.F) {
	for _, s := range []string{"POST /initialize", "/a?b", "GET http://a/b", "://", "X ://", "GET //", ":///://a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRequest(text)
		if err != nil {
			if r != (Request{}) {
				t.Fatalf("%+v with the error %v", r, err)
			}
			return
		}
		again, err := ParseRequest(r.String())
		if err != nil || again != r {
			t.Fatalf("%q: %+v, again %+v, %v", text, r, again, err)
		}
		if !r.Matches(r.Method, r.Path) {
			t.Fatalf("%+v does not match itself", r)
		}
	})
}
