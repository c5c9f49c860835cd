package userapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kasoku/kasoku/command"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/service"
)

// Options says how the lab is started.
type Options struct {
	Dir      string // for the database, the logs and the program's link; must exist
	Database string // mariadb or mysql
	Listen   string // host:port of the service, 127.0.0.1:0 when empty
	Program  string // the kasoku binary, which runs the service as a process of its own
}

// A Stack is the running lab: a private database and the service, each a
// process of its own. It is not safe for concurrent use.
type Stack struct {
	DB        *service.Server
	DSN       string // of the schema, as root
	AccessLog string
	AppLog    string

	options Options
	app     *command.Process
	appLog  *os.File
	addr    string
}

// Up starts the database and creates the schema; [Stack.StartApp] starts the
// service.
func Up(ctx context.Context, o Options) (*Stack, error) {
	start := map[string]func(context.Context, service.Options) (*service.Server, error){
		"mariadb": service.MariaDB, "mysql": service.MySQL97,
	}[o.Database]
	if start == nil {
		return nil, fmt.Errorf("unknown database %q: want mariadb or mysql", o.Database)
	}
	db, err := start(ctx, service.Options{Dir: filepath.Join(o.Dir, o.Database)})
	if err != nil {
		return nil, err
	}
	s := &Stack{
		DB: db, DSN: db.DSN("root", "userapi"), options: o,
		AccessLog: filepath.Join(o.Dir, "access.log"), AppLog: filepath.Join(o.Dir, "app.log"),
	}
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

// StartApp sets the server's limit and starts the service with these defects.
// maxIdle above 0 sets the idle pool whatever the defects say. It returns the
// service's process id when requests are accepted.
func (s *Stack) StartApp(ctx context.Context, d Defects, maxIdle int) (pid int, err error) {
	if s.app != nil {
		return 0, errors.New("the service runs already")
	}
	if err := s.setMaxConnections(ctx, d.maxConnections()); err != nil {
		return 0, err
	}
	program, err := s.link()
	if err != nil {
		return 0, err
	}
	if s.appLog, err = os.OpenFile(s.AppLog, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
		return 0, fmt.Errorf("open application log: %w", err)
	}
	ready := filepath.Join(s.options.Dir, "ready")
	if err := os.Remove(ready); err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, err
	}
	listen := s.addr // a restart keeps the address, so that a load's target stays
	if listen == "" {
		listen = s.options.Listen
	}
	if listen == "" {
		listen = "127.0.0.1:0"
	}
	s.app, err = command.Start(context.WithoutCancel(ctx), command.Spec{
		Path: program,
		Args: []string{"lab", "serve", "userapi", "--listen", listen, "--defects", d.String(),
			"--max-idle", fmt.Sprint(maxIdle), "--access-log", s.AccessLog, "--ready", ready},
		Env:           append(os.Environ(), "KASOKU_LAB_DSN="+s.DSN),
		Stdout:        io.Discard,
		Stderr:        s.appLog,
		DieWithParent: true,
	})
	if err != nil {
		return 0, errors.Join(fmt.Errorf("start service: %w", err), s.appLog.Close())
	}
	if s.addr, err = s.waitReady(ctx, ready); err != nil {
		return 0, errors.Join(err, s.StopApp())
	}
	return s.app.Pid(), nil
}

// link makes a link named userapi to the program, so that the process carries
// the service's name.
func (s *Stack) link() (string, error) {
	program, err := filepath.Abs(s.options.Program)
	if err != nil {
		return "", err
	}
	link := filepath.Join(s.options.Dir, "userapi")
	if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	return link, os.Symlink(program, link)
}

func (s *Stack) waitReady(ctx context.Context, path string) (addr string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if b, err := os.ReadFile(path); err == nil && len(b) > 0 && b[len(b)-1] == '\n' {
			return strings.TrimSpace(string(b)), nil
		}
		select {
		case <-tick.C:
		case <-s.app.Done():
			return "", fmt.Errorf("the service ended at once; %s says why", s.AppLog)
		case <-ctx.Done():
			return "", fmt.Errorf("wait for the service: %w", context.Cause(ctx))
		}
	}
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
	if s.addr == "" {
		return ""
	}
	return "http://" + s.addr
}

// AppPid returns the service's process id, 0 when it does not run.
func (s *Stack) AppPid() int {
	if s.app == nil {
		return 0
	}
	return s.app.Pid()
}

// StopApp stops the service and waits for its end.
func (s *Stack) StopApp() error {
	if s.app == nil {
		return nil
	}
	_, err := s.app.Stop()
	s.app = nil
	return errors.Join(err, s.appLog.Close())
}

// Down stops service and database. It may be called twice.
func (s *Stack) Down(ctx context.Context) error {
	err := s.StopApp()
	if s.DB != nil {
		err = errors.Join(err, s.DB.Stop(ctx))
		s.DB = nil
	}
	return err
}
