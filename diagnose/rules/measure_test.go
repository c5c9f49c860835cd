package rules

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/labs/userapi"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// A measuredCase is one recorded run of a service.
type measuredCase struct {
	service        serviceConfig
	maxConnections int // of the database server

	target   string // method and path, POST of the service's one when empty
	next     func([]record.Done) (float64, bool)
	each     time.Duration // length of a step
	inFlight int           // cap, 0: the engine's
	settings []kasoku.Setting
	slowLog  bool
	procs    int           // GOMAXPROCS of the generator, 0: as it is
	interval time.Duration // between samples, 0: 1 s
	seconds  []int         // instead of a load by kasoku: requests in each second
	tasks    int           // that the service's control group may hold, 0: it is in none of its own
	quota    float64       // cores that the service's control group may use, 0: all
	beside   int           // MiB that a program outside of the service takes each second
	alone    bool          // keep only what was sampled of the service, its database and kasoku
}

// measure makes the run against the database server, with a table of its own.
func measure(t *testing.T, db *sandbox.Server, m measuredCase) *kasoku.Recording {
	t.Helper()
	dir := t.TempDir()
	const schema = "measured"
	admin := sandboxtest.DB(t, db, "")
	sandboxtest.Exec(t, admin, "DROP DATABASE IF EXISTS "+schema, "CREATE DATABASE "+schema+" CHARACTER SET utf8mb4",
		"USE "+schema, fmt.Sprintf("SET GLOBAL max_connections = %d", m.maxConnections), "FLUSH STATUS")
	table, path := "entries", "POST /v2/transfers"
	schemaDB := sandboxtest.DB(t, db, schema)
	sandboxtest.Exec(t, schemaDB, createEntries)
	if m.service.Lab {
		table, path = "users", "POST /users"
		sandboxtest.Exec(t, schemaDB, userapi.CreateTable)
	}
	if m.target != "" {
		path = m.target
	}
	m.service.DSN, m.service.AccessLog = db.DSN("root", schema), filepath.Join(dir, "access.log")
	appLog := filepath.Join(dir, "journal.log")
	engine, err := nethttp.New(nethttp.Options{MaxInFlight: m.inFlight, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ours := &record.Load{Engine: engine, Each: m.each, Pause: time.Second, Next: m.next}
	o := record.Options{
		Path:     filepath.Join(dir, "run.kasoku"),
		Run:      kasoku.Run{Project: "rules", Label: "kept", Revision: "test"},
		Settings: m.settings,
		Database: record.Database{MySQL: m.service.DSN, SlowLog: m.slowLog, CountRows: []string{table}},
		Sources: record.Sources{AccessLog: m.service.AccessLog, AppLog: appLog,
			PIDs: []int{db.Pid()}},
		Course:   record.Course{Load: ours},
		Interval: m.interval,
	}
	if len(m.seconds) > 0 {
		o.Load, o.For = nil, time.Duration(len(m.seconds)+2)*time.Second
	}
	if m.tasks > 0 {
		m.service.Burden.Groups = []string{taskGroup(t, m.tasks)}
	}
	if m.quota > 0 {
		m.service.Burden.Groups = quotaGroups(t, m.quota)
	}
	var stop func()
	var app int
	var others sync.WaitGroup // a load of which kasoku knows nothing
	defer others.Wait()
	o.Prepare = func(ctx context.Context, w record.Watch) error {
		url, pid, halt, err := startService(ctx, m.service, appLog)
		if err != nil {
			return err
		}
		stop, app = halt, pid
		w.Process(pid)
		method, rest, _ := strings.Cut(path, " ")
		if len(m.seconds) > 0 {
			others.Go(func() { perSecondLoad(ctx, m.seconds, method, url+rest) })
			return nil
		}
		ours.Targets = []load.Target{{Method: method, URL: url + rest}}
		return nil
	}
	if m.procs > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(m.procs))
	}
	if m.beside > 0 {
		defer takeMemory(t, m.beside)()
	}
	res, err := record.Record(t.Context(), o)
	if stop != nil {
		stop()
	}
	if err != nil {
		t.Fatal(err)
	}
	if m.alone {
		keepOnly(res.Recording, db.Pid(), app, os.Getpid())
	}
	return res.Recording
}

// takeMemory has a program that is none of the service take so much memory each second until what it returns is
// called: tail keeps a line that does not end.
func takeMemory(t *testing.T, mib int) (stop func()) {
	t.Helper()
	p, err := command.Start(context.WithoutCancel(t.Context()), command.Spec{Path: "sh", DieWithParent: true,
		Stdout: io.Discard, Args: []string{"-c", fmt.Sprintf("while head -c %dm /dev/zero; do sleep 1; done | tail", mib)}})
	if err != nil {
		t.Fatal(err)
	}
	return func() { _, _ = p.Stop() }
}

// startService runs the service as a process of its own until stop is called.
func startService(ctx context.Context, c serviceConfig, appLog string) (url string, pid int, stop func(), err error) {
	config, err := json.Marshal(c)
	if err != nil {
		return "", 0, nil, err
	}
	log, err := os.OpenFile(appLog, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return "", 0, nil, err
	}
	self, err := asLedger(filepath.Dir(appLog))
	if err != nil {
		return "", 0, nil, err
	}
	out, into := io.Pipe()
	p, err := command.Start(context.WithoutCancel(ctx), command.Spec{
		Path: self, Env: []string{childEnv + "=" + string(config)}, Stdout: into, Stderr: log, DieWithParent: true, Grace: 3 * time.Second,
	})
	if err != nil {
		return "", 0, nil, err
	}
	addr := make(chan string, 1)
	go func() { // ends when the pipe is closed
		s := bufio.NewScanner(out)
		if s.Scan() {
			addr <- s.Text()
		}
		close(addr)
		io.Copy(io.Discard, out)
	}()
	stop = func() {
		p.Stop()
		into.Close()
		log.Close()
	}
	select {
	case a := <-addr:
		return "http://" + a, p.Pid(), stop, nil
	case <-p.Done():
	case <-time.After(20 * time.Second):
	}
	stop()
	said, _ := os.ReadFile(appLog)
	return "", 0, nil, fmt.Errorf("the service did not start: %s", said)
}
