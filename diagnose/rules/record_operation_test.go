//go:build extract

package rules

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/labs/supervisor"
	"github.com/kasoku/kasoku/labs/userapi"
	"github.com/kasoku/kasoku/prove/finalize"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// An operationCase is a run in which a service is initialised, restarted or left to
// wait, under the supervisor.
type operationCase struct {
	name     string
	defects  userapi.Defects
	byHand   bool          // add an index to the live database before the run
	zone     string        // TZ of the service
	dbZone   string        // time_zone of the database
	ahead    time.Duration // of its access log's times
	limit    float64       // of initialize: how often the time that it takes; 0 leaves the default
	refuse   int           // starts at which the database refuses it, before the load; the sixth is not made
	finalize bool          // walk the end of a contest instead
	keep     string
}

// operations are the cases of the rules of operation.
func operations() []operationCase {
	return []operationCase{
		{name: "index-lost", defects: userapi.Defects{"IDX-08"}, byHand: true, keep: "IDX-08/fires OPS-01/silent OPS-02/silent OPS-03/silent"},
		{name: "index-kept", byHand: true, keep: "IDX-08/silent OPS-02/silent OPS-03/silent"},
		{name: "made-anew", defects: userapi.Defects{"IDX-08"}, keep: "IDX-08/under"},
		{name: "slow", defects: userapi.Defects{"OPS-02"}, limit: 1.1, keep: "OPS-02/fires IDX-08/silent"},
		{name: "over", defects: userapi.Defects{"OPS-02"}, limit: 0.6, keep: "OPS-02/fires"},

		{name: "given-up", defects: userapi.Defects{"OPS-01"}, refuse: 6, keep: "OPS-01/fires"},
		{name: "comes-back", defects: userapi.Defects{"OPS-01"}, refuse: 4, keep: "OPS-01/under"},
		{name: "waits", refuse: 3, keep: "OPS-01/silent"},

		{name: "shanghai", zone: "Asia/Shanghai", keep: "OPS-03/fires"},
		{name: "db-tokyo", dbZone: "+09:00", keep: "OPS-03/fires"},
		{name: "other-name", zone: "Africa/Abidjan", keep: "OPS-03/silent"},
		{name: "wrong-clock", ahead: 12*time.Minute + 30*time.Second, keep: "OPS-03/under"},

		{name: "empty-cache", defects: userapi.Defects{"OPS-09"}, finalize: true, keep: "OPS-09/fires"},
		{name: "walked", byHand: true, finalize: true, keep: "OPS-09/silent OPS-09/under"},
		{name: "walked-lost", defects: userapi.Defects{"IDX-08"}, byHand: true, finalize: true, keep: "IDX-08/fires OPS-09/silent"},
	}
}

// TestRecordOperations makes the runs and keeps their extracts:
//
//	go test -tags extract ./diagnose/rules -run TestRecordOperations -timeout 30m
//
// With -args -only index-lost,waits only those.
func TestRecordOperations(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		for _, o := range operations() {
			if *only == "" || named(o.name) {
				t.Run(o.name, func(t *testing.T) { o.record(t, s) })
			}
		}
	})
}

func (o operationCase) record(t *testing.T, s *sandbox.Server) {
	rec := o.run(t, s)
	wrong := recorded{keep: o.keep}.wrong(rec, nil)
	for _, w := range wrong {
		t.Error(w)
	}
	version, _ := rec.Setting("mysql", "version")
	name := map[string]string{sandbox.KindMariaDB: "mariadb", sandbox.KindMySQL97: "mysql"}[s.Kind]
	origin := fmt.Sprintf("recorded: %s, %s %s, go test -tags extract ./diagnose/rules -run TestRecordOperations/%s -args -only %s\n",
		rec.Run.Started.Format(time.DateOnly), diagnose.NewCase(rec, nil).Server(), version, s.Kind, o.name)
	for want := range strings.FieldsSeq(o.keep) {
		id, kind, _ := strings.Cut(want, "/")
		if strings.Contains(strings.Join(wrong, "\n"), want) {
			continue
		}
		object := ""
		if kind == "fires" {
			object = "want: " + map[string]string{"IDX-08": "table measured.users", "OPS-01": "unit userapi", "OPS-02": "endpoint POST /initialize",
				"OPS-03": "clock", "OPS-09": "endpoint GET /users/count"}[id] + "\n"
		}
		keepExtract(t, rec, nil, id, kind+"/"+name+"-"+o.name, origin+object)
	}
}

// An operated is a service below the supervisor with its database.
type operated struct {
	o         operationCase
	sup       *supervisor.Supervisor
	url       string
	dsn       string
	accessLog string
	appLog    string
	gate      *gate
}

func (o operationCase) run(t *testing.T, db *sandbox.Server) *kasoku.Recording {
	const schema = "measured"
	admin := sandboxtest.DB(t, db, "")
	zone := o.dbZone
	if zone == "" {
		zone = "SYSTEM"
	}
	sandboxtest.Exec(t, admin, "DROP DATABASE IF EXISTS "+schema, "CREATE DATABASE "+schema+" CHARACTER SET utf8mb4", "SET GLOBAL time_zone = '"+zone+"'")
	tables := sandboxtest.DB(t, db, schema)
	sandboxtest.Exec(t, tables, userapi.CreateTable)
	if o.byHand {
		sandboxtest.Exec(t, tables, "CREATE INDEX users_mail ON users (mail)")
	}
	x := o.supervised(t, db, schema)
	if o.finalize {
		return x.walk(t)
	}
	opts := x.options(t)
	if o.limit > 0 {
		opts.Settings = append(opts.Settings, kasoku.Setting{Scope: "app", Name: "initialize.limit", Value: x.calibrate(t).String()})
	}
	opts.Prepare = func(ctx context.Context, w record.Watch) error {
		if err := x.start(ctx); err != nil {
			return err
		}
		if o.refuse > 5 {
			return nil // it was given up, so there is nothing to load
		}
		go x.load(ctx) // ends with its last request
		return nil
	}
	opts.UntilIdle = 3 * time.Second
	if o.limit > 0 {
		opts.UntilIdle = 9 * time.Second // longer than initialize, which the log has at its end
	}
	if o.refuse > 5 {
		opts.UntilIdle, opts.For = 0, 2*time.Second
	}
	return recordRun(t, opts)
}

func recordRun(t *testing.T, o record.Options) *kasoku.Recording {
	t.Helper()
	res, err := record.Record(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return res.Recording
}

// supervised makes the unit; it is not started.
func (o operationCase) supervised(t *testing.T, db *sandbox.Server, schema string) *operated {
	t.Helper()
	dir := t.TempDir()
	port, err := sandbox.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	x := &operated{o: o, url: fmt.Sprintf("http://127.0.0.1:%d", port), dsn: db.DSN("root", schema),
		accessLog: filepath.Join(dir, "access.log"), appLog: filepath.Join(dir, "journal.log"), gate: newGate(t, db.Addr())}
	config, err := json.Marshal(serviceConfig{Lab: true, Listen: fmt.Sprintf("127.0.0.1:%d", port), Defects: o.defects, Ahead: o.ahead,
		DSN: strings.Replace(x.dsn, db.Addr(), x.gate.addr, 1), AccessLog: x.accessLog})
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := []string{childEnv + "=" + string(config)}
	if o.zone != "" {
		env = append(env, "TZ="+o.zone)
	}
	x.sup, err = supervisor.New(supervisor.Unit{Name: "userapi", Command: []string{self}, Env: env, Log: x.appLog, RestartAfter: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.sup.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// options are those of a run that watches the service; how long is left open.
func (x *operated) options(t *testing.T) record.Options {
	return record.Options{
		Path:     filepath.Join(t.TempDir(), "run.kasoku"),
		Run:      kasoku.Run{Project: "rules", Label: "kept", Revision: "test"},
		Database: record.Database{MySQL: x.dsn, SlowLog: true},
		Sources:  record.Sources{AccessLog: x.accessLog, AppLog: x.appLog},
		Capture:  &capture.Options{Schema: true},
	}
}

// start starts the service, which its database refuses as often as it should.
func (x *operated) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if x.o.refuse == 0 {
		x.gate.open()
	}
	if err := x.sup.Start("userapi"); err != nil {
		return err
	}
	if x.o.refuse > 5 {
		_, err := x.sup.Await(ctx, "userapi", func(s supervisor.State) bool { return s.Result == supervisor.StartLimitHit })
		return err
	}
	if x.o.refuse > 0 {
		if err := x.refused(ctx); err != nil {
			return err
		}
		x.gate.open()
	}
	return pollUntil(ctx, func() error { return x.ask(ctx, "GET", "/healthz") })
}

// refused waits until the service was refused often enough.
func (x *operated) refused(ctx context.Context) error {
	said := "trying again"
	if x.o.defects.Has("OPS-01") {
		said = "Main process exited"
	}
	return pollUntil(ctx, func() error {
		b, err := os.ReadFile(x.appLog)
		if n := strings.Count(string(b), said); err == nil && n < x.o.refuse {
			err = fmt.Errorf("refused %d times", n)
		}
		return err
	})
}

func pollUntil(ctx context.Context, done func() error) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := done()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
}

// load initialises the service and asks it for a while.
func (x *operated) load(ctx context.Context) {
	pause := time.NewTicker(100 * time.Millisecond)
	defer pause.Stop()
	for range 15 {
		<-pause.C
	}
	_ = x.ask(ctx, "POST", "/initialize") // what became of it stands in the access log
	for range 20 {
		<-pause.C
		_ = x.ask(ctx, "GET", "/users/count")
	}
}

func (x *operated) ask(ctx context.Context, method, path string) error {
	req, err := http.NewRequestWithContext(ctx, method, x.url+path, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// calibrate initialises once and returns the limit that makes the case.
func (x *operated) calibrate(t *testing.T) time.Duration {
	t.Helper()
	if err := x.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var took time.Duration
	for range 2 {
		began := time.Now()
		if err := x.ask(t.Context(), "POST", "/initialize"); err != nil {
			t.Fatal(err)
		}
		took = time.Since(began)
	}
	if err := x.sup.Stop("userapi"); err != nil {
		t.Fatal(err)
	}
	return time.Duration(x.o.limit * float64(took)).Round(10 * time.Millisecond)
}

// walk plays the end of a contest through, up to the last run.
func (x *operated) walk(t *testing.T) *kasoku.Recording {
	if err := x.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	opts := x.options(t)
	opts.For = 2 * time.Second
	r, err := finalize.Walk(t.Context(), finalize.Options{
		Units: []finalize.Unit{{Name: "userapi", Service: x}}, MySQL: x.dsn, Proc: t.TempDir(), Initialize: "POST " + x.url + "/initialize",
		Answers: []string{"GET " + x.url + "/users/count"}, Skip: []string{finalize.PartCollectors},
		LastRun: func(_ context.Context, f finalize.Facts) (record.Options, error) {
			opts.Configs, opts.Settings = f.Configs, f.Settings
			return opts, nil
		},
	})
	if err != nil || r.LastRun == nil {
		t.Fatal(r, err)
	}
	return r.LastRun
}

// Start, Stop and Check make the service a unit of finalize.
func (x *operated) Start(ctx context.Context) error { return x.start(ctx) }

// Stop stops the service.
func (x *operated) Stop(context.Context) error { return x.sup.Stop("userapi") }

// Check asks the service.
func (x *operated) Check(ctx context.Context) error { return x.ask(ctx, "GET", "/healthz") }

// A gate is an address that refuses connections until it is opened; then it passes
// them on.
type gate struct {
	t        *testing.T
	addr, to string
	ln       net.Listener
}

func newGate(t *testing.T, to string) *gate {
	t.Helper()
	port, err := sandbox.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return &gate{t: t, addr: fmt.Sprintf("127.0.0.1:%d", port), to: to}
}

// open listens, until the end of the test; the second time it does nothing.
func (g *gate) open() {
	if g.ln != nil {
		return
	}
	var err error
	if g.ln, err = net.Listen("tcp", g.addr); err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { g.ln.Close() })
	go func() { // ends when the listener is closed
		for {
			from, err := g.ln.Accept()
			if err != nil {
				return
			}
			go g.pass(from) // ends when one side closes
		}
	}()
}

func (g *gate) pass(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", g.to)
	if err != nil {
		return
	}
	defer to.Close()
	go func() { // ends when from is closed
		io.Copy(to, from)
		to.Close()
	}()
	io.Copy(from, to)
}
