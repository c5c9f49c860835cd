package find

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// moreArrangements are other fronts, sockets and namespaces, and services of several programs.
var moreArrangements = []arrangement{
	{"caddy before node's cluster", func(g *ground) (string, []string) {
		g.need("caddy", "node")
		l := g.app("app", "node", "tcp", g.db.Addr())
		g.app("other-app", "node", "tcp", g.other.Addr())
		return caddy(g, "reverse_proxy "+l), []string{"app", "web", "db"}
	}},
	{"caddy before gunicorn by socket", func(g *ground) (string, []string) {
		g.need("caddy")
		l := g.app("app", "gunicorn", "unix", g.db.Socket)
		g.app("other-app", "gunicorn", "unix", g.other.Socket)
		return caddy(g, "reverse_proxy unix/"+l), []string{"app", "web", "db"}
	}},
	{"haproxy before node's cluster", func(g *ground) (string, []string) {
		g.need("haproxy", "node")
		l := g.app("app", "node", "tcp", g.db.Addr())
		g.app("other-app", "node", "tcp", g.other.Addr())
		return haproxy(g, "web", "http", "server a "+l), []string{"app", "web", "db"}
	}},
	{"haproxy before gunicorn by socket", func(g *ground) (string, []string) {
		g.need("haproxy")
		l := g.app("app", "gunicorn", "unix", g.db.Addr())
		return haproxy(g, "web", "http", "server a unix@"+l), []string{"app", "web", "db"}
	}},
	{"haproxy passes bytes to java", func(g *ground) (string, []string) {
		g.need("haproxy", "java")
		l := g.app("app", "java", "tcp", g.db.Addr())
		g.app("other-app", "go", "tcp", g.other.Addr())
		return haproxy(g, "web", "tcp", "server a "+l), []string{"app", "web", "db"}
	}},
	{"apache before node by socket", func(g *ground) (string, []string) {
		g.need("node")
		l := g.app("app", "node", "unix", g.db.Socket)
		return apache(g, "mpm_event", "proxy proxy_http", `ProxyPass / "unix:`+l+`|http://localhost/"`+"\n"), []string{"app", "web", "db"}
	}},
	{"apache balances two go", func(g *ground) (string, []string) {
		l, k := g.app("app", "go", "tcp", g.db.Addr()), g.app("app2", "go", "tcp", g.db.Addr())
		g.app("other-app", "go", "tcp", g.other.Addr())
		return apache(g, "mpm_event", "slotmem_shm lbmethod_byrequests proxy proxy_http proxy_balancer",
				"<Proxy balancer://c>\nBalancerMember http://"+l+"\nBalancerMember http://"+k+"\n</Proxy>\nProxyPass / balancer://c/\n"),
			[]string{"app", "app2", "web", "db"}
	}},
	{"varnish before nginx", func(g *ground) (string, []string) {
		g.need("varnishd")
		l := g.app("app", "puma", "tcp", g.db.Addr())
		n := g.nginx("nginx", proxy(l))
		g.nginx("other-nginx", proxy(g.app("other-app", "puma", "tcp", g.other.Addr())))
		return varnish(g, "127.0.0.1:"+strconv.Itoa(n.Port)), []string{"app", "cache", "nginx", "db"}
	}},
	{"varnish between nginx and puma", func(g *ground) (string, []string) {
		g.need("varnishd")
		l := g.app("app", "puma", "tcp", g.db.Addr())
		at := strings.TrimSuffix(strings.TrimPrefix(varnish(g, l), "http://"), "/")
		return g.nginx("web", proxy(at)).URL(), []string{"app", "cache", "web", "db"}
	}},
	{"gunicorn by socket in another network namespace", func(g *ground) (string, []string) {
		g.need("gunicorn", "unshare")
		dir := g.sub("app")
		write(g.T, dir+"/app.py", gunicornApp)
		l := dir + "/app.sock"
		g.run("app", l, command.Spec{Path: "unshare", Args: []string{"-n", "gunicorn", "-w", "2", "-b", "unix:" + l, "app:app"}},
			"D="+g.db.Socket)
		o := g.app("other-app", "gunicorn", "unix", g.other.Socket)
		g.nginx("other-web", proxy(o))
		return g.nginx("web", proxy(l)).URL(), []string{"app", "web", "db"}
	}},
	{"two databases, the environment names the other one", func(g *ground) (string, []string) {
		dir := g.sub("app")
		l := free(g.T, dir, "tcp")
		write(g.T, dir+"/app.py", pythonApp)
		g.run("app", l, command.Spec{Path: "python3", Args: []string{dir + "/app.py"}}, "D="+g.db.Socket,
			"DATABASE_URL=mysql2://root@"+g.other.Addr()+"/x", "MYSQL_HOST=127.0.0.1", fmt.Sprintf("MYSQL_PORT=%d", g.other.Port))
		o := g.app("other-app", "gunicorn", "tcp", g.other.Addr())
		g.nginx("other-web", proxy(o))
		return g.nginx("web", proxy(l)).URL(), []string{"app", "web", "db"}
	}},
	{"an application that asks another one", func(g *ground) (string, []string) {
		inner := g.app("inner", "go", "tcp", g.db.Addr())
		g.app("other-app", "go", "tcp", g.other.Addr())
		dir := g.sub("app")
		l := free(g.T, dir, "tcp")
		write(g.T, dir+"/app.py", askingApp)
		g.run("app", l, command.Spec{Path: "python3", Args: []string{dir + "/app.py"}}, "UP=http://"+inner+"/")
		return g.nginx("web", proxy(l)).URL(), []string{"app", "inner", "web", "db"}
	}},
	{"nginx with auth_request to another application", func(g *ground) (string, []string) {
		l, a := g.app("app", "gunicorn", "tcp", g.db.Addr()), g.app("auth", "go", "tcp", g.db.Addr())
		web := g.nginx("web", `server { listen 127.0.0.1:{port}; location / { auth_request /auth; proxy_pass http://`+l+
			`; } location = /auth { internal; proxy_pass http://`+a+`; proxy_pass_request_body off; proxy_set_header Content-Length ""; } }`)
		return web.URL(), []string{"app", "auth", "web", "db"}
	}},
	{"php-fpm that starts workers on demand", func(g *ground) (string, []string) {
		dir := g.sub("app")
		page := write(g.T, dir+"/index.php", phpAnew)
		conf := fmt.Sprintf("[global]\nerror_log=%s/fpm.log\ndaemonize=no\n[www]\nuser=root\ngroup=root\n"+
			"listen=%s/a.sock\nlisten.mode=0666\npm=ondemand\npm.max_children=4\nenv[PORT]=%d\n", dir, dir, g.db.Port)
		g.run("app", dir+"/a.sock", command.Spec{Path: sandboxtest.PHPFPM(g.T), Args: []string{"-R", "-y", write(g.T, dir+"/fpm.conf", conf)}})
		return g.nginx("web", fastcgi(page, dir+"/a.sock")).URL(), []string{"app", "web", "db"}
	}},
	{"a listener that a parent holds for its children", func(g *ground) (string, []string) {
		dir := g.sub("app")
		l := free(g.T, dir, "tcp")
		write(g.T, dir+"/app.py", inheritingApp)
		g.run("app", l, command.Spec{Path: "python3", Args: []string{dir + "/app.py"}}, "D="+g.db.Addr())
		g.nginx("other-web", proxy(g.app("other-app", "python3", "tcp", g.other.Addr())))
		return g.nginx("web", proxy(l)).URL(), []string{"app", "web", "db"}
	}},
	{"redis by socket beside the database", func(g *ground) (string, []string) {
		g.need("redis-server")
		dir := g.sub("redis")
		sock := dir + "/r.sock"
		g.run("redis", sock, command.Spec{Path: "redis-server", Args: []string{"--port", "0", "--unixsocket", sock, "--save", ""}})
		app := g.sub("app")
		l := free(g.T, app, "tcp")
		write(g.T, app+"/app.py", redisApp)
		g.run("app", l, command.Spec{Path: "python3", Args: []string{app + "/app.py"}}, "R="+sock, "D="+g.db.Socket)
		return g.nginx("web", proxy(l)).URL(), []string{"app", "redis", "web", "db"}
	}},
	{"nginx to two applications by path", func(g *ground) (string, []string) {
		l, o := g.app("app", "gunicorn", "tcp", g.db.Addr()), g.app("admin", "gunicorn", "tcp", g.db.Addr())
		web := g.nginx("web", `server { listen 127.0.0.1:{port}; location / { proxy_pass http://`+l+
			`; } location /admin { proxy_pass http://`+o+`; } }`)
		return web.URL(), []string{"admin", "app", "web", "db"}
	}},
}

const askingApp = `
import os, http.server, urllib.request
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        b = urllib.request.urlopen(os.environ['UP']).read()
        self.send_response(200); self.send_header('Content-Length', str(len(b))); self.end_headers(); self.wfile.write(b)
a = os.environ['L'].split(':')
http.server.ThreadingHTTPServer((a[0], int(a[1])), H).serve_forever()
`

const inheritingApp = `
import os, socket, subprocess, sys
if len(sys.argv) == 1:
    a = os.environ['L'].split(':')
    l = socket.socket(); l.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); l.bind((a[0], int(a[1]))); l.listen(64)
    os.set_inheritable(l.fileno(), True)
    subs = [subprocess.Popen([sys.executable, sys.argv[0], str(l.fileno())], close_fds=False) for _ in range(2)]
    for s in subs: s.wait()
l = socket.socket(fileno=int(sys.argv[1]))
D = os.environ['D'].split(':'); d = socket.create_connection((D[0], int(D[1])))
while True:
    c, _ = l.accept()
    try: c.recv(4096); c.sendall(b'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok')
    except OSError: pass
    c.close()
`

const redisApp = `
import os, socket, http.server
d = socket.socket(socket.AF_UNIX); d.connect(os.environ['D'])
r = socket.socket(socket.AF_UNIX); r.connect(os.environ['R'])
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        r.sendall(b'PING\r\n'); r.recv(64)
        self.send_response(200); self.send_header('Content-Length', '2'); self.end_headers(); self.wfile.write(b'ok')
a = os.environ['L'].split(':')
http.server.HTTPServer((a[0], int(a[1])), H).serve_forever()
`

// varnish starts one before a server; what it would keep it asks each time.
func varnish(g *ground, backend string) string {
	dir := g.sub("cache")
	at := free(g.T, dir, "tcp")
	host, port, _ := strings.Cut(backend, ":")
	vcl := write(g.T, dir+"/v.vcl", fmt.Sprintf("vcl 4.1;\nbackend b { .host = \"%s\"; .port = \"%s\"; }\n"+
		"sub vcl_recv { return (pass); }\n", host, port))
	g.run("cache", at, command.Spec{Path: "varnishd", Args: []string{"-F", "-a", at, "-f", vcl, "-n", dir + "/n", "-s", "malloc,16m",
		"-T", "none"}})
	return "http://" + at + "/"
}
