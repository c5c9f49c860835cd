package demo

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/userapi"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/store"
)

// TestMain serves the lab when the test binary is started in the place of
// kasoku, as the demo starts it.
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "lab" && os.Args[2] == "serve" {
		os.Exit(serve(os.Args[3:]))
	}
	os.Exit(m.Run())
}

func serve(args []string) int {
	flag := func(name string) string {
		for i, a := range args[:len(args)-1] {
			if a == name {
				return args[i+1]
			}
		}
		return ""
	}
	d, err := userapi.ParseDefects(flag("--defects"))
	if err != nil {
		return 2
	}
	access, err := os.OpenFile(flag("--access-log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return 3
	}
	defer access.Close()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	err = userapi.Serve(ctx, userapi.Config{
		Listen: flag("--listen"), DSN: os.Getenv("KASOKU_LAB_DSN"), Defects: d, AccessLog: access, AppLog: os.Stderr,
		Ready: func(addr string) { os.WriteFile(flag("--ready"), []byte(addr+"\n"), 0o600) },
	})
	if err != nil {
		return 1
	}
	return 0
}

// listener hears the story and notes what it heard.
type listener struct {
	mu    sync.Mutex
	heard []string
	onRun func(label string)
}

func (l *listener) note(s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = append(l.heard, s)
}

func (l *listener) Chapter(int, int, string) { l.note("chapter") }
func (l *listener) Progress(p record.Progress) {
	if l.onRun != nil && p.Phase == record.PhaseLoad {
		l.onRun(p.Label)
	}
}
func (l *listener) Run(rec *kasoku.Recording)      { l.note("run " + rec.Run.Label) }
func (l *listener) Diagnosis(*kasoku.Recording)    { l.note("diagnosis") }
func (l *listener) Try(t Try)                      { l.note("try " + t.ID) }
func (l *listener) Comparison(*compare.Comparison) { l.note("comparison") }
func (l *listener) String() string                 { return strings.Join(l.heard, ", ") }

func options(t *testing.T, story Listener) Options {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Dir: t.TempDir(), Work: t.TempDir(), Program: self, Each: 2 * time.Second, Pause: time.Second, Story: story}
}

func summary(t *testing.T, dir string) Summary {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s Summary
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestNotReproducible: what no step breaks is said to be so, with what was measured.
func TestNotReproducible(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("starts MariaDB")
	}
	var l listener
	o := options(t, &l)
	o.Ladder, o.Most = []float64{20}, 20
	res, err := Run(t.Context(), o)
	if !errors.Is(err, ErrNotReproducible) {
		t.Fatalf("error %v", err)
	}
	if got := l.String(); got != "chapter, run before" {
		t.Errorf("heard %s", got)
	}
	s := summary(t, o.Dir)
	if s.BrokenPerSec != 0 || s.Proven() || s.Before.Requests != 40 || s.Before.OK != 40 || s.Before.Rows != 40 {
		t.Errorf("summary %+v", s)
	}
	if res.After != nil || !strings.Contains(s.Machine.Database, "MariaDB") {
		t.Errorf("after %v, machine %+v", res.After, s.Machine)
	}
}

// TestInterrupt: a story that is stopped leaves a readable file and no process.
func TestInterrupt(t *testing.T) {
	if testing.Short() {
		t.Skip("starts MariaDB")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	var once sync.Once
	l := listener{onRun: func(string) { once.Do(func() { cancel(errors.New("interrupt")) }) }}
	o := options(t, &l)
	o.Each = 30 * time.Second
	_, err := Run(ctx, o)
	if err == nil {
		t.Fatal("an interrupted story ended well")
	}
	rec, openErr := store.Open(filepath.Join(o.Dir, "before.kasoku"))
	if openErr != nil {
		t.Fatal(openErr)
	}
	if rec.Run.State != kasoku.Incomplete || rec.Run.StopReason != "interrupt" || len(rec.Steps) != 1 || !rec.Steps[0].Partial() {
		t.Errorf("run %+v, steps %+v", rec.Run, rec.Steps)
	}
	for _, c := range rec.Changes {
		if !c.Restored {
			t.Errorf("not put back: %+v", c)
		}
	}
	if left := processesIn(t, o.Work); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// processesIn lists the processes whose command line names the directory.
func processesIn(t *testing.T, dir string) (out []string) {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		if b, err := os.ReadFile(p); err == nil && strings.Contains(string(b), dir) {
			out = append(out, p+" "+strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	return out
}

// TestStory is the whole story with short steps, where it is asked for: it takes
// minutes and needs the machine for itself.
func TestStory(t *testing.T) {
	if os.Getenv("KASOKU_LONG") == "" {
		t.Skip("set KASOKU_LONG=1: takes two minutes")
	}
	for _, database := range []string{"mariadb", "mysql"} {
		t.Run(database, func(t *testing.T) {
			var l listener
			o := options(t, &l)
			o.Each, o.Database = 8*time.Second, database
			res, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if !res.Summary.Proven() || !res.Summary.RowsMatch {
				t.Errorf("not proven: %+v", res.Summary)
			}
		})
	}
}

func TestRung(t *testing.T) {
	f := func(i int, want float64, more bool) {
		t.Helper()
		s := &story{o: Options{Ladder: []float64{10, 100, 1000}, Most: 4000}}
		if rate, ok := s.rung(i); ok != more || ok && rate != want {
			t.Fatalf("rung(%d) = %v, %v; want %v, %v", i, rate, ok, want, more)
		}
	}
	f(0, 10, true)
	f(2, 1000, true)
	f(3, 2000, true)
	f(4, 4000, true)
	f(5, 0, false)
}

func TestFailures(t *testing.T) {
	good := func() *Summary {
		fs := []Finding{}
		for _, id := range userapi.Seeded() {
			fs = append(fs, Finding{ID: id, Severity: string(kasoku.Problem)})
		}
		return &Summary{RowsMatch: true, Before: Side{P99: 900, Findings: fs}, After: Side{Success: 1, P99: 300}}
	}
	f := func(change func(*Summary), want int) {
		t.Helper()
		s := good()
		change(s)
		if got := (&story{broken: 1000}).failures(s); len(got) != want {
			t.Fatalf("failures %v, want %d", got, want)
		}
	}
	f(func(*Summary) {}, 0)
	f(func(s *Summary) { s.After.Success = 0.9989 }, 1)
	f(func(s *Summary) { s.After.P99 = 301 }, 1)
	f(func(s *Summary) { s.RowsMatch = false }, 1)
	f(func(s *Summary) { s.Before.Findings = s.Before.Findings[1:] }, 1)
	f(func(s *Summary) { s.Before.Findings[0].Severity = string(kasoku.Info) }, 1)
}

// TestStoppedIsNotProven: a story that ends in its second run has a file of each run, and no
// proof.
func TestStoppedIsNotProven(t *testing.T) {
	dir := t.TempDir()
	s := &story{o: Options{Dir: dir}, broken: 1000, before: &kasoku.Recording{}, after: &kasoku.Recording{}}
	got, err := s.finish(context.Canceled)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for _, sum := range []Summary{got, summary(t, dir)} {
		if sum.Proven() || len(sum.Failures) != 1 || sum.After.File == "" {
			t.Errorf("proven %v: %+v", sum.Proven(), sum)
		}
	}
}
