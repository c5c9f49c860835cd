package kataribe

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// sample returns the log of the sample, 6,000 requests.
func sample(t testing.TB) string {
	t.Helper()
	f, err := os.Open("testdata/combined.log.zst")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSample: kataribe 0.4.1 answered testdata/combined.kataribe.txt.
func TestSample(t *testing.T) {
	got, stderr, code := run(t, sample(t), "-f", "testdata/kataribe.toml")
	if code != 0 {
		t.Fatalf("exit %d, stderr %s", code, stderr)
	}
	same(t, got, readFile(t, "testdata/combined.kataribe.txt"))
}

// TestFiles: logs may be named, and compressed, instead of read from standard
// input; the output is the same, and so it is each time, whatever the workers.
func TestFiles(t *testing.T) {
	log := sample(t)
	want, _, _ := run(t, log, "-conf", "testdata/kataribe.toml")
	for _, workers := range []int{1, 2, 7} {
		old := runtime.GOMAXPROCS(workers)
		got, stderr, code := run(t, "", "-f=testdata/kataribe.toml", "testdata/combined.log.zst")
		runtime.GOMAXPROCS(old)
		if got != want || code != 0 {
			t.Errorf("%d workers: exit %d, %s, output differs: %v", workers, code, stderr, got != want)
		}
	}
	dir := t.TempDir()
	half := strings.Index(log[len(log)/2:], "\n") + len(log)/2 + 1
	for i, part := range []string{log[:half], log[half:]} {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%d.gz", i)))
		if err != nil {
			t.Fatal(err)
		}
		z := gzip.NewWriter(f)
		if _, err := io.WriteString(z, part); err != nil {
			t.Fatal(err)
		}
		z.Close()
		f.Close()
	}
	if got, _, _ := run(t, "", "-f", "testdata/kataribe.toml", filepath.Join(dir, "*.gz")); got != want {
		t.Error("two files: output differs")
	}
	if _, stderr, code := run(t, "", "-f", "testdata/kataribe.toml", dir+"/none"); code != 1 || !strings.Contains(stderr, "none") {
		t.Errorf("missing file: exit %d, %s", code, stderr)
	}
}

// simple is a configuration for short logs: duration, status, bytes, request.
const simple = `ranking_count = 20
slow_count = 37
show_stddev = true
show_status_code = true
show_bytes = true
percentiles = [ 50.0, 90.0, 95.0, 99.0 ]
scale = 0
effective_digit = 3
log_format = '^(\S+) (\S+) (\S+) (.*)$'
request_index = 4
status_index = 2
bytes_index = 3
duration_index = 1
`

// TestPeerFails: what makes kataribe panic or give up is an answer here.
func TestPeerFails(t *testing.T) {
	f := func(config, log, want string) {
		t.Helper()
		got, stderr, code := runConfig(t, config, log)
		if code != 0 || !strings.Contains(got, want) {
			t.Errorf("exit %d, stderr %s\n%s\nwants %q", code, stderr, got, want)
		}
	}
	all := strings.Replace(simple, "99.0 ]", "100.0 ]", 1)
	f(simple, "0.1 999 5 GET /a\n", "    0    0    0    0           5          5          5          5  GET /a")
	f(simple, "0.1 x 5 GET /a\n", "    0    0    0    0           5          5          5          5  GET /a")
	f(all, "0.1 200 5 GET /a\n0.3 200 5 GET /a\n", "P100.0    Max")
	f(all, "0.1 200 5 GET /a\n0.3 200 5 GET /a\n", "0.300  0.300    2")
	f(strings.Replace(simple, "50.0,", "-1.0,", 1), "0.1 200 5 GET /a\n0.3 200 5 GET /a\n", "0.100  0.100  0.300  0.300  0.300  0.300")
	long := strings.Repeat("x", 200_000)
	f(simple, "0.1 200 5 GET /"+long+"\n", long)
	f(simple, "NaN 200 5 GET /nan\nInf 200 5 GET /inf\n0.5 200 5 GET /a\n", "TOP 3 Slow Requests\n1  0.500  GET /a\n2  0.000  GET /nan\n3  0.000  GET /inf\n")
	f(strings.Replace(simple, "effective_digit = 3", "effective_digit = -3", 1), "12 200 5 GET /a\n", "1   12  GET /a\n")
	f(simple, "0.1 200 5 GET /\x1b[31m\r\n", `GET /\x1B[31m`)
}

// TestOrder: what is random in kataribe has a rule here.
func TestOrder(t *testing.T) {
	var log strings.Builder
	for i := range 60 {
		fmt.Fprintf(&log, "0.%d 200 5 GET /%02d\n", 5-i%2, 59-i)
	}
	got, _, _ := runConfig(t, simple, log.String())
	for _, want := range []string{
		// Of those that tie, the larger total, then the name.
		"GET /01\n    1  0.500  0.5000  0.0000  0.500  0.500  0.500  0.500  0.500  0.500    1    0    0    0           5          5          5          5  GET /03\n",
		// Of the slow ones, the earlier line.
		" 1  0.500  GET /59\n 2  0.500  GET /57\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q\n%s", want, got)
		}
	}
	bundles := simple + "[[bundle]]\nregexp='^GET /0'\nname='early'\n[[bundle]]\nregexp='^GET'\n[bundles.old]\nregexp='/00$'\nname='never'\n"
	got, _, _ = runConfig(t, bundles, log.String())
	if !strings.Contains(got, "  early\n") || !strings.Contains(got, "  ^GET\n") || strings.Contains(got, "never") {
		t.Errorf("bundles are not in the order of the file\n%s", got)
	}
}

func TestReplace(t *testing.T) {
	config := simple + `[[bundle]]
regexp = '^GET /b'
name = 'b /12 x'
[[replace]]
regexp = '/[0-9]+(/|\s)'
replace = '/<num>$1'
[[replace]]
regexp = '\s+HTTP/[0-9.]+$'
replace = ''
`
	got, _, _ := runConfig(t, config, "0.1 200 5 GET /a/12/34 HTTP/1.1\n0.1 200 5 GET /b/12/34 HTTP/1.1\n")
	for _, want := range []string{"  GET /a/<num>/34\n", "  b /<num> x\n", "GET /b/12/34 HTTP/1.1\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q\n%s", want, got)
		}
	}
}

func TestRun_Failure(t *testing.T) {
	f := func(config, log, want string, wantCode int) {
		t.Helper()
		stdout, stderr, code := runConfig(t, config, log)
		if code != wantCode || !strings.Contains(stderr, want) || stdout != "" {
			t.Errorf("exit %d, want %d\nstdout %q\nstderr %s\nwant %q", code, wantCode, stdout, stderr, want)
		}
	}
	f("x = [", "", "read configuration", 2)
	f(strings.Replace(simple, "request_index = 4", "request_index = 9", 1), "", "request_index is 9, log_format has 4 groups", 2)
	f(strings.Replace(simple, `(.*)$'`, `(.*'`, 1), "", `log_format: read regular expression`, 2)
	f(simple+"[[bundle]]\nregexp='('\n", "", `bundle: read regular expression 1, "("`, 2)
	f(simple+"[[replace]]\nregexp='('\n", "", `replace: read regular expression 1, "("`, 2)
	f(simple, "", "No parsed requests found. Please confirm log_format.", 1)
	f(simple, "hello\n\nworld\n", `2 of 3 lines do not match log_format; the first is line 1: "hello"`, 1)

	if _, stderr, code := run(t, "", "-f", filepath.Join(t.TempDir(), "none.toml")); code != 2 || !strings.Contains(stderr, "none.toml") {
		t.Errorf("missing configuration: exit %d, %s", code, stderr)
	}
	if _, _, code := run(t, "", "-x"); code != 2 {
		t.Errorf("unknown flag: exit %d", code)
	}
	if _, stderr, code := run(t, "", "-h"); code != 0 || !strings.Contains(stderr, "-generate") {
		t.Errorf("-h: exit %d, %s", code, stderr)
	}
}

// TestGenerate: what -generate writes can be used at once, and its commented
// formats fit the lines of their servers.
func TestGenerate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kataribe.toml")
	if _, stderr, code := run(t, "", "-generate", "-f", path); code != 0 {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	got, stderr, code := run(t, sample(t), "-f", path)
	if code != 0 || !strings.HasPrefix(got, "Top 20 Sort By Count\n") {
		t.Errorf("exit %d, %s\n%s", code, stderr, got)
	}
	if _, stderr, code := run(t, "", "-generate", "-f", t.TempDir()); code != 1 || stderr == "" {
		t.Errorf("a directory: exit %d, %s", code, stderr)
	}
	for _, format := range formats {
		c := config{LogFormat: format.expr, RequestIndex: format.groups[0], StatusIndex: format.groups[1], BytesIndex: format.groups[2], DurationIndex: format.groups[3]}
		if _, err := c.plan(); err != nil {
			t.Error(err)
		}
		if !strings.Contains(readFile(t, path), format.expr) {
			t.Errorf("the file lacks the format of %s", format.name)
		}
	}
}
