package sandbox_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

func hint(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

func gone(pid int) bool { return syscall.Kill(pid, 0) != nil }

func closed(addr string) bool {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return true
	}
	_ = c.Close()
	return false
}

func TestLife(t *testing.T) {
	opts := sandbox.Options{Vars: map[string]string{"max_connections": "77"}}
	sandboxtest.Each(t, opts, func(t *testing.T, s *sandbox.Server) {
		ctx := t.Context()
		db := sandboxtest.DB(t, s, "")
		sandboxtest.Exec(t, db, "CREATE DATABASE life", "CREATE TABLE life.t (id INT PRIMARY KEY)", "INSERT INTO life.t VALUES (1)")
		var maxConn, port int
		var slow, bind, data string
		row := db.QueryRowContext(ctx, "SELECT @@max_connections, @@port, @@slow_query_log_file, @@bind_address, @@datadir")
		if err := row.Scan(&maxConn, &port, &slow, &bind, &data); err != nil {
			t.Fatal(err)
		}
		if maxConn != 77 || port != s.Port || slow != s.SlowLog || bind != "127.0.0.1" || filepath.Clean(data) != filepath.Join(s.Dir, "data") {
			t.Errorf("max_connections %d, port %d, slow log %q, bind %q, data %q", maxConn, port, slow, bind, data)
		}

		pid := s.Pid()
		comm, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
		if err != nil || !strings.Contains("mariadbd mysqld", strings.TrimSpace(string(comm))) {
			t.Errorf("the process is called %q, %v", comm, err)
		}
		if err := s.Restart(ctx); err != nil {
			t.Fatal(err)
		}
		if s.Pid() == pid || s.Port != port || !gone(pid) {
			t.Errorf("restart: pid %d -> %d, port %d -> %d", pid, s.Pid(), port, s.Port)
		}

		sandboxtest.Exec(t, db, "INSERT INTO life.t VALUES (2)")
		pid = s.Pid()
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
		if s.Pid() != 0 || !gone(pid) || !closed(s.Addr()) {
			t.Error("killed, and still there")
		}
		if err := s.Restart(ctx); err != nil {
			t.Fatal(err)
		}
		var n int
		if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM life.t").Scan(&n); err != nil || n != 2 {
			t.Errorf("after the crash: %d rows, %v", n, err)
		}

		pid = s.Pid()
		if err := s.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		if s.Pid() != 0 || !gone(pid) || !closed(s.Addr()) {
			t.Error("stopped, and still there")
		}
		if _, err := os.Stat(s.Dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the temporary directory is still there: %v", err)
		}
		if err := s.Stop(ctx); err != nil {
			t.Errorf("second stop: %v", err)
		}
		if err := s.Restart(ctx); err == nil || !strings.Contains(err.Error(), "its directory is gone") {
			t.Errorf("restart after stop: %v", err)
		}
	})
}

func TestDirIsKept(t *testing.T) {
	// A long path leaves no room for a socket in it.
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 20))
	s := sandboxtest.MariaDB(t, sandbox.Options{Dir: dir})
	sandboxtest.Exec(t, sandboxtest.DB(t, s, ""), "CREATE DATABASE kept")
	port := s.Port
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.Socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	again := sandboxtest.MariaDB(t, sandbox.Options{Dir: dir, Port: port})
	sandboxtest.Exec(t, sandboxtest.DB(t, again, "kept"), "CREATE TABLE t (id INT)")
}

func TestStart_Failure(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a database server; not in short mode")
	}
	start := time.Now()
	_, err := sandbox.MariaDB(t.Context(), sandbox.Options{Args: []string{"--no-such-option"}})
	if err == nil || !strings.Contains(err.Error(), "no-such-option") || hint(err) == "" {
		t.Errorf("bad option: %v\nhint: %s", err, hint(err))
	}
	if time.Since(start) > 20*time.Second {
		t.Errorf("it took %v to see that the server had ended", time.Since(start))
	}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = sandbox.MariaDB(t.Context(), sandbox.Options{Port: l.Addr().(*net.TCPAddr).Port})
	if err == nil || !strings.Contains(err.Error(), "Address already in use") {
		t.Errorf("taken port: %v", err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sandbox.MariaDB(ctx, sandbox.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestMissing(t *testing.T) {
	t.Setenv("MYSQL97_HOME", t.TempDir())
	_, err := sandbox.MySQL97(t.Context(), sandbox.Options{})
	if err == nil || !strings.Contains(hint(err), "tools/mysql97 install") {
		t.Errorf("got %v, hint %q", err, hint(err))
	}
}

func TestAttach(t *testing.T) {
	dir := t.TempDir()
	if _, err := sandbox.Attach(dir); !errors.Is(err, sandbox.ErrNotRunning) {
		t.Errorf("empty directory: %v", err)
	}
	s := sandboxtest.MariaDB(t, sandbox.Options{Dir: dir, Detach: true})
	other, err := sandbox.Attach(dir)
	if err != nil {
		t.Fatal(err)
	}
	if other.Pid() != s.Pid() || other.Addr() != s.Addr() || other.DSN("u", "d") != "u@tcp("+s.Addr()+")/d" {
		t.Errorf("attached to %d at %s", other.Pid(), other.Addr())
	}
	pid := s.Pid()
	if err := other.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !gone(pid) || other.Pid() == 0 || other.Pid() == pid {
		t.Errorf("restart of an attached server: %d, before %d", other.Pid(), pid)
	}
	if err := other.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := sandbox.Attach(dir); !errors.Is(err, sandbox.ErrNotRunning) {
		t.Errorf("after the stop: %v", err)
	}
}

// TestDiesWithParent kills a process that started a server.
func TestDiesWithParent(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a database server; not in short mode")
	}
	dir := t.TempDir()
	kill := startParent(t, "KASOKU_TEST_DIR="+dir)
	var s *sandbox.Server
	waitFor(t, "the server", func() (up bool) {
		var err error
		s, err = sandbox.Attach(dir)
		return err == nil
	})
	kill()
	waitFor(t, "the server to die", func() bool { return s.Pid() == 0 && closed(s.Addr()) })
}

// TestNginx_EndsWithParent: its workers do, too, which keep the port.
func TestNginx_EndsWithParent(t *testing.T) {
	if testing.Short() {
		t.Skip("needs nginx; not in short mode")
	}
	port, err := sandbox.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	kill := startParent(t, "KASOKU_TEST_NGINX="+strconv.Itoa(port))
	waitFor(t, "nginx", func() bool { return !closed(addr) })
	kill()
	waitFor(t, "its workers to end", func() bool { return closed(addr) })
}

// startParent starts this test binary as one that starts a server, and returns
// what kills it.
func startParent(t *testing.T, env string) (kill func()) {
	t.Helper()
	parent, err := command.Start(t.Context(), command.Spec{
		Path: os.Args[0], Args: []string{"-test.run=^TestHelperParent$"}, Env: []string{env, "TMPDIR=" + t.TempDir()}, Stdout: os.Stderr, Stderr: os.Stderr,
	})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := parent.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_, _ = parent.Wait()
	}
}

func TestHelperParent(t *testing.T) {
	if port := os.Getenv("KASOKU_TEST_NGINX"); port != "" {
		n, err := strconv.Atoi(port)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sandbox.Nginx(t.Context(), sandbox.NginxOptions{Port: n}); err != nil {
			t.Fatal(err)
		}
		select {} // until it is killed
	}
	dir := os.Getenv("KASOKU_TEST_DIR")
	if dir == "" {
		return
	}
	s, err := sandbox.MariaDB(t.Context(), sandbox.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	<-s.Done()
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(60 * time.Second); !done(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for %s", what)
		}
	}
}

func TestFreePort(t *testing.T) {
	port, err := sandbox.FreePort()
	if err != nil || port == 0 {
		t.Fatal(port, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
}
