package fleet

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/vegeta"
)

func TestTicket(t *testing.T) {
	want := Ticket{Address: "[fd00::1]:7422", CA: strings.Repeat("0a", 32), Token: strings.Repeat("T-_", 9),
		Until: time.Date(2026, 11, 29, 22, 0, 0, 0, time.UTC)}
	got, err := ParseTicket(want.String() + "\n")
	if err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, bad := range []string{"", "kasoku-join:", strings.Replace(want.String(), "ca=0a", "ca=zz", 1), want.String() + ",x=1",
		strings.Replace(want.String(), "1129T", "1399T", 1)} {
		if _, err := ParseTicket(bad); err == nil || strings.Contains(err.Error(), want.Token) {
			t.Errorf("%q: error is %v", bad, err)
		}
	}
}

// TestCluster: a line for a server of one's own has no token and no end, and what such a server lacks has a word.
func TestCluster(t *testing.T) {
	want := Ticket{Address: "nats.example.com:4222", CA: strings.Repeat("0a", 32), Cluster: true}
	if got, err := ParseTicket(want.String()); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if _, err := ParseTicket(want.String() + ",token=" + strings.Repeat("x", 27)); err == nil {
		t.Error("a token is taken")
	}
	good := Greeted{Version: "2.9.10", MaxPayload: MaxMessage, Headers: true, TLSRequired: true}
	if what, _ := good.Lacks(); what != "" {
		t.Errorf("it lacks %s", what)
	}
	for want, change := range map[string]func(*Greeted){
		"TLS":      func(g *Greeted) { g.TLSRequired = false },
		"headers":  func(g *Greeted) { g.Headers, g.Version = false, "2.1\x1b[2J" },
		"messages": func(g *Greeted) { g.MaxPayload-- },
	} {
		g := good
		change(&g)
		if what, fix := g.Lacks(); !strings.HasPrefix(what, want) || fix == "" || strings.Contains(what, "\x1b") {
			t.Errorf("%s: %q, %q", want, what, fix)
		}
	}
	users := ClusterUsers("UOP", map[string]string{"web": "UWEB", "db": "UDB"})
	if strings.Count(users, "nkey:") != 3 || strings.Count(users, `"kasoku.ask.db.`) != len(Verbs) ||
		strings.Count(users, AllQuestions) != 1 || strings.Index(users, "UDB") > strings.Index(users, "UWEB") {
		t.Error(users)
	}
}

// FuzzParseTicket: what parses prints as what parses to the same.
func FuzzParseTicket(f *testing.F) {
	f.Add("kasoku-join:10.0.0.9:7422,ca=" + strings.Repeat("0a", 32) + ",token=" + strings.Repeat("x", 27) + ",until=20261129T220000Z")
	f.Add("kasoku-cluster:nats.example.com:4222,ca=" + strings.Repeat("0a", 32))
	f.Fuzz(func(t *testing.T, line string) {
		got, err := ParseTicket(line)
		if err != nil {
			return
		}
		if again, err := ParseTicket(got.String()); err != nil || again != got {
			t.Errorf("%+v, then %+v, %v", got, again, err)
		}
	})
}

// TestTimeOf: a moment is the same on both clocks, there and back, whatever holds up a thread meanwhile.
func TestTimeOf(t *testing.T) {
	var end atomic.Bool
	defer end.Store(true)
	for range 8 {
		go func() {
			for n := 0; !end.Load(); n++ {
				_ = strings.Repeat("x", n%100)
			}
		}()
	}
	for n := range 200 {
		want := time.Duration(n) * time.Hour
		at, err := TimeOf(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ClockOf(at)
		if off := (got - want).Abs(); err != nil || off > 50*time.Microsecond {
			t.Errorf("%s: %s off, %v", want, off, err)
		}
	}
}

func TestHostNames(t *testing.T) {
	f := func(name string, good bool) {
		t.Helper()
		if err := CheckHost(name); (err == nil) != good {
			t.Errorf("%q: error is %v", name, err)
		}
	}
	f("gen1", true)
	f("web-1_a", true)
	f("", false)
	f("Gen1", false)
	f("a.b", false)
	f("*", false)
	f(">", false)
	f("a b", false)
	f(strings.Repeat("a", 64), false)
	if got := HostName("Gen1.example.com"); got != "gen1" {
		t.Errorf("host name is %q", got)
	}
}

// TestOffset: whatever the ways there and back take, the true offset lies within the bound.
func TestOffset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := func(what string) time.Duration { return time.Duration(rapid.Int64Range(0, 1e9).Draw(t, what)) }
		offset := ns("offset") - 5e8
		var all []Exchange
		for range rapid.IntRange(1, 5).Draw(t, "exchanges") {
			asked := ns("asked")
			received := asked + ns("there")
			sent := received + ns("held")
			all = append(all, Exchange{Asked: asked, Answered: sent + ns("back"),
				ClockAnswer: ClockAnswer{Received: received + offset, Sent: sent + offset}})
		}
		best, ok := Nearest(all)
		got, bound := best.Offset()
		if !ok || max(got-offset, offset-got) > bound {
			t.Fatalf("offset %s with the bound %s, and it is %s", got, bound, offset)
		}
	})
	for _, lie := range []Exchange{{Asked: 5, Answered: 9, ClockAnswer: ClockAnswer{Received: 7, Sent: 6}},
		{Asked: 5, Answered: 9, ClockAnswer: ClockAnswer{Received: 0, Sent: 5}}, {Asked: 5, Answered: 4}} {
		if _, ok := Nearest([]Exchange{lie}); ok {
			t.Errorf("%+v is taken", lie)
		}
	}
}

func TestPermits(t *testing.T) {
	l, err := ParseLimit([]string{"load=http://10.0.0.5:8080/api", "load=https://a.test/"})
	if err != nil {
		t.Fatal(err)
	}
	f := func(url string, good bool) {
		t.Helper()
		if l.permits(url) != good {
			t.Errorf("%s: want %v", url, good)
		}
	}
	f("http://10.0.0.5:8080/api", true)
	f("http://10.0.0.5:8080/api/x?y=1", true)
	f("http://10.0.0.5:8080/api/{{int 1 9}}", true)
	f("https://A.test:443/x", true)
	f("https://a.test", true)
	f("http://10.0.0.5:8080/apix", false)
	f("http://10.0.0.5:8080/", false)
	f("http://10.0.0.5:8080/api/../x", false)
	f("http://10.0.0.5:8080/api/%2e%2e/x", false)
	f("http://10.0.0.5:8080/api/..%2fx", false)
	f("http://10.0.0.5/api", false)
	f("https://10.0.0.5:8080/api", false)
	f("http://10.0.0.5:8080@evil.test/api", false)
	f("http://u@10.0.0.5:8080/api", false)
	f("http://10.0.0.5:8080.evil.test/api", false)
	f("https://{{csv.host}}/", false)
	f("https://a.test{{csv.more}}/", false)
	f("http://10.0.0.5:8080/api{{hex 4}}", false)
	f("http://10.0.0.5:8080/api/{{pick ..}}/admin", false)
	f("http://10.0.0.5:8080/api/{{ pick ..}}/admin", false)
	f("http://10.0.0.5:8080/api/.{{pick .|x}}/admin", false)
	f("http://10.0.0.5:8080/api/x?y={{pick a|b}}", true)
	f(`http://10.0.0.5:8080/api/x\..\..\admin`, false)
	f("http://10.0.0.5:8080/api/x%5C..%5c..%5Cadmin", false)
	f("ftp://a.test/", false)
	f("", false)
	for _, bad := range []string{"http://a/", "load=", "load=a.test", "load=ftp://a/", "run=rm", "load=http://u:p@a/"} {
		if _, err := ParseLimit([]string{bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	var none Limit
	if none.permits("http://127.0.0.1/") {
		t.Error("the zero limit lets something")
	}
}

func order(t *testing.T, url string, perSec float64) Order {
	t.Helper()
	b, err := json.Marshal(map[string]any{"method": "GET", "url": url})
	if err != nil {
		t.Fatal(err)
	}
	return Order{Run: "0123456789abcdef", Start: 2 * time.Second, Targets: b, Share: load.Share{Index: 1, Of: 4},
		Schedule: vegeta.ScheduleOptions{Rate: perSec, Duration: time.Second}}
}

// TestOrderCheck: what a hub that somebody else holds could ask.
func TestOrderCheck(t *testing.T) {
	l, err := ParseLimit([]string{"load=http://10.0.0.5/"})
	if err != nil {
		t.Fatal(err)
	}
	l.PerSec = 100
	f := func(want string, change func(*Order)) {
		t.Helper()
		o := order(t, "http://10.0.0.5/x", 400)
		change(&o)
		err := o.Check(&l, time.Second)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
	f("", func(*Order) {})
	f("not allowed here", func(o *Order) { *o = order(t, "http://10.0.0.6/", 400) })
	f("more than the 100 of --max-rate", func(o *Order) { o.Schedule.Rate = 401 })
	f("closed loop has no rate", func(o *Order) { o.Schedule.Rate, o.MaxWorkers = 0, 5 })
	f("start is past", func(o *Order) { o.Start = time.Second })
	f("start is past", func(o *Order) { o.Start = time.Hour })
	f("bad share", func(o *Order) { o.Share.Index = 4 })
	f("no name", func(o *Order) { o.Run = "../../x" })
	f("bad JSON", func(o *Order) { o.Targets = []byte("GET http://10.0.0.5/\n@/etc/passwd\n") })
	f("no targets", func(o *Order) { o.Targets = nil })
	f("bad", func(o *Order) { o.Schedule.Duration = -1 })
	f("a Host header", func(o *Order) { o.Header = http.Header{"host": {"admin.test"}} })
	// A header that ends its line would begin a request to somewhere else on the host.
	const more = "a\r\n\r\nGET /admin HTTP/1.1\r\nHost: b"
	f("control character", func(o *Order) { o.Header = http.Header{"X": {more}} })
	f("control character", func(o *Order) { o.Header = http.Header{"X": {"{{pick " + more + "}}"}} })
	f("control character", func(o *Order) { o.Header = http.Header{"X: " + more: {"x"}} })
	f("control character", func(o *Order) { o.SeqHeader = "X: " + more })
	f("control character", func(o *Order) { o.Name = more })
	b, err := json.Marshal(map[string]any{"method": "GET", "url": "http://10.0.0.5/", "header": map[string][]string{"X": {"{{pick " + more + "}}"}}})
	if err != nil {
		t.Fatal(err)
	}
	f("control character", func(o *Order) { o.Targets = b })
	for _, host := range []string{"admin.test", "{{pick admin.test}}"} {
		f("a Host header", func(o *Order) {
			o.Targets = []byte(`{"method":"GET","url":"http://10.0.0.5/","header":{"Host":["` + host + `"]}}`)
		})
	}
	// A file cannot be named: a body is bytes, and a header a header.
	f("", func(o *Order) {
		o.Targets = []byte(`{"method":"POST","url":"http://10.0.0.5/","body":"QC9ldGMvcGFzc3dk"}`)
		o.Header = http.Header{"A": {"@/etc/passwd"}}
	})
	o := order(t, "http://10.0.0.5/", 1)
	a := o.Attack()
	if p, err := a.PlanOf([]byte(`{"method":"POST","url":"http://10.0.0.5/","body":"QC9ldGMvcGFzc3dk"}`)); err != nil || string(p.Targets[0].Body) != "@/etc/passwd" {
		t.Errorf("%v, %v", p, err)
	}
}

func second(n int, second int, target string) kasoku.LoadSecond {
	s := kasoku.LoadSecond{Second: second, Step: 1, Target: target, Asked: uint64(n), Codes: map[int]uint64{200: uint64(n)},
		Latency: histogram.New(), SendDelay: histogram.New(), Service: histogram.New()}
	for range n {
		s.Latency.Record(time.Millisecond)
		s.SendDelay.Record(time.Microsecond)
		s.Service.Record(time.Millisecond)
	}
	return s
}

// TestSecond: a second comes as it went, and one whose counts contradict one another is
// refused.
func TestSecond(t *testing.T) {
	f := func(good bool, change func(*Second)) {
		t.Helper()
		s, err := EncodeSecond(second(10, 3, "GET /"))
		if err != nil {
			t.Fatal(err)
		}
		change(&s)
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back Second
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		got, err := back.Decode()
		if (err == nil) != good {
			t.Errorf("error is %v", err)
		}
		if good && (got.Asked != 10 || got.Latency.Quantile(0.5) != second(10, 3, "").Latency.Quantile(0.5)) {
			t.Errorf("got %+v", got)
		}
	}
	f(true, func(*Second) {})
	f(false, func(s *Second) { s.Asked = 11 })
	f(false, func(s *Second) { s.Codes = map[int]uint64{200: 9} })
	f(false, func(s *Second) { s.Codes = map[int]uint64{200: 1 << 63, 201: 1<<63 + 10} })
	f(false, func(s *Second) { s.Codes = map[int]uint64{-5: 10} })
	f(true, func(s *Second) { s.Expected = 10 })
	f(false, func(s *Second) { s.Expected = 11 })
	f(false, func(s *Second) { s.Latency = []byte{9, 9} })
	f(false, func(s *Second) { s.Service = nil })
	f(false, func(s *Second) { s.Errors = map[string]uint64{"x": 11} })
	f(false, func(s *Second) { s.Errors = map[string]uint64{strings.Repeat("x", 5000): 1} })
}

// FuzzSecond: whatever a host says, a second that is taken adds up.
func FuzzSecond(f *testing.F) {
	s, err := EncodeSecond(second(3, 1, "GET /"))
	if err != nil {
		f.Fatal(err)
	}
	b, err := json.Marshal(s)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		var s Second
		if json.Unmarshal(b, &s) != nil {
			return
		}
		got, err := s.Decode()
		if err == nil && (got.Latency.Count() != got.Asked || got.Service.Count() != got.Asked) {
			t.Errorf("%+v", got)
		}
	})
}

// TestAccount: what was not due of a share cannot be counted, and what is not counted is
// known.
func TestAccount(t *testing.T) {
	schedule, err := load.Constant(30, 3*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	plan := load.Plan{Schedule: schedule, Share: load.Share{Index: 2, Of: 3},
		Targets: []load.Target{{Method: "GET", URL: "http://a/x"}, {Method: "GET", URL: "http://a/y"}}}
	a := NewAccount(plan)
	take := func(good bool, s kasoku.LoadSecond, now time.Duration) {
		t.Helper()
		if err := a.Take(&s, now); (err == nil) != good {
			t.Errorf("second %d, %d of %s: error is %v", s.Second, s.Asked, s.Target, err)
		}
	}
	take(true, second(5, 0, "GET /x"), time.Hour)
	take(false, second(1, 0, "GET /x"), time.Hour) // each was counted
	take(true, second(5, 0, "GET /y"), time.Hour)
	take(false, second(6, 1, "GET /x"), time.Hour)
	take(false, second(1, 1, "GET /z"), time.Hour)
	take(false, second(1, 3, "GET /x"), time.Hour) // after the end
	take(false, second(1, -1, "GET /x"), time.Hour)
	take(false, second(1, 2, "GET /x"), time.Second) // that second is to come
	take(true, second(3, 1, "GET /x"), time.Hour)
	all, missing := a.Missing(2500*time.Millisecond, "gone")
	var n uint64
	for _, s := range missing {
		n += s.Errors["gone"]
		if s.Asked != s.Codes[0] || s.Second == 0 {
			t.Errorf("%+v", s)
		}
	}
	if n != 12 || all != 25 || a.Sent() != 13 {
		t.Errorf("%d missing, %d due, %d sent", n, all, a.Sent())
	}
}

// TestCut: frames are small, and leave nothing out.
func TestCut(t *testing.T) {
	var all []kasoku.LoadSecond
	for i := range 2000 {
		all = append(all, second(1+i%7, i, "GET /"+strings.Repeat("x", 300)))
	}
	frames, sizes, err := Cut(all, 7)
	if err != nil || len(frames) < 2 || len(sizes) != len(frames) {
		t.Fatalf("%d frames, %v", len(frames), err)
	}
	n := 0
	for i, f := range frames {
		if f.Number != uint64(7+i) || sizes[i] > MaxAnswer {
			t.Errorf("frame %d has number %d and %d bytes", i, f.Number, sizes[i])
		}
		for _, s := range f.Seconds {
			if s.Second != n {
				t.Fatalf("second %d, want %d", s.Second, n)
			}
			n++
		}
	}
	if n != len(all) {
		t.Errorf("%d seconds of %d", n, len(all))
	}
	if b, err := json.Marshal(frames[0]); err != nil || len(b) > MaxAnswer || !bytes.Contains(b, []byte("GET /")) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
