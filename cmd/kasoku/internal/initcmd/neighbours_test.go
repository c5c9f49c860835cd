package initcmd

import (
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli/clitest"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestMain is, in a child, a program that answers at $KASOKU_TEST_LISTEN, is connected to
// $KASOKU_TEST_DIAL, and writes a log of its requests and a pid file.
func TestMain(m *testing.M) {
	at := os.Getenv("KASOKU_TEST_LISTEN")
	if at == "" {
		os.Exit(m.Run())
	}
	l, err := net.Listen("tcp", at)
	var db *sql.DB
	dial := func() {
		if err == nil && db == nil {
			if db, err = mysqlflags.OpenDSN("root@unix(" + os.Getenv("KASOKU_TEST_DIAL") + ")/"); err == nil {
				err = db.Ping() // that logs in, else the server ends it after connect_timeout, 10 s
			}
		}
	}
	if os.Getenv("KASOKU_TEST_LATE") == "" { // else with the first request
		dial()
	}
	if err == nil {
		_, err = net.Listen("unix", filepath.Join(os.Getenv("KASOKU_TEST_DIR"), "gunicorn.ctl"))
	}
	var open []*os.File
	for _, name := range []string{"app.log", "server.pid"} {
		if err == nil {
			var f *os.File
			f, err = os.Create(filepath.Join(os.Getenv("KASOKU_TEST_DIR"), name))
			open = append(open, f)
		}
	}
	if err == nil {
		err = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/wake" { // not where init asks a program for its numbers
				dial()
			}
			fmt.Fprintln(open[0], r.URL.Path)
			fmt.Fprint(w, "ok")
		}))
	}
	runtime.KeepAlive(open) // collected, a file is closed
	runtime.KeepAlive(db)   // so is a connection
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// A project is one service on a host of several.
type project struct {
	web *sandbox.NginxServer
	app string // its directory
	at  string // where the application listens
	db  *sandbox.Server
}

func newProject(t *testing.T, more ...string) *project {
	t.Helper()
	p := &project{app: t.TempDir(), db: sandboxtest.MariaDB(t, sandbox.Options{})}
	if me, err := user.Current(); err != nil {
		t.Fatal(err)
	} else if me.Username != "root" { // init logs in without a password as who runs it
		sandboxtest.Exec(t, sandboxtest.DB(t, p.db, ""), "CREATE USER '"+me.Username+"'@'localhost'", "GRANT ALL ON *.* TO '"+me.Username+"'@'localhost'")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.at = l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(p.app, "shop") // that this test is one, too, is not to matter
	if err := os.Symlink(exe, program); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(p.app, "server.pid")) // its output, by a slip
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	c, err := command.Start(t.Context(), command.Spec{Path: program, DieWithParent: true, Stdout: out, Stderr: out,
		Env: append([]string{"KASOKU_TEST_LISTEN=" + p.at, "KASOKU_TEST_DIAL=" + p.db.Socket, "KASOKU_TEST_DIR=" + p.app}, more...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = c.Stop() })
	sandboxtest.Until(t, "the application answers", func() bool {
		c, err := net.Dial("tcp", p.at)
		if err != nil {
			return false
		}
		_ = c.Close()
		return true
	})
	p.web = sandboxtest.Nginx(t, sandbox.NginxOptions{Upstream: p.at})
	return p
}

// run runs init in a directory of its own, and returns what it printed and wrote.
func run(t *testing.T, args ...string) (text, stdout, stderr string, err error) {
	t.Helper()
	e, out, errs := clitest.New()
	file := filepath.Join(t.TempDir(), config.Name)
	cmd := NewInit(e)
	cmd.SetArgs(append(args, "--out", file))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(t.Context())
	b, readErr := os.ReadFile(file)
	if (err == nil) != (readErr == nil) {
		t.Errorf("%v: the file: %v", err, readErr)
	}
	return string(b), out.String(), errs.String(), err
}

// TestInit_Neighbours: two projects on one host, each with an nginx, an application and a
// MariaDB. However one is named, the file is about it alone; without a name and a terminal
// both are listed, and nothing is written.
func TestInit_Neighbours(t *testing.T) {
	own, other := newProject(t), newProject(t)
	_, port, _ := net.SplitHostPort(own.web.Addr())
	_, otherPort, _ := net.SplitHostPort(other.web.Addr())
	for _, args := range [][]string{{"--url", own.web.URL() + "/"}, {"--port", port}, {"--mysql", "root@unix(" + own.db.Socket + ")/"}} {
		text, stdout, stderr, err := run(t, args...)
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, stderr)
		}
		c, err := config.Parse([]byte(text), config.Name)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(c.Logs.Access, []string{own.web.AccessLog}) || !slices.Equal(c.Logs.App, []string{filepath.Join(own.app, "app.log")}) ||
			!slices.Equal(c.Logs.Error, []string{own.web.ErrorLog}) {
			t.Errorf("%v: logs %+v", args, c.Logs)
		}
		if !strings.Contains(c.MySQL.DSN, own.db.Socket) {
			t.Errorf("%v: DSN %q, want %s", args, c.MySQL.DSN, own.db.Socket)
		}
		if !strings.HasPrefix(c.Service.URL, own.web.URL()) {
			t.Errorf("%v: service %+v", args, c.Service)
		}
		for _, trace := range append(other.traces(), "server.pid", "gunicorn.ctl") {
			if holds(text, trace) {
				t.Errorf("%v: the file holds %q", args, trace)
			}
		}
		if !strings.Contains(stdout, "--port "+otherPort) {
			t.Errorf("%v: the other service is not listed:\n%s", args, stdout)
		}
	}
	_, stdout, stderr, err := run(t)
	if err == nil || stdout != "" {
		t.Errorf("unnamed: %v, %s", err, stdout)
	}
	for _, want := range []string{"--port " + port, "--port " + otherPort} {
		if !strings.Contains(stderr, want) {
			t.Errorf("unnamed: no %q in\n%s", want, stderr)
		}
	}
	if strings.Contains(stderr, ":"+own.at[strings.LastIndexByte(own.at, ':')+1:]) {
		t.Errorf("the application alone is listed as a service:\n%s", stderr)
	}
	surveyed(t, own, other)
	if text := asked(t, own); !strings.Contains(text, "/debug/vars") {
		t.Errorf("the service's program was asked %q, not for its numbers", text)
	}
	if text := asked(t, other); text != "" {
		t.Errorf("a stranger's program was asked for %q", text)
	}
}

// TestInit_Idle: a service that has asked nothing yet is asked once, at the URL that was given, and not when only
// its port is known.
func TestInit_Idle(t *testing.T) {
	p := newProject(t, "KASOKU_TEST_LATE=1")
	sandboxtest.MariaDB(t, sandbox.Options{}) // the only database of a host is taken for the service's
	_, port, _ := net.SplitHostPort(p.web.Addr())
	text, _, stderr, err := run(t, "--port", port)
	if err != nil || holds(text, p.db.Socket) || strings.Contains(stderr, "GET") || strings.Contains(asked(t, p), "/wake") {
		t.Errorf("by port: %v, asked %q: %s\n%s", err, asked(t, p), stderr, text)
	}
	text, _, stderr, err = run(t, "--url", strings.Replace(p.web.URL(), "http://", "http://a:hidden@", 1)+"/wake?id=7")
	if err != nil || !holds(text, p.db.Socket) || strings.Count(asked(t, p), "/wake") != 1 {
		t.Errorf("by URL: %v, asked %q: %s\n%s", err, asked(t, p), stderr, text)
	}
	if !strings.Contains(stderr, "one GET of http://a:xxxxx@") || strings.Contains(stderr, "hidden") {
		t.Error(stderr)
	}
	if strings.Contains(text, "hidden") || strings.Contains(text, "a:@") {
		t.Errorf("the file has the password of --url:\n%s", text)
	}
}

// asked are the paths that a project's application was asked for.
func asked(t *testing.T, p *project) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.app, "app.log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// surveyed holds what takes the only service of a host, as watch does without a file, to
// taking none of several, and to asking no server of any.
func surveyed(t *testing.T, projects ...*project) {
	t.Helper()
	connections := func(p *project) (n int) {
		var name string
		if err := sandboxtest.DB(t, p.db, "").QueryRow("SHOW GLOBAL STATUS LIKE 'Connections'").Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	var before []int
	for _, p := range projects {
		before = append(before, connections(p))
	}
	e, _, _ := clitest.New()
	s, err := Survey(e, t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	services, _ := s.Several()
	text := s.TOML(someDay)
	for i, p := range projects {
		if n := connections(p); n != before[i]+1 {
			t.Errorf("%d connections were opened to a database of several", n-before[i]-1)
		}
		if _, port, _ := net.SplitHostPort(p.web.Addr()); !holds(services, port) {
			t.Errorf("%q does not name port %s", services, port)
		}
		for _, trace := range p.traces() {
			if holds(text, trace) {
				t.Errorf("what is watched holds %q:\n%s", trace, text)
			}
		}
	}
}

// traces are the words by which a project is known.
func (p *project) traces() []string {
	return []string{p.web.Dir, p.app, p.db.Dir, p.db.Socket, strconv.Itoa(p.web.Pid()), strconv.Itoa(p.db.Pid())}
}

// holds reports whether a text has a word as a whole: a number may be part of another.
func holds(text, word string) bool {
	return regexp.MustCompile(`(^|[^0-9A-Za-z])` + regexp.QuoteMeta(word) + `($|[^0-9A-Za-z])`).MatchString(text)
}
