package accessformat

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/logs/lines"
)

var tokyo = time.FixedZone("", 9*3600)

func newReader(log string) *Reader {
	return NewReader(lines.NewReader(strings.NewReader(log), 0), tokyo)
}

func checkAccount(t testing.TB, r *Reader) {
	t.Helper()
	if a := r.Account(); a.Lines != a.Records+a.Continued+a.Blank+a.Dropped {
		t.Errorf("%d lines, but %d records, %d continued, %d blank, %d dropped", a.Lines, a.Records, a.Continued, a.Blank, a.Dropped)
	}
}

// describe returns a record in one line.
func describe(r *Record) string {
	latency := "-"
	if r.Timed() {
		latency = r.Latency.String()
	}
	return fmt.Sprintf("%s ±%v %s %s %d %d %s", r.Time().UTC().Format("2006-01-02T15:04:05.999999999"), r.Resolution, r.Method, r.Path, r.Status, r.Bytes, latency)
}

func TestReader_Success(t *testing.T) {
	f := func(line, format, want string) {
		t.Helper()
		for _, end := range []string{"", "\n", "\r\n"} {
			r := newReader(line + end)
			if !r.Scan() {
				t.Errorf("%q: no record: %v %+v", line, r.Err(), r.Account().Bad)
				return
			}
			if got := describe(r.Record()); got != want || r.Format() != format {
				t.Errorf("%q:\n got %s, %s\nwant %s, %s", line, r.Format(), got, format, want)
			}
			checkAccount(t, r)
		}
	}
	// LTSV as in alp's and kataribe's documentation, H2O's, and ltsv.org's labels.
	f("time:21/Aug/2021:10:00:00 +0900\tmethod:GET\turi:/a?b=1\tstatus:200\tsize:12\treqtime:0.021\tapptime:0.020",
		"ltsv", "2021-08-21T01:00:00 ±1s GET /a?b=1 200 12 21ms")
	f("time:2021-08-21T10:00:00.5+09:00\treq:POST /a HTTP/1.1\tstatus:500\tsize:-\treqtime_microsec:1234\treqtime:9",
		"ltsv", "2021-08-21T01:00:00.5 ±100ms POST /a 500 0 1.234ms")
	f("time:1629507600.123\trequest:GET /x\\x20y HTTP/2.0\tstatus:000\tbody_bytes_sent:3\trequest_time:-",
		"ltsv", "2021-08-21T01:00:00.123 ±1ms GET /x\\x20y 0 3 -")
	f("time:[21/Aug/2021:10:00:00 +0900]\treq:GET /a\ttaken_sec:2\tstatus:200\tbytes_sent:900\tsize:800",
		"ltsv", "2021-08-21T01:00:00 ±1s GET /a 200 800 2s")
	f("time:2021-08-21 10:00:00\tmethod:GET\turi:/a\tstatus:502\tupstream_response_time:0.001, 0.020 : 0.300",
		"ltsv", "2021-08-21T01:00:00 ±1s GET /a 502 0 321ms")
	f("time:2021-08-21T10:00:00+0900\tmethod:GET\turi:/a\tstatus:200\tduration_ms:1.5\tnovalue\t:\tcolon:a:b",
		"ltsv", "2021-08-21T01:00:00 ±1s GET /a 200 0 1.5ms")
	f("time:1629507600123\tmethod:GET\turi:/a\tstatus:200", "ltsv", "2021-08-21T01:00:00.123 ±1ms GET /a 200 0 -")
	f("time:1629507600.1\treq:-\tstatus:400", "ltsv", "2021-08-21T01:00:00.1 ±100ms   400 0 -")
	// combined and common, with what may stand after them.
	c := `1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "GET /a HTTP/1.1" 200 12 "-" "agent (x; y)"`
	f(c+" 0.021", "combined, request time in s", "2021-08-21T01:00:00 ±1s GET /a 200 12 21ms")
	f(c+" 0.020 [0.021]", "combined, request time in s", "2021-08-21T01:00:00 ±1s GET /a 200 12 21ms")
	f(c+` "10.0.0.1" 0.021`, "combined, request time in s", "2021-08-21T01:00:00 ±1s GET /a 200 12 21ms")
	f(c+" 21000", "combined, request time in µs", "2021-08-21T01:00:00 ±1s GET /a 200 12 21ms")
	f(c+" 2", "combined, request time in whole s", "2021-08-21T01:00:00 ±1s GET /a 200 12 2s")
	f(c, "combined without request time", "2021-08-21T01:00:00 ±1s GET /a 200 12 -")
	f(c+" -", "combined without request time", "2021-08-21T01:00:00 ±1s GET /a 200 12 -")
	f(`::1 - a b [21/Aug/2021:10:00:00] "HEAD http://x/y?z HTTP/1.1" 304 - 0.1`,
		"combined, request time in s", "2021-08-21T01:00:00 ±1s HEAD http://x/y?z 304 0 100ms")
	f(`1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "GET /\"q\"\\ HTTP/1.1" 999 1 "a\"b" "c\\" 0.5`,
		"combined, request time in s", `2021-08-21T01:00:00 ±1s GET /\"q\"\\ 999 1 500ms`)
	f(`1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "\x16\x03\x01\x00" 400 150 "-" "-" 0.000`,
		"combined, request time in s", "2021-08-21T01:00:00 ±1s   400 150 0s")
	f(`1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "" 408 0 "-" "-" 60.000`,
		"combined, request time in s", "2021-08-21T01:00:00 ±1s   408 0 1m0s")
	f(`1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "GET /old" 200 5 "-" "-" 1.0`,
		"combined, request time in s", "2021-08-21T01:00:00 ±1s GET /old 200 5 1s")
}

func TestReader_Failure(t *testing.T) {
	ltsv := "time:1629507600.1\treq:GET /a\tstatus:200\n"
	comb := `h - - [21/Aug/2021:10:00:00 +0900] "GET /a HTTP/1.1" 200 12 "-" "-" 0.1` + "\n"
	f := func(good, line, want string) {
		t.Helper()
		r := newReader(good + "\n" + line + "\n" + good)
		n := 0
		for r.Scan() {
			n++
		}
		checkAccount(t, r)
		if n != 2 || r.Err() != nil || r.Account().Blank != 1 || len(r.Account().Bad) != 1 {
			t.Errorf("%q: %d records, err %v, %+v", line, n, r.Err(), r.Account())
			return
		}
		if bad := r.Account().Bad[0]; bad.Why != want || bad.Line != 3 {
			t.Errorf("%q: bad line %+v, want %q", line, bad, want)
		}
	}
	f(ltsv, "rubbish", "no keys of an access log")
	f(ltsv, comb[:20], "no keys of an access log")
	f(ltsv, "time:x\treq:GET /a\tstatus:200", `bad time "x"`)
	f(ltsv, "time:1629507600\treq:GET /a\tstatus:2000", `bad status "2000"`)
	f(ltsv, "time:1629507600\tstatus:200", "neither uri nor request")
	f(ltsv, "time:1629507600\treq:GET /a\treqtime:1.x", `bad reqtime "1.x"`)
	f(comb, "rubbish", `no " " after $remote_addr`)
	f(comb, "a - - [b] c", `bad $time_local "b] c"`)
	f(comb, `a [b] c`, `no " [" after $remote_user`)
	f(comb, `a - - [21/Aug/2021:10:00:00 +0900] c`, `bad $time_local "21/Aug/2021:10:00:00 +0900] c"`)
	f(comb, `a - - [21/Aug/2021:10:00:00 +0900] "c\"`, `no "\" " after $request`)
	f(comb, `a - - [21/Aug/2021:10:00:00 +0900] "c"`, `no "\" " after $request`)
	f(comb, `a - - [21/Aug/2021:10:00:00 +0900] "c" 200`, `no " " after $status`)
	f(comb, `a - - [21/Aug/2021:10:00:00 +0900] "c" 200 1 "d`, `no "\" \"" after $http_referer`)
	f(comb, `a - - [21/Aug/2021:10:00:00 +0900] "c" x 1 "" "" 1`, `bad $status "x"`)
	f(comb, `a - - [21/Aug/2021:10:00:00 +0900] "c" 200 1x "" "" 1`, `bad $body_bytes_sent "1x"`)
	f(comb, strings.Repeat("x", 2<<20), `no " " after $remote_addr`)
}

// However many lines of garbage come first, the first good one is read.
func TestReader_GarbageFirst(t *testing.T) {
	const good = "time:1629507600.1\treq:GET /a\tstatus:200\n"
	for n := range 3 * groupLines {
		r := newReader(strings.Repeat("garbage\n\n", n) + good + good)
		var at []int64
		for r.Scan() {
			at = append(at, r.Record().Line)
		}
		if !slices.Equal(at, []int64{int64(2*n + 1), int64(2*n + 2)}) {
			t.Fatalf("%d lines before: records at %d, %v", n, at, r.Err())
		}
		checkAccount(t, r)
	}
}

// The unit of a number without a name is that of the whole log, whichever line
// comes first.
func TestReader_Unit(t *testing.T) {
	line := `h - - [21/Aug/2021:10:00:00 +0900] "GET /a HTTP/1.1" 200 12 "-" "-" `
	r := newReader("garbage\n" + line + "7\n" + line + "-\n" + line + "21000\n")
	var sum time.Duration
	for r.Scan() {
		sum += r.Record().Latency
	}
	if sum != 21007*time.Microsecond || r.Account().Records != 3 || r.Account().Dropped != 1 {
		t.Errorf("sum %v of %+v", sum, r.Account())
	}
	checkAccount(t, r)
}

func TestReader_Allocation(t *testing.T) {
	for _, name := range []string{"combined.log", "ltsv.log"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		r := newReader(strings.Repeat(string(b), 10))
		r.Scan() // the first line, of which the format is found
		if n := testing.AllocsPerRun(2000, func() { r.Scan() }); n > 0.1 {
			t.Errorf("%s: a record allocates %v times", name, n)
		}
	}
}
