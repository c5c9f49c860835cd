package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
)

var _ observe.Sink = (*Writer)(nil)

func hint(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

func TestRecord(t *testing.T) {
	path := tempRun(t)
	w := mustCreate(t, path)
	f := &kasoku.Frame{Host: "lab1", Source: "mysql"}
	for n := 1; n <= 200; n++ {
		f.Reset()
		f.At = time.Duration(n)*time.Second + 3*time.Millisecond
		f.Counter("Connections", "", "count", float64(n*n))
		if n%3 == 0 {
			f.Gauge("trx.oldest", "", "s", float64(n)/8)
		}
		if err := w.Frame(f); err != nil {
			t.Fatal(err)
		}
	}
	gap := kasoku.Gap{Host: "lab1", Source: "host", Interval: kasoku.Interval{From: 3 * time.Second, To: 5 * time.Second}, Reason: "slow"}
	event := kasoku.Event{At: 7 * time.Second, Host: "lab1", Kind: "clock", Text: "stepped by −3 s"}
	if err := errors.Join(w.Gap(gap), w.Event(event)); err != nil {
		t.Fatal(err)
	}
	run := sampleRun()
	run.Length = 201 * time.Second
	if err := w.Finish(run); err != nil {
		t.Fatal(err)
	}
	if got := files(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("files left: %v", got)
	}
	if n := query[int](t, path, "SELECT count(*) FROM chunk"); n != 4 {
		t.Errorf("%d chunks of 200 s, want 4", n)
	}
	if n := query[int](t, path, "SELECT count(*) FROM tail"); n != 0 {
		t.Errorf("%d rows left in the tail", n)
	}

	rec := mustOpen(t, path)
	if rec.Damage != nil {
		t.Error(rec.Damage)
	}
	if rec.Run.State != kasoku.Finished || rec.Run.Length != run.Length || !rec.Run.Started.Equal(run.Started) {
		t.Errorf("run is %+v", rec.Run)
	}
	s := rec.Find(kasoku.Key{Source: "mysql", Name: "Connections"})
	if s == nil || len(s.Points) != 200 || s.Kind != kasoku.Counter || s.Unit != "count" {
		t.Fatalf("series %+v", s)
	}
	for i, p := range s.Points {
		if n := i + 1; p.At != time.Duration(n)*time.Second+3*time.Millisecond || p.Value != float64(n*n) {
			t.Fatalf("point %d is %+v", i, p)
		}
	}
	if s := rec.Find(kasoku.Key{Source: "mysql", Name: "trx.oldest"}); len(s.Points) != 66 || s.Points[65].Value != 198.0/8 {
		t.Errorf("sparse series %+v", s)
	}
	if d := difference(rec.Gaps, []kasoku.Gap{gap}); d != "" {
		t.Error(d)
	}
	if d := difference(rec.Events, []kasoku.Event{event}); d != "" {
		t.Error(d)
	}
}

func TestSeriesExtent(t *testing.T) {
	path := tempRun(t)
	w := mustCreate(t, path)
	for n, v := range []float64{5, 2, 9, 4} {
		f := &kasoku.Frame{Host: "h", Source: "s", At: time.Duration(n) * time.Minute}
		f.Gauge("x", "", "count", v)
		mustFrames(t, w, []*kasoku.Frame{f})
	}
	if err := w.Finish(sampleRun()); err != nil {
		t.Fatal(err)
	}
	got := query[string](t, path, `SELECT points || ' ' || first_ns || ' ' || last_ns || ' ' || first_value || ' ' ||
		last_value || ' ' || min_value || ' ' || max_value FROM series`)
	if want := "4 0 180000000000 5.0 4.0 2.0 9.0"; got != want {
		t.Errorf("extent %s, want %s", got, want)
	}
}

// TestLateAndDoubleSamples covers what a well-behaved sampler does not send.
func TestLateAndDoubleSamples(t *testing.T) {
	path := tempRun(t)
	w := mustCreate(t, path)
	send := func(at time.Duration, values ...float64) {
		t.Helper()
		f := &kasoku.Frame{Host: "h", Source: "s", At: at}
		for _, v := range values {
			f.Gauge("x", "", "count", v)
		}
		mustFrames(t, w, []*kasoku.Frame{f})
	}
	send(10*time.Second, 1)
	send(11*time.Second, 2, 3) // the last counts
	send(61*time.Second, 4)    // folds the first minute
	send(12*time.Second, 5)    // too late for its chunk
	send(61*time.Second, 6)    // replaces
	send(9*time.Second, 7)
	if err := w.Finish(sampleRun()); err != nil {
		t.Fatal(err)
	}
	want := []kasoku.Point{{At: 9e9, Value: 7}, {At: 10e9, Value: 1}, {At: 11e9, Value: 3}, {At: 12e9, Value: 5}, {At: 61e9, Value: 6}}
	if d := difference(mustOpen(t, path).Series[0].Points, want); d != "" {
		t.Error(d)
	}
}

func TestChangingSeries(t *testing.T) {
	path := tempRun(t)
	w := mustCreate(t, path)
	for n := range 130 {
		f := &kasoku.Frame{Host: "h", Source: "process", At: time.Duration(n) * time.Second}
		for pid := n / 2; pid < n/2+10; pid++ { // a process goes and one comes every other second
			f.Counter("cpu.user", fmt.Sprintf("%d sh", pid), "s", float64(n))
		}
		mustFrames(t, w, []*kasoku.Frame{f})
	}
	if err := w.Finish(sampleRun()); err != nil {
		t.Fatal(err)
	}
	rec := mustOpen(t, path)
	if len(rec.Series) != 64+10 {
		t.Errorf("%d series", len(rec.Series))
	}
	s := rec.Find(kasoku.Key{Source: "process", Name: "cpu.user", Instance: "40 sh"})
	if len(s.Points) != 20 || s.Points[0].At != 62*time.Second || s.Points[19].At != 81*time.Second {
		t.Errorf("series of one process: %+v", s.Points)
	}
}

func TestAddSeconds(t *testing.T) {
	path := tempRun(t)
	w := mustCreate(t, path)
	second := func(n int, target string, asked, ok uint64) kasoku.LoadSecond {
		return kasoku.LoadSecond{Second: n, Step: 1, Target: target, Asked: asked,
			Codes: map[int]uint64{200: ok, 0: asked - ok}, Errors: map[string]uint64{"timeout": asked - ok},
			Latency: histogramOf(time.Duration(ok) * time.Millisecond)}
	}
	put := func(s ...kasoku.LoadSecond) {
		t.Helper()
		if err := w.AddSeconds(s); err != nil {
			t.Fatal(err)
		}
	}
	put(second(2, "GET /", 10, 3), second(1, "POST /users", 10, 9))
	put(second(1, "GET /", 10, 10))
	put(second(2, "GET /", 5, 4), kasoku.LoadSecond{Second: 1, Step: 1, Target: "GET /"}) // five late answers, and none
	if err := w.Finish(sampleRun()); err != nil {
		t.Fatal(err)
	}
	late := second(2, "GET /", 15, 7)
	late.Latency = histogramOf(3*time.Millisecond, 4*time.Millisecond)
	want := []kasoku.LoadSecond{second(1, "GET /", 10, 10), second(1, "POST /users", 10, 9), late}
	if d := difference(mustOpen(t, path).Seconds, want); d != "" {
		t.Error(d)
	}
	if n := query[int](t, path, "SELECT sum(latency_max_ns) FROM load_second"); n != 23e6 {
		t.Errorf("columns for SQL: %d", n)
	}
	if host := query[string](t, path, "SELECT DISTINCT host FROM load_second"); host != "lab1" {
		t.Errorf("host %q", host)
	}
}

// TestSaveReplaces saves everything twice: the second time counts.
func TestSaveReplaces(t *testing.T) {
	path := tempRun(t)
	w := mustCreate(t, path)
	var want *kasoku.Recording
	for seed := range uint64(2) {
		want = anyRecording(seed)
		err := errors.Join(w.SaveRun(want.Run), Save(w, want.Steps), w.SaveLoad(want.Load), Save(w, want.Settings),
			Save(w, want.Changes), Save(w, want.RowChecks), Save(w, want.Logs),
			Save(w, want.Endpoints), Save(w, want.Queries), Save(w, want.Saves),
			Save(w, want.Messages), Save(w, want.Warnings), w.SaveDiagnosis(want.Diagnosis),
			Save(w, want.Phases), Save(w, want.Configs), w.SaveSummary(want.Summary),
			Save(w, want.Slowest), Save(w, want.Transactions), Save(w, want.Plans), Save(w, want.Tables), Save(w, want.Advice),
			Save(w, want.Joins), Save(w, want.Callers), Save(w, want.LockWaits), Save(w, want.Deadlocks), Save(w, want.Profiles), Save(w, want.Traces), w.SaveService(want.Service))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(want.Run); err != nil {
		t.Fatal(err)
	}
	want.Seconds, want.Series, want.Gaps, want.Events = nil, nil, nil, nil
	if d := difference(mustOpen(t, path), want); d != "" {
		t.Error(d)
	}
}

func TestConcurrentUse(t *testing.T) {
	path := tempRun(t)
	w := mustCreate(t, path)
	var wg sync.WaitGroup
	for source := range 4 {
		wg.Go(func() {
			f := &kasoku.Frame{Host: "h", Source: fmt.Sprint("source", source)}
			for n := range 130 {
				f.Reset()
				f.At = time.Duration(n) * time.Second
				f.Counter("x", "", "count", float64(n))
				err := errors.Join(w.Frame(f), w.Event(kasoku.Event{At: f.At}),
					w.AddSeconds([]kasoku.LoadSecond{{Second: n, Step: source}}))
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := w.Finish(sampleRun()); err != nil {
		t.Fatal(err)
	}
	rec := mustOpen(t, path)
	if len(rec.Series) != 4 || len(rec.Events) != 520 || len(rec.Seconds) != 520 {
		t.Errorf("%d series, %d events, %d seconds", len(rec.Series), len(rec.Events), len(rec.Seconds))
	}
	for _, s := range rec.Series {
		if len(s.Points) != 130 {
			t.Errorf("%d points of %v", len(s.Points), s.Key)
		}
	}
}

func TestCreate_Failure(t *testing.T) {
	f := func(path, message, wantHint string) {
		t.Helper()
		_, err := Create(path, sampleRun())
		if err == nil || !strings.Contains(err.Error(), message) || !strings.Contains(hint(err), wantHint) {
			t.Errorf("error %v, hint %q", err, hint(err))
		}
	}
	dir := t.TempDir()
	there := filepath.Join(dir, "there.kasoku")
	mustWrite(t, there, []byte("mine"))
	f(there, "file exists", "name another file")
	if string(mustRead(t, there)) != "mine" {
		t.Error("an existing file was changed")
	}
	f(filepath.Join(dir, "none", "x.kasoku"), "no such file", "mkdir -p "+filepath.Join(dir, "none"))
	f(filepath.Join(dir, "no ne", "x.kasoku"), "no such file", "mkdir -p '"+filepath.Join(dir, "no ne")+"'")
	f(filepath.Join(there, "x.kasoku"), "not a directory", "")
	if got := files(t, dir); len(got) != 1 {
		t.Errorf("files left: %v", got)
	}
}

func TestClosedWriter(t *testing.T) {
	path := tempRun(t)
	w := mustCreate(t, path)
	if err := w.Finish(sampleRun()); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{w.Frame(&kasoku.Frame{}), w.Gap(kasoku.Gap{}), Save[kasoku.Step](w, nil), w.Finish(sampleRun())} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("error %v", err)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func TestFrameTooLarge(t *testing.T) {
	path := tempRun(t)
	w := mustCreate(t, path)
	f := &kasoku.Frame{Host: "h", Source: "s"}
	for range maxFrameSamples + 1 {
		f.Gauge("x", "", "", 0)
	}
	if err := w.Frame(f); err == nil || !strings.Contains(err.Error(), "at most 100000") {
		t.Errorf("error %v", err)
	}
}

// TestDiskFull records until no page is left, then goes on with room again.
func TestDiskFull(t *testing.T) {
	path := tempRun(t)
	w, err := create(path, sampleRun(), thisProcess(), 400)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	sim := simulate(700)
	full := 0
	for n := 1; full == 0; n++ {
		if n > 500 {
			t.Fatal("the disk never filled")
		}
		for _, f := range sim.tick(n) {
			if err = w.Frame(f); err != nil {
				full = n
				break
			}
		}
	}
	if !strings.HasPrefix(err.Error(), "write tick ") || !strings.Contains(err.Error(), "full") {
		t.Errorf("error %q", err)
	}
	if h := hint(err); !strings.Contains(h, "free") || !strings.Contains(h, "kept") {
		t.Errorf("hint %q", h)
	}
	if rec := mustOpen(t, path); rec.Run.State != kasoku.Running || len(rec.Series[0].Points) < full-1 {
		t.Errorf("%d of %d seconds can be read, state %s", len(rec.Series[0].Points), full-1, rec.Run.State)
	}
	if _, err := w.db.Exec("PRAGMA max_page_count=100000"); err != nil {
		t.Fatal(err)
	}
	mustFrames(t, w, sim.tick(full+1))
	if err := w.Finish(sampleRun()); err != nil {
		t.Fatal(err)
	}
	rec := mustOpen(t, path)
	if rec.Damage != nil || rec.Run.State != kasoku.Finished {
		t.Errorf("state %s, damage %v", rec.Run.State, rec.Damage)
	}
}

// TestFinishOnFullDisk ends a run for whose last fold there is no room: what was
// recorded stays, in the tail if need be.
func TestFinishOnFullDisk(t *testing.T) {
	path := tempRun(t)
	w := mustCreate(t, path)
	sim := simulate(700)
	for n := 1; n <= 50; n++ {
		mustFrames(t, w, sim.tick(n))
	}
	if _, err := w.db.Exec(fmt.Sprintf("PRAGMA max_page_count=%d", query[int](t, path, "PRAGMA page_count"))); err != nil {
		t.Fatal(err)
	}
	err := w.Finish(sampleRun())
	t.Logf("finish: %v", err)
	rec := mustOpen(t, path)
	if rec.Damage != nil {
		t.Error(rec.Damage)
	}
	for _, s := range rec.Series {
		if len(s.Points) != 50 {
			t.Fatalf("%d points of %v", len(s.Points), s.Key)
		}
	}
}

// TestFileSizeLimit fills up for real, in a process of its own.
func TestFileSizeLimit(t *testing.T) {
	path := tempRun(t)
	out, err := child(t, "limited", path).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if m := said(string(out), "message"); !strings.Contains(m, "write tick") {
		t.Errorf("message %q", m)
	}
	if h := said(string(out), "hint"); !strings.Contains(h, "free") {
		t.Errorf("hint %q", h)
	}
	var n int
	fmt.Sscan(said(string(out), "tick"), &n)
	rec := mustOpen(t, path)
	if got := len(rec.Series[0].Points); n < 2 || got < n-1 || rec.Damage != nil {
		t.Errorf("%d of %d seconds can be read; damage %v", got, n-1, rec.Damage)
	}
}

func TestNewID(t *testing.T) {
	f := func(label, want string) {
		t.Helper()
		if got := kasoku.NewRunID(start(), label); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	f("before", "20261120-050211-before")
	f("", "20261120-050211")
	f("../pool 2/日本", "20261120-050211-pool-2")
	f("v1.2_x", "20261120-050211-v1.2_x")
}

// TestPrivate: a run file, its log and its index are the user's alone while it is
// recorded and after, whatever the umask, and below sudo they are the caller's.
func TestPrivate(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Setenv("SUDO_UID", "4711")
		t.Setenv("SUDO_GID", "4712")
	}
	old := unix.Umask(0)
	defer unix.Umask(old)
	path := tempRun(t)
	w, err := Create(path, sampleRun())
	if err != nil {
		t.Fatal(err)
	}
	mustFrames(t, w, simulate(10).tick(1))
	check := func(names ...string) {
		t.Helper()
		for _, name := range names {
			st, err := os.Lstat(name)
			if err != nil {
				t.Fatal(err)
			}
			sys := st.Sys().(*syscall.Stat_t)
			if st.Mode().Perm() != 0o600 || os.Geteuid() == 0 && (sys.Uid != 4711 || sys.Gid != 4712) {
				t.Errorf("%s: mode %o of %d:%d", name, st.Mode(), sys.Uid, sys.Gid)
			}
		}
	}
	check(path, path+"-wal", path+"-shm")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path = tempRun(t)
	if err := Write(path, sampleRecording()); err != nil {
		t.Fatal(err)
	}
	check(path)
	if err := Copy(path, path+".copy"); err != nil {
		t.Fatal(err)
	}
	check(path + ".copy")
}

// TestPlantedLog: what somebody has put where the log of a run will lie would become
// part of it.
func TestPlantedLog(t *testing.T) {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		path := tempRun(t)
		if err := os.Symlink("/nowhere", path+suffix); err != nil {
			t.Fatal(err)
		}
		if w, err := Create(path, sampleRun()); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%q: %v", suffix, err)
			_ = w.Close()
		}
	}
}

// TestChunkIsSmall pins what the forms and the compression are worth.
func TestChunkIsSmall(t *testing.T) {
	path := tempRun(t)
	record(t, path, 700, 60)
	bytes := query[int](t, path, "SELECT sum(length(data)) FROM chunk")
	if perPoint := float64(bytes) / (700 * 60); perPoint > 2.5 {
		t.Errorf("%.2f bytes for each sample, want at most 2.5", perPoint)
	}
}

// TestRenameInstances: names are gone from the file, two that become one have a number, and the points
// stay.
func TestRenameInstances(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.kasoku")
	w := mustCreate(t, path)
	for n := range 3 {
		f := &kasoku.Frame{Host: "lab1", Source: "process", At: time.Duration(n) * time.Second}
		for _, name := range []string{"7 plantedone", "7 plantedtwo", "8 mine"} {
			f.Counter("cpu.user", name, "s", float64(n))
		}
		o := &kasoku.Frame{Host: "lab1", Source: "other", At: f.At}
		o.Gauge("cpu.user", "7 stays", "s", 1)
		for _, f := range []*kasoku.Frame{f, o} {
			if err := w.Frame(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.RenameInstances("process", func(series, instance string) string {
		if series == "cpu.user" && strings.Contains(instance, "planted") {
			return "7 neighbour"
		}
		return instance
	}); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(sampleRun()); err != nil {
		t.Fatal(err)
	}
	rec, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range rec.Series {
		got = append(got, s.Key.Instance)
		if len(s.Points) != 3 {
			t.Errorf("%s: %d points", s.Key.Instance, len(s.Points))
		}
	}
	slices.Sort(got)
	if len(got) != 4 || got[0] != "7 neighbour" || !strings.HasPrefix(got[1], "7 neighbour #") || got[2] != "7 stays" || got[3] != "8 mine" {
		t.Errorf("%q", got)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(file, []byte("planted")) {
		t.Error("the file holds a name that was taken out")
	}
}

// TestRenameInstances_SplitPages: no page of the index that was split while series came holds an old name.
func TestRenameInstances_SplitPages(t *testing.T) {
	for seed := 8; seed < 12; seed++ { // without rewriteSeries 10 fails
		path := filepath.Join(t.TempDir(), "x.kasoku")
		w := mustCreate(t, path)
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		for n := range 20 {
			f := &kasoku.Frame{Host: "vm", Source: "process", At: time.Duration(n) * time.Second}
			for range 6 {
				instance := fmt.Sprintf("%d planted%c", 500+r.IntN(150), rune(97+r.IntN(20)))
				for _, name := range []string{"cpu.user", "cpu.system", "fds", "fds_limit", "io.read", "io.write_calls", "rss", "threads"} {
					f.Gauge(name, instance, "s", float64(n))
				}
			}
			if err := w.Frame(f); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.RenameInstances("process", func(_, instance string) string {
			pid, _, _ := strings.Cut(instance, " ")
			return pid + " neighbour"
		}); err != nil {
			t.Fatal(err)
		}
		if err := w.Finish(sampleRun()); err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if at := bytes.Index(file, []byte("planted")); at >= 0 {
			t.Errorf("seed %d: %q", seed, file[max(0, at-60):at+40])
		}
	}
}
