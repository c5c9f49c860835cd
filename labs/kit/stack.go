package kit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/labs/process"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/quota"
)

// Options configure what is started.
type Options struct {
	Dir      string // where everything goes; must exist
	Database string // mariadb, which is the default, or mysql
	Defects  Set
	Program  string // the kasoku binary, which runs the service
	Listen   string // host:port of the service; empty: a free port of 127.0.0.1
	WebPort  int    // of nginx; 0 takes a free one
	DBPort   int    // likewise

	Twin     bool    // the lab's program in another language does the work
	Memory   bool    // the files of the database are in memory
	Keep     string  // directory for what the twin takes, which stays from run to run
	Pool     int     // connections that the service opens at most; 0: as it has them
	Shed     float64 // share of what may be lost that is confirmed and dropped
	Capacity int     // of what the lab lets in; 0: as it has it
	Hosts    int     // see [Variant]
	// Bench is the command line of the lab's benchmark, to which --target and --duration are
	// added; nil: the load is the lab's targets at its rate.
	Bench []string
}

// A Stack is a running lab. It is not safe for concurrent use.
type Stack struct {
	Lab       *Lab
	DB        *sandbox.Server
	Nginx     *sandbox.NginxServer   // nil without one
	Varnish   *sandbox.VarnishServer // likewise
	Defects   Set
	DSN       string // of the schema, as root
	AccessLog string // of nginx; empty without one
	ErrorLog  string // likewise
	AppLog    string

	o      Options
	app    *process.Service
	beside *process.Service // nil without one
	other  *process.Service // a program that is none of the service; likewise
	twin   []string         // its command line
	memory *private.TempDir // of the database
	hosts  []*quota.Group
}

// Up starts everything. What was begun is stopped when it returns an error. The
// processes die with the one that called Up.
func Up(ctx context.Context, l *Lab, o Options) (*Stack, error) {
	o.Database = cmp.Or(o.Database, "mariadb")
	s := &Stack{Lab: l, Defects: o.Defects, AppLog: filepath.Join(o.Dir, "app.log"), o: o}
	for _, step := range []func(context.Context) error{s.prepareTwin, s.startDatabase, s.fill, s.startBeside,
		s.startApp, s.startVarnish, s.startNginx, s.split, s.startNeighbour} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, s.Down(context.WithoutCancel(ctx)))
		}
	}
	return s, nil
}

func (s *Stack) files() string { return filepath.Join(s.o.Dir, "files") }

func (s *Stack) prepareTwin(ctx context.Context) (err error) {
	if !s.o.Twin {
		return nil
	}
	if err := private.State.MkdirAll(s.o.Keep); err != nil {
		return err
	}
	s.twin, err = s.Lab.Twin(ctx, s.o.Keep)
	return err
}

// inMemory is a file system in memory on each Linux.
const inMemory = "/dev/shm"

func (s *Stack) startDatabase(ctx context.Context) (err error) {
	start := map[string]func(context.Context, sandbox.Options) (*sandbox.Server, error){
		"mariadb": sandbox.MariaDB, "mysql": sandbox.MySQL97,
	}[s.o.Database]
	if start == nil {
		return fmt.Errorf("unknown database %q: want mariadb or mysql", s.o.Database)
	}
	o := sandbox.Options{Dir: filepath.Join(s.o.Dir, s.o.Database), Port: s.o.DBPort}
	if s.o.Memory {
		if s.memory, err = private.MakeTempDir(inMemory, "kasoku-lab-"); err != nil {
			return fmt.Errorf("make a directory in memory: %w", err)
		}
		o.Dir = s.memory.File(s.o.Database)
	}
	if s.Lab.Args != nil {
		o.Args = s.Lab.Args(s.Defects, s.o.Database)
	}
	if s.o.Database == "mariadb" {
		// From 11.6.2 on a row that changed since the first read fails a transaction with error 1020, as in
		// no MySQL, for which the contests' services were written.
		o.Args = append(slices.Clone(o.Args), "--loose-innodb-snapshot-isolation=OFF")
	}
	if s.DB, err = start(ctx, o); err != nil {
		return err
	}
	s.DSN = s.DB.DSN("root", s.Lab.Name)
	return nil
}

// fill makes the directory of files, the database, and in it schema and rows.
func (s *Stack) fill(ctx context.Context) error {
	if err := os.MkdirAll(s.files(), 0o755); err != nil {
		return err
	}
	if s.Lab.Files != nil {
		if err := s.Lab.Files(s.files()); err != nil {
			return fmt.Errorf("make files: %w", err)
		}
	}
	root, err := mysqlflags.OpenDSN(s.DB.DSN("root", ""))
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.ExecContext(ctx, "CREATE DATABASE "+s.Lab.Name+" CHARACTER SET utf8mb4"); err != nil {
		return fmt.Errorf("create database: %w", err)
	}
	db, err := mysqlflags.OpenDSN(mysqlflags.WithParam(s.DSN, "interpolateParams=true"))
	if err != nil {
		return err
	}
	defer db.Close()
	if err := s.Lab.Fill(ctx, db, s.Defects); err != nil {
		return fmt.Errorf("fill database: %w", err)
	}
	return nil
}

func (s *Stack) serveArgs() []string {
	return []string{"lab", "serve", s.Lab.Name, "--defects", s.Defects.String(), "--files", s.files(), "--pool",
		fmt.Sprint(s.o.Pool), "--shed", fmt.Sprint(s.o.Shed), "--capacity", fmt.Sprint(s.o.Capacity)}
}

func (s *Stack) env() []string {
	out := []string{"KASOKU_LAB_DSN=" + s.DSN}
	if s.beside != nil {
		out = append(out, "KASOKU_LAB_BESIDE=http://"+s.beside.Addr())
	}
	return out
}

// startBeside starts the other service. Whether it is a member of the service shows by who calls it: its process
// is none of [Stack.PIDs].
func (s *Stack) startBeside(ctx context.Context) error {
	if s.Lab.Beside == nil {
		return nil
	}
	s.beside = process.New(process.Options{Dir: s.o.Dir, Name: s.Lab.Name + "-beside", Program: s.o.Program,
		Log: filepath.Join(s.o.Dir, "beside.log")})
	return s.beside.Start(ctx, append(s.serveArgs(), "--beside"), s.env())
}

// startNeighbour starts the program that is none of the service.
func (s *Stack) startNeighbour(ctx context.Context) error {
	n := &s.Lab.Neighbour
	if n.Run == nil || !s.Defects.Has(n.Seed) {
		return nil
	}
	s.other = process.New(process.Options{Dir: s.o.Dir, Name: n.Name, Program: s.o.Program,
		Log: filepath.Join(s.o.Dir, "neighbour.log")})
	return s.other.Start(ctx, append(s.serveArgs(), "--neighbour"), nil)
}

func (s *Stack) startApp(ctx context.Context) error {
	s.app = process.New(process.Options{Dir: s.o.Dir, Name: s.Lab.Name, Program: s.o.Program, Listen: s.o.Listen,
		Log: s.AppLog})
	if s.Lab.Program {
		return nil
	}
	return s.app.Start(ctx, s.serveArgs(), s.env())
}

func (s *Stack) startVarnish(ctx context.Context) (err error) {
	if s.Lab.VCL == nil {
		return nil
	}
	s.Varnish, err = sandbox.Varnish(ctx, sandbox.VarnishOptions{
		Dir: filepath.Join(s.o.Dir, "varnish"), Upstream: s.app.Addr(), VCL: s.Lab.VCL(s.Defects),
	})
	return err
}

func (s *Stack) startNginx(ctx context.Context) (err error) {
	if s.Lab.Nginx == nil {
		return nil
	}
	conf := strings.ReplaceAll(s.Lab.Nginx(s.Defects), "{files}", s.files())
	if s.beside != nil {
		conf = strings.ReplaceAll(conf, "{beside}", s.beside.Addr())
	}
	if s.Varnish != nil {
		conf = strings.ReplaceAll(conf, "{cache}", s.Varnish.Addr())
	}
	s.Nginx, err = sandbox.Nginx(ctx, sandbox.NginxOptions{
		Dir: filepath.Join(s.o.Dir, "nginx"), Port: s.o.WebPort, Upstream: s.app.Addr(), Config: conf,
	})
	if err != nil {
		return err
	}
	s.AccessLog, s.ErrorLog = s.Nginx.AccessLog, s.Nginx.ErrorLog
	return nil
}

// URL returns where requests go: to nginx, else to the service; empty of a program.
func (s *Stack) URL() string {
	switch {
	case s.Nginx != nil:
		return s.Nginx.URL()
	case s.app.Addr() == "":
		return ""
	}
	return "http://" + s.app.Addr()
}

// AppURL returns where the service itself answers.
func (s *Stack) AppURL() string { return "http://" + s.app.Addr() }

// AppPid returns the process id of the service, 0 while it does not run.
func (s *Stack) AppPid() int { return s.app.Pid() }

// PIDs returns the processes of the lab that run: service, database, nginx with its
// workers.
func (s *Stack) PIDs() []int {
	pids := []int{s.app.Pid(), s.DB.Pid()}
	if s.Nginx != nil {
		pids = append(append(pids, s.Nginx.Pid()), command.Children(s.Nginx.Pid())...)
	}
	if s.Varnish != nil {
		pids = append(append(pids, s.Varnish.Pid()), command.Children(s.Varnish.Pid())...)
	}
	return slices.DeleteFunc(pids, func(pid int) bool { return pid == 0 })
}

// programArgs is the command line of a lab that is a program.
func (s *Stack) programArgs(d time.Duration) ([]string, error) {
	if len(s.twin) > 0 {
		return append(slices.Clone(s.twin), "--files", s.files(), "--seconds", fmt.Sprint(d.Seconds())), nil
	}
	link, err := s.app.Link()
	if err != nil {
		return nil, err
	}
	return append(append([]string{link}, s.serveArgs()...), "--duration", d.String()), nil
}

// Down stops everything. It may be called twice.
func (s *Stack) Down(ctx context.Context) error {
	var errs []error
	for _, g := range s.hosts {
		errs = append(errs, g.Limit(0)) // an end at a part of a core takes long
	}
	if s.Nginx != nil {
		errs = append(errs, s.Nginx.Stop(ctx))
	}
	if s.Varnish != nil {
		errs = append(errs, s.Varnish.Stop(ctx))
	}
	if s.app != nil {
		errs = append(errs, s.app.Stop())
	}
	if s.beside != nil {
		errs = append(errs, s.beside.Stop())
	}
	if s.other != nil {
		errs = append(errs, s.other.Stop())
	}
	if s.DB != nil {
		errs = append(errs, s.DB.Stop(ctx))
	}
	if s.memory != nil {
		errs = append(errs, s.memory.Close())
	}
	for _, g := range s.hosts {
		errs = append(errs, g.Remove())
	}
	s.hosts = nil
	return errors.Join(errs...)
}
