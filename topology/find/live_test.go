package find

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/topology/members"
)

// TestMain is, in a child, a Go service at $L with a connection to $D, which answers its pid.
func TestMain(m *testing.M) {
	if os.Getenv("KASOKU_TEST_FIND") == "" {
		os.Exit(m.Run())
	}
	l, err := net.Listen(network(os.Getenv("L")), os.Getenv("L"))
	if err == nil {
		if d := os.Getenv("D"); d != "" {
			_, err = net.Dial(network(d), d)
		}
	}
	if err == nil {
		err = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, os.Getpid()) }))
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func network(address string) string {
	if strings.HasPrefix(address, "/") {
		return "unix"
	}
	return "tcp"
}

const pythonApp = `
import os, socket
L, D = os.environ['L'], os.environ['D']
def sock(a, f):
    s = socket.socket(socket.AF_UNIX if a[0] == '/' else socket.AF_INET)
    getattr(s, f)(a if a[0] == '/' else (a.rsplit(':', 1)[0], int(a.rsplit(':', 1)[1])))
    return s
l = sock(L, 'bind'); l.listen(64)
for i in range(2):
    if os.fork() == 0:
        d = sock(D, 'connect')
        while True:
            c, _ = l.accept()
            try: c.recv(4096); c.sendall(b'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok')
            except OSError: pass
            c.close()
os.wait()
`

const nodeApp = `
const cluster = require('cluster'), http = require('http'), net = require('net'), { L, D } = process.env;
const at = a => a[0] === '/' ? { path: a } : { host: a.split(':')[0], port: +a.split(':')[1] };
if (cluster.isMaster) { cluster.fork(); cluster.fork(); } else {
  net.connect(at(D)).on('error', () => {}); http.createServer((q, s) => s.end('ok')).listen(at(L));
}
`

const javaApp = `
import java.net.*; import java.nio.*; import java.nio.channels.*;
class App { public static void main(String[] a) throws Exception {
  SocketChannel d = SocketChannel.open(at(System.getenv("D")));
  String l = System.getenv("L");
  ServerSocketChannel s = ServerSocketChannel.open(l.startsWith("/") ? StandardProtocolFamily.UNIX : StandardProtocolFamily.INET);
  s.bind(at(l));
  while (true) { SocketChannel c = s.accept(); new Thread(() -> { try { c.read(ByteBuffer.allocate(4096));
    c.write(ByteBuffer.wrap("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok".getBytes())); c.close(); } catch (Exception e) { } }).start(); } }
 static SocketAddress at(String a) { if (a.startsWith("/")) return UnixDomainSocketAddress.of(a);
  String[] p = a.split(":"); return new InetSocketAddress(p[0], Integer.parseInt(p[1])); } }
`

const pumaApp = `
require 'socket'
D = ENV['D']
run lambda { |e| $d ||= D[0] == '/' ? UNIXSocket.new(D) : TCPSocket.new(*D.split(':')); [200, {}, ['ok']] }
`

const gunicornApp = `
import os, socket
D, db = os.environ['D'], []
def app(environ, start_response):
    if not db:
        s = socket.socket(socket.AF_UNIX if D[0] == '/' else socket.AF_INET)
        s.connect(D if D[0] == '/' else (D.rsplit(':', 1)[0], int(D.rsplit(':', 1)[1])))
        db.append(s)
    start_response('200 OK', [('Content-Length', '2')])
    return [b'ok']
`

const phpApp = `<?php $d = getenv('D') ?: $_SERVER['D']; $s = $d[0] == '/' ? pfsockopen('unix://' . $d) : pfsockopen('tcp://' . $d); echo 'ok';`

// A recipe starts an application that listens at l and is connected to d.
type recipe struct {
	name, language string
	workers        int
	fastcgi        bool
	start          func(t *testing.T, dir, l, d string) command.Spec
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

var recipes = []recipe{
	{"go", "go", 1, false, func(t *testing.T, dir, l, d string) command.Spec {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		return command.Spec{Path: exe, Env: []string{"KASOKU_TEST_FIND=1"}}
	}},
	{"python3", "python", 2, false, func(t *testing.T, dir, l, d string) command.Spec {
		return command.Spec{Path: "python3", Args: []string{write(t, dir+"/app.py", pythonApp)}}
	}},
	{"node", "javascript", 2, false, func(t *testing.T, dir, l, d string) command.Spec {
		return command.Spec{Path: "node", Args: []string{write(t, dir+"/app.js", nodeApp)}}
	}},
	{"java", "java", 1, false, func(t *testing.T, dir, l, d string) command.Spec {
		return command.Spec{Path: "java", Args: []string{"-XX:TieredStopAtLevel=1", write(t, dir+"/App.java", javaApp)}}
	}},
	{"puma", "ruby", 2, false, func(t *testing.T, dir, l, d string) command.Spec {
		bind := "tcp://" + l
		if network(l) == "unix" {
			bind = "unix://" + l
		}
		return command.Spec{Path: "puma", Args: []string{"-w", "2", "-t", "5:5", "-b", bind, write(t, dir+"/config.ru", pumaApp)}, Dir: dir}
	}},
	{"gunicorn", "python", 2, false, func(t *testing.T, dir, l, d string) command.Spec {
		write(t, dir+"/app.py", gunicornApp)
		bind := l
		if network(l) == "unix" {
			bind = "unix:" + l
		}
		return command.Spec{Path: "gunicorn", Args: []string{"-w", "2", "-b", bind, "app:app"}, Dir: dir}
	}},
	{"php-fpm", "php", 2, true, func(t *testing.T, dir, l, d string) command.Spec {
		write(t, dir+"/index.php", phpApp)
		conf := fmt.Sprintf("[global]\nerror_log=%s/fpm.log\ndaemonize=no\n[www]\nuser=root\ngroup=root\nlisten=%s\nlisten.mode=0666\npm=static\npm.max_children=2\nenv[D]=%s\n", dir, l, d)
		return command.Spec{Path: sandboxtest.PHPFPM(t), Args: []string{"-R", "-n", "-y", write(t, dir+"/fpm.conf", conf)}}
	}},
}

// workAtOnce is how many requests a worker has in work at a time, where that is known.
var workAtOnce = map[string]int{"puma": 5, "gunicorn": 1, "php-fpm": 1}

// free returns a free address of TCP, or a path.
func free(t *testing.T, dir, network string) string {
	t.Helper()
	if network == "unix" {
		return filepath.Join(dir, "app.sock")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// start starts a program and waits until it listens.
func start(t *testing.T, s command.Spec, dir, l, d string) *command.Process {
	t.Helper()
	out, err := os.Create(filepath.Join(dir, "out.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	s.Env = append(s.Env, "L="+l, "D="+d)
	s.Stdout, s.Stderr, s.DieWithParent = out, out, true
	p, err := command.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = p.Stop() })
	wait(t, dir, func() bool {
		c, err := net.Dial(network(l), l)
		if err != nil {
			return false
		}
		_ = c.Close()
		return true
	})
	return p
}

// wait waits for a condition.
func wait(t *testing.T, dir string, done func() bool) {
	t.Helper()
	limit := time.After(20 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-limit:
			text, _ := os.ReadFile(filepath.Join(dir, "out.log"))
			logged, _ := os.ReadFile(filepath.Join(dir, "error.log"))
			t.Fatalf("not in time; it printed %s%s", text, logged)
		case <-tick.C:
		}
	}
}

func get(t *testing.T, url string) (status int) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

const fastcgiConf = `{user}
pid "{dir}/nginx.pid"; error_log "{dir}/error.log"; events {}
http { access_log "{dir}/access.log"; server { listen 127.0.0.1:{port}; location / {
  include /etc/nginx/fastcgi_params; fastcgi_param SCRIPT_FILENAME {script}; fastcgi_pass {upstream}; } } }`

// TestFind_Languages: real services of six languages, of Python with a server of its own and with gunicorn, each
// after a real nginx, by TCP and
// by a Unix socket, each with a real database by TCP and by its socket; next to them a
// second nginx, and a neighbour that is connected to the same database and to the
// application.
func TestFind_Languages(t *testing.T) {
	db := sandboxtest.MariaDB(t, sandbox.Options{})
	second := sandboxtest.Nginx(t, sandbox.NginxOptions{})
	for _, r := range recipes {
		if _, err := exec.LookPath(r.start(t, t.TempDir(), "", "").Path); err != nil {
			t.Logf("%s is not installed here", r.name)
			continue
		}
		for _, way := range [][2]string{{"tcp", "tcp"}, {"tcp", "unix"}, {"unix", "tcp"}, {"unix", "unix"}} {
			by := way[0]
			t.Run(r.name+"/"+by+", database by "+way[1], func(t *testing.T) {
				turn.Wait(t)
				dir, err := os.MkdirTemp("", "find")
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = os.RemoveAll(dir) })
				l, d := free(t, dir, by), db.Addr()
				if way[1] == "unix" {
					d = db.Socket
				}
				app := start(t, r.start(t, dir, l, d), dir, l, d)
				up := l
				if by == "unix" {
					up = "unix:" + l
				}
				o := sandbox.NginxOptions{Upstream: up}
				if r.fastcgi {
					o.Config = strings.ReplaceAll(fastcgiConf, "{script}", dir+"/index.php")
				}
				web := sandboxtest.Nginx(t, o)
				beside(t, db.Addr(), l)
				wait(t, dir, func() bool { return get(t, web.URL()) == http.StatusOK })
				for range 8 { // each worker has its own connection to the database
					get(t, web.URL())
				}
				s, err := Find(t.Context(), Ask{URLs: []string{web.URL()}, Logs: []string{web.AccessLog}})
				if err != nil {
					t.Fatal(err)
				}
				want(t, s, map[kasoku.MemberRole]int{kasoku.RoleWeb: web.Pid(), kasoku.RoleApplication: app.Pid(), kasoku.RoleDatabase: db.Pid()})
				a := s.Of(kasoku.RoleApplication)
				if len(a) == 1 && (a[0].Language != r.language || a[0].Workers != r.workers || a[0].Threads != workAtOnce[r.name]) {
					t.Errorf("language %q, %d workers × %d: %+v", a[0].Language, a[0].Workers, a[0].Threads, a[0])
				}
				named, err := Find(t.Context(), Ask{URLs: []string{web.URL()}, Logs: []string{web.AccessLog}, Language: "rust"})
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range named.Members {
					if (m.Language == "rust") != (m.Role == kasoku.RoleApplication) {
						t.Errorf("named as rust: %s in %q", m.ID, m.Language)
					}
				}
				if w := s.Of(kasoku.RoleWeb); len(w) == 1 && (!slices.Contains(w[0].Configs, web.ConfigFile) || w[0].Has(second.Pid())) {
					t.Errorf("web %+v", w[0])
				}
				t.Log(s.Picture())
			})
		}
	}
}

// TestFind_WorkAtOnce: a worker of gunicorn has one request in work, but for those of the
// class gthread, of which it is not known.
func TestFind_WorkAtOnce(t *testing.T) {
	if _, err := exec.LookPath("gunicorn"); err != nil {
		t.Skip("needs gunicorn")
	}
	for class, want := range map[string]int{"sync": 1, "gthread": 0} {
		t.Run(class, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir+"/app.py", "def app(environ, start):\n start('200 OK', [])\n return [b'x']\n")
			l := free(t, dir, "tcp")
			spec := command.Spec{Path: "gunicorn", Args: []string{"-k", class, "--threads", "3", "-w", "1", "-b", l, "app:app"}, Dir: dir}
			if class == "sync" {
				spec.Args = slices.Delete(spec.Args, 2, 4)
			}
			start(t, spec, dir, l, "")
			wait(t, dir, func() bool { return get(t, "http://"+l) == http.StatusOK })
			s, err := Find(t.Context(), Ask{URLs: []string{"http://" + l}})
			if err != nil {
				t.Fatal(err)
			}
			if a := s.Of(kasoku.RoleApplication); len(a) != 1 || a[0].Threads != want {
				t.Errorf("%s, want one worker of %d", s.Picture(), want)
			}
		})
	}
}

// TestFind_Direct: the same services, loaded without a web server.
func TestFind_Direct(t *testing.T) {
	db := sandboxtest.MariaDB(t, sandbox.Options{})
	sandboxtest.Nginx(t, sandbox.NginxOptions{})
	for _, r := range recipes {
		if _, err := exec.LookPath(r.start(t, t.TempDir(), "", "").Path); err != nil || r.fastcgi {
			t.Logf("%s is not installed here, or speaks no HTTP", r.name)
			continue
		}
		for _, way := range []string{"tcp", "unix"} {
			t.Run(r.name+", database by "+way, func(t *testing.T) {
				turn.Wait(t)
				dir := t.TempDir()
				l, d := free(t, dir, "tcp"), db.Addr()
				if way == "unix" {
					d = db.Socket
				}
				app := start(t, r.start(t, dir, l, d), dir, l, d)
				beside(t, db.Addr(), l)
				wait(t, dir, func() bool { return get(t, "http://"+l) == http.StatusOK })
				for range 8 {
					get(t, "http://"+l)
				}
				s, err := Find(t.Context(), Ask{URLs: []string{"http://" + l}})
				if err != nil {
					t.Fatal(err)
				}
				want(t, s, map[kasoku.MemberRole]int{kasoku.RoleApplication: app.Pid(), kasoku.RoleDatabase: db.Pid()})
				t.Log(s.Picture())
			})
		}
	}
}

// beside starts a neighbour that listens, and is connected to the database and to the
// application.
func beside(t *testing.T, addresses ...string) {
	t.Helper()
	for _, to := range addresses {
		dir := t.TempDir()
		l := free(t, dir, "tcp")
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		start(t, command.Spec{Path: exe, Env: []string{"KASOKU_TEST_FIND=1"}}, dir, l, to)
	}
}

// want compares the members with what was started: a process for each role, no other.
func want(t *testing.T, s kasoku.Service, pids map[kasoku.MemberRole]int) {
	t.Helper()
	if len(s.Members) != len(pids) || len(s.Unknown) > 0 {
		t.Errorf("%d members %+v\nunknown %v", len(s.Members), s.Members, s.Unknown)
	}
	for role, pid := range pids {
		if m := s.Of(role); len(m) != 1 || m[0].Leader().PID != pid {
			t.Errorf("%s: %+v, want pid %d", role, m, pid)
		}
	}
}

// TestFind_Namespace: services in a network namespace of their own, asked by their address,
// with a database outside of it by its socket; then nginx and applications here, with the
// database in that namespace.
func TestFind_Namespace(t *testing.T) {
	turn.Wait(t)
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("makes a network namespace: root alone, not in short mode")
	}
	name := fmt.Sprintf("kasoku%d", os.Getpid())
	ip := func(args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), "ip", args...).CombinedOutput(); err != nil {
			t.Fatalf("ip %v: %v: %s", args, err, out)
		}
	}
	ip("netns", "add", name)
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", name).Run() })
	ip("link", "add", "ka0", "type", "veth", "peer", "name", "ka1", "netns", name)
	ip("addr", "add", "10.213.7.1/24", "dev", "ka0")
	ip("link", "set", "ka0", "up")
	ip("-n", name, "addr", "add", "10.213.7.2/24", "dev", "ka1")
	ip("-n", name, "link", "set", "ka1", "up")
	db := sandboxtest.MariaDB(t, sandbox.Options{})
	for i, r := range recipes {
		dir := t.TempDir()
		l := fmt.Sprintf("10.213.7.2:%d", 8090+i)
		spec := r.start(t, dir, l, db.Socket) // a socket's path is of the file system, which both share
		if _, err := exec.LookPath(spec.Path); err != nil || r.fastcgi {
			t.Logf("%s is not installed here, or speaks no HTTP", r.name)
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			spec.Path, spec.Args = "ip", append([]string{"netns", "exec", name, spec.Path}, spec.Args...)
			p := start(t, spec, dir, l, db.Socket)
			wait(t, dir, func() bool { return get(t, "http://"+l) == http.StatusOK })
			for range 8 {
				get(t, "http://"+l)
			}
			s, err := Find(t.Context(), Ask{URLs: []string{"http://" + l}})
			if err != nil {
				t.Fatal(err)
			}
			want(t, s, map[kasoku.MemberRole]int{kasoku.RoleApplication: p.Pid(), kasoku.RoleDatabase: db.Pid()})
		})
	}
	away, pid := databaseIn(t, name, "10.213.7.2")
	for _, r := range recipes {
		for _, by := range []string{"tcp", "unix"} {
			if _, err := exec.LookPath(r.start(t, t.TempDir(), "", "").Path); err != nil || r.name != "gunicorn" && r.name != "php-fpm" {
				continue
			}
			t.Run("nginx, "+r.name+" by "+by+", database there", func(t *testing.T) {
				afterNginx(t, r, by, away, pid, db.Addr())
			})
		}
	}
}

// afterNginx starts an application after an nginx, with a database that is elsewhere, and a
// neighbour that is connected to that one too; it compares what is found.
func afterNginx(t *testing.T, r recipe, by, database string, pid int, other string) {
	dir, err := os.MkdirTemp("", "find")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l := free(t, dir, by)
	app := start(t, r.start(t, dir, l, database), dir, l, database)
	up := l
	if by == "unix" {
		up = "unix:" + l
	}
	o := sandbox.NginxOptions{Upstream: up}
	if r.fastcgi {
		o.Config = strings.ReplaceAll(fastcgiConf, "{script}", dir+"/index.php")
	}
	web := sandboxtest.Nginx(t, o)
	beside(t, database, other, l)
	wait(t, dir, func() bool { return get(t, web.URL()) == http.StatusOK })
	for range 8 {
		get(t, web.URL())
	}
	s, err := Find(t.Context(), Ask{URLs: []string{web.URL()}, Logs: []string{web.AccessLog}})
	if err != nil {
		t.Fatal(err)
	}
	want(t, s, map[kasoku.MemberRole]int{kasoku.RoleWeb: web.Pid(), kasoku.RoleApplication: app.Pid(), kasoku.RoleDatabase: pid})
	t.Log(s.Picture())
}

// databaseIn starts a MariaDB in a network namespace, at a port of its own there.
func databaseIn(t *testing.T, name, host string) (at string, pid int) {
	t.Helper()
	dir, err := os.MkdirTemp("", "find") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	out, err := exec.CommandContext(t.Context(), "mariadb-install-db", "--no-defaults", "--datadir="+data, "--user=root",
		"--skip-test-db", "--auth-root-authentication-method=normal").CombinedOutput()
	if err != nil {
		t.Fatalf("mariadb-install-db: %v: %s", err, out)
	}
	at = host + ":3306"
	p := start(t, command.Spec{Path: "ip", Args: []string{"netns", "exec", name, "mariadbd", "--no-defaults", "--user=root",
		"--datadir=" + data, "--bind-address=" + host, "--port=3306", "--socket=" + data + "/own.sock",
		"--skip-grant-tables", "--skip-networking=0", "--connect-timeout=600"}}, dir, at, "") // who never logs in stays connected
	return at, p.Pid()
}

// TestFind_DSN: the database that was given is found by its address, and no other.
func TestFind_DSN(t *testing.T) {
	db := sandboxtest.MariaDB(t, sandbox.Options{})
	s, err := Find(t.Context(), Ask{Databases: []members.Place{{Network: "tcp", Address: db.Addr()}}})
	if err != nil {
		t.Fatal(err)
	}
	want(t, s, map[kasoku.MemberRole]int{kasoku.RoleDatabase: db.Pid()})
}
