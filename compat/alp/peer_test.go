package alp

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/peertest"
	"github.com/kasoku/kasoku/internal/test/turn"
)

// peer runs alp itself.
func peer(t testing.TB, args ...string) (stdout string, code int) {
	t.Helper()
	cmd := exec.Command(peertest.Path(t, "alp"), args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		t.Fatalf("alp %q: %v", args, err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// samePeer runs both and fails the test unless they print the same and end with
// the same code.
func samePeer(t *testing.T, args ...string) {
	t.Helper()
	want, wantCode := peer(t, args...)
	got, stderr, code := run(t, "", args...)
	if code != wantCode {
		t.Errorf("alp %q: exit %d, want %d\n%s", args, code, wantCode, stderr)
		return
	}
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Errorf("alp %q: line %d differs\ngot  %.300q\nwant %.300q", args, i+1, g[i], w[i])
			return
		}
	}
	t.Errorf("alp %q: %d lines, want %d", args, len(g), len(w))
}

// peerLogs writes the logs that both read. Times and sizes are never 0: alp's
// minima are wrong then.
func peerLogs(t testing.TB) map[string]string {
	t.Helper()
	dir := t.TempDir()
	logs := map[string]string{}
	write := func(name, text string) {
		logs[name] = filepath.Join(dir, name)
		if err := writeAll(logs[name], text); err != nil {
			t.Fatal(err)
		}
	}
	plus := strings.NewReplacer("time:0.000", "time:0.001", "size:0\t", "size:1\t", `_time":0.000`, `_time":0.001`, `_time":"0.000"`, `_time":"0.001"`, `"body_bytes":0,`, `"body_bytes":1,`)
	ltsv := plus.Replace(sample(t, "ltsv"))
	rows := strings.SplitAfter(ltsv, "\n")
	write("ltsv", strings.Join(rows[:3000], ""))
	write("ltsv1", strings.Join(rows[:300], ""))
	write("ltsv2", strings.Join(rows[300:1000], ""))
	write("json", plus.Replace(sample(t, "json")))
	write("regexp", strings.Repeat(combinedLines+"\n", 3))
	odd := ""
	for i, uri := range []string{"*", "", "/%zz", "http://ex.com:80/a?b", "//x/y", "/a b", "/a%20b", "/a+b", "/a?", "/a?x;y&z", "/a#frag", "/a%2Fb", "/日本", "foo", "/a?x=%zz&y=1", "/a?x=1&x=0&y", "ex.com:443", "-", "/q%22uo", "/tilde~!$()", "/x?b=2&a=1", "/x?a=3&b=1"} {
		odd += line([]string{"GET", "POST", ""}[i%3], uri, []string{"200", "304", "404", "503", "101", "999"}[i%6], fmt.Sprint(i+1), fmt.Sprintf("0.%03d", i+1))
	}
	odd += "garbage\n\nlabel:x\n" + line("GET", "/size", "200", "-", "1") + line("GET", "/status", "x", "1", "1") + line("GET", "/took", "200", "1", "0.1, 0.2") +
		" time:21/Aug/2021:10:00:00 +0900\tmethod:GET\t uri:/spaces\t status:200\t size:3\t apptime:0.1\r\nmethod:GET\turi:/empty\t\tstatus:200\tsize:3\tapptime:0.1\n"
	write("odd", odd)
	write("oddjson", `{"time":"t","method":"GET","uri":"/str","status":"200","body_bytes":"10","response_time":"0.1","request_time":0.2}
{"method":"GET","uri":"/null","status":200,"body_bytes":10.5,"response_time":null,"request_time":0.2,"x":{"uri":"/in"},"y":[1]}
{"method":"GET","uri":"/bool","status":2e2,"body_bytes":1e3,"response_time":true,"request_time":0.2}

  {"method":"GET","uri":"/u\u0041\/","uri":"/dup","status":200.0,"body_bytes":10,"response_time":1e-1}
{"method":null,"uri":5,"status":200,"body_bytes":1,"response_time":1}
{"Method":"GET","URI":"/caps","status":200,"body_bytes":1,"response_time":1}
{"method":"GET","uri":"/multi","status":200,"body_bytes":1,"response_time":"0.1, 0.2"}
null
`)
	return logs
}

// TestBesidePeer: the same log and options, the same output.
func TestBesidePeer(t *testing.T) {
	turn.Wait(t)
	peertest.Path(t, "alp")
	logs := peerLogs(t)
	for _, format := range []string{"table", "markdown", "tsv", "csv", "json", "html"} {
		samePeer(t, "ltsv", "--file", logs["ltsv"], "-m", sampleGroups, "--limit", "100000", "--format", format, "--sort", "sum", "-r", "--show-footers")
		samePeer(t, "json", "--file", logs["json"], "-m", sampleGroups, "--limit", "100000", "--format", format, "--page", "7")
		samePeer(t, "regexp", "--file", logs["regexp"], "--format", format, "--noheaders")
		samePeer(t, "ltsv", "diff", logs["ltsv1"], logs["ltsv2"], "-m", sampleGroups, "--format", format)
		samePeer(t, "ltsv", "topN", "40", "--file", logs["odd"], "--format", format, "-r")
		samePeer(t, "ltsv", "count", "--file", logs["ltsv"], "--keys", "method,status", "--format", format)
		samePeer(t, "json", "count", "--file", logs["json"], "--keys", "status", "--format", format, "-r")
	}
	for _, sort := range []string{"count", "uri", "method", "max", "min", "sum", "avg", "p0", "p1", "p50", "p99", "p100", "max-body", "min-body", "sum-body", "avg-body", "nope", "2xx", "P50"} {
		for _, reverse := range []string{"--reverse=false", "-r"} {
			samePeer(t, "ltsv", "--file", logs["ltsv"], "--limit", "0", "--sort", sort, reverse, "--format", "tsv", "-o",
				"count,method,uri,max,sum,avg,p90,p95,p99,stddev,max_body,min_body,sum_body,avg_body,1xx,2xx,3xx,4xx,5xx")
		}
	}
}

// TestBesidePeer_Options: options, one after another.
func TestBesidePeer_Options(t *testing.T) {
	turn.Wait(t)
	peertest.Path(t, "alp")
	logs := peerLogs(t)
	for _, o := range []string{
		"--percentiles 0,1,50,100", "--percentiles 50.5", "--percentiles 50,50", "--percentiles=-5", "-o count,uri", "-o uri,count,p95,p50",
		"-o p50 --percentiles 50", "-o all,count", "-o uri,count,2xx,max --show-footers", "-o max,5xx,uri,4xx,avg,count --show-footers", "-o uri --show-footers",
		"-q", "-q --qs-ignore-values", "--decode-uri", "-q --decode-uri", "-q --qs-ignore-values --decode-uri", "--limit 0", "--location Nowhere", "-m (", "--nope",
		"-m ,^/a", "-m ^/a,", "-m [?]a=.*&b=.* -q", "-m [?]b=.*&a=.* -q", "-m ^/a%20 --decode-uri", "-m http://h/.*|.*?q -q",
	} {
		samePeer(t, append([]string{"ltsv", "--file", logs["odd"]}, strings.Fields(o)...)...)
	}
	for _, f := range []string{
		`Uri matches "^/a"`, `Uri == "/a"`, `Method in ["POST"]`, `not (Method == "GET")`, `Status >= 400 and Status < 600`, `ResponseTime > 0.01`, `BodyBytes > 9`,
		`Time == "21/Aug/2021:10:00:00 +0900"`, `Time > "21/Aug/2021:09:00:00 +0900"`, `BetweenTime(Time, "2021-08-21T10:00:00+09:00", "2021-08-21T10:00:03+09:00")`,
		`BetweenTime(Time, "2021-08-21 10:00:00", "2021-08-21 10:00:03")`, `Time >= TimeAgo("5m")`, `Time < TimeAgo("5m")`, `TimeAgo("5m") > Time`,
		`ResponseTime ** 2 > 0.0001`, `Status % 100 == 4`, `Status in 200..299`, `len(Uri) > 5`, `Time contains "Aug"`, `Uri startsWith "/a" || Uri endsWith "o"`,
		`Count > 1`, `Uri matches "("`, `ResponseTime`, `BetweenTime(Time, "x", "y")`, `!(Uri contains "a") && true`,
	} {
		samePeer(t, "ltsv", "--file", logs["odd"], "--format", "tsv", "-f", f, "--location", "Asia/Tokyo")
	}
	samePeer(t, "json", "--file", logs["oddjson"])
	samePeer(t, "json", "count", "--file", logs["oddjson"], "--keys", "method,status,1.5,a_b")
	samePeer(t, "regexp", "--file", logs["regexp"], "-q", "--pattern", `^(?P<uri>[^ ]+) (?P<method>[^ ]*) (?P<time>[^ ]*) .*\] "\S+ (?P<uri>\S+) [^"]*" (?P<status>\d+) (?P<body_bytes>\d+) .* (?P<response_time>[0-9.]+)`)
	samePeer(t, "ltsv", "--file", "/dev/null", "--show-footers")
	samePeer(t, "ltsv", "--file", "/dev/null", "--format", "json")
	samePeer(t, "ltsv", "count", "--file", logs["odd"])
	samePeer(t, "ltsv", "topN", "x", "--file", logs["odd"])
	samePeer(t, "nope")
	samePeer(t, "ltsv", "--file", "missing")
}

// TestBesidePeer_Dump: the dumped files are the same, and each reads the other's.
func TestBesidePeer_Dump(t *testing.T) {
	turn.Wait(t)
	peertest.Path(t, "alp")
	logs := peerLogs(t)
	for _, name := range []string{"ltsv", "odd"} {
		ours, theirs := filepath.Join(t.TempDir(), "ours"), filepath.Join(t.TempDir(), "theirs")
		good(t, "", "ltsv", "--file", logs[name], "--limit", "0", "--dump", ours)
		peer(t, "ltsv", "--file", logs[name], "--limit", "0", "--dump", theirs)
		g, w := strings.Split(readFile(t, ours), "\n"), strings.Split(readFile(t, theirs), "\n")
		for i := range min(len(g), len(w)) {
			if g[i] != w[i] {
				t.Fatalf("%s: line %d is %q, want %q", name, i+1, g[i], w[i])
			}
		}
		if len(g) != len(w) {
			t.Errorf("%s: %d lines, want %d", name, len(g), len(w))
		}
		samePeer(t, "ltsv", "--load", ours, "--sort", "avg")
		samePeer(t, "ltsv", "--load", theirs, "--sort", "avg")
		samePeer(t, "diff", ours, theirs, "--format", "tsv")
	}
}
