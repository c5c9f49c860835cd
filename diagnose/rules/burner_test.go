package rules

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/test/peertest"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// burnPython, burnRuby and burnNode answer after 20 ms of CPU of their own thread or process.
const (
	burnPython = `
import time
def app(environ, start_response):
    end = time.thread_time() + 0.02
    while time.thread_time() < end: pass
    start_response('200 OK', [('Content-Length', '2')])
    return [b'ok']
`
	burnRuby = `
run lambda { |e|
  last = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + 0.02
  while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < last; end
  [200, {'Content-Length' => '2'}, ['ok']]
}
`
	burnNode = `
const serve = () => require('http').createServer((q, s) => {
  const from = process.cpuUsage(), used = () => { const u = process.cpuUsage(from); return u.user + u.system; };
  while (used() < 20000);
  s.end('ok');
}).listen(+process.env.PORT, '127.0.0.1');
const cluster = require('cluster'), n = +process.env.N;
if (n > 1 && cluster.isPrimary) { for (let i = 0; i < n; i++) cluster.fork(); } else { serve(); }
`
)

// A burner is a real server of so many processes whose application burns CPU.
type burner struct {
	program string // puma, gunicorn, node
	workers int
}

// start starts the server at a port and waits until it answers. Where it may, it goes before
// what else runs on the machine, so that it gets its core.
func (b burner) start(t *testing.T, port int) *command.Process {
	t.Helper()
	dir, at, n := t.TempDir(), "127.0.0.1:"+strconv.Itoa(port), strconv.Itoa(b.workers)
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	s := command.Spec{Path: peertest.Path(t, b.program), Dir: dir, DieWithParent: true, Env: []string{"PORT=" + strconv.Itoa(port), "N=" + n}}
	switch b.program {
	case "puma":
		s.Args = []string{"-w", strconv.Itoa(b.workers - b.workers%2), "-t", "5:5", "-b", "tcp://" + at, write("config.ru", burnRuby)}
	case "gunicorn":
		write("app.py", burnPython)
		s.Args = []string{"-w", n, "--threads", "4", "-b", at, "app:app"}
	case "node":
		s.Args = []string{write("app.js", burnNode)}
	}
	if os.Geteuid() == 0 {
		s.Path, s.Args = "nice", append([]string{"-n", "-15", s.Path}, s.Args...)
	}
	out, err := os.Create(filepath.Join(dir, "out.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = out.Close() })
	s.Stdout, s.Stderr = out, out
	p, err := command.Start(context.WithoutCancel(t.Context()), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = p.Stop() })
	sandboxtest.Until(t, b.program+" answers", func() bool {
		res, err := http.Get("http://" + at)
		if err == nil {
			_ = res.Body.Close()
		}
		return err == nil
	})
	return p
}

// record records the server under steps of load of 8 s, with the database if one is named.
// What was sampled of others on the machine is left out.
func (b burner) record(t *testing.T, dsn string, rates ...float64) *kasoku.Recording {
	t.Helper()
	port, err := sandbox.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	engine, err := nethttp.New(nethttp.Options{Timeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	p := b.start(t, port)
	res, err := record.Record(t.Context(), record.Options{
		Path:     filepath.Join(t.TempDir(), "run.kasoku"),
		Run:      kasoku.Run{Project: "rules", Label: "kept", Revision: "test"},
		Database: record.Database{MySQL: dsn},
		Course: record.Course{Load: &record.Load{Engine: engine, Each: 8 * time.Second, Pause: time.Second, Next: record.Climb(rates...),
			Targets: []load.Target{{Method: http.MethodGet, URL: "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) + "/"}}}},
	})
	_, _ = p.Stop()
	if err != nil {
		t.Fatal(err)
	}
	if res.Recording.Service == nil {
		t.Fatalf("no service was found: %+v", res.Recording.Warnings)
	}
	keepMembers(res.Recording)
	return res.Recording
}

// keepMembers drops what was sampled of processes and groups that are neither of the service
// nor kasoku's own.
func keepMembers(rec *kasoku.Recording) {
	own := func(pid string) bool {
		n, err := strconv.Atoi(pid)
		return err == nil && (n == os.Getpid() || slices.ContainsFunc(rec.Service.Members, func(m kasoku.Member) bool { return m.Has(n) }))
	}
	rec.Series = slices.DeleteFunc(rec.Series, func(s kasoku.Series) bool {
		pid, _, named := strings.Cut(s.Key.Instance, " ")
		pid, _, _ = strings.Cut(pid, "/")
		switch s.Key.Source {
		case diagnose.Process:
			return named && !own(pid)
		case diagnose.Cgroup:
			return !slices.ContainsFunc(rec.Service.Members, func(m kasoku.Member) bool { return m.InGroup(s.Key.Instance) })
		}
		return false
	})
}

// String names the case.
func (b burner) String() string { return fmt.Sprintf("%s with %d", b.program, b.workers) }
