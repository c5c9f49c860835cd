package finalize

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/labs/supervisor"
	"github.com/kasoku/kasoku/labs/userapi"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// childEnv names the variable that makes the test binary the service; its value is the DSN.
const childEnv = "KASOKU_TEST_USERAPI"

func TestMain(m *testing.M) {
	if dsn := os.Getenv(childEnv); dsn != "" {
		if err := serveChild(dsn, os.Args[1], os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "fatal:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func serveChild(dsn, listen, defects string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	d, err := userapi.ParseDefects(defects)
	if err != nil {
		return err
	}
	access, err := os.OpenFile(os.Args[3], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return userapi.Serve(ctx, userapi.Config{Listen: listen, DSN: dsn, Defects: d, AccessLog: access, AppLog: os.Stderr})
}

// A stack is a database and the lab's service below the supervisor.
type stack struct {
	db        *sandbox.Server
	sup       *supervisor.Supervisor
	url       string
	accessLog string
	appLog    string
}

// dbUnit is the database as a unit; the server keeps its own process.
type dbUnit struct{ s *sandbox.Server }

func (d dbUnit) Start(ctx context.Context) error {
	if d.s.Pid() != 0 {
		return nil
	}
	return d.s.Restart(ctx)
}
func (d dbUnit) Stop(ctx context.Context) error { return d.s.Stop(ctx) }
func (d dbUnit) Check(context.Context) error {
	if d.s.Pid() == 0 {
		return errors.New("no process")
	}
	return nil
}

// appUnit is the service below the supervisor.
type appUnit struct {
	sup *supervisor.Supervisor
	url string
}

func (a appUnit) Start(context.Context) error {
	return errors.Join(a.sup.ResetFailed("userapi"), a.sup.Start("userapi"))
}
func (a appUnit) Stop(context.Context) error      { return a.sup.Stop("userapi") }
func (a appUnit) Check(ctx context.Context) error { return askURL(ctx, a.url+"/healthz") }
func (a appUnit) State(context.Context) string    { return a.sup.State("userapi").String() }

// up starts a stack whose service has the defects.
func up(t *testing.T, db *sandbox.Server, d userapi.Defects) *stack {
	t.Helper()
	dir := t.TempDir()
	port, err := sandbox.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sandboxtest.Exec(t, sandboxtest.DB(t, db, ""), "DROP DATABASE IF EXISTS userapi", "CREATE DATABASE userapi", "USE userapi",
		userapi.CreateTable, "CREATE INDEX users_mail ON users (mail)")
	s := &stack{db: db, accessLog: filepath.Join(dir, "access.log"), appLog: filepath.Join(dir, "app.log"), url: fmt.Sprintf("http://127.0.0.1:%d", port)}
	s.sup, err = supervisor.New(supervisor.Unit{
		Name: "userapi", Command: []string{self, fmt.Sprintf("127.0.0.1:%d", port), d.String(), s.accessLog},
		Env: []string{childEnv + "=" + db.DSN("", "userapi")}, Log: s.appLog,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.sup.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.sup.Start("userapi"); err != nil {
		t.Fatal(err)
	}
	all := unitSet{wait: 30 * time.Second}
	if err := all.up(t.Context(), s.units()[0], time.Now().Add(30*time.Second)); err != nil {
		t.Fatal(err)
	}
	return s
}

// units are given in the wrong order, to be sorted.
func (s *stack) units() []Unit {
	return []Unit{{Name: "userapi", Needs: []string{"db"}, Service: appUnit{s.sup, s.url}}, {Name: "db", Service: dbUnit{s.db}}}
}

// options are those of a whole walk, save for the last run.
func (s *stack) options(t *testing.T) Options {
	return Options{
		Units: s.units(), MySQL: s.db.DSN("", "userapi"), Proc: t.TempDir(), Silent: []string{s.appLog}, Written: []string{s.accessLog},
		Initialize: "POST " + s.url + "/initialize", Answers: []string{"GET " + s.url + "/users/count"}, Limit: 30 * time.Second,
		Wait: 20 * time.Second, Gap: 2 * time.Second,
	}
}

// find returns the item that begins so.
func find(t *testing.T, r *Result, what string) Item {
	t.Helper()
	i := slices.IndexFunc(r.Items, func(i Item) bool { return i.What == what })
	if i < 0 {
		t.Fatalf("no item %q in %+v", what, r.Items)
	}
	return r.Items[i]
}

// wantBad fails unless exactly these items are bad, and each saw its text.
func wantBad(t *testing.T, r *Result, want map[string]string) {
	t.Helper()
	for what, saw := range want {
		i := find(t, r, what)
		if i.Status != Bad || !strings.Contains(strings.Join(i.Saw, "\n"), saw) || i.Fix == "" && what != "worth" {
			t.Errorf("%s: %+v, want %q", what, i, saw)
		}
	}
	for _, i := range r.Items {
		ok := false
		for what := range want {
			ok = ok || i.What == what
		}
		if i.Status == Bad && !ok {
			t.Errorf("%s is bad: %q", i.What, i.Saw)
		}
	}
}

// TestWalk plays the end of a contest through on a clean stack, and on stacks
// with one fault each.
func TestWalk(t *testing.T) {
	test := func(t *testing.T, db *sandbox.Server) {
		t.Run("clean", func(t *testing.T) { clean(t, db) })
		t.Run("faults", func(t *testing.T) { faults(t, db) })
		t.Run("order", func(t *testing.T) { diesInWrongOrder(t, db) })
		t.Run("stopped", func(t *testing.T) { stopped(t, db) })
	}
	// A directory of the test's own outlives a stop of the server.
	o := func(t *testing.T) sandbox.Options {
		return sandbox.Options{Dir: t.TempDir(), Args: []string{"--skip-log-bin"}}
	}
	t.Run("mariadb", func(t *testing.T) {
		t.Parallel()
		test(t, sandboxtest.MariaDB(t, o(t)))
	})
	t.Run("mysql97", func(t *testing.T) {
		t.Parallel()
		test(t, sandboxtest.MySQL97(t, o(t)))
	})
}

func clean(t *testing.T, db *sandbox.Server) {
	s := up(t, db, userapi.Tuned())
	o := s.options(t)
	o.Silent = nil // a service that waits for its database says so in its log
	runs := t.TempDir()
	o.LastRun = func(_ context.Context, facts Facts) (record.Options, error) {
		if len(facts.Configs) != 4 || facts.Configs[3].Name != diagnose.AfterReinitialize || !strings.Contains(facts.Configs[0].Text, "index userapi.users.users_mail = (mail)\n") {
			t.Errorf("facts %+v", facts)
		}
		return record.Options{Path: filepath.Join(runs, "last.kasoku"), Course: record.Course{For: 300 * time.Millisecond}, Interval: 100 * time.Millisecond}, nil
	}
	r, err := Walk(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	wantBad(t, r, nil)
	for _, what := range []string{"put back", "other kasoku", "statement logs", "time", "indexes",
		"right order", "settings", "data, initialized", "wrong order"} {
		if i := find(t, r, what); i.Status != OK {
			t.Errorf("%s: %+v", what, i)
		}
	}
	if r.LastRun == nil || r.Path == "" || find(t, r, "worth").Status != Skipped {
		t.Errorf("last run %+v", find(t, r, "worth"))
	}
	if s.sup.State("userapi").Active != supervisor.Running || db.Pid() == 0 {
		t.Error("the units do not run at the end")
	}
}

// faults plants what shows in one walk.
func faults(t *testing.T, db *sandbox.Server) {
	s := up(t, db, userapi.Defects{"IDX-08", "OPS-09"})
	admin := sandboxtest.DB(t, db, "")
	sandboxtest.Exec(t, admin, "SET GLOBAL slow_query_log = ON", "SET GLOBAL long_query_time = 0", "SET GLOBAL max_connections = 77")
	want := map[string]string{
		"put back":       "slow_query_log of 127.0.0.1",
		"statement logs": "slow_query_log is ON, to " + db.SlowLog + ", long_query_time 0 s",
		"indexes":        "index userapi.users.users_mail (mail) is gone after initialize",
		"settings":       "max_connections: 77 before, 151 after",
		"data":           "users/count: 200, ",
		"silent":         "access.log +",
	}
	if db.Kind == sandbox.KindMySQL97 {
		sandboxtest.Exec(t, admin, "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME = 'events_waits_current'")
		want["consumers"] = "events_waits_current is on"
	}
	o := s.options(t)
	o.Skip = []string{PartOrder, PartRun}
	o.Silent, o.Written = []string{s.accessLog}, nil
	o.Journals = []string{"slow_query_log of 127.0.0.1:3306"}
	r, err := Walk(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	wantBad(t, r, want)
	if i := find(t, r, "settings"); !strings.Contains(i.Fix, "`max_connections = 77`") {
		t.Errorf("fix %q", i.Fix)
	}
	if i := find(t, r, "data, initialized"); i.Status != OK {
		t.Errorf("after initialize: %+v", i)
	}
	if find(t, r, "skipped").Status != Skipped || !strings.HasPrefix(r.Verdict(), fmt.Sprintf("%d of ", len(want))) {
		t.Errorf("verdict %q", r.Verdict())
	}
}

func diesInWrongOrder(t *testing.T, db *sandbox.Server) {
	s := up(t, db, userapi.Defects{"OPS-01"})
	o := s.options(t)
	o.Skip = []string{PartInitialize, PartCollectors, PartLogs}
	o.Wait = 10 * time.Second // the service is given up by then; the database and a right order need less, on a busy host, too
	var facts Facts
	o.LastRun = func(_ context.Context, f Facts) (record.Options, error) {
		facts = f
		return record.Options{}, errors.New("no load today")
	}
	r, err := Walk(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	wantBad(t, r, map[string]string{
		"wrong order": "its state is failed (start-limit-hit)",
		"worth":       "no load today",
	})
	if i := find(t, r, "left running"); i.Status != OK || s.sup.State("userapi").Active != supervisor.Running {
		t.Errorf("%+v, the service is %s", i, s.sup.State("userapi"))
	}
	if want := (kasoku.Setting{Scope: capture.ScopeUnit, Name: "userapi", Value: "failed (start-limit-hit)"}); !slices.Contains(facts.Settings, want) {
		t.Errorf("facts %+v", facts)
	}
}

// stopped: whoever gives up in the middle finds the units running.
func stopped(t *testing.T, db *sandbox.Server) {
	s := up(t, db, userapi.Tuned())
	ctx, cancel := context.WithCancelCause(t.Context())
	o := s.options(t)
	o.OnProgress = func(text string) {
		if text == "start db" {
			cancel(errors.New("interrupt"))
		}
	}
	r, err := Walk(ctx, o)
	if err != nil || r.Stopped != "interrupt" || !strings.HasPrefix(r.Verdict(), "Stopped early, interrupt: ") {
		t.Errorf("%v, stopped %q, %s", err, r.Stopped, r.Verdict())
	}
	if i := find(t, r, "left running"); i.Status != OK || askURL(t.Context(), s.url+"/healthz") != nil || db.Pid() == 0 {
		t.Errorf("%+v, the service is %s", i, s.sup.State("userapi"))
	}
}

// TestWalk_Nothing: without a database, units or load, everything is skipped or ok.
func TestWalk_Nothing(t *testing.T) {
	r, err := Walk(t.Context(), Options{Proc: t.TempDir()})
	if err != nil || r.Count(Bad) > 0 || r.Count(OK) != 3 || r.Verdict() != "All 3 checks are ok, 8 skipped." {
		t.Errorf("%v, %s %+v", err, r.Verdict(), r.Items)
	}
}

func TestRecorders(t *testing.T) {
	proc := t.TempDir()
	own := strconv.Itoa(os.Geteuid())
	f := func(pid, cmdline string, uids ...string) {
		t.Helper()
		dir := filepath.Join(proc, pid)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if len(uids) == 0 {
			uids = []string{own, own, own, own}
		}
		for name, text := range map[string]string{"cmdline": cmdline, "status": "Name:\tkasoku\nUid:\t" + strings.Join(uids, "\t") + "\nGid:\t0\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 2 * mostClaims {
		f(strconv.Itoa(200+i), "kasoku\x00record\x00", "4242", "4242", "4242", "4242")
	}
	f("16", "kasoku\x00record\x00", "4242", "0", "0", "0") // one that a stranger started with root's rights
	f("17", "kasoku\x00record\x00", "0", "0", "0", "0")
	f("12", "/usr/bin/kasoku\x00record\x00-o\x00x\x00")
	f("13", "kasoku\x00show\x00")
	f("14", "")
	f("15", "kasoku")
	f("self", "kasoku\x00record\x00")
	f(fmt.Sprint(os.Getpid()), "kasoku\x00run\x00")
	got, claimed, err := findRecorders(proc)
	if want := []string{"pid 12: /usr/bin/kasoku record", "pid 17: kasoku record"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if len(claimed) != mostClaims+1 || !strings.Contains(claimed[0], "of another user") || claimed[mostClaims] != "and 4 more of other users" {
		t.Errorf("claims of others: %q", claimed)
	}
	if _, _, err := findRecorders(filepath.Join(proc, "none")); err == nil {
		t.Error("no error without /proc")
	}
}

// TestInitialize_Slow: too near to the limit is bad, and so is an error.
func TestInitialize_Slow(t *testing.T) {
	var status atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-time.After(20 * time.Millisecond) // it is slow
		w.WriteHeader(int(status.Load()))
	}))
	defer srv.Close()
	f := func(code int, limit time.Duration, want Status, saw string) {
		t.Helper()
		status.Store(int64(code))
		r, err := Walk(t.Context(), Options{Proc: t.TempDir(), Initialize: "POST " + srv.URL, Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		if i := find(t, r, "time"); i.Status != want || !strings.Contains(strings.Join(i.Saw, " "), saw) {
			t.Errorf("%+v, want %s %q", i, want, saw)
		}
	}
	f(200, time.Minute, OK, ": 200 in ")
	f(200, 21*time.Millisecond, Bad, "the limit is 21.0 ms")
	f(500, time.Minute, Bad, ": 500 in ")
	f(200, time.Millisecond, Bad, "deadline exceeded")
}

func TestJudge(t *testing.T) {
	run := func(score float64) store.Info {
		return store.Info{State: kasoku.Finished, Score: &kasoku.Score{Value: score}}
	}
	earlier := []store.Info{run(100), run(120), run(90), {State: kasoku.Incomplete, Score: &kasoku.Score{Value: 900}},
		{State: kasoku.Finished, Load: store.Checkpoint}, {State: kasoku.Finished, Summary: &kasoku.Summary{Source: "load", PerSec: 50}}}
	f := func(rec kasoku.Recording, want Status, saw string) {
		t.Helper()
		if rec.Run.State == "" {
			rec.Run.State = kasoku.Finished
		}
		if i := judgeWorth("last", &rec, earlier); i.Status != want || strings.Join(i.Saw, "; ") != saw || (want == Bad) != (i.Fix != "") {
			t.Errorf("%+v, want %s %q", i, want, saw)
		}
	}
	scored := func(v float64, o kasoku.Outcome) kasoku.Recording {
		return kasoku.Recording{Run: kasoku.Run{Score: &kasoku.Score{Value: v, Outcome: o}}}
	}
	f(scored(97, kasoku.Passed), OK, "score 97.0; best 120, median 100 of 3 before")
	f(scored(95, kasoku.Passed), Bad, "score 95.0; best 120, median 100 of 3 before; 79.2 % of the best")
	f(scored(130, kasoku.Failed), Bad, "score 130; the benchmark says: failed; best 120, median 100 of 3 before")
	f(kasoku.Recording{Summary: &kasoku.Summary{Source: "load", PerSec: 49}}, OK, "requests/s 49.0; best 50.0, median 50.0 of 1 before")
	f(kasoku.Recording{}, Skipped, "nothing counted its requests")
	f(kasoku.Recording{Run: kasoku.Run{State: kasoku.Incomplete, StopReason: "interrupt"}}, Bad, "it was stopped: interrupt; nothing counted its requests")
	earlier = []store.Info{run(100), run(101), run(99)}
	f(scored(89, kasoku.Passed), Bad, "score 89.0; best 101, median 100 of 3 before")
	earlier = nil
	f(scored(1, ""), OK, "score 1.00; no run before it to compare with")
}

func TestOrder(t *testing.T) {
	f := func(want string, units ...Unit) {
		t.Helper()
		got, err := orderUnits(units)
		if text := strings.Join(namesOf(got), " "); err == nil && text != want || (err != nil) != (want == "error") {
			t.Errorf("%q %v, want %q", text, err, want)
		}
	}
	f("")
	f("a b", Unit{Name: "a"}, Unit{Name: "b"})
	f("db cache app web", Unit{Name: "web", Needs: []string{"app"}}, Unit{Name: "app", Needs: []string{"db", "cache"}}, Unit{Name: "db"}, Unit{Name: "cache"})
	f("error", Unit{Name: "a", Needs: []string{"b"}}, Unit{Name: "b", Needs: []string{"a"}})
	f("error", Unit{Name: "a", Needs: []string{"none"}})
}

func TestValidate(t *testing.T) {
	f := func(o Options, want string) {
		t.Helper()
		if _, err := Walk(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	f(Options{Skip: []string{"lunch"}}, `part "lunch": want collectors, logs,`)
	f(Options{Wait: -1}, "negative")
	f(Options{Answers: []string{"http://x/"}}, "want METHOD URL")
	f(Options{MySQL: "root@tcp(127.0.0.1:1)/"}, "database root@tcp(127.0.0.1:1)/: ")
}

func TestDocument(t *testing.T) {
	r := &Result{Started: time.Date(2026, 11, 20, 17, 30, 0, 0, time.UTC), Length: 95 * time.Second, Items: []Item{
		{Part: PartCollectors, What: "other kasoku", Status: OK, Saw: []string{"none"}},
		{Part: PartInitialize, What: "indexes", Status: Bad, Saw: []string{"index a.b.c (d) is gone after initialize"}, Fix: "put the `index` into the schema file"},
		{Part: PartRun, What: "skipped", Status: Skipped, Saw: []string{"by --skip run"}},
	}}
	var b strings.Builder
	if err := encode.Markdown(&b, Document(r, "shop")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 of 2 checks is bad, 1 skipped.", "index a.b.c", "put the `index` into the schema file", "other kasoku"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
