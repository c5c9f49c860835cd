package score

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

// everyTen is a clock by which ten bytes are printed a second.
func everyTen(offset int64) time.Duration { return time.Duration(offset) * time.Second / 10 }

// saidBriefly returns messages as "count level sample".
func saidBriefly(ms []kasoku.Message) (out []string) {
	for _, m := range ms {
		out = append(out, fmt.Sprintf("%d %s %s", m.Count, m.Level, m.Sample))
	}
	return out
}

func TestReadWords(t *testing.T) {
	f := func(output string, want ...string) {
		t.Helper()
		w := ReadWords([]byte(output), everyTen)
		if got := saidBriefly(w.Messages); !slices.Equal(got, want) {
			t.Errorf("%.90q:\n got %q\nwant %q", output, got, want)
		}
		for _, m := range w.Messages {
			if m.Kind != kasoku.MessageBenchmark {
				t.Errorf("%+v", m)
			}
		}
	}
	file := func(name string) string {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	f("")
	f("all is well\n")
	// ISUCON's results: texts with counts, texts alone, a reason.
	f(`{"pass":true,"score":1113,"messages":[{"text":"POST /api/estate/nazotte: リクエストに失敗しました (タイムアウトしました)","count":34},`+
		`{"text":"ok","count":2}],"reason":"OK","language":"go"}`,
		"34 error POST /api/estate/nazotte: リクエストに失敗しました (タイムアウトしました)", "2  ok")
	f(`{"pass":true,"score":1710,"success":1434,"fail":3,"messages":["timeout (GET /posts/12)","timeout (GET /posts/9)","x"]}`,
		"2 error timeout (GET /posts/12)", "1  x")
	f(`{"pass":true,"score":70101,"messages":[{"text":"GET /api/isu: no answer within 1s","count":25},`+
		`{"text":"GET /api/trend: more than 1s old","count":3},{"text":"GET /api/trend: 300 passed","count":1}]}`,
		"25 error GET /api/isu: no answer within 1s", "3 error GET /api/trend: more than 1s old",
		"1  GET /api/trend: 300 passed")
	f(`{"pass":false,"score":0,"messages":[],"reason":"initialize"}`, "1 error initialize")
	f(`{"pass":true,"score":5,"messages":[],"deduction":150}`, "1 error deduction: 150")
	f(`{"pass":true,"score":1,"messages":["old timeout"]}`+"\n"+`{"pass":true,"score":2,"messages":["new timeout"]}`, "1 error new timeout")
	// The summaries of tools.
	f(file("wrk-4.1.0.txt"))
	f(file("ab-2.3.txt"))
	f(file("hey-0.1.4.txt"))
	f(file("vegeta-12.txt"))
	f(file("sysbench-1.0.20-oltp.txt"))
	f("  Socket errors: connect 1, read 0, write 0, timeout 34\n  Non-2xx or 3xx responses: 5\nRequests/sec: 1\n",
		"34 error timeout", "5 error answer with neither 2xx nor 3xx", "1 error connect error")
	f(file("ab-2.3-failed.txt"), "20 error answer without 2xx")
	f("Status code distribution:\n  [200]\t90 responses\n  [500]\t1 responses\n  [503]\t5 responses\n\nError distribution:\n"+
		"  [30]\tGet \"http://127.0.0.1:80/a/x?b=1\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)\n"+
		"  [4]\tGet \"http://127.0.0.1:80/a/x?b=2\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)\n",
		"34 error Get /a/x : context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
		"5 error answer with status 503", "1 error answer with status 500")
	f("Status Codes  [code:count]  0:3  200:1  503:7\nError Set:\n503 Service Unavailable\nGet \"http://h/a\": EOF\nGet \"http://h/b\": EOF\n",
		"7 error answer with status 503", "3 error no answer: Get /a : EOF; Get /b : EOF")
	f("     ✗ status is 200\n      ↳  92% — ✓ 92 / ✗ 8\n     ✓ body\n     http_req_failed................: 8.00% ✓ 8        ✗ 92  \n",
		"8 error check failed: status is 200", "8 error failed request")
	f("    ignored errors:                      3      (0.30 per sec.)\n", "3 error ignored error")
	// Lines of a log: k6's requests by endpoint, what went wrong, and no count of what did not.
	k6 := `time="2026-11-20T14:02:11Z" level=warning msg="Request Failed" error="Get \"http://127.0.0.1:8080/api/%s\": request timeout"` + "\n"
	f(fmt.Sprintf(k6, "a")+fmt.Sprintf(k6, "b")+fmt.Sprintf(k6, "b"),
		"2 error Request Failed: Get /api/b : request timeout",
		"1 error Request Failed: Get /api/a : request timeout")
	f(`time="2026-11-20T14:02:11Z" level=warning msg="Insufficient VUs, a timeout may follow"`+"\n",
		"1 warn Insufficient VUs, a timeout may follow")
	f("16:49:21.123456 score: 1683(1683 - 0) : pass\n16:49:21.123456 error: 0 / timeout: 0 / deduction: 0\n")
	f("16:49:21.123456 error: 0 / timeout: 34 / deduction: 0\n", "1 error error: 0 / timeout: 34 / deduction: 0")
	f("\x1b[31m[ERROR]\x1b[0m GET /x \x1b[1mgave\x1b[0m 500 password=hunter2 \x1b[2J\x07\n",
		"1 error GET /x gave 500 password=***")
	// A line that repeats what the result counts is the same message.
	f("2026/11/20 14:02:11 POST /api/x: timeout\n2026/11/20 14:02:12 POST /api/x: timeout\n"+
		`{"pass":true,"score":1,"messages":[{"text":"POST /api/x: timeout","count":2}]}`,
		"2 error POST /api/x: timeout")
}

// TestReadWords_Times: what lines say has the time at which they were printed, what only a
// result counts has the output's end.
func TestReadWords_Times(t *testing.T) {
	output := "0123456789\n" + // 0 s
		"負荷レベルが上昇しました\n" + // 1.1 s
		"POST /api/x: timeout\n" +
		"\x1b[1mPOST /api/x: timeout\x1b[0m\n" +
		"load level: 5\nfinal load level: 6\nload level: 5\n" +
		"減点: 50\n" +
		`{"pass":true,"score":1,"messages":[{"text":"POST /api/x: timeout","count":2},{"text":"GET /y: failed","count":7}]}` + "\n"
	w := ReadWords([]byte(output), everyTen)
	at := func(text string) time.Duration { return everyTen(int64(strings.Index(output, text))) }
	end := everyTen(int64(len(output) - 1))
	x := w.Messages[slices.IndexFunc(w.Messages, func(m kasoku.Message) bool { return m.Count == 2 })]
	if x.First != at("POST") || x.Last != everyTen(int64(strings.Index(output, "\x1b"))) || len(x.Seconds) != 2 {
		t.Errorf("%+v, want from %v", x, at("POST"))
	}
	want := []kasoku.Event{
		{At: at("負荷"), Kind: kasoku.EventLevel, Text: "level 1"},
		{At: at("POST"), Kind: kasoku.EventBenchmark, Text: "POST /api/x: timeout (2 in all)"},
		{At: at("load"), Kind: kasoku.EventLevel, Text: "level 5"},
		{At: at("減点"), Kind: kasoku.EventBenchmark, Text: "減点: 50"},
		{At: at("減点"), Kind: kasoku.EventBenchmark, Text: "減点: 50 (1 in all)"},
		{At: end, Kind: kasoku.EventBenchmark, Text: "in its result: GET /y: failed (7 in all)"},
	}
	if !slices.Equal(w.Events, want) {
		t.Errorf("got  %+v\nwant %+v", w.Events, want)
	}
	if w := ReadWords([]byte(output), nil); len(w.Events) != 0 {
		t.Errorf("events without a clock: %+v", w.Events)
	}
}

// TestReadWords_Bounded: no output makes more than is kept.
func TestReadWords_Bounded(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		name := strings.Repeat(string(rune('a'+i%26)), 1+i/26)
		fmt.Fprintf(&b, "load level: %d\nerror %s\ndeduction: %d\n", i+1, name, i+1)
	}
	w := ReadWords([]byte(b.String()), everyTen)
	levels := 0
	for _, e := range w.Events {
		if e.Kind == kasoku.EventLevel {
			levels++
		}
	}
	if len(w.Messages) != mostMessages || levels != mostLevels || len(w.Events) > mostLevels+2*mostEvents+1 {
		t.Errorf("%d messages, %d levels, %d events", len(w.Messages), levels, len(w.Events))
	}
}
