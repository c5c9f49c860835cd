package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/agenttest"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/wire/mackerel/check"
)

func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		o    options
		u    usage
		want check.Status
		text string
	}{
		{options{Warning: 80, Critical: 90}, usage{12, 40, 151}, check.OK, "12 of 151 connections in use (7.9 %), 139 free, at most 40 since the server's start"},
		{options{Warning: 80, Critical: 90}, usage{80, 80, 100}, check.Warning, "(80.0 %), 20 free"},
		{options{Warning: 80, Critical: 90}, usage{90, 99, 100}, check.Critical, "(90.0 %), 10 free"},
		{options{Warning: 80, Critical: 90, WarningFree: 30}, usage{75, 80, 100}, check.Warning, "25 free"},
		{options{Warning: 80, Critical: 90, CriticalFree: 30}, usage{75, 80, 100}, check.Critical, "25 free"},
		{options{Warning: 80, Critical: 90, CriticalFree: 25}, usage{75, 80, 100}, check.OK, "25 free"},
		{options{Warning: 200, Critical: 200}, usage{101, 101, 100}, check.Critical, "0 free, at most 101 since the server's start; only the administrator's reserve"},
		{options{Warning: 80, Critical: 90}, usage{}, check.Critical, "0 of 0 connections"},
	} {
		r := tt.o.judge(tt.u)
		if r.Status != tt.want || !strings.Contains(r.Message, tt.text) {
			t.Errorf("%+v: %s, want %s, %q", tt.u, r, tt.want, tt.text)
		}
	}
}

// A caller runs the check as the agent does.
type caller struct {
	bin   string
	agent *agenttest.Agent
}

func newCaller(t *testing.T) caller {
	t.Helper()
	return caller{agenttest.Build(t), agenttest.New(t)}
}

// call returns the status, which is in front of the message, and the message.
func (c caller) call(t *testing.T, args ...string) string {
	t.Helper()
	status, message, r := c.agent.Check(t, append([]string{c.bin}, args...)...)
	if want := "check-mysql-connections " + string(status) + ": "; !strings.HasPrefix(message, want) {
		t.Errorf("%q does not begin with %q", message, want)
	}
	agenttest.Show(t, r, "check-mysql-connections")
	return strings.TrimPrefix(message, "check-mysql-connections ")
}

func TestNoServer(t *testing.T) {
	port, err := sandbox.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "my.cnf")
	if err := os.WriteFile(file, fmt.Appendf(nil, "!include /no/such.cnf\n[client]\nhost=127.0.0.1\nport=%d\n", port), 0o600); err != nil {
		t.Fatal(err)
	}
	got := newCaller(t).call(t, "--defaults-extra-file", file, "-u", "nobody")
	if !strings.HasPrefix(got, "UNKNOWN: ") || !strings.Contains(got, "connection refused") || strings.Contains(got, "\n") || !strings.Contains(got, "my.cnf:1: option file: open /no/such.cnf") {
		t.Errorf("%q", got)
	}
}

// TestServer fills a server up: with every connection the check says more, and
// when it gets none itself it is CRITICAL.
func TestServer(t *testing.T) {
	if testing.Short() {
		t.Skip("needs servers; not in short mode")
	}
	c := newCaller(t)
	o := sandboxtest.Unsafe()
	o.Vars["max_connections"] = "10" // the least that MariaDB takes
	sandboxtest.Each(t, o, func(t *testing.T, s *sandbox.Server) {
		db := sandboxtest.DB(t, s, "")
		sandboxtest.Exec(t, db, "CREATE USER watcher@'127.0.0.1' IDENTIFIED BY 'p:/@'")
		args := []string{"-H", "127.0.0.1", "-p", fmt.Sprint(s.Port), "-u", "watcher", "-P", "p:/@"}
		// The connection of db and the check's own; that of the server's start may take
		// a moment to end.
		sandboxtest.Until(t, "two connections", func() bool {
			return strings.HasPrefix(c.call(t, args...), "OK: 2 of 10 connections in use (20.0 %), 8 free")
		})
		for used := 1; used <= 10; used++ {
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if used == 8 {
				sandboxtest.Until(t, "nine connections", func() bool {
					return strings.HasPrefix(c.call(t, args...), "CRITICAL: 9 of 10 connections in use (90.0 %), 1 free")
				})
			}
		}
		got := c.call(t, args...)
		if !strings.Contains(got, "CRITICAL: no connection is left: ") || !strings.Contains(got, "Too many connections") {
			t.Errorf("%q", got)
		}
		if strings.Contains(got, "p:/@") {
			t.Errorf("the password is in %q", got)
		}
	})
}
