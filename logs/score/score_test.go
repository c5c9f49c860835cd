package score

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

func TestExtract(t *testing.T) {
	f := func(output string, p Pattern, want float64, wantSource string) {
		t.Helper()
		got, source, err := Extract([]byte(output), p)
		if err != nil || got != want || source != wantSource {
			t.Errorf("%q by %s: %v, %q, %v; want %v, %q", output, p, got, source, err, want, wantSource)
		}
	}
	json := func(path string) Pattern { return Pattern{JSON: path} }
	re := func(text string) Pattern { return Pattern{Regexp: text} }

	f(`{"score": 12}`, json("score"), 12, "output, JSON score")
	f(`{"score": 12}`, json("$.score"), 12, "output, JSON $.score")
	f(`{"score": 12}`, json(".score"), 12, "output, JSON .score")
	f(`{"result":{"score":-1.5e3}}`, json(".result.score"), -1500, "output, JSON .result.score")
	f(`{"items":[{"score":1},{"score":2}]}`, json("items[0].score"), 1, "output, JSON items[0].score")
	f(`{"items":[{"score":1},{"score":2}]}`, json("items[-1].score"), 2, "output, JSON items[-1].score")
	f(`[[1,2],[3,4]]`, json("[1][0]"), 3, "output, JSON [1][0]")
	f(`[[1,2],[3,4]]`, json(".[1][0]"), 3, "output, JSON .[1][0]")
	f(`{"a.b [c]":{"score":7}}`, json(`["a.b [c]"].score`), 7, `output, JSON ["a.b [c]"].score`)
	f(`{"score":"1,234"}`, json("score"), 1234, "output, JSON score")
	f("12:00:01 [INFO] begin {x}\n{\"score\":1}\nlog {\"score\":2} more\n{\"level\":\"info\"}\nbye [end", json("score"), 2, "output, JSON score")
	f("{\n  \"list\": [\n    {\"score\": 9}\n  ],\n  \"score\": 5\n}\n", json("score"), 5, "output, JSON score")
	f("\x1b[32m{\"score\":\x1b[0m3}", json("score"), 3, "output, JSON score")

	f("score: 5\nscore: 17\n", re(`^score: (\d+)$`), 17, `output, /^score: (\d+)$/`)
	f("a 1 b 22", re(`(?P<other>a) (?P<score>\d+)`), 1, `output, /(?P<other>a) (?P<score>\d+)/`)
	f("最終スコア: 1,234,567.5点", re(`スコア: ([\d,.]+)`), 1234567.5, `output, /スコア: ([\d,.]+)/`)
	f("total 12 345 points", re(`total ([\d ]+) points`), 12345, `output, /total ([\d ]+) points/`)
	f("score 42", re(`\d+`), 42, `output, /\d+/`)
	f("\x1b[1mScore:\x1b[0m 99", re(`Score: (\d+)`), 99, `output, /Score: (\d+)/`)
}

func TestExtract_Failure(t *testing.T) {
	f := func(output string, p Pattern, want string) {
		t.Helper()
		got, source, err := Extract([]byte(output), p)
		var none *NotFoundError
		if got != 0 || source != "" || !errors.As(err, &none) || !strings.Contains(err.Error(), want) || none.Hint() == "" {
			t.Errorf("%q by %s: %v, %q, %v; want an error with %q", output, p, got, source, err, want)
		}
	}
	f("", Pattern{JSON: "score"}, "no score by JSON score: the command printed nothing")
	f("all well\n", Pattern{JSON: "score"}, `there is no JSON in it; the output ends with "all well"`)
	f(`{"points":1}`, Pattern{JSON: "score"}, "no JSON value has it")
	f(`{"score":{"sum":1}}`, Pattern{JSON: "score"}, "what stands there is an object, not a number")
	f(`{"score":null}`, Pattern{JSON: "score"}, "null, not a number")
	f(`{"score":1e999}`, Pattern{JSON: "score"}, `"1e999" is not a number`)
	f(`{"score":"NaN"}`, Pattern{JSON: "score"}, `"NaN" is not a number`)
	f(`{"score":[1]}`, Pattern{JSON: "score[1]"}, "no JSON value has it")
	f("nothing here", Pattern{Regexp: `score (\d+)`}, `no score by /score (\d+)/: it matches nothing; the output ends with "nothing here"`)
	f("score 12req", Pattern{Regexp: `score (\w+)`}, `"12req" is not a number`)
	f("a", Pattern{Regexp: `a|(b)`}, "took no part")
	f("password=hunter2 \x1b[31mred", Pattern{JSON: "score"}, `ends with "password=*** red"`)
	f(strings.Repeat("あ", 1000), Pattern{JSON: "score"}, `ends with "あ`)
}

func TestPattern_Failure(t *testing.T) {
	f := func(p Pattern, want string) {
		t.Helper()
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", p, err, want)
		}
		if _, err := Judge(nil, p); err == nil {
			t.Errorf("%+v judges", p)
		}
	}
	f(Pattern{}, "neither")
	f(Pattern{JSON: "a", Regexp: "b"}, "both")
	f(Pattern{Regexp: "(a"}, "missing closing ): `(a`")
	f(Pattern{JSON: "$"}, "leads nowhere")
	f(Pattern{JSON: "a..b"}, "a name is missing")
	f(Pattern{JSON: "a."}, "a name is missing")
	f(Pattern{JSON: "a[0"}, "a [ without its ]")
	f(Pattern{JSON: "a[x]"}, "neither a number nor a quoted name")
	f(Pattern{JSON: "a[0]b"}, "must follow a dot")
}

func TestJudge(t *testing.T) {
	f := func(output string, p Pattern, want kasoku.Outcome, wantErr string) {
		t.Helper()
		got, err := Judge([]byte(output), p)
		if got != want || (err == nil) != (wantErr == "") || err != nil && !strings.Contains(err.Error(), wantErr) {
			t.Errorf("%q by %s: %q, %v; want %q, %q", output, p, got, err, want, wantErr)
		}
	}
	pass := Pattern{JSON: "pass"}
	f(`{"pass":true}`, pass, kasoku.Passed, "")
	f(`{"pass":false}`, pass, kasoku.Failed, "")
	f(`{"pass":"Pass"}`, pass, kasoku.Passed, "")
	f(`{"pass":"failed"}`, pass, kasoku.Failed, "")
	f(`{"pass":1}`, pass, kasoku.Passed, "")
	f(`{"pass":0}`, pass, kasoku.Failed, "")
	f(`{"pass":"maybe"}`, pass, kasoku.Unjudged, `"maybe" is neither pass nor fail`)
	f(`{"pass":null}`, pass, kasoku.Unjudged, "null")
	f(`{"score":1}`, pass, kasoku.Unjudged, "no pass by JSON pass: no JSON value has it")
	f("result: PASS\n", Pattern{Regexp: `^result: PASS$`}, kasoku.Passed, "")
	f("result: FAIL\n", Pattern{Regexp: `^result: PASS$`}, kasoku.Failed, "")
}

func TestRead(t *testing.T) {
	f := func(output string, score, pass Pattern, want *kasoku.Score, wantErr string) {
		t.Helper()
		got, err := Read([]byte(output), score, pass)
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%q: %+v, want %+v", output, got, want)
		}
		if (err == nil) != (wantErr == "") || err != nil && !strings.Contains(err.Error(), wantErr) {
			t.Errorf("%q: error %v, want %q", output, err, wantErr)
		}
	}
	js, pass := Pattern{JSON: "score"}, Pattern{Regexp: "PASS"}
	f("nothing", Pattern{}, Pattern{}, nil, "")
	f(`{"score":5}`, js, Pattern{}, &kasoku.Score{Value: 5, Source: "output, JSON score"}, "")
	f(`{"score":5} PASS`, js, pass, &kasoku.Score{Value: 5, Outcome: kasoku.Passed, Source: "output, JSON score"}, "")
	f(`{"score":5}`, js, pass, &kasoku.Score{Value: 5, Outcome: kasoku.Failed, Source: "output, JSON score"}, "")
	f("broken", js, pass, &kasoku.Score{Outcome: kasoku.Failed, Source: "output, fail by /PASS/"}, "no score by JSON score")
	f("broken, but PASS", js, pass, nil, "no score by JSON score")
	f("PASS\nRequests/sec:   12.5\n", Pattern{}, pass, &kasoku.Score{Value: 12.5, Outcome: kasoku.Passed, Source: "wrk, Requests/sec"}, "")
}

// TestRecognize reads what the programs printed.
func TestRecognize(t *testing.T) {
	f := func(output string, want float64, outcome kasoku.Outcome, source string) {
		t.Helper()
		s := Recognize([]byte(output))
		if s == nil || s.Value != want || s.Outcome != outcome || s.Source != source {
			t.Errorf("%.80q: %+v, want %v %q by %q", output, s, want, outcome, source)
		}
	}
	file := func(name string) string {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	f(file("ab-2.3.txt"), 24970.04, "", "ab, Requests per second")
	f(file("wrk-4.1.0.txt"), 90040.17, "", "wrk, Requests/sec")
	f(file("hey-0.1.4.txt"), 20156.1887, "", "hey, Requests/sec")
	f(file("sysbench-1.0.20-oltp.txt"), 1241.32, "", "sysbench, transactions per second")
	f(file("sysbench-1.0.20-cpu.txt"), 2450.12, "", "sysbench, events per second")
	f(file("vegeta-12.txt"), 100.96, "", "vegeta, throughput")
	f(`2026/11/20 log
{"pass":true,"score":1710,"success":1434,"fail":0,"messages":[]}
`, 1710, kasoku.Passed, "output, JSON pass and score")
	f(`{"pass":false,"score":0,"messages":["[0] timeout"]}`, 0, kasoku.Failed, "output, JSON pass and score")
	f("Requests/sec:   1.00\nRequests/sec:   2.00\n", 2, "", "wrk, Requests/sec")

	for _, none := range []string{"", "hello", `{"score":5}`, `{"pass":"yes","score":5}`, "about Requests/sec: 12", "  transactions: many"} {
		if s := Recognize([]byte(none)); s != nil {
			t.Errorf("%q: %+v", none, s)
		}
	}
}

// TestBounded: what is made to be read again and again takes no longer than the
// rest.
func TestBounded(t *testing.T) {
	for _, unit := range []string{"[", `{"a":`, `{"a":[`, "[[1,", "{"} {
		began := time.Now()
		output := strings.Repeat(unit, 1<<18/len(unit))
		if _, _, err := Extract([]byte(output), Pattern{JSON: "score"}); err == nil {
			t.Errorf("%q has a score", unit)
		}
		if took := time.Since(began); took > time.Minute { // a few milliseconds on an idle machine
			t.Errorf("%q took %s", unit, took)
		}
	}
}
