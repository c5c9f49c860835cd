package load

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

func TestRecorderCountsBySecondStepAndTarget(t *testing.T) {
	p := Plan{Targets: []Target{{Method: "GET", URL: "http://a/x?q=1"}, {Method: "GET", URL: "http://b/x"}, {Method: "PUT", URL: "http://a"}}}
	r := NewRecorder(p, 300*ms)
	r.KeepSeconds()
	r.Hits([]Hit{
		{N: 0, Step: 1, Target: 0, Due: 699 * ms, Sent: 700 * ms, Done: 1700 * ms, Code: 200, BytesIn: 10, BytesOut: 1},
		{N: 1, Step: 1, Target: 1, Due: 700 * ms, Sent: 700 * ms, Done: 710 * ms, Code: 500, BytesIn: 5, Err: "500 Internal Server Error"},
		{N: 2, Step: 2, Target: 2, Due: 701 * ms, Sent: 701 * ms, Done: 702 * ms, Err: "EOF"},
		{N: 3, Step: 1, Target: 0, Due: 0, Sent: 0, Done: 2 * ms, Code: 302},
	})
	got := r.Take()
	var lines []string
	for _, s := range got {
		lines = append(lines, fmt.Sprintf("%d %d %s asked %d codes %v errors %v in %d out %d latency %s delay %s service %s", s.Second, s.Step, s.Target,
			s.Asked, s.Codes, s.Errors, s.BytesIn, s.BytesOut, s.Latency.Max(), s.SendDelay.Max(), s.Service.Max()))
	}
	want := []string{
		"0 1 GET /x asked 2 codes map[200:1 302:1] errors map[] in 10 out 1 latency 1.001s delay 1ms service 1s",
		"1 1 GET /x asked 1 codes map[500:1] errors map[500 Internal Server Error:1] in 5 out 0 latency 10ms delay 0s service 10ms",
		"1 2 PUT / asked 1 codes map[0:1] errors map[EOF:1] in 0 out 0 latency 1ms delay 0s service 1ms",
	}
	if !reflect.DeepEqual(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}

	live := func(now time.Duration, second int, asked uint64) {
		t.Helper()
		if l := r.Live(now); l.Total != 4 || l.Failed != 2 || l.Second != second || l.LastSecond.Asked != asked {
			t.Errorf("bad live view at %s %+v", now, l)
		}
	}
	live(0, -1, 0)
	live(1099*ms, -1, 0) // what is due in the first second is still being handed over
	live(1100*ms, 0, 2)
	live(2099*ms, 0, 2)
	live(2100*ms, 1, 2)
	live(3100*ms, 2, 0)
	if n := r.Tally(1).Asked; n != 3 {
		t.Errorf("step 1 has %d requests, want 3", n)
	}
}

func TestRecorderTake(t *testing.T) {
	r := NewRecorder(Plan{Targets: []Target{{Method: "GET", URL: "http://a/"}}}, 0)
	r.Hits([]Hit{{Step: 1, Due: 0, Done: ms, Code: 200}})
	if n := len(r.Take()); n != 0 {
		t.Fatalf("%d seconds are kept, want none unasked", n)
	}
	r.KeepSeconds()
	r.Hits([]Hit{{Step: 1, Due: 0, Done: ms, Code: 200}, {Step: 1, Due: time.Second, Done: time.Second, Code: 200}})
	r.Tally(0)
	r.Hits([]Hit{{Step: 1, Due: 2 * ms, Done: ms, Code: 200}})
	if s := r.Take(); len(s) != 2 || s[0].Asked != 2 || s[1].Asked != 1 {
		t.Fatalf("%+v", s)
	}
	if n := len(r.Take()); n != 0 {
		t.Fatalf("%d seconds, want none", n)
	}
	r.Hits([]Hit{{Step: 1, Due: 500 * ms, Done: time.Second, Code: 500, Err: "x"}})
	c := r.Take()
	if len(c) != 1 || c[0].Second != 0 || c[0].Asked != 1 || len(c[0].Codes) != 1 {
		t.Fatalf("%+v, want what came late of second 0 alone", c)
	}
	c[0].Codes[200], c[0].Errors["x"] = 77, 100
	c[0].Latency.Record(time.Hour)
	if all := r.Tally(0); all.Asked != 5 || all.Codes[200] != 4 || all.Errors["x"] != 1 || all.Latency.Max() != 500*ms {
		t.Errorf("what was taken shares memory with the recorder: %+v", all)
	}
}

func TestRecorderBoundsTargetsAndErrors(t *testing.T) {
	var p Plan
	for i := range 3 * maxTargets {
		p.Targets = append(p.Targets, Target{Method: "GET", URL: fmt.Sprintf("http://a/users/%d", i)})
	}
	r := NewRecorder(p, 0)
	r.KeepSeconds()
	for i := range p.Targets {
		r.Hits([]Hit{{Target: i, Err: fmt.Sprintf("error %d", i)}, {Target: 0, Err: fmt.Sprintf("error %d", i)}})
	}
	secs := r.Take()
	if len(secs) != maxTargets+1 {
		t.Errorf("%d targets are kept, want %d", len(secs), maxTargets+1)
	}
	for _, s := range secs {
		if len(s.Errors) > maxErrors+1 {
			t.Errorf("%s has %d messages, want at most %d", s.Target, len(s.Errors), maxErrors+1)
		}
	}
	tally := r.Tally(0)
	if tally.Asked != 6*maxTargets || tally.Failed() != 6*maxTargets || sum(tally.Errors) != 6*maxTargets {
		t.Errorf("bad sums: %d asked, %d failed, %d errors", tally.Asked, tally.Failed(), sum(tally.Errors))
	}
}

func sum(m map[string]uint64) (n uint64) {
	for _, k := range m {
		n += k
	}
	return n
}

func TestErrorClass(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := ErrorClass(in); got != want {
			t.Errorf("ErrorClass(%q) = %q, want %q", in, got, want)
		}
	}
	f("", "")
	f("->", "->")
	f("500 Internal Server Error", "500 Internal Server Error")
	f(`Get "http://127.0.0.1:1/": read tcp 127.0.0.1:40312->127.0.0.1:8080: read: connection reset by peer`,
		`Get "http://127.0.0.1:1/": read tcp 127.0.0.1->127.0.0.1:8080: read: connection reset by peer`)
	f("read tcp [::1]:4->[::1]:80: i/o timeout", "read tcp [::1]->[::1]:80: i/o timeout")
	f("a->b", "a->b")
	f("12->b", "12->b")
	f(strings.Repeat("é", 200), strings.Repeat("é", 150)+"…")
	f(strings.Repeat("é", 150)+"x", strings.Repeat("é", 150)+"…")
	f("x"+strings.Repeat("é", 200), "x"+strings.Repeat("é", 149)+"…")
}
