package alp

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// run runs alp and returns what it printed.
func run(t testing.TB, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Run(context.Background(), args, strings.NewReader(stdin), &out, &errs)
	return out.String(), errs.String(), code
}

// good is run where nothing may go wrong.
func good(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	stdout, stderr, code := run(t, stdin, args...)
	if code != 0 {
		t.Fatalf("alp %q: exit %d, %s", args, code, stderr)
	}
	return stdout
}

func writeFile(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// sample returns the log of a sample, 6,000 requests.
func sample(t testing.TB, name string) string {
	t.Helper()
	z, err := zstd.NewReader(strings.NewReader(readFile(t, "testdata/"+name+".log.zst")))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const sampleGroups = `^/api/isu/[^/]+/graph$,^/api/isu/[^/]+/icon$,^/api/isu/[^/]+$,^/api/condition/[^/]+$`

// minima are the columns in which alp is wrong where a value is 0.
var minima = []string{"Min", "Min(Body)"}

// sameButMinima fails the test unless two tables are the same but for those
// columns, where ours may be less.
func sameButMinima(t *testing.T, separator, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(g) != len(w) {
		t.Fatalf("%d lines, want %d", len(g), len(w))
	}
	titles := strings.Split(w[0], separator)
	for i := range w {
		gc, wc := strings.Split(g[i], separator), strings.Split(w[i], separator)
		for n := range wc {
			if i > 0 && slices.Contains(minima, titles[n]) {
				a, _ := strconv.ParseFloat(gc[n], 64)
				if b, _ := strconv.ParseFloat(wc[n], 64); a <= b {
					continue
				}
			}
			if n >= len(gc) || gc[n] != wc[n] {
				t.Fatalf("line %d differs\ngot  %q\nwant %q", i+1, g[i], w[i])
			}
		}
	}
}

// TestSample: alp answered the files in testdata.
func TestSample(t *testing.T) {
	want := readFile(t, "testdata/ltsv.alp.tsv")
	got := good(t, sample(t, "ltsv"), "ltsv", "-m", sampleGroups, "--limit", "100000", "--sort", "sum", "-r", "--format", "tsv")
	sameButMinima(t, "\t", got, want)

	want = readFile(t, "testdata/json.alp.csv")
	got = good(t, sample(t, "json"), "json", "-m", sampleGroups, "--limit", "100000", "--format", "csv")
	sameButMinima(t, ",", got, want)
}

// TestDeterministic: the output is the same however many workers there are,
// whether the log is a file, compressed or cut in two.
func TestDeterministic(t *testing.T) {
	log := sample(t, "ltsv")
	args := []string{"ltsv", "--limit", "0", "--sort", "avg", "--format", "json"}
	want := good(t, log, args...)
	for _, workers := range []int{1, 3, 8} {
		old := runtime.GOMAXPROCS(workers)
		got := good(t, "", append(args, "--file", "testdata/ltsv.log.zst")...)
		runtime.GOMAXPROCS(old)
		if got != want {
			t.Errorf("%d workers: output differs", workers)
		}
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, log); err != nil {
		t.Fatal(err)
	}
	z.Close()
	if got := good(t, b.String(), args...); got != want {
		t.Error("gzip on standard input: output differs")
	}
	half := strings.Index(log[len(log)/2:], "\n") + len(log)/2 + 1
	if got := good(t, "", append(args, writeFile(t, "a", log[:half]), writeFile(t, "b", log[half:]))...); got != want {
		t.Error("two files: output differs")
	}
}

// line returns a line of LTSV.
func line(method, uri, status, size, took string) string {
	return fmt.Sprintf("time:21/Aug/2021:10:00:00 +0900\tmethod:%s\turi:%s\tstatus:%s\tsize:%s\tapptime:%s\treqtime:9\n", method, uri, status, size, took)
}

// TestPeerFails: where alp is wrong or gives up, there is an answer here.
func TestPeerFails(t *testing.T) {
	three := line("GET", "/a", "200", "5", "0.500") + line("GET", "/a", "200", "0", "0.000") + line("GET", "/a", "200", "7", "0.900")
	if got := good(t, three, "ltsv", "--format", "tsv", "--noheaders", "-o", "min,min_body"); got != "0.000\t0.000\n" {
		t.Errorf("minima %q", got)
	}
	got, stderr, code := run(t, `{"uri":"/a","method":"GET","status":200,"body_bytes":1,"response_time":1}`+"\n{broken\n[]\n"+
		`{"uri":"/b","method":"GET","status":200,"body_bytes":1,"response_time":1}`, "json", "--format", "tsv", "--noheaders", "-o", "count,uri")
	if got != "1\t/a\n1\t/b\n" || code != 0 || !strings.Contains(stderr, `2 of 4 lines were dropped; the first is line 2 (no JSON object): "{broken"`) {
		t.Errorf("broken JSON: exit %d, %q\n%s", code, got, stderr)
	}
	var many strings.Builder
	for i := range 30 {
		many.WriteString(line("GET", fmt.Sprintf("/%02d", i), "200", "1", fmt.Sprintf("0.%03d", i)))
	}
	got, stderr, code = run(t, many.String(), "ltsv", "--limit", "2", "--sort", "max", "--format", "csv", "--noheaders", "-o", "uri")
	if got != "/28\n/29\n" || code != 0 || !strings.Contains(stderr, "2 of 30 URIs are shown") {
		t.Errorf("limit: exit %d, %q\n%s", code, got, stderr)
	}
	got = good(t, many.String(), "ltsv", "--limit", "2", "--sort", "max", "-r", "--format", "csv", "--noheaders", "-o", "uri")
	if got != "/29\n/28\n" {
		t.Errorf("limit in reverse: %q", got)
	}
	if got := good(t, three, "ltsv", "--percentiles", "101", "-o", "p101", "--format", "tsv", "--noheaders"); got != "0.900\n" {
		t.Errorf("percentile 101: %q", got)
	}
	got, stderr, _ = run(t, line("GET", "/nan", "200", "NaN", "NaN")+line("GET", "/a,b", "200", "1", "NaN"), "ltsv", "--format", "json", "-o", "uri,max")
	if got != `[["uri","max"],["/a,b",9]]`+"\n" || !strings.Contains(stderr, "no usable size") {
		t.Errorf("NaN: %q\n%s", got, stderr)
	}
	got = good(t, line("GET", `/a"b,c`, "200", "1", "1"), "ltsv", "--format", "csv", "--decode-uri", "-o", "uri", "--noheaders")
	if got != `"/a""b,c"`+"\n" {
		t.Errorf("csv: %q", got)
	}
	got = good(t, line("GET", "/%1b[31m", "200", "1", "1"), "ltsv", "--format", "tsv", "--decode-uri", "-o", "uri", "--noheaders")
	if got != `/\x1B[31m`+"\n" {
		t.Errorf("escape sequence: %q", got)
	}
	got = good(t, line("007", "12", "200", "1", "1"), "ltsv", "--format", "json", "-o", "method,uri")
	if got != `[["method","uri"],["007","12"]]`+"\n" {
		t.Errorf("texts that look like numbers: %q", got)
	}
}

func TestRun_Failure(t *testing.T) {
	log := writeFile(t, "log", line("GET", "/a", "200", "1", "1"))
	f := func(code int, want string, args ...string) {
		t.Helper()
		stdout, stderr, got := run(t, "", args...)
		if got != code || !strings.Contains(stderr, want) || stdout != "" {
			t.Errorf("alp %q: exit %d, want %d\nstdout %q\nstderr %s\nwant %q", args, got, code, stdout, stderr, want)
		}
	}
	f(2, "pcap is not supported", "pcap", "--file", log, "--pcap-server-port", "80")
	f(1, `unknown command "nope"`, "nope")
	f(1, "unknown flag: --nope", "ltsv", "--nope")
	f(1, "missing", "ltsv", "--file", "missing")
	f(1, `--format "nope"`, "ltsv", "--format", "nope", "--file", log)
	f(1, `--sort "nope": want count, uri`, "ltsv", "--sort", "nope", "--file", log)
	f(1, `--sort "p101"`, "ltsv", "--sort", "p101", "--file", log)
	f(1, `--sort ""`, "ltsv", "--sort", "", "--file", log)
	f(1, `--output "count,p50": no column "p50"`, "ltsv", "-o", "count,p50", "--file", log)
	f(1, `--percentiles "9.5": want whole numbers`, "ltsv", "--percentiles", "9.5", "--file", log)
	f(1, `--location "Nowhere"`, "ltsv", "--location", "Nowhere", "--file", log)
	f(1, `--matching-groups: read regular expression 2, "("`, "ltsv", "-m", "a,(", "--file", log)
	f(1, `--pattern: read regular expression "("`, "regexp", "--pattern", "(", "--file", log)
	f(1, `--filters "Count > 1"`, "ltsv", "-f", "Count > 1", "--file", log)
	f(1, `--filters "Status"`, "ltsv", "-f", "Status", "--file", log)
	f(1, "unknown unit", "ltsv", "-f", `Time > TimeAgo("5x")`, "--file", log)
	f(1, "--keys is required", "ltsv", "count", "--file", log)
	f(1, `topN "x"`, "ltsv", "topN", "x", "--file", log)
	f(1, `--sort "count": want restime or bytes`, "ltsv", "topN", "--sort", "count", "--file", log)
	f(1, "want two logs, or --load and one log", "ltsv", "diff", log)
	f(1, "load profile", "ltsv", "--load", "missing")
	f(1, "load profile", "ltsv", "--load", writeFile(t, "y", "hello"))
	f(1, `entry 1, "/a": 2 requests with 1 response times`, "diff", writeFile(t, "y", "- uri: /a\n  count: 2\n  response_time:\n    percentiles: [1]\n"), log)
	f(1, "read configuration", "ltsv", "--config", "missing", "--file", log)
	f(1, "read configuration", "ltsv", "--config", writeFile(t, "y", "x: ["), "--file", log)
	f(1, "limit", "ltsv", "--config", writeFile(t, "y", "limit: many"), "--file", log)
	f(1, "bad offset", "ltsv", "--pos", writeFile(t, "pos", "xx"), "--file", log)
	f(1, "--pos is for one log", "ltsv", "--pos", writeFile(t, "pos", "1"), "--file", log, log)
}

// TestPosition: a second run reads what the log gained.
func TestPosition(t *testing.T) {
	a, b := line("GET", "/a", "200", "1", "1"), line("GET", "/b", "200", "1", "1")
	log, pos := writeFile(t, "log", a), filepath.Join(t.TempDir(), "pos")
	f := func(want string, wantPos int, args ...string) {
		t.Helper()
		args = append([]string{"ltsv", "--file", log, "--pos", pos, "--format", "tsv", "--noheaders", "-o", "uri"}, args...)
		if got := good(t, "", args...); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := readFile(t, pos); got != strconv.Itoa(wantPos) {
			t.Errorf("position %q, want %d", got, wantPos)
		}
	}
	f("/a\n", len(a))
	f("", len(a))
	if err := os.WriteFile(log, []byte(a+b), 0o600); err != nil {
		t.Fatal(err)
	}
	f("/b\n", len(a), "--nosave-pos")
	f("/b\n", len(a+b))
	if err := os.WriteFile(log, []byte(b), 0o600); err != nil { // rotated
		t.Fatal(err)
	}
	f("/b\n", len(b))
	if got := good(t, b+a, "ltsv", "--pos", pos, "--format", "tsv", "--noheaders", "-o", "uri"); got != "/a\n" {
		t.Errorf("standard input: %q", got)
	}
}

// TestDump: what is dumped is loaded again, and so is alp's own file.
func TestDump(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dump.yaml")
	log := sample(t, "ltsv") + line("true", "/it's:1", "404", "12345678", "0.00001") + line("", "*", "200", "1", "1") + line("- x", "/日#: x", "200", "1", "123456789")
	args := []string{"--limit", "0", "--format", "tsv", "--sort", "sum"}
	want := good(t, log, append([]string{"ltsv", "--dump", path}, args...)...)
	if got := good(t, "", append([]string{"ltsv", "--load", path}, args...)...); got != want {
		t.Error("the table of the loaded profile differs")
	}
	got := good(t, "", append([]string{"diff", path, path}, args...)...)
	if got != want {
		t.Error("a profile differs from itself")
	}
	if good(t, "", "ltsv", "--dump", path); readFile(t, path) != "[]\n" {
		t.Errorf("nothing is dumped as %q", readFile(t, path))
	}
}

func TestDiff(t *testing.T) {
	from := writeFile(t, "from", line("GET", "/both", "200", "1", "0.1")+line("GET", "/both", "404", "1", "0.1")+line("GET", "/old", "200", "1", "0.1"))
	to := writeFile(t, "to", line("GET", "/new", "200", "1", "0.1")+line("GET", "/both", "200", "1", "0.7"))
	got := good(t, "", "ltsv", "diff", from, to, "-o", "count,uri,4xx,max", "--show-footers")
	want := `+--------+-------+--------+----------------+
| COUNT  |  URI  |  4XX   |      MAX       |
+--------+-------+--------+----------------+
| 1      | /new  | 0      | 0.100          |
| 1 (-1) | /both | 0 (-1) | 0.700 (+0.600) |
+--------+-------+--------+----------------+
| 2 (-1) |         0 (-1) |                 
+--------+-------+--------+----------------+
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	dump := filepath.Join(t.TempDir(), "from.yaml")
	good(t, "", "ltsv", "--file", from, "--dump", dump)
	if got := good(t, "", "ltsv", "diff", to, "--load", dump, "-o", "count,uri,4xx,max", "--show-footers"); got != want {
		t.Errorf("--load: got\n%s", got)
	}
}

func TestConfig(t *testing.T) {
	log := line("GET", "/a{1,2}?x=1", "200", "1", "1") + line("GET", "/b", "200", "1", "2") + line("GET", "/c", "500", "1", "3")
	f := func(config, want string, args ...string) {
		t.Helper()
		args = append([]string{"--config", writeFile(t, "alp.yaml", config), "--format", "tsv", "--noheaders"}, args...)
		if got := good(t, log, append([]string{"ltsv"}, args...)...); got != want {
			t.Errorf("%s: got %q, want %q", config, got, want)
		}
	}
	f("sort: max\nreverse: true\noutput: uri\n", "/c\n/b\n/a%7B1,2%7D\n")
	f("sort: max\nreverse: true\noutput: uri\n", "/c\n", "--limit", "1")
	f("output: uri,p50\npercentiles: [50]\nfilters: Status >= 500\n", "/c\t3.000\n")
	f("output: [count, uri]\nmatching_groups:\n- ^/a%7B1,2\n- ^/[bc]{1,2}$\n", "1\t^/a%7B1,2\n2\t^/[bc]{1,2}$\n")
	f("output: uri\nquery_string: true\nqs_ignore_values: true\nltsv:\n  status_label: size\n", "/a%7B1,2%7D?x=xxx\n/b\n/c\n")
	if got := good(t, log, "ltsv", "topN", "1", "--config", writeFile(t, "c", "sort: sum\nreverse: true\ntopN:\n  sort: bytes\n"), "--format", "tsv", "--noheaders"); !strings.HasPrefix(got, "1\t/a") {
		t.Errorf("topN: %q", got)
	}
	if got := good(t, log, "ltsv", "count", "--config", writeFile(t, "c", "count:\n  keys:\n  - method\n"), "--format", "tsv"); got != "sum\tmethod\n3\tGET\n" {
		t.Errorf("count: %q", got)
	}
}

// TestFilter_Times: times are compared as times, however they are written.
func TestFilter_Times(t *testing.T) {
	loc, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2021, 8, 21, 10, 5, 0, 0, loc)
	f := func(text string, want bool) {
		t.Helper()
		fl, err := compileFilter(text, loc, func() time.Time { return now })
		if err != nil {
			t.Fatal(err)
		}
		w := worker{}
		got, err := fl.match(&w.vm, filterEnv{Time: "21/Aug/2021:10:00:02 +0900"})
		if err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	f(`Time >= "2021-08-21 10:00:02"`, true)
	f(`Time > "2021-08-21 10:00:02"`, false)
	f(`Time == "2021-08-21T01:00:02Z"`, true)
	f(`Time != "2021-08-21T01:00:02Z"`, false)
	f(`"2021-08-21T01:00:03Z" > Time`, true)
	f(`Time <= "1629507602"`, true)
	f(`Time < "1629507602"`, false)
	f(`Time < TimeAgo("4m58s")`, false)
	f(`Time >= TimeAgo("4m58s")`, true)
	f(`TimeAgo("1m") > Time && Status == 0`, true)
	f(`Time < "zzz"`, true) // as texts
	f(`Time contains "Aug"`, true)
	f(`BetweenTime(Time, "2021-08-21", "2021/08/22")`, true)
	f(`BetweenTime(Time, "2021-08-21", "soon")`, false)
}

// TestPlainMarks: what is found without the expression is what it finds.
func TestPlainMarks(t *testing.T) {
	re := regexp.MustCompile(defaultPattern)
	found := 0
	for l := range strings.SplitSeq(combinedLines, "\n") {
		if samePlainMarks(t, re, []byte(l)) {
			found++
		}
	}
	if found < 3 {
		t.Errorf("only %d lines were found without the expression", found)
	}
}

// combinedLines are lines for defaultPattern, good ones first.
const combinedLines = `127.0.0.1 - - [21/Aug/2021:10:00:00 +0900] "GET /a?x=1 HTTP/1.1" 200 12 "-" "ua" 0.100 [0.200]
127.0.0.1 - user name [21/Aug/2021:10:00:00 +0900] "GET /b c HTTP/1.1" 200 12 "http://r/" "ua [en] \x" 0.100 0.200
127.0.0.1 - - [21/Aug/2021:10:00:00 +0900] "GET  HTTP/1.1" 200 12 "-" "ua" -
127.0.0.1 - - [21/Aug/2021:10:00:00 +0900] "GET /e HTTP/1.1" 200 12 "-" "ua"
127.0.0.1 - - [21/Aug/2021:10:00:00 +0900] "GET /f HTTP/1.1" 200 - "-" "ua [en] "x" y" 0.3
127.0.0.1 - - [21/Aug/2021:10:00:00 +0900] "GET /g h HTTP/1.1" 200 1 "-" "" 0.3
127.0.0.1 - - [21/Aug/2021:10:00:00 +0900] "GET /i\"j HTTP/1.1" 200 1 "-" "x" 0.3
127.0.0.1 - - [21/Aug/2021:10:00:00 +0900] "-" 400 1 "-" "x" 0.3
127.0.0.1 - - [21/Aug/2021:10:00:00 +0900] "GET /k" 400 1 "-" "x" 0.3
127.0.0.1  - - [21/Aug/2021:10:00:00 +0900] "GET /k HTTP" 400 1 "-" "x" 0.3
127.0.0.1 -  [21/Aug/2021:10:00:00 +0900] "GET /k HTTP" 400 1 "-" "x" 0.3
127.0.0.1 - - [a [21/Aug/2021:10:00:00 +0900] "GET /k HTTP" 400 1 "-" "x" 0.3 0.4 0.5
127.0.0.1 - - []  "GET /k HTTP" 400  1 "-"  "x" 0.3`

// samePlainMarks compares the groups and reports whether there were any.
func samePlainMarks(t testing.TB, re *regexp.Regexp, l []byte) bool {
	t.Helper()
	marks, ok := plainMarks(nil, l)
	if !ok {
		return false
	}
	want := re.FindSubmatchIndex(l)
	if want == nil {
		t.Fatalf("%q does not match", l)
	}
	for _, g := range []int{groupTime, groupMethod, groupURI, groupStatus, groupBody, groupTook, groupTook2} {
		if !slices.Equal(marks[2*g:2*g+2], want[2*g:2*g+2]) {
			t.Fatalf("group %d of %q: %v, want %v", g, l, marks[2*g:2*g+2], want[2*g:2*g+2])
		}
	}
	return true
}

func TestShownTitle(t *testing.T) {
	for in, want := range map[string]string{"body_bytes": "BODY BYTES", "1.5": "1.5", "2_3": "2 3", "a.b": "A B", "_x": "X", "Min(Body)": "MIN(BODY)", "": ""} {
		if got := shownTitle(in); got != want {
			t.Errorf("shownTitle(%q) = %q, want %q", in, got, want)
		}
	}
}

func writeAll(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }
