// Package sandbox starts private database servers for labs and tests and stops
// them: MariaDB as the system has it, and MySQL 9.7 as tools/mysql97 unpacks it.
//
// A server has a data directory and a port of its own, listens on loopback
// only, reads no option file and keeps the server's default settings otherwise.
// User root gets in over TCP without a password. It runs as the calling user,
// root included.
//
// Start with [MariaDB] or [MySQL97]. The context bounds the start alone: a
// server lives until [Server.Stop], [Server.Kill] or, unless it was detached,
// the death of the process that started it. [Attach] finds a detached one again
// by its directory.
//
// Making a fresh data directory takes seconds, so one is made for each server
// binary, kept below the user's cache directory and copied.
package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/mysqlflags"
)

// The kinds of servers.
const (
	KindMariaDB = "mariadb"
	KindMySQL97 = "mysql97"
)

// startLimit is how long a server may take to come up: crash recovery on a slow
// disk beside a busy machine takes tens of seconds.
const startLimit = 90 * time.Second

// stopLimit is how long a server may take to shut down before it is killed.
const stopLimit = 60 * time.Second

// Options configure how to run a server. The zero value is a server in a temporary
// directory on a free port.
type Options struct {
	// Dir holds the data and the logs. A directory with data in it is used as
	// it is. Empty: a temporary one, removed when the server stops.
	Dir string
	// Port on 127.0.0.1; 0 takes a free one, and keeps it over restarts.
	Port int
	// Vars are server settings by name, such as max_connections.
	Vars map[string]string
	// Args are further command-line options, such as --skip-log-bin.
	Args []string
	// Detach lets the server outlive this process. It needs a Dir: a temporary one goes
	// with the process.
	Detach bool
}

// A Server is a running or stopped database server. Its methods are safe for
// concurrent use, though Stop, Kill and Restart take turns.
type Server struct {
	Kind     string // KindMariaDB or KindMySQL97
	Dir      string // absolute; data is below it in data/
	Port     int
	Socket   string
	ErrorLog string
	SlowLog  string // where the slow log goes once it is switched on

	opts   Options
	engine engine
	temp   *private.TempDir // Dir, which goes on Stop, or with this process; nil when it was given

	turn sync.Mutex // held by who starts or stops
	mu   sync.Mutex
	proc *process
}

// MariaDB starts a MariaDB server with the binaries of the system.
func MariaDB(ctx context.Context, o Options) (*Server, error) {
	e, err := findMariaDB()
	if err != nil {
		return nil, err
	}
	return launch(ctx, KindMariaDB, e, o)
}

// MySQL97 starts a MySQL 9.7 server from the tree that tools/mysql97 installs
// in $MYSQL97_HOME or ~/.cache/mysql97.
func MySQL97(ctx context.Context, o Options) (*Server, error) {
	e, err := findMySQL97()
	if err != nil {
		return nil, err
	}
	return launch(ctx, KindMySQL97, e, o)
}

// launch prepares the directory and starts the server.
func launch(ctx context.Context, kind string, e engine, o Options) (*Server, error) {
	if o.Detach && o.Dir == "" {
		return nil, fmt.Errorf("%s: a server that outlives its process needs a directory", kind)
	}
	s := &Server{Kind: kind, Port: o.Port, opts: o, engine: e}
	if o.Dir == "" {
		temp, err := makeTempDir(kind)
		if err != nil {
			return nil, fmt.Errorf("%s: data directory: %w", kind, err)
		}
		o.Dir, s.temp = temp.Path, temp
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("%s: data directory: %w", kind, err)
	}
	s.locate(dir)
	if err := s.prepare(ctx); err != nil {
		s.cleanUp()
		return nil, err
	}
	s.turn.Lock()
	defer s.turn.Unlock()
	if err := s.startOnSomePort(ctx); err != nil {
		s.cleanUp()
		return nil, err
	}
	return s, nil
}

func (s *Server) locate(dir string) {
	s.Dir = dir
	s.ErrorLog = filepath.Join(dir, "error.log")
	s.SlowLog = filepath.Join(dir, "slow.log")
	s.Socket = filepath.Join(dir, "mysql.sock")
	if len(s.Socket) > maxSocketPath {
		s.Socket = filepath.Join(os.TempDir(), fmt.Sprintf("kasoku-%d-%d.sock", os.Getpid(), time.Now().UnixNano()))
	}
}

// maxSocketPath is what fits sun_path: unix(7), 108 bytes with the final zero.
const maxSocketPath = 107

// prepare makes the data directory unless there is one.
func (s *Server) prepare(ctx context.Context) error {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return fmt.Errorf("%s: data directory: %w", s.Kind, err)
	}
	if err := os.MkdirAll(s.tempTables(), 0o700); err != nil {
		return fmt.Errorf("%s: directory for temporary tables: %w", s.Kind, err)
	}
	if _, err := os.Stat(filepath.Join(s.data(), "mysql")); err == nil {
		return nil
	}
	if err := fill(ctx, s.engine, s.data()); err != nil {
		return fmt.Errorf("%s: initialise %s: %w", s.Kind, s.data(), err)
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.Dir, "data") }

// tempTables is the server's own directory for temporary tables. A server that starts
// removes those that it finds (mysql_rm_tmp_tables), in /tmp those of another one that
// runs, too: MariaDB 10.11 then crashes in ha_maria::drop_table.
func (s *Server) tempTables() string { return filepath.Join(s.Dir, "tmp") }

// startOnSomePort starts the server; a free port that somebody else took in
// the meantime is replaced.
func (s *Server) startOnSomePort(ctx context.Context) error {
	for attempt := 0; ; attempt++ {
		if s.opts.Port == 0 && (s.Port == 0 || attempt > 0) {
			port, err := FreePort()
			if err != nil {
				return err
			}
			s.Port = port
		}
		err := s.start(ctx)
		if err == nil || s.opts.Port != 0 || attempt >= 2 || !portTaken(err) {
			return err
		}
	}
}

func portTaken(err error) bool {
	return strings.Contains(strings.ToLower(err.Error()), "address already in use")
}

// start runs the server and waits until it answers.
func (s *Server) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	logFrom := fileSize(s.ErrorLog)
	_ = os.Remove(s.pidFile()) // a stale one of a killed server
	spec := s.engine.named(s.Dir).spec(s.settings())
	spec.Dir = s.Dir
	spec.DieWithParent, spec.NewSession = !s.opts.Detach, s.opts.Detach
	out, err := os.OpenFile(s.ErrorLog, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("%s: error log: %w", s.Kind, err)
	}
	defer out.Close()
	spec.Stdout, spec.Stderr = out, out
	child, err := command.Start(context.WithoutCancel(ctx), spec)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Kind, err)
	}
	p := ownProcess(child)
	if err := s.awaitReady(ctx, p); err != nil {
		_ = p.kill()
		return &Error{Err: fmt.Errorf("start %s on port %d: %w", s.Kind, s.Port, err), Log: tailOf(s.ErrorLog, logFrom), hint: s.engine.hint}
	}
	s.mu.Lock()
	s.proc = p
	s.mu.Unlock()
	return s.writeState()
}

// settings is the command line after what the engine itself needs.
func (s *Server) settings() []string {
	args := []string{
		"--datadir=" + s.data(), "--port=" + strconv.Itoa(s.Port), "--bind-address=127.0.0.1", "--socket=" + s.Socket,
		"--pid-file=" + s.pidFile(), "--log-error=" + s.ErrorLog, "--slow-query-log-file=" + s.SlowLog,
		"--tmpdir=" + s.tempTables(),
	}
	for _, name := range sortedKeys(s.opts.Vars) {
		args = append(args, "--"+strings.ReplaceAll(name, "_", "-")+"="+s.opts.Vars[name])
	}
	return append(args, s.opts.Args...)
}

func (s *Server) pidFile() string { return filepath.Join(s.Dir, "mysqld.pid") }

// awaitReady polls until the server answers and is the one that was started.
func (s *Server) awaitReady(ctx context.Context, p *process) error {
	db, err := mysqlflags.OpenDSN(s.DSN("", ""))
	if err != nil {
		return err
	}
	defer db.Close()
	return p.await(ctx, s.pidFile(), func() bool { return db.PingContext(ctx) == nil })
}

// DSN returns the address for the MySQL driver over TCP; an empty user is root,
// an empty database is none. There is no password.
func (s *Server) DSN(user, database string) string {
	if user == "" {
		user = "root"
	}
	return fmt.Sprintf("%s@tcp(%s)/%s", user, s.Addr(), database)
}

// Addr returns host:port.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)) }

// Pid returns the server's process id, 0 when it does not run.
func (s *Server) Pid() int {
	p := s.running()
	if p == nil {
		return 0
	}
	return p.pid
}

// running returns the process when there is one that lives.
func (s *Server) running() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil || !s.proc.alive() {
		return nil
	}
	return s.proc
}

// Stop shuts the server down and waits until its process is gone. When ctx ends
// or the server takes over a minute it is killed, which is an error. Stopping a
// stopped server does nothing.
func (s *Server) Stop(ctx context.Context) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	err := s.stop(ctx)
	s.cleanUp()
	return err
}

func (s *Server) stop(ctx context.Context) error {
	p := s.running()
	if p == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	p.terminate()
	select {
	case <-p.done():
	case <-ctx.Done():
		if err := p.kill(); err != nil {
			return fmt.Errorf("stop %s: %w", s.Kind, err)
		}
		return &Error{Err: fmt.Errorf("stop %s: killed, it did not end by itself: %w", s.Kind, ctx.Err()), Log: tailOf(s.ErrorLog, 0)}
	}
	return p.verifyGone()
}

// Kill kills the server as a crash would (SIGKILL) and waits until its process
// is gone. The directory stays, so Restart can recover it.
func (s *Server) Kill() error {
	s.turn.Lock()
	defer s.turn.Unlock()
	p := s.running()
	if p == nil {
		return nil
	}
	return p.kill()
}

// Restart stops the server, if it runs, and starts it with the same settings,
// directory and port.
func (s *Server) Restart(ctx context.Context) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	if err := s.stop(ctx); err != nil {
		return err
	}
	if _, err := os.Stat(s.data()); err != nil {
		return fmt.Errorf("restart %s: its directory is gone: %w", s.Kind, err)
	}
	return s.start(ctx)
}

// Done is closed when the present process of the server has ended.
func (s *Server) Done() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc.done()
}

// cleanUp removes what a stopped server no longer needs.
func (s *Server) cleanUp() {
	_ = os.Remove(s.statePath())
	if filepath.Dir(s.Socket) != s.Dir {
		_ = os.Remove(s.Socket)
		_ = os.Remove(s.Socket + ".lock")
	}
	if s.temp != nil {
		_ = s.temp.Close() // what is left is removed by the next start
	}
}

// makeTempDir makes a directory of a server, which goes with this process: the next
// start of kasoku removes that of a killed one.
func makeTempDir(name string) (*private.TempDir, error) {
	return private.MakeTempDir("", "kasoku-server-"+name+"-")
}

// FreePort returns a TCP port on 127.0.0.1 that no one listens on. Somebody
// else may take it before it is used.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// An Error is about a server that did not do what it should, with the end of
// its own log.
type Error struct {
	Err  error
	Log  string // the last lines of the server's error log
	hint string
}

// Error returns what went wrong, and the log below it.
func (e *Error) Error() string {
	if e.Log == "" {
		return e.Err.Error()
	}
	return e.Err.Error() + "\n\t" + strings.ReplaceAll(e.Log, "\n", "\n\t")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint returns what to do about it; it may be empty.
func (e *Error) Hint() string { return e.hint }

// logLines is how much of a server's log an error quotes.
const logLines = 20

// tailOf returns the last lines that were written to a log since it had the given size.
func tailOf(path string, from int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	const window = 16 << 10
	size := fileSize(path)
	buf := make([]byte, min(window, max(0, size-from)))
	n, err := f.ReadAt(buf, size-int64(len(buf)))
	if err != nil && n == 0 {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(buf[:n])), "\n")
	return strings.Join(lines[max(0, len(lines)-logLines):], "\n")
}
