package applog

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/kasoku/kasoku"
)

var seeds = []string{
	"2026/11/20 14:02:11 error: add user: Error 1040 (08004): Too many connections\n",
	"2026/11/20 14:02:11 [1.23ms]  INSERT INTO users (id) VALUES ('a\\'b''c', \"d\")\n[1 rows affected or returned]\n",
	"\n(/app/main.go:12) \n[2026-11-20 14:02:11]  [1.2ms]  SELECT * FROM users  \n",
	"/app/main.go:12\n[0.512ms] [rows:1] UPDATE `t` SET a=1\n",
	"panic: oh\n\ngoroutine 1 [running]:\nmain.main()\n\t/app/main.go:7 +0x1d\n",
	"Traceback (most recent call last):\n  File \"a.py\"\nValueError: 5\n",
	`{"level":50,"err":{"message":"x \"\u00e9\ud83d\ude00"},"msg":"failed\n"}` + "\n",
	`{"log":"{\"level\":\"info\",\"msg\":\"a\\\"b\"}\n"}` + "\n",
	`time="2026-11-20T14:02:11Z" level=warning msg="slow \"x\"" user=bob` + "\n",
	"SQLSTATE[08004] [1040] Too many\nINFO[0000] x\n<3>[::1]:5 3f2a9c1e-1111-4abc-8def-0123456789ab 1m2.5µs\n",
	"\x1b[31mWARN\x1b[0m password=x Bearer y root:z@tcp(h)\n\x00\x01\x02\n\xff\xfe",
	"replace into\nselect \"update `a` set b [\ninsert into `",
}

func FuzzRead(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, log string) {
		clock := func(offset int64) time.Duration { return time.Duration(offset) * time.Millisecond }
		table, w := read(t, log, Options{Clock: clock, Interval: kasoku.Interval{To: 20 * time.Second}})
		if w.Lines != w.Records+w.Continued+w.Blank+w.Dropped {
			t.Fatalf("lines do not add up: %+v", w)
		}
		var count, bytes uint64
		ms := table.Messages()
		for _, m := range ms {
			count += m.Count
			bytes += m.Bytes
			var seconds uint64
			for s, n := range m.Seconds {
				if s < 0 || s >= 20 {
					t.Fatalf("second %d of %+v", s, m)
				}
				seconds += n
			}
			if seconds != m.Count || m.First > m.Last || m.Count == 0 {
				t.Fatalf("message %+v", m)
			}
			checkText(t, m.Pattern, maxPattern)
			checkText(t, m.Sample, maxSample)
		}
		if count+table.outside != w.Records || bytes > uint64(len(log)) || len(ms) > maxPatterns {
			t.Fatalf("%d + %d of %d records, %d of %d bytes, %d messages", count, table.outside, w.Records, bytes, len(log), len(ms))
		}
	})
}

func checkText(t *testing.T, s string, limit int) {
	t.Helper()
	if len(s) > limit+10 || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		t.Fatalf("unsafe text %q", s)
	}
}

// FuzzLiteral: no literal of a statement gets into a pattern or a sample,
// whatever it holds.
func FuzzLiteral(f *testing.F) {
	for _, s := range []string{"", "'", "\\", "a'b", `"`, "\\'", "[", "{", "--", "/*", "`", "a]b", "x', 'y"} {
		f.Add(s, s)
	}
	escape := strings.NewReplacer(`\`, `\\`, `'`, `''`, "\n", `\n`, "\x00", `\0`, "\r", `\r`, "\x1b", "")
	f.Fuzz(func(t *testing.T, a, b string) {
		const word = "geheimnis"
		line := "[1.2ms]  INSERT INTO users (a, b, c) VALUES ('" + escape.Replace(a) + word + "', '" + word + escape.Replace(b) + "', '" + word + "')\n"
		table, _ := read(t, line, Options{})
		for _, m := range table.Messages() {
			if m.SQL && strings.Contains(m.Pattern+m.Sample, word) {
				t.Fatalf("%q: pattern %q, sample %q", line, m.Pattern, m.Sample)
			}
		}
	})
}
