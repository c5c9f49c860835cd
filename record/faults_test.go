package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/record/printed"
	"github.com/kasoku/kasoku/store"
)

// quick are options of a run of a third of a second.
func quick(t testing.TB) Options {
	t.Helper()
	return Options{Path: filepath.Join(t.TempDir(), "run.kasoku"), Interval: 100 * time.Millisecond, Course: Course{For: 300 * time.Millisecond}}
}

func mustRecord(t testing.TB, o Options) *kasoku.Recording {
	t.Helper()
	res, err := Record(t.Context(), o)
	if err != nil {
		t.Fatalf("%v\nhint: %s", err, hint(err))
	}
	return res.Recording
}

// during is a Prepare that does something while the run is recorded.
func during(do func() error) func(context.Context, Watch) error {
	return func(context.Context, Watch) error { return do() }
}

func ltsv(path string) string {
	return fmt.Sprintf("time:%s\tmethod:GET\turi:%s\tstatus:200\tsize:3\treqtime:0.001\n", time.Now().Format(time.RFC3339Nano), path)
}

func add(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func requests(rec *kasoku.Recording) (n uint64) {
	for _, e := range rec.Endpoints {
		n += e.Count
	}
	return n
}

func warned(rec *kasoku.Recording, code string) kasoku.Warning {
	for _, w := range rec.Warnings {
		if w.Code == code {
			return w
		}
	}
	return kasoku.Warning{}
}

func TestLogAppearsLater(t *testing.T) {
	o := quick(t)
	o.AccessLog, o.AppLog = filepath.Join(t.TempDir(), "access.log"), filepath.Join(t.TempDir(), "never.log")
	o.Prepare = during(func() error { return add(o.AccessLog, ltsv("/a")+ltsv("/b")) })
	rec := mustRecord(t, o)
	if n := requests(rec); n != 2 || len(rec.Logs) != 2 {
		t.Errorf("%d requests, logs %+v", n, rec.Logs)
	}
	for _, w := range rec.Logs {
		want := map[string]string{"accesslog": "appeared during the window", "applog": "is missing"}[w.Kind]
		if !strings.Contains(w.Note, want) {
			t.Errorf("%s: note %q, want %q in it", w.Kind, w.Note, want)
		}
	}
}

func TestLogRotates(t *testing.T) {
	o := quick(t)
	o.AccessLog = filepath.Join(t.TempDir(), "access.log")
	if err := add(o.AccessLog, strings.Repeat(ltsv("/old"), 5)); err != nil {
		t.Fatal(err)
	}
	o.Prepare = during(func() error {
		return errors.Join(add(o.AccessLog, ltsv("/before")), os.Rename(o.AccessLog, o.AccessLog+".1"), add(o.AccessLog, ltsv("/after")))
	})
	rec := mustRecord(t, o)
	routes := ""
	for _, e := range rec.Endpoints {
		routes += fmt.Sprintf("%s %d ", e.Route, e.Count)
	}
	if !strings.Contains(routes, "/before 1 ") || !strings.Contains(routes, "/after 1 ") || strings.Contains(routes, "/old") {
		t.Errorf("routes %s", routes)
	}
	if n := rec.Logs[0].Lines; n != 2 {
		t.Errorf("%d lines", n)
	}
}

// TestLogRenamed: a log that was moved away during the run keeps the name that it is configured by:
// hints name that.
func TestLogRenamed(t *testing.T) {
	o := quick(t)
	o.AccessLog = filepath.Join(t.TempDir(), "access.log")
	o.Prepare = during(func() error {
		return errors.Join(add(o.AccessLog, ltsv("/before")), os.Rename(o.AccessLog, o.AccessLog+".1"))
	})
	rec := mustRecord(t, o)
	if len(rec.Logs) != 1 || rec.Logs[0].Path != o.AccessLog || strings.Contains(fmt.Sprint(rec.Warnings), "access.log.1") {
		t.Errorf("%+v\n%+v", rec.Logs, rec.Warnings)
	}
}

// TestLogRubbish: bytes that are no log and lines of megabytes are counted and
// shown; what is good among them is read.
func TestLogRubbish(t *testing.T) {
	o := quick(t)
	o.AccessLog, o.AppLog = filepath.Join(t.TempDir(), "access.log"), filepath.Join(t.TempDir(), "app.log")
	mega := strings.Repeat("m", 3<<20)
	o.Prepare = during(func() error {
		rubbish := "\x00\x01\xff\xfe\n" + mega + "\n\n" + strings.Repeat("\tstatus:\n", 10)
		return errors.Join(
			add(o.AccessLog, ltsv("/a")+rubbish+ltsv("/b")+"cut sho"),
			add(o.AppLog, rubbish+"2026/03/01 12:00:00 ERROR Error 1040: Too many connections\n"+mega))
	})
	rec := mustRecord(t, o)
	if n := requests(rec); n != 2 {
		t.Errorf("%d requests", n)
	}
	for _, w := range rec.Logs {
		if w.Kind == "accesslog" && (w.Dropped < 3 || len(w.BadSample) == 0 || len(w.BadSample[0].Text) > 10_000) {
			t.Errorf("access log: %d of %d lines dropped, samples %d", w.Dropped, w.Lines, len(w.BadSample))
		}
	}
	w := warned(rec, "bad-lines")
	if !strings.Contains(w.Text, "could not be read") || w.Hint == "" || len(w.Text) > 2000 {
		t.Errorf("warning %.300q, hint %q", w.Text, w.Hint)
	}
	found := false
	for _, m := range rec.Messages {
		found = found || strings.Contains(m.Pattern, "1040") || strings.Contains(m.Sample, "1040")
	}
	if !found {
		t.Errorf("the error among the rubbish is missing: %d messages", len(rec.Messages))
	}
}

// TestLogIsDirectory: what can never be read is reported before the run.
func TestLogIsDirectory(t *testing.T) {
	o := quick(t)
	o.AccessLog = t.TempDir()
	res, err := Record(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), o.AccessLog) {
		t.Errorf("%v, %v", res, err)
	}
}

// loaded are options of a load of half a second.
func loaded(t testing.TB, url string) Options {
	t.Helper()
	engine, err := nethttp.New(nethttp.Options{Timeout: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	o := quick(t)
	o.For = 0
	o.Load = &Load{Engine: engine, Each: 500 * time.Millisecond, Next: Climb(40),
		Targets: []load.Target{{Method: http.MethodGet, URL: url}}}
	return o
}

// TestBadTargets: a target that answers in no way is measured as one that does:
// every request is counted, with what went wrong.
func TestBadTargets(t *testing.T) {
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			<-hang
			return
		}
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		switch r.URL.Path {
		case "/half":
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
		case "/garbage":
			fmt.Fprint(conn, "\x00\x01 no HTTP\r\n\r\n")
		}
	}))
	defer server.Close()
	defer close(hang)
	o := loaded(t, "")
	o.Load.Targets, o.Load.Next = nil, Climb(240)
	for _, url := range []string{
		"http://127.0.0.1:1/refused", "http://no-such-host.invalid/dns",
		server.URL + "/reset", server.URL + "/hang", server.URL + "/half", server.URL + "/garbage",
	} {
		o.Load.Targets = append(o.Load.Targets, load.Target{Method: http.MethodGet, URL: url})
	}
	rec := mustRecord(t, o)
	if rec.Run.State != kasoku.Finished {
		t.Errorf("state %s: %s", rec.Run.State, rec.Run.StopReason)
	}
	f := func(target string, errors ...string) {
		t.Helper()
		tally := kasoku.NewTally()
		for i := range rec.Seconds {
			if rec.Seconds[i].Target == target {
				tally.Add(&rec.Seconds[i])
			}
		}
		var matched uint64
		for message, n := range tally.Errors {
			if slices.ContainsFunc(errors, func(want string) bool { return strings.Contains(message, want) }) {
				matched += n
			}
		}
		if tally.Asked != 20 || tally.Answered != 0 || matched != 20 {
			t.Errorf("%s: %d asked, %d answered, errors %v, want 20 with one of %q", target, tally.Asked, tally.Answered, tally.Errors, errors)
		}
	}
	f("GET /refused", "connection refused")
	f("GET /dns", "no-such-host.invalid")
	f("GET /reset", "EOF", "reset")
	f("GET /hang", "timeout", "deadline")
	f("GET /half", "EOF")
	f("GET /garbage", "malformed")
}

// TestStopped: a run that is stopped is kept as far as it got, and is no error.
func TestStopped(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	o := loaded(t, server.URL)
	o.Load.Each = time.Hour
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	o.OnProgress = func(p Progress) {
		if p.Phase == PhaseLoad && p.OK >= 5 {
			cancel(errors.New("enough"))
		}
	}
	res, err := Record(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	rec := res.Recording
	if rec.Run.State != kasoku.Incomplete || rec.Run.StopReason != "enough" {
		t.Errorf("state %s, reason %q", rec.Run.State, rec.Run.StopReason)
	}
	if n := rec.Tally(0).Success; n < 5 {
		t.Errorf("%d requests kept", n)
	}
	if len(rec.Steps) != 1 || rec.Steps[0].Interval.To > rec.Run.Length+time.Second {
		t.Errorf("steps %+v of %s", rec.Steps, rec.Run.Length)
	}
}

// TestWatchedGone: a process that had one of the names of kasoku.toml and is gone when the run
// begins is not missed; one that the user named by its number is.
func TestWatchedGone(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	o := quick(t)
	o.Watched = []int{gone.Process.Pid}
	mustRecord(t, o)
	o = quick(t)
	o.PIDs = []int{gone.Process.Pid}
	if _, err := Record(t.Context(), o); err == nil || !strings.Contains(err.Error(), "no such process") {
		t.Error(err)
	}
}

func TestPrepareFails(t *testing.T) {
	o := quick(t)
	o.Prepare = during(func() error { return errors.New("no server") })
	res, err := Record(t.Context(), o)
	if err == nil || err.Error() != "prepare: no server" || res == nil {
		t.Fatalf("%v, %v", res, err)
	}
	if r := res.Recording.Run; r.State != kasoku.Incomplete || r.StopReason != "prepare: no server" {
		t.Errorf("state %s, reason %q", r.State, r.StopReason)
	}
}

// TestCommandKept: a command's output is kept from its end on.
func TestCommandKept(t *testing.T) {
	o := quick(t)
	var out bytes.Buffer
	o.For, o.Stdout = 0, &out
	o.Command = []string{"sh", "-c", "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; echo last >&2; kill -TERM $$"}
	rec := mustRecord(t, o)
	c := rec.Run.Command
	if c == nil || c.Signal != "terminated" || !c.OutputTruncated || !strings.Contains(c.Output, "last\n") || len(c.Output) > printed.Kept {
		t.Fatalf("signal %q, %d bytes of output, truncated %t", c.Signal, len(c.Output), c.OutputTruncated)
	}
	if !strings.HasPrefix(out.String(), "line 0\n") || strings.Count(out.String(), "\n") != 20000 {
		t.Errorf("%d lines went through", strings.Count(out.String(), "\n"))
	}
	if w := warned(rec, "command-failed"); !strings.Contains(w.Text, "killed by signal: terminated") {
		t.Errorf("warning %q", w.Text)
	}
}

// TestLogGone: a server that is stopped and removed with its logs costs its log, not
// the run.
func TestLogGone(t *testing.T) {
	o := quick(t)
	dir := filepath.Join(t.TempDir(), "server")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	o.AccessLog, o.AppLog = filepath.Join(t.TempDir(), "access.log"), filepath.Join(dir, "app.log")
	if err := errors.Join(add(o.AccessLog, ltsv("/old")), add(o.AppLog, "started\n")); err != nil {
		t.Fatal(err)
	}
	o.Prepare = during(func() error { return errors.Join(add(o.AccessLog, ltsv("/a")), os.RemoveAll(dir)) })
	rec := mustRecord(t, o)
	if n := requests(rec); n != 1 || rec.Run.State != kasoku.Finished || len(rec.Logs) != 2 {
		t.Errorf("%d requests, run %s, logs %+v", n, rec.Run.State, rec.Logs)
	}
	if w := warned(rec, "log-gone"); !strings.Contains(w.Text, o.AppLog) || w.Hint == "" {
		t.Errorf("warnings %+v", rec.Warnings)
	}
	if w := warned(rec, "empty-log"); w.Text != "" {
		t.Errorf("a log that is gone is reported as empty: %s", w.Text)
	}
}

// TestQuietLogs: of the logs of applications that gained no line, those that kasoku found
// itself, such as the log of a daemon, are no warning; one that the user named is.
func TestQuietLogs(t *testing.T) {
	o := quick(t)
	dir := t.TempDir()
	o.AppLog = filepath.Join(dir, "named.log")
	o.MoreLogs = Logs{App: []string{filepath.Join(dir, "fpm.log"), filepath.Join(dir, "app.out")}}
	for _, path := range append(o.MoreLogs.App, o.AppLog) {
		if err := add(path, "[23-Nov-2026 20:02:52] NOTICE: ready to handle connections\n"); err != nil {
			t.Fatal(err)
		}
	}
	for _, quiet := range []bool{false, true} {
		o.Path, o.MoreLogs.Quiet = filepath.Join(t.TempDir(), "x.kasoku"), quiet
		w := warned(mustRecord(t, o), "empty-log")
		if !strings.Contains(w.Text, "named.log") || strings.Contains(w.Text, "fpm.log") == quiet ||
			strings.Contains(w.Text, "app.out") == quiet {
			t.Errorf("quiet %v: %+v", quiet, w)
		}
	}
}

// seenSize waits until the samples of a run have a log of this size.
func seenSize(t *testing.T, run, log string, size int64) {
	t.Helper()
	holds := func() bool {
		rec, err := store.Open(run)
		if err != nil {
			return false
		}
		return slices.ContainsFunc(rec.Series, func(s kasoku.Series) bool {
			return s.Key.Source == "log" && s.Key.Instance == log &&
				slices.ContainsFunc(s.Points, func(p kasoku.Point) bool { return int64(p.Value) == size })
		})
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for over := time.After(time.Minute); !holds(); {
		select {
		case <-tick.C:
		case <-over:
			t.Fatalf("no sample has %s with %d bytes", log, size)
		}
	}
}

// TestLogLost: a log that is cut or removed after it has gained requests costs them, and
// the run says so; one that is cut before has lost nothing of the run.
func TestLogLost(t *testing.T) {
	f := func(name, old string, gains bool, spoil func(path string) error) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := quick(t)
			o.AccessLog = filepath.Join(t.TempDir(), "access.log")
			if err := add(o.AccessLog, old); err != nil {
				t.Fatal(err)
			}
			o.Prepare = during(func() error {
				if gains {
					if err := add(o.AccessLog, strings.Repeat(ltsv("/lost"), 3)); err != nil {
						return err
					}
				}
				info, err := os.Stat(o.AccessLog)
				if err != nil {
					return err
				}
				seenSize(t, o.Path, o.AccessLog, info.Size())
				return errors.Join(spoil(o.AccessLog), add(o.AccessLog, ltsv("/kept")))
			})
			rec := mustRecord(t, o)
			if lost := LostLogs(rec); (lost != "") != gains || requests(rec) != 1 {
				t.Errorf("lost: %q, with %d requests and the note %q", lost, requests(rec), rec.Logs[0].Note)
			}
		})
	}
	for _, gains := range []bool{false, true} {
		for _, old := range []string{"", ltsv("/old")} {
			what := fmt.Sprintf("gains %t, %d bytes before", gains, len(old))
			f("truncated, "+what, old, gains, func(path string) error { return os.Truncate(path, 0) })
			f("removed, "+what, old, gains, os.Remove)
		}
	}
}
