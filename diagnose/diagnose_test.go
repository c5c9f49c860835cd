package diagnose

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// says is a rule that says what it was made with.
type says struct {
	id    string
	found []kasoku.Finding
	quiet []kasoku.Silence
}

func (s says) ID() string { return s.id }
func (s says) Doc() Doc   { return Doc{} }

func (s says) Check(*Case) ([]kasoku.Finding, []kasoku.Silence) { return s.found, s.quiet }

func finding(id string, share float64, change func(*kasoku.Finding)) says {
	f := kasoku.Finding{ID: id, Severity: kasoku.Problem, Impact: kasoku.Impact{Share: share}, Evidence: []kasoku.Evidence{{Text: "x"}}}
	if change != nil {
		change(&f)
	}
	return says{id: id, found: []kasoku.Finding{f}}
}

func TestRank(t *testing.T) {
	f := func(want string, rules ...Rule) {
		t.Helper()
		var got []string
		for _, x := range Diagnose(nil, rules).Findings {
			got = append(got, x.ID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("order %v, want %s", got, want)
		}
	}
	explains := func(ids ...string) func(*kasoku.Finding) {
		return func(f *kasoku.Finding) { f.Explains = ids }
	}
	info := func(f *kasoku.Finding) { f.Severity, f.Explains = kasoku.Info, []string{"A"} }
	estimate := func(f *kasoku.Finding) { f.Impact.Estimate = true }
	durable := func(f *kasoku.Finding) { f.Fixes = []kasoku.Fix{{Risk: kasoku.RiskDurability}} }
	restart := func(f *kasoku.Finding) { f.Fixes = []kasoku.Fix{{Risk: kasoku.RiskRestart}} }
	// The larger share first.
	f("B A", finding("A", 0.1, nil), finding("B", 0.2, nil))
	// What explains another stands where its own figure puts it; before it among equals.
	f("B A", finding("B", 0.9, nil), finding("A", 0.1, explains("B")))
	f("B A", finding("A", 0.5, nil), finding("B", 0.5, explains("A")))
	f("C B A", finding("C", 0.5, explains("B")), finding("B", 0.5, explains("A")), finding("A", 0.5, nil))
	// Remarks last, even when they claim to explain.
	f("A I", finding("I", 1, info), finding("A", 0.1, nil))
	// The order is that of the figures, estimates and risks or not: 98.7 % stood below 68 %.
	f("A B", finding("A", 0.987, estimate), finding("B", 0.68, nil))
	f("A B", finding("A", 0.987, durable), finding("B", 0.68, nil))
	// Among equals what was counted, then what risks neither data nor answers.
	f("B A", finding("A", 0.4, estimate), finding("B", 0.4, nil))
	f("B A", finding("A", 0.4, durable), finding("B", 0.4, nil))
	f("B A", finding("A", 0.4, estimate), finding("B", 0.4, durable))
	f("B A", finding("A", 0.4, restart), finding("B", 0.4, nil))
	f("B A", finding("A", 0.4, durable), finding("B", 0.4, restart))
	f("A B", finding("A", 0.40004, restart), finding("B", 0.4, restart)) // both are shown as 40.0 %
	f("B A", finding("A", 0.40004, restart), finding("B", 0.4, nil))
	// What is explained stands neither after less nor before more.
	f("C D A", finding("C", 0.9, nil), finding("D", 0.5, nil), finding("A", 0.1, explains("C")))
	f("B C D A E", finding("C", 0.9, nil), finding("B", 0.95, explains("C")), finding("A", 0.1, explains("B")), finding("D", 0.5, nil), finding("E", 0.01, nil))
	// What costs little and goes by itself comes after what stays, but before remarks.
	f("A D C I", finding("A", 0.5, explains("C")), finding("C", 0.019, nil), finding("D", 0, nil), finding("I", 0, info))
	f("A C D", finding("A", 0.5, explains("C")), finding("C", 0.02, nil), finding("D", 0, nil))
	// A remark that only points to where the time goes comes after those that have what to change.
	remark := func(f *kasoku.Finding) { f.Severity = kasoku.Info }
	f("A I P", finding("A", 0.5, nil), signpost{finding("P", 0.9, remark)}, finding("I", 0.01, remark))
	f("P A", signpost{finding("P", 0.9, nil)}, finding("A", 0.5, nil))
	// Where all else costs little, it comes first if it points to much.
	f("P A I", finding("A", 0.019, nil), signpost{finding("P", 0.3, remark)}, finding("I", 0.5, remark))
	f("A P", finding("A", 0.03, nil), signpost{finding("P", 0.3, remark)})
	f("P A", finding("A", 0.029, nil), signpost{finding("P", 0.3, remark)})
	f("A P", finding("A", 0.002, nil), signpost{finding("P", 0.29, remark)})
	// A remark that warns of wrong answers comes before those that cost little.
	f("A W I P", finding("A", 0.5, nil), finding("I", 0.01, remark), warning{finding("W", 0, remark)},
		signpost{finding("P", 0.9, remark)})
	f("A W", warning{finding("W", 0, nil)}, finding("A", 0.5, nil))
	// A ring does not hang; equal ones go by id.
	f("A B", finding("B", 0.5, explains("A")), finding("A", 0.5, explains("B")))
	f("A B C", finding("C", 0, nil), finding("B", 0, nil), finding("A", 0, nil))
}

// warning is a rule whose findings are about answers that become wrong.
type warning struct{ says }

func (warning) Doc() Doc { return Doc{Warns: true} }

// signpost is a rule whose findings only point to where the time goes.
type signpost struct{ says }

func (signpost) Doc() Doc { return Doc{Points: true} }

// TestYieldSigns: a sign is a remark where a problem names what to change at what it points to.
func TestYieldSigns(t *testing.T) {
	quotes := func(statement string, strong bool) func(*kasoku.Finding) {
		return func(f *kasoku.Finding) {
			f.Cause, f.Evidence = "Why.", []kasoku.Evidence{{Source: "slow.log", Text: statement, Strong: strong}}
		}
	}
	remark := func(f *kasoku.Finding) { quotes("select a from b", true)(f); f.Severity = kasoku.Info }
	for _, c := range []struct {
		want string
		by   says
	}{
		{"I HW", finding("I", 0.3, quotes("select a from b", true))},
		{"HW I", finding("I", 0.29, quotes("select a from b", true))}, // too little of the time
		{"HW I", finding("I", 0.3, quotes("select a from c", true))},
		{"HW I", finding("I", 0.3, quotes("select a from b", false))},
		{"HW I", finding("I", 0.3, remark)},
	} {
		d := Diagnose(nil, []Rule{signpost{finding("HW", 0.9, quotes("select a from b", false))}, c.by})
		if got := d.Findings[0].ID + " " + d.Findings[1].ID; got != c.want {
			t.Errorf("order %s, want %s", got, c.want)
		}
		if yields := c.want == "I HW"; yields != strings.HasSuffix(d.Findings[1].Cause, "Why. I names what to change.") {
			t.Errorf("%s: %q", c.want, d.Findings[1].Cause)
		}
	}
}

// TestJoinRemarks: three remarks of a rule are one, with what each is about; findings stay apart.
func TestJoinRemarks(t *testing.T) {
	var rules []Rule
	for i, share := range []float64{0.001, 0.003, 0.002, 0.1} {
		name := string(rune('a' + i))
		rules = append(rules, finding("R", share, func(f *kasoku.Finding) {
			f.Title, f.Object = strings.Repeat("row of ", 10)+name, kasoku.Object{Kind: "endpoint", Name: "GET /" + name}
			f.Fixes = []kasoku.Fix{{Text: "the same"}, {Text: "of its own", Code: name}}
			if share < 0.02 {
				f.Severity = kasoku.Info
			}
		}))
	}
	d := Diagnose(nil, append(rules, finding("S", 0, func(f *kasoku.Finding) { f.Severity = kasoku.Info })))
	if len(d.Findings) != 3 {
		t.Fatalf("%d findings", len(d.Findings))
	}
	r := d.Findings[1]
	var notes []string
	for _, e := range r.Evidence {
		notes = append(notes, e.Note)
	}
	if got, want := strings.Join(notes, "; "), "; also endpoint GET /c, 0.2 %; also endpoint GET /a, 0.1 %"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if !strings.HasSuffix(r.Title, "…, and 2 more like it") || len([]rune(r.Title)) != 70 || len(r.Fixes) != 4 || r.Object.Name != "GET /b" {
		t.Errorf("%q, %d fixes, %s", r.Title, len(r.Fixes), r.Object)
	}
}

// TestShare: impacts of the same statements or of one endpoint are not added.
func TestShare(t *testing.T) {
	quoting := func(id, object, of string, statements ...string) says {
		return finding(id, 0.3, func(f *kasoku.Finding) {
			f.Impact.Of, f.Object = of, kasoku.Object{Kind: "endpoint", Name: object}
			for _, s := range statements {
				f.Evidence = append(f.Evidence, kasoku.Evidence{Source: "slow.log", Text: s, Strong: true})
			}
		})
	}
	long := "select a, b, c from lines where parent = ? and kind = ? order by created"
	d := Diagnose(nil, []Rule{
		quoting("A", "GET /x", "of time", long), quoting("B", "GET /y", "of time", long[:50]+"…"), quoting("C", "GET /x", "of time", "select other from things"),
		quoting("D", "GET /x", "of time"), quoting("E", "GET /x", "of requests", long), quoting("F", "GET /z", "of time"),
	})
	want := map[string]string{"A": "B D", "B": "A", "C": "D", "D": "A C", "E": "", "F": ""}
	for _, f := range d.Findings {
		if got := strings.Join(f.Impact.Shared, " "); got != want[f.ID] {
			t.Errorf("%s shares with %q, want %q", f.ID, got, want[f.ID])
		}
	}
}

func TestDiagnoseTidies(t *testing.T) {
	d := Diagnose(nil, []Rule{
		finding("A", math.NaN(), func(f *kasoku.Finding) {
			f.Explains, f.Impact.Shared = []string{"B", "Z", "A"}, []string{"Z", "B"}
			f.Evidence[0].Number = math.Inf(1)
		}),
		finding("B", 7, nil),
		says{id: "NO-EVIDENCE", found: []kasoku.Finding{{ID: "NO-EVIDENCE"}}},
		says{id: "MUTE"},
		says{id: "NEAR", quiet: []kasoku.Silence{{ID: "NEAR", Near: 0.5}, {ID: "NEAR", Near: math.NaN()}}},
		says{id: "OVER", quiet: []kasoku.Silence{{ID: "OVER", Near: 3}}},
	})
	b, a := d.Findings[1], d.Findings[0]
	if a.ID != "A" {
		a, b = b, a
	}
	if len(d.Findings) != 2 || a.Impact.Share != 0 || b.Impact.Share != 1 || a.Evidence[0].Number != 0 {
		t.Errorf("findings %+v", d.Findings)
	}
	if !slices.Equal(a.Explains, []string{"B"}) || !slices.Equal(a.Impact.Shared, []string{"B"}) {
		t.Errorf("explains %v, shared %v", a.Explains, a.Impact.Shared)
	}
	var order []string
	for _, s := range d.Silences {
		order = append(order, s.ID)
		if s.Near < 0 || s.Near > 1 || s.Near != s.Near {
			t.Errorf("%s: near %v", s.ID, s.Near)
		}
	}
	if want := []string{"OVER", "NEAR", "NEAR", "MUTE", "NO-EVIDENCE"}; !slices.Equal(order, want) || d.Rules != 6 {
		t.Errorf("silences %v, want %v; %d rules", order, want, d.Rules)
	}
}

func TestConfidence(t *testing.T) {
	yes, no, blind := Signal{Holds: true}, Signal{Lacks: "no x"}, Signal{Holds: true, Blind: "no slow log"}
	f := func(level kasoku.Level, holds, of int, note string, signals ...Signal) {
		t.Helper()
		if got, want := Confidence(signals...), (kasoku.Confidence{Level: level, Holds: holds, Of: of, Note: note}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	f(kasoku.High, 5, 5, "", yes, yes, yes, yes, yes)
	f(kasoku.High, 4, 5, "no x", yes, yes, yes, yes, no)
	f(kasoku.Medium, 3, 4, "no x", yes, yes, yes, no)
	f(kasoku.Medium, 4, 5, "no slow log", yes, yes, yes, yes, blind)
	f(kasoku.Low, 1, 4, "no x; no slow log", yes, no, no, blind)
	f(kasoku.Low, 0, 0, "")
}

func TestVerdict(t *testing.T) {
	ms := time.Millisecond
	f := func(want string, rec *kasoku.Recording, rules ...Rule) {
		t.Helper()
		if got := Diagnose(NewCase(rec, nil), rules).Verdict; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	clause := func(text string, estimate bool) func(*kasoku.Finding) {
		return func(f *kasoku.Finding) { f.Clause, f.Impact.Estimate = text, estimate }
	}
	failing := run(at{10, 0, 10, 1, 4 * ms}, at{1000, 13, 23, 0.3, 4 * ms})
	slow := run(at{10, 0, 10, 1, 4 * ms}, at{1000, 13, 23, 1, 100 * ms})
	f("At 1,000 req/s only 30.0 % of requests succeed: a breaks and b breaks.", failing,
		finding("A", 0.7, clause("a breaks", false)), finding("B", 0.6, clause("b breaks", false)), finding("C", 0.5, clause("c breaks", false)))
	f("At 1,000 req/s only 30.0 % of requests succeed: a breaks.", failing,
		finding("A", 0.7, clause("a breaks", false)), finding("B", 0.1, clause("b breaks", false)), finding("C", 0.9, clause("c is slow", true)))
	f("At 1,000 req/s only 30.0 % of requests succeed: no rule names the cause.", failing, finding("C", 0.9, clause("c is slow", true)))
	// Requests that fail are explained by what counts them, not by what takes the others' time.
	counted := func(text, of string, estimate bool, quotes ...string) func(*kasoku.Finding) {
		return func(f *kasoku.Finding) {
			f.Clause, f.Impact.Of, f.Impact.Estimate = text, of, estimate
			for _, q := range quotes {
				f.Evidence = append(f.Evidence, kasoku.Evidence{Source: q, Text: "Error 1213", Strong: true})
			}
		}
	}
	f("At 1,000 req/s only 30.0 % of requests succeed: b deadlocks.", failing,
		finding("A", 0.9, counted("a waits", "of the requests' time", false)), finding("B", 0.6, counted("b deadlocks", "of requests at 1,000 req/s", true, "app.log")))
	f("At 1,000 req/s only 30.0 % of requests succeed: a waits.", failing, // a tenth of them is not why
		finding("A", 0.9, counted("a waits", "of the requests' time", false)), finding("B", 0.07, counted("b deadlocks", "of requests at 1,000 req/s", false)))
	f("At 1,000 req/s only 30.0 % of requests succeed: a waits.", failing, // passed on, and not failed
		finding("A", 0.9, counted("a waits", "of the requests' time", false)), finding("B", 0.8, counted("b passes", "of requests at 1,000 req/s", true)))
	failing.Seconds[15].Errors = map[string]uint64{"503 Service Unavailable": 7}
	f(`At 1,000 req/s only 30.0 % of requests succeed: no rule names the cause; the most frequent error is "503 Service Unavailable" (7).`, failing)
	f("At 1,000 req/s p95 is 100 ms, 25.0 times the 4.00 ms at 10 req/s: c is slow.", slow, finding("C", 0.9, clause("c is slow", true)))
	f("At 1,000 req/s p95 is 100 ms, 25.0 times the 4.00 ms at 10 req/s: no rule names the cause.", slow, finding("C", 0.3, clause("c is slow", true)))
	slow.Settings = []kasoku.Setting{{Scope: "mysql", Name: "max_connections", Value: "100"}}
	series(slow, MySQL, "Threads_connected", 0, slices.Repeat([]float64{94}, 27)...)
	f("At 1,000 req/s p95 is 100 ms, 25.0 times the 4.00 ms at 10 req/s: no rule names the cause.", slow)
	slow.Settings[0].Value = "98"
	f("At 1,000 req/s p95 is 100 ms, 25.0 times the 4.00 ms at 10 req/s: no rule names the cause; used up is max_connections, 94 of 98 used.", slow)
	good := run(at{10, 0, 10, 1, 4 * ms}, at{1000, 13, 23, 1, 6 * ms})
	f("No step broke: at 1,000 req/s, 100 % of requests succeed with p95 6.00 ms.", good)
	good.Settings = []kasoku.Setting{{Scope: "mysql", Name: "max_connections", Value: "151"}}
	series(good, MySQL, "Threads_connected", 0, slices.Repeat([]float64{101}, 27)...)
	f("No step broke: at 1,000 req/s, 100 % of requests succeed with p95 6.00 ms; the nearest limit is max_connections, 101 of 151 used.", good)
	for mode, per := range map[string]float64{"user": 1.5, "system": 0.1, "idle": 0.4} {
		var v []float64
		for i := range 27 {
			v = append(v, per*float64(i))
		}
		series(good, Host, "cpu."+mode, 0, v...)
	}
	f("No step broke: at 1,000 req/s, 100 % of requests succeed with p95 6.00 ms; the nearest limit is CPU, 1.60 of 2 cores busy.", good)
	// An endpoint that takes seconds, and what costs most, are in the headline.
	report := histogram.New()
	for range 9 {
		report.Record(5700 * ms)
	}
	steady := run(at{10, 0, 10, 1, 4 * ms}, at{1000, 13, 23, 1, 6 * ms})
	steady.Endpoints = []kasoku.Endpoint{{Method: "GET", Route: "/report", Count: 9, Latency: report}}
	untimed := run(at{20, 0, 10, 1, 4100 * ms}) // as with nginx's own log format
	untimed.Endpoints = []kasoku.Endpoint{{Method: "GET", Route: "/a", Count: 300}}
	if got := Diagnose(NewCase(untimed, nil), nil).Verdict; !strings.HasPrefix(got, "GET /a takes 4,1") {
		t.Errorf("a log without times hides what the load measured: %s", got)
	}
	f("GET /report takes 5,700 ms (p95): at 1,000 req/s, 100 % of requests succeed with p95 6.00 ms; what costs most: a is slow.",
		steady, finding("A", 0.7, clause("a is slow", true)), finding("B", 0.2, clause("b is slow", true)))
	// A part of the round trips is no part of the time, however large.
	f("GET /report takes 5,700 ms (p95): at 1,000 req/s, 100 % of requests succeed with p95 6.00 ms; what costs most: b is slow.",
		steady, finding("A", 0.7, func(f *kasoku.Finding) { f.Impact.Of, f.Clause = "of round trips to MariaDB over the run", "a is slow" }),
		finding("B", 0.5, clause("b is slow", true)))
	// Where the slow log lacks the statements, nothing says what costs most.
	unlogged := *steady
	unlogged.Warnings = []kasoku.Warning{{Code: UnloggedCode, Text: "the slow log holds 0 of 300 statements (Questions): sessions that were open"}}
	unlogged.Series = append(slices.Clone(steady.Series), kasoku.Series{Key: kasoku.Key{Source: MySQL, Name: "Questions"}, Kind: kasoku.Counter,
		Points: []kasoku.Point{{At: 0, Value: 1}, {At: sec(13), Value: 101}, {At: sec(23), Value: 301}}})
	f("GET /report takes 5,700 ms (p95): at 1,000 req/s, 100 % of requests succeed with p95 6.00 ms; what costs most is not known: the slow log holds 0 of 300 statements.",
		&unlogged, finding("A", 0.7, clause("a is slow", true)))
	unlogged.Warnings[0].Hint = "`--recycle-connections` ends idle sessions first"
	f("GET /report takes 5,700 ms (p95): at 1,000 req/s, 100 % of requests succeed with p95 6.00 ms; what costs most is not known: the slow log holds 0 of 300 statements: "+
		"add `--recycle-connections` to the command.",
		&unlogged, finding("A", 0.7, clause("a is slow", true)))
	// Those of a trace are all, scaled.
	traced := unlogged
	traced.Warnings = append(slices.Clone(unlogged.Warnings), kasoku.Warning{Code: kasoku.CodeTraced})
	traced.Queries = []kasoku.Query{{Calls: 100}}
	f("GET /report takes 5,700 ms (p95): at 1,000 req/s, 100 % of requests succeed with p95 6.00 ms; what costs most: a is slow.",
		&traced, finding("A", 0.7, clause("a is slow", true)))
	unlogged.Queries = []kasoku.Query{{Calls: 290}}
	f("GET /report takes 5,700 ms (p95): at 1,000 req/s, 100 % of requests succeed with p95 6.00 ms; what costs most: a is slow.",
		&unlogged, finding("A", 0.7, clause("a is slow", true)))
	f("No requests were counted.", &kasoku.Recording{})
	f("Nothing broke: 100 % of 5 requests succeed.", &kasoku.Recording{Run: kasoku.Run{Length: sec(9)},
		Endpoints: []kasoku.Endpoint{{Seconds: map[int]kasoku.EndpointSecond{1: {Count: 5}}}}})
	codes := func(ok, refused uint64) *kasoku.Recording {
		return &kasoku.Recording{Run: kasoku.Run{Length: sec(9)}, Endpoints: []kasoku.Endpoint{{
			Codes: map[int]uint64{200: ok, 404: refused}, Seconds: map[int]kasoku.EndpointSecond{1: {Count: ok + refused}},
		}}}
	}
	f("Nothing broke: 100 % of 100 requests succeed.", codes(100, 0))
	// What the application logs of them.
	logging := func(lines uint64) *kasoku.Recording {
		rec := codes(1000, 0)
		rec.Messages = []kasoku.Message{{Kind: kasoku.MessageApp, Level: "error", Code: "1045", Count: lines, Last: sec(8),
			Sample: "2026/11/28 Error 1045: Access denied"}}
		return rec
	}
	f(`Nothing broke: 100 % of 1,000 requests succeed, but the application logged 50 times: "Error 1045: Access denied".`,
		logging(50))
	f("Nothing broke: 100 % of 1,000 requests succeed.", logging(49))
	f("Nothing broke: 100 % of 100 requests got no 5xx, but 5.0 % of the answers were 4xx.", codes(95, 5))
	f("Nothing broke: 100 % of 100 requests got no 5xx, but 20.0 % of the answers were 4xx.", codes(80, 20))
}

// TestFrequentError: timeouts of several URLs are one error; those of one URL keep it.
func TestFrequentError(t *testing.T) {
	f := func(want string, n uint64, errors map[string]uint64) {
		t.Helper()
		if got, k := frequentError(&kasoku.Tally{Errors: errors}); got != want || k != n {
			t.Errorf("%q (%d), want %q (%d)", got, k, want, n)
		}
	}
	late := ": context deadline exceeded"
	f("context deadline exceeded", 4, map[string]uint64{`Get "http://h/a"` + late: 2, `Get "http://h/b"` + late: 2, "500 Internal Server Error": 3})
	f(`Get "http://h/a"`+late, 2, map[string]uint64{`Get "http://h/a"` + late: 2})
	f("503 Service Unavailable", 7, map[string]uint64{"503 Service Unavailable": 7, `Get "http://h/a"` + late: 2})
}

func TestSaid(t *testing.T) {
	rec := run(at{100, 10, 20, 0, time.Millisecond})
	rec.Messages = []kasoku.Message{
		{Pattern: "before", Count: 9, Seconds: map[int]uint64{3: 9}},
		{Pattern: "part", Count: 9, Seconds: map[int]uint64{3: 4, 12: 5}},
		{Pattern: "all", Count: 7, Seconds: map[int]uint64{11: 7}},
		{Pattern: "no seconds", Count: 3, First: sec(11), Last: sec(30)},
		{Pattern: "no seconds, after", Count: 3, First: sec(31), Last: sec(31)},
	}
	var got []string
	for _, s := range NewCase(rec, nil).Lines().Said(func(*kasoku.Message) bool { return true }) {
		got = append(got, s.Pattern)
	}
	if want := []string{"all", "part", "no seconds"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
