package userapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/kasoku/kasoku/labs/process"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
)

// Options configure how the lab is started.
type Options struct {
	Dir      string   // for the database, the logs and the program's link; must exist
	Database string   // mariadb or mysql
	Listen   string   // host:port of the service, 127.0.0.1:0 when empty
	Program  string   // the kasoku binary, which runs the service as a process of its own
	Args     []string // further arguments of the database server
}

// A Stack is the running lab: a private database and the service, each a
// process of its own. It is not safe for concurrent use.
type Stack struct {
	DB        *sandbox.Server
	DSN       string // of the schema, as root
	AccessLog string
	AppLog    string

	app *process.Service
}

// Up starts the database and creates the schema; [Stack.StartApp] starts the
// service.
func Up(ctx context.Context, o Options) (*Stack, error) {
	start := map[string]func(context.Context, sandbox.Options) (*sandbox.Server, error){
		"mariadb": sandbox.MariaDB, "mysql": sandbox.MySQL97,
	}[o.Database]
	if start == nil {
		return nil, fmt.Errorf("unknown database %q: want mariadb or mysql", o.Database)
	}
	db, err := start(ctx, sandbox.Options{Dir: filepath.Join(o.Dir, o.Database), Args: o.Args})
	if err != nil {
		return nil, err
	}
	s := &Stack{
		DB: db, DSN: db.DSN("root", "userapi"),
		AccessLog: filepath.Join(o.Dir, "access.log"), AppLog: filepath.Join(o.Dir, "app.log"),
	}
	s.app = process.New(process.Options{Dir: o.Dir, Name: "userapi", Program: o.Program, Listen: o.Listen,
		Log: s.AppLog})
	if err := s.schema(ctx); err != nil {
		return nil, errors.Join(err, s.Down(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func (s *Stack) schema(ctx context.Context) error {
	db, err := mysqlflags.OpenDSN(s.DB.DSN("root", ""))
	if err != nil {
		return err
	}
	defer db.Close()
	for _, q := range []string{
		"CREATE DATABASE IF NOT EXISTS userapi CHARACTER SET utf8mb4",
		strings.Replace(CreateTable, "EXISTS users", "EXISTS userapi.users", 1),
	} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("create schema: %w", err)
		}
	}
	return nil
}

// Knobs set what the defects leave open, whatever they say; 0 leaves it to them.
type Knobs struct {
	MaxIdle        int // idle connections of the pool
	MaxConnections int // of the server
}

// StartApp sets the server's limit and starts the service with these defects. It returns
// the service's process id when requests are accepted.
func (s *Stack) StartApp(ctx context.Context, d Defects, k Knobs) (pid int, err error) {
	if err := s.setMaxConnections(ctx, cmp.Or(k.MaxConnections, d.maxConnections())); err != nil {
		return 0, err
	}
	args := []string{"lab", "serve", "userapi", "--defects", d.String(), "--max-idle", fmt.Sprint(k.MaxIdle),
		"--access-log", s.AccessLog}
	err = s.app.Start(ctx, args, []string{"KASOKU_LAB_DSN=" + s.DSN})
	return s.app.Pid(), err
}

func (s *Stack) setMaxConnections(ctx context.Context, n int) error {
	db, err := mysqlflags.OpenDSN(s.DSN)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, fmt.Sprintf("SET GLOBAL max_connections = %d", n)); err != nil {
		return fmt.Errorf("set max_connections: %w", err)
	}
	return nil
}

// URL returns where the service answers; it is empty before the first start.
func (s *Stack) URL() string {
	if s.app.Addr() == "" {
		return ""
	}
	return "http://" + s.app.Addr()
}

// StopApp stops the service and waits for its end.
func (s *Stack) StopApp() error { return s.app.Stop() }

// Down stops service and database. It may be called twice.
func (s *Stack) Down(ctx context.Context) error {
	err := s.StopApp()
	if s.DB != nil {
		err = errors.Join(err, s.DB.Stop(ctx))
		s.DB = nil
	}
	return err
}
