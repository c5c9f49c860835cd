// Package stack runs isuumo whole on this machine: a private database, the service
// as a process of its own, and nginx before it, all on free ports of loopback.
//
// The one idea: a [Stack] is made from a set of defects. Each defect changes the one
// part that it is about, the database's settings, its schema, nginx.conf or the
// service, and nothing else; a variant is a name for such a set.
//
// Start with [Up]. Everything lies below one directory: the database in mariadb/ or
// mysql/, nginx with its logs and www/ in nginx/, what /initialize reads in sql/ and
// fixture/, the service's log in app.log.
package stack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/data"
	"github.com/kasoku/kasoku/labs/isuumo/sqlfile"
	"github.com/kasoku/kasoku/labs/isuumo/tuning"
	"github.com/kasoku/kasoku/labs/isuumo/web"
	"github.com/kasoku/kasoku/labs/process"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
)

// database is the name of the schema, as the contest has it.
const database = "isuumo"

// initializeLimit is how long the contest gives POST /initialize.
const initializeLimit = 30 * time.Second

// Options configure what is started.
type Options struct {
	Dir      string         // where everything goes; must exist
	Database string         // mariadb, which is the default, or mysql
	Variant  string         // a name for Defects; empty: Defects
	Defects  isuumo.Defects // that are seeded; with a variant those of the variant
	Program  string         // the kasoku binary, which runs the service
	Listen   string         // host:port of the service; empty: a free port of 127.0.0.1
	DBPort   int            // on 127.0.0.1; 0 takes a free one
	WebPort  int            // of nginx, likewise

	Data    *isuumo.Data // the rows; nil: those of DataDir, else made from Size and Seed
	DataDir string       // rows in the contest's formats
	EmitDir string       // the rows are written here in the contest's formats; empty: nowhere
	Size    data.Size
	Seed    uint64 // of the rows; 0: the usual one
}

// A Stack is the running lab. It is not safe for concurrent use.
type Stack struct {
	DB        *sandbox.Server
	Nginx     *sandbox.NginxServer
	Data      *isuumo.Data
	Defects   isuumo.Defects
	DSN       string // of the schema, as root
	AccessLog string // of nginx
	ErrorLog  string // as well
	AppLog    string

	o   Options
	app *process.Service
}

// Up starts everything and initializes the service. What was begun is stopped when
// it returns an error. The processes die with the one that called Up.
func Up(ctx context.Context, o Options) (*Stack, error) {
	o.Database = cmp.Or(o.Database, "mariadb")
	s := &Stack{o: o, Defects: o.Defects, AppLog: filepath.Join(o.Dir, "app.log")}
	if o.Variant != "" {
		var err error
		if s.Defects, err = isuumo.Variant(o.Variant); err != nil {
			return nil, err
		}
	}
	if err := s.up(ctx); err != nil {
		return nil, errors.Join(err, s.Down(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func (s *Stack) up(ctx context.Context) error {
	started := make(chan error, 1)
	go func() { started <- s.startDatabase(ctx) }() // beside making the rows
	err := s.prepareFiles()
	if err = errors.Join(err, <-started); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{s.StartApp, s.startNginx, s.Initialize, s.logged} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// startDatabase starts the database with the settings of the variant.
func (s *Stack) startDatabase(ctx context.Context) (err error) {
	start := map[string]func(context.Context, sandbox.Options) (*sandbox.Server, error){
		"mariadb": sandbox.MariaDB, "mysql": sandbox.MySQL97,
	}[s.o.Database]
	if start == nil {
		return fmt.Errorf("unknown database %q: want mariadb or mysql", s.o.Database)
	}
	s.DB, err = start(ctx, sandbox.Options{
		Dir: filepath.Join(s.o.Dir, s.o.Database), Port: s.o.DBPort, Args: tuning.DatabaseArgs(s.Defects, s.o.Database),
	})
	if err != nil {
		return err
	}
	s.DSN = s.DB.DSN("root", database)
	db, err := mysqlflags.OpenDSN(s.DB.DSN("root", ""))
	if err != nil {
		return err
	}
	defer db.Close()
	// The schema file drops and makes it anew; the service connects to it before.
	if _, err := db.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS "+database+" CHARACTER SET utf8mb4"); err != nil {
		return fmt.Errorf("create database: %w", err)
	}
	return nil
}

// prepareFiles makes or reads the rows and writes what the service and nginx read.
func (s *Stack) prepareFiles() (err error) {
	switch {
	case s.o.Data != nil:
		s.Data = s.o.Data
	case s.o.DataDir != "":
		if s.Data, err = data.Load(s.o.DataDir); err != nil {
			return err
		}
	default:
		s.Data = data.Generate(data.Options{Size: s.o.Size, Seed: s.o.Seed})
	}
	if s.o.EmitDir != "" {
		if err := data.Emit(s.o.EmitDir, s.Data); err != nil {
			return err
		}
	}
	if err := data.WriteService(s.o.Dir, s.Data); err != nil {
		return err
	}
	ddl := tuning.DDL(s.Defects, s.o.Database)
	if err := os.WriteFile(filepath.Join(s.sqlDir(), sqlfile.Tuning), []byte(ddl), 0o644); err != nil {
		return fmt.Errorf("write tuning: %w", err)
	}
	if err := os.WriteFile(s.MyCnf(), []byte(tuning.MyCnf(s.Defects)), 0o644); err != nil {
		return fmt.Errorf("write my.cnf: %w", err)
	}
	www := filepath.Join(s.nginxDir(), "www")
	if err := os.CopyFS(www, web.FS()); err != nil {
		return fmt.Errorf("write pages: %w", err)
	}
	return data.WriteImages(www, s.Data)
}

// MyCnf returns the file with the settings that the database has got, for people.
func (s *Stack) MyCnf() string { return filepath.Join(s.o.Dir, "my.cnf") }

func (s *Stack) sqlDir() string     { return filepath.Join(s.o.Dir, "sql") }
func (s *Stack) fixtureDir() string { return filepath.Join(s.o.Dir, "fixture") }
func (s *Stack) nginxDir() string   { return filepath.Join(s.o.Dir, "nginx") }

func (s *Stack) startNginx(ctx context.Context) (err error) {
	s.Nginx, err = sandbox.Nginx(ctx, sandbox.NginxOptions{
		Dir: s.nginxDir(), Port: s.o.WebPort, Upstream: s.app.Addr(), Config: tuning.NginxConf(s.Defects),
	})
	if err != nil {
		return err
	}
	s.AccessLog, s.ErrorLog = s.Nginx.AccessLog, s.Nginx.ErrorLog
	return nil
}

// StartApp starts the service, at the address that it had before.
func (s *Stack) StartApp(ctx context.Context) error {
	if s.app == nil {
		s.app = process.New(process.Options{Dir: s.o.Dir, Name: "isuumo", Program: s.o.Program, Listen: s.o.Listen,
			Log: s.AppLog})
	}
	args := []string{"lab", "serve", "isuumo", "--defects", s.Defects.String(), "--sql", s.sqlDir(), "--fixture",
		s.fixtureDir()}
	return s.app.Start(ctx, args, []string{"KASOKU_LAB_DSN=" + s.DSN})
}

// RestartApp ends the service in order and starts it again.
func (s *Stack) RestartApp(ctx context.Context) error {
	if err := s.app.Stop(); err != nil {
		return err
	}
	return s.StartApp(ctx)
}

// KillApp ends the service as a crash would; StartApp starts it again. The database
// has such methods of its own.
func (s *Stack) KillApp() error { return s.app.Kill() }

// Initialize sends POST /initialize through nginx and waits for its end.
func (s *Stack) Initialize(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, initializeLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/initialize", nil)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "isucon-initialize")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("initialize: %s; %s says why %s", res.Status, s.AppLog, strings.TrimSpace(string(said)))
	}
	return nil
}

// logged waits until nginx has written the first request to its log, which it keeps
// back for half a second: a recording that begins now shall not find it there.
func (s *Stack) logged(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if st, err := os.Stat(s.AccessLog); err == nil && st.Size() > 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// URL returns where nginx answers.
func (s *Stack) URL() string { return s.Nginx.URL() }

// AppURL returns where the service itself answers: a URL, or unix:/path.
func (s *Stack) AppURL() string {
	if strings.HasPrefix(s.app.Addr(), "unix:") {
		return s.app.Addr()
	}
	return "http://" + s.app.Addr()
}

// AppPid returns the process id of the service, 0 while it does not run.
func (s *Stack) AppPid() int {
	if s.app == nil {
		return 0
	}
	return s.app.Pid()
}

// PIDs returns the processes of the lab that run: service, database, nginx with its
// workers.
func (s *Stack) PIDs() []int {
	pids := []int{s.AppPid(), s.DB.Pid(), s.Nginx.Pid()}
	pids = append(pids, command.Children(s.Nginx.Pid())...)
	return slices.DeleteFunc(pids, func(pid int) bool { return pid == 0 })
}

// Down stops everything. It may be called twice.
func (s *Stack) Down(ctx context.Context) error {
	var errs []error
	if s.Nginx != nil {
		errs = append(errs, s.Nginx.Stop(ctx))
	}
	if s.app != nil {
		errs = append(errs, s.app.Stop())
	}
	if s.DB != nil {
		errs = append(errs, s.DB.Stop(ctx))
	}
	return errors.Join(errs...)
}
