package find

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

var arrangements = []arrangement{
	{"nginx, nginx, gunicorn", func(g *ground) (string, []string) {
		l := g.app("app", "gunicorn", "tcp", g.db.Addr())
		inner := g.nginx("inner", proxy(l))
		outer := g.nginx("outer", proxy(fmt.Sprintf("127.0.0.1:%d", inner.Port)))
		o := g.app("other-app", "gunicorn", "tcp", g.other.Addr())
		g.nginx("other-nginx", proxy(o))
		return outer.URL(), []string{"app", "inner", "outer", "db"}
	}},
	{"nginx of two sites by name, gunicorn", func(g *ground) (string, []string) {
		l := g.app("app", "gunicorn", "unix", g.db.Socket)
		o := g.app("other-app", "gunicorn", "unix", g.other.Socket)
		web := g.nginx("web", `server { listen 127.0.0.1:{port}; server_name localhost; location / { proxy_pass http://unix:`+l+`; } }
			server { listen 127.0.0.1:{port}; server_name other.example; location / { proxy_pass http://unix:`+o+`; } }`)
		return fmt.Sprintf("http://localhost:%d/", web.Port), []string{"app", "web", "db"}
	}},
	{"nginx of two ports, puma", func(g *ground) (string, []string) {
		l := g.app("app", "puma", "unix", g.db.Socket)
		o := g.app("other-app", "puma", "unix", g.other.Socket)
		p := free(g.T, g.dir, "tcp")
		web := g.nginx("web", proxy(l)+strings.ReplaceAll(proxy(o), "127.0.0.1:{port}", p))
		return web.URL(), []string{"app", "web", "db"}
	}},
	{"nginx balances two gunicorn", func(g *ground) (string, []string) {
		l, k := g.app("app", "gunicorn", "tcp", g.db.Addr()), g.app("app2", "gunicorn", "tcp", g.db.Addr())
		web := g.nginx("web", `upstream u { server `+l+`; server `+k+`; } `+proxy("u"))
		return web.URL(), []string{"app", "app2", "web", "db"}
	}},
	{"php-fpm of two pools", func(g *ground) (string, []string) { return phpPools(g, false) }},
	{"php-fpm of two pools, connects anew", func(g *ground) (string, []string) { return phpPools(g, true) }},
	{"php-fpm, connects anew", func(g *ground) (string, []string) {
		dir := g.sub("app")
		page := write(g.T, dir+"/index.php", phpAnew)
		conf := fmt.Sprintf("[global]\nerror_log=%s/fpm.log\ndaemonize=no\n[www]\nuser=root\ngroup=root\n"+
			"listen=%s/a.sock\nlisten.mode=0666\npm=dynamic\npm.max_children=4\npm.start_servers=2\n"+
			"pm.min_spare_servers=1\npm.max_spare_servers=3\nenv[PORT]=%d\n", dir, dir, g.db.Port)
		g.run("app", dir+"/a.sock", command.Spec{Path: sandboxtest.PHPFPM(g.T), Args: []string{"-R", "-y", write(g.T, dir+
			"/fpm.conf", conf)}})
		web := g.nginx("web", fastcgi(page, dir+"/a.sock"))
		return web.URL(), []string{"app", "web", "db"}
	}},
	{"php-fpm, connects anew by socket", func(g *ground) (string, []string) {
		dir := g.sub("app")
		page := write(g.T, dir+"/index.php", phpAnewSocket)
		conf := fmt.Sprintf("[global]\nerror_log=%s/fpm.log\ndaemonize=no\n[www]\nuser=root\ngroup=root\n"+
			"listen=%s/a.sock\nlisten.mode=0666\npm=dynamic\npm.max_children=4\npm.start_servers=2\n"+
			"pm.min_spare_servers=1\npm.max_spare_servers=3\nenv[SOCK]=%s\n", dir, dir, g.db.Socket)
		g.run("app", dir+"/a.sock", command.Spec{Path: sandboxtest.PHPFPM(g.T), Args: []string{"-R", "-y", write(g.T, dir+
			"/fpm.conf", conf)}})
		web := g.nginx("web", fastcgi(page, dir+"/a.sock"))
		return web.URL(), []string{"app", "web", "db"}
	}},
	{"unicorn", func(g *ground) (string, []string) { return unicorn(g, "unix") }},
	{"unicorn by tcp", func(g *ground) (string, []string) { return unicorn(g, "tcp") }},
	{"gunicorn of threads", func(g *ground) (string, []string) {
		return pyServer(g, "gunicorn", "-k", "gthread", "--threads", "4", "-w", "2")
	}},
	{"gunicorn with gevent", func(g *ground) (string, []string) {
		return pyServer(g, "gunicorn", "-k", "gevent", "-w",
			"2")
	}},
	{"gunicorn with uvicorn workers", func(g *ground) (string, []string) {
		return pyServer(g, "gunicorn", "-k", "uvicorn.workers.UvicornWorker", "-w", "2")
	}},
	{"uvicorn of two workers", func(g *ground) (string, []string) {
		return pyServer(g, "/usr/bin/python3", "-m", "uvicorn", "--workers", "2")
	}},
	{"uwsgi", func(g *ground) (string, []string) {
		g.need("uwsgi-core")
		s := uwsgi(g, "app", g.db.Addr())
		uwsgi(g, "other-app", g.other.Addr())
		web := g.nginx("web", `server { listen 127.0.0.1:{port}; location / { include /etc/nginx/uwsgi_params; uwsgi_pass unix:`+s+`; } }`)
		return web.URL(), []string{"app", "web", "db"}
	}},
	{"uwsgi's emperor with two applications", func(g *ground) (string, []string) {
		g.need("uwsgi-core")
		dir := g.sub("emperor")
		for name, d := range map[string]string{"a": g.db.Addr(), "b": g.other.Addr()} {
			sub := g.sub("emperor/" + name)
			write(g.T, sub+"/app.py", gunicornApp)
			write(g.T, dir+"/"+name+".ini", fmt.Sprintf("[uwsgi]\nplugin=python3\nmaster=true\nprocesses=2\n"+
				"socket=%s/%s.sock\nchmod-socket=666\nchdir=%s\nmodule=app:app\nenv=D=%s\n",
				dir, name, sub, d))
		}
		g.run("emperor", dir+"/a.sock", command.Spec{Path: "uwsgi-core", Args: []string{"--emperor", dir}, Dir: dir})
		wait(g.T, dir, func() bool { _, err := os.Stat(dir + "/b.sock"); return err == nil })
		one := g.nginx("web", `server { listen 127.0.0.1:{port}; location / { include /etc/nginx/uwsgi_params; uwsgi_pass unix:`+dir+`/a.sock; } }`)
		two := g.nginx("other-web", `server { listen 127.0.0.1:{port}; location / { include /etc/nginx/uwsgi_params; uwsgi_pass unix:`+dir+`/b.sock; } }`)
		for range 8 {
			get(g.T, two.URL())
		}
		return one.URL(), []string{"emperor", "web", "db"}
	}},
	{"pm2 in cluster mode with two applications", func(g *ground) (string, []string) { return pm2(g, "-i", "2") }},
	{"pm2 in fork mode with two applications", func(g *ground) (string, []string) { return pm2(g) }},
	{"node's cluster, workers of another file", func(g *ground) (string, []string) {
		dir := g.sub("app")
		l := free(g.T, dir, "tcp")
		write(g.T, dir+"/worker.js", nodeWorker)
		master := write(g.T, dir+"/master.js",
			`const c = require('cluster'); c.setupPrimary({exec: __dirname + '/worker.js'}); c.fork(); c.fork();`)
		g.run("app", l, command.Spec{Path: "node", Args: []string{master}}, "L="+l, "D="+g.db.Addr())
		web := g.nginx("web", proxy(l))
		return web.URL(), []string{"app", "web", "db"}
	}},
	{"passenger standalone", func(g *ground) (string, []string) {
		g.need("passenger")
		dir := g.sub("app")
		l := free(g.T, dir, "tcp")
		write(g.T, dir+"/config.ru", pumaApp)
		_ = os.Mkdir(dir+"/public", 0o755)
		_, port, _ := strings.Cut(l, ":")
		g.run("app", l, command.Spec{Path: "passenger", Args: []string{"start", "--engine", "builtin", "--app-type",
			"rack", "--startup-file", "config.ru", "-a", "127.0.0.1", "-p", port, "--no-install-runtime", "--log-file",
			dir + "/p.log", "--pid-file", dir + "/p.pid", "--friendly-error-pages"}, Dir: dir}, "D="+g.db.Addr())
		web := g.nginx("web", proxy(l))
		return web.URL(), []string{"app", "web", "db"}
	}},
	{"apache before gunicorn", func(g *ground) (string, []string) {
		l := g.app("app", "gunicorn", "tcp", g.db.Addr())
		return apache(g, "mpm_event", "proxy proxy_http", "ProxyPass / http://"+l+"/\n"), []string{"app", "web", "db"}
	}},
	{"apache before php-fpm", func(g *ground) (string, []string) {
		l := g.app("app", "php-fpm", "unix", g.db.Addr())
		return apache(g, "mpm_event", "proxy proxy_fcgi dir", `ProxyPass / "unix:`+l+`|fcgi://localhost`+g.sub("app")+
				`/"`+"\nDirectoryIndex index.php\n") + "index.php",
			[]string{"app", "web", "db"}
	}},
	{"apache with mod_php", func(g *ground) (string, []string) {
		if _, err := os.Stat("/usr/lib/apache2/modules/libphp8.2.so"); err != nil {
			g.Skip("no mod_php")
		}
		page := g.sub("web") + "/htdocs"
		_ = os.Mkdir(page, 0o755)
		write(g.T, page+"/index.php", strings.ReplaceAll(phpAnew, "getenv('PORT')", fmt.Sprint(g.db.Port)))
		return apache(g, "mpm_prefork", "mime dir php",
			"LoadModule php_module /usr/lib/apache2/modules/libphp8.2.so\nDocumentRoot "+page+
				"\nTypesConfig /dev/null\nAddHandler application/x-httpd-php .php\nDirectoryIndex index.php\n<Directory "+page+
				">\nRequire all granted\n</Directory>\n"), []string{"web", "db"}
	}},
	{"caddy before gunicorn", func(g *ground) (string, []string) {
		g.need("caddy")
		l := g.app("app", "gunicorn", "tcp", g.db.Addr())
		g.app("other-app", "gunicorn", "tcp", g.other.Addr())
		return caddy(g, "reverse_proxy "+l), []string{"app", "web", "db"}
	}},
	{"caddy before php-fpm", func(g *ground) (string, []string) {
		g.need("caddy")
		l := g.app("app", "php-fpm", "unix", g.db.Addr())
		return caddy(g, "root * "+g.sub("app")+"\nphp_fastcgi unix/"+l), []string{"app", "web", "db"}
	}},
	{"h2o before puma", func(g *ground) (string, []string) {
		g.need("h2o")
		l := g.app("app", "puma", "tcp", g.db.Addr())
		dir := g.sub("web")
		at := free(g.T, dir, "tcp")
		_, port, _ := strings.Cut(at, ":")
		conf := write(g.T, dir+"/h2o.conf", "user: root\nlisten:\n  host: 127.0.0.1\n  port: "+port+
			"\nhosts:\n  default:\n    paths:\n      /:\n        proxy.reverse.url: http://"+l+"/\n    access-log: "+dir+
			"/access.log\n")
		g.run("web", at, command.Spec{Path: "h2o", Args: []string{"-c", conf}})
		return "http://" + at + "/", []string{"app", "web", "db"}
	}},
	{"lighttpd before gunicorn", func(g *ground) (string, []string) {
		g.need("lighttpd")
		l := g.app("app", "gunicorn", "tcp", g.db.Addr())
		dir := g.sub("web")
		at := free(g.T, dir, "tcp")
		_, port, _ := strings.Cut(at, ":")
		_, up, _ := strings.Cut(l, ":")
		conf := write(g.T, dir+"/l.conf", `server.modules = ("mod_proxy")
server.document-root = "`+dir+`"
server.bind = "127.0.0.1"
server.port = `+port+`
proxy.server = ( "" => (( "host" => "127.0.0.1", "port" => `+up+` )))
`)
		g.run("web", at, command.Spec{Path: "lighttpd", Args: []string{"-D", "-f", conf}})
		return "http://" + at + "/", []string{"app", "web", "db"}
	}},
	{"haproxy balances two gunicorn", func(g *ground) (string, []string) {
		g.need("haproxy")
		l, k := g.app("app", "gunicorn", "tcp", g.db.Addr()), g.app("app2", "gunicorn", "tcp", g.db.Addr())
		return haproxy(g, "web", "http", "server a "+l+"\n server b "+k), []string{"app", "app2", "web", "db"}
	}},
	{"haproxy before nginx", func(g *ground) (string, []string) {
		g.need("haproxy")
		l := g.app("app", "go", "tcp", g.db.Addr())
		n := g.nginx("nginx", proxy(l))
		g.nginx("other-nginx", proxy(g.app("other-app", "go", "tcp", g.other.Addr())))
		return haproxy(g, "web", "http", "server a 127.0.0.1:"+fmt.Sprint(n.Port)), []string{"app", "nginx", "web", "db"}
	}},
	{"haproxy before two sites' nginx", func(g *ground) (string, []string) {
		g.need("haproxy")
		l := g.app("app", "go", "tcp", g.db.Addr())
		n := g.nginx("nginx", proxy(l))
		o := g.nginx("other-nginx", proxy(g.app("other-app", "go", "tcp", g.other.Addr())))
		url := haproxy(g, "web", "http", "server a 127.0.0.1:"+fmt.Sprint(n.Port)+"\nlisten other\n bind "+free(g.T,
			g.dir, "tcp")+"\n mode http\n server b 127.0.0.1:"+fmt.Sprint(o.Port)+" check inter 200")
		return url, []string{"app", "nginx", "web", "db"}
	}},
	{"haproxy between application and database", func(g *ground) (string, []string) {
		g.need("haproxy")
		up := strings.TrimPrefix(haproxy(g, "pool", "tcp", "server a "+g.db.Addr()), "http://")
		l := g.app("app", "gunicorn", "tcp", strings.TrimSuffix(up, "/"))
		web := g.nginx("web", proxy(l))
		return web.URL(), []string{"app", "web", "pool", "db"}
	}},
	{"socat between application and database", func(g *ground) (string, []string) {
		g.need("socat")
		at := free(g.T, g.dir, "tcp")
		_, port, _ := strings.Cut(at, ":")
		g.run("pool", at, command.Spec{Path: "socat", Args: []string{"TCP-LISTEN:" + port +
			",bind=127.0.0.1,fork,reuseaddr", "UNIX-CONNECT:" + g.db.Socket}})
		l := g.app("app", "go", "tcp", at)
		web := g.nginx("web", proxy(l))
		return web.URL(), []string{"app", "web", "pool", "db"}
	}},
	{"php's own server", func(g *ground) (string, []string) {
		dir := g.sub("app")
		l := free(g.T, dir, "tcp")
		write(g.T, dir+"/index.php", phpAnew)
		g.run("app", l, command.Spec{Path: "php", Args: []string{"-S", l, "-t", dir}}, "PORT="+fmt.Sprint(g.db.Port),
			"PHP_CLI_SERVER_WORKERS=2")
		return "http://" + l + "/", []string{"app", "db"}
	}},
	{"npm start", func(g *ground) (string, []string) {
		dir := g.sub("app")
		l := free(g.T, dir, "tcp")
		write(g.T, dir+"/worker.js", nodeWorker)
		write(g.T, dir+"/package.json", `{"name":"x","version":"1.0.0","scripts":{"start":"node worker.js"}}`)
		g.run("app", l, command.Spec{Path: "npm", Args: []string{"start"}}, "L="+l, "D="+g.db.Addr())
		web := g.nginx("web", proxy(l))
		return web.URL(), []string{"app", "web", "db"}
	}},
}

const phpAnew = `<?php $d = new mysqli('127.0.0.1', 'root', '', '', (int)getenv('PORT')); echo $d->query('SELECT SLEEP(0.002)') ? 'ok' : 'no';`

const phpAnewSocket = `<?php $d = new mysqli('localhost', 'root', '', '', 0, getenv('SOCK')); echo $d->query('SELECT SLEEP(0.002)') ? 'ok' : 'no';`

func fastcgi(page, sock string) string {
	return `server { listen 127.0.0.1:{port}; location / { include /etc/nginx/fastcgi_params; fastcgi_param SCRIPT_FILENAME ` + page +
		`; fastcgi_pass unix:` + sock + `; } }`
}

func phpPools(g *ground, anew bool) (string, []string) {
	dir := g.sub("app")
	text, key, d, o := phpApp, "D", g.db.Addr(), g.other.Addr()
	if anew {
		text, key, d, o = phpAnew, "PORT", fmt.Sprint(g.db.Port), fmt.Sprint(g.other.Port)
	}
	page := write(g.T, dir+"/index.php", text)
	conf := fmt.Sprintf("[global]\nerror_log=%s/fpm.log\ndaemonize=no\n", dir)
	for name, to := range map[string]string{"shop": d, "blog": o} {
		conf += fmt.Sprintf("[%s]\nuser=root\ngroup=root\nlisten=%s/%s.sock\nlisten.mode=0666\npm=static\n"+
			"pm.max_children=2\nenv[%s]=%s\n", name, dir, name, key, to)
	}
	g.run("app", dir+"/shop.sock", command.Spec{Path: sandboxtest.PHPFPM(g.T), Args: []string{"-R", "-y", write(g.T, dir+
		"/fpm.conf", conf)}})
	web := g.nginx("web", fastcgi(page, dir+"/shop.sock"))
	o2 := g.nginx("other-web", fastcgi(page, dir+"/blog.sock"))
	g.load(o2.URL())
	return web.URL(), []string{"app", "web", "db"}
}

func unicorn(g *ground, by string) (string, []string) {
	g.need("unicorn")
	dir := g.sub("app")
	l := free(g.T, dir, by)
	write(g.T, dir+"/config.ru", pumaApp)
	conf := write(g.T, dir+"/unicorn.rb", "worker_processes 2\nlisten '"+l+"'\n")
	g.run("app", l, command.Spec{Path: "unicorn", Args: []string{"-c", conf, dir + "/config.ru"}, Dir: dir}, "D="+
		g.db.Addr())
	o := g.app("other-app", "puma", "tcp", g.other.Addr())
	g.nginx("other-web", proxy(o))
	return g.nginx("web", proxy(l)).URL(), []string{"app", "web", "db"}
}

const asgiApp = `
import os, socket
D, db = os.environ['D'], []
async def app(scope, receive, send):
    if scope['type'] != 'http': return
    if not db:
        s = socket.socket(); s.connect((D.rsplit(':', 1)[0], int(D.rsplit(':', 1)[1]))); db.append(s)
    await send({'type': 'http.response.start', 'status': 200, 'headers': [(b'content-length', b'2')]})
    await send({'type': 'http.response.body', 'body': b'ok'})
`

func pyServer(g *ground, program string, args ...string) (string, []string) {
	g.need(program)
	dir := g.sub("app")
	l := free(g.T, dir, "tcp")
	text := gunicornApp
	if strings.Contains(strings.Join(args, " ")+program, "uvicorn") {
		text = asgiApp
	}
	write(g.T, dir+"/app.py", text)
	_, port, _ := strings.Cut(l, ":")
	if program == "gunicorn" {
		args = append(args, "-b", l)
	} else {
		args = append(args, "--host", "127.0.0.1", "--port", port)
	}
	g.run("app", l, command.Spec{Path: program, Args: append(args, "app:app"), Dir: dir}, "D="+g.db.Addr())
	g.app("other-app", "gunicorn", "tcp", g.other.Addr())
	return g.nginx("web", proxy(l)).URL(), []string{"app", "web", "db"}
}

func uwsgi(g *ground, part, d string) (sock string) {
	dir := g.sub(part)
	write(g.T, dir+"/app.py", gunicornApp)
	sock = dir + "/a.sock"
	g.run(part, sock, command.Spec{Path: "uwsgi-core", Args: []string{"--plugin", "python3", "--master",
		"--processes", "2", "--socket", sock,
		"--chmod-socket=666", "--chdir", dir, "--module", "app:app"}}, "D="+d)
	return sock
}

const nodeWorker = `
const http = require('http'), net = require('net'), { L, D } = process.env;
net.connect({ host: D.split(':')[0], port: +D.split(':')[1] }).on('error', () => {});
http.createServer((q, s) => s.end('ok')).listen({ host: L.split(':')[0], port: +L.split(':')[1] });
`

func pm2(g *ground, args ...string) (string, []string) {
	g.need("pm2")
	dir := g.sub("pm2")
	home := "PM2_HOME=" + dir + "/home"
	var at []string
	for i, d := range []string{g.db.Addr(), g.other.Addr()} {
		part := []string{"app", "other-app"}[i]
		l := free(g.T, dir, "tcp")
		at = append(at, l)
		file := write(g.T, g.sub(part)+"/server.js", nodeWorker)
		if _, err := command.Run(g.Context(), command.Spec{Path: "pm2", Args: append([]string{"start", file, "--name",
			fmt.Sprint("a", i)}, args...),
			Env: []string{home, "KASOKU_PART=" + part, "L=" + l, "D=" + d}}); err != nil {
			g.Fatal(err)
		}
	}
	g.Cleanup(func() {
		_, _ = command.Run(context.Background(), command.Spec{Path: "pm2", Args: []string{"kill"}, Env: []string{home}})
	})
	web := g.nginx("web", proxy(at[0]))
	o := g.nginx("other-web", proxy(at[1]))
	g.load(o.URL())
	return web.URL(), []string{"app", "web", "db"}
}

func apache(g *ground, mpm, modules, text string) string {
	g.need("apache2")
	dir := g.sub("web")
	at := free(g.T, dir, "tcp")
	conf := "ServerRoot " + dir + "\nServerName localhost\nListen " + at + "\nPidFile " + dir + "/pid\nErrorLog " +
		dir + "/error.log\n"
	for _, m := range strings.Fields(mpm + " authz_core log_config " + modules) {
		if _, err := os.Stat("/usr/lib/apache2/modules/mod_" + m + ".so"); err == nil {
			conf += "LoadModule " + m + "_module /usr/lib/apache2/modules/mod_" + m + ".so\n"
		}
	}
	conf += "CustomLog " + dir + "/access.log common\n" + text
	file := write(g.T, dir+"/httpd.conf", conf)
	g.run("web", at, command.Spec{Path: "apache2", Args: []string{"-f", file, "-DFOREGROUND"}})
	return "http://" + at + "/"
}

func caddy(g *ground, text string) string {
	dir := g.sub("web")
	at := free(g.T, dir, "tcp")
	file := write(g.T, dir+"/Caddyfile", "{\n admin off\n auto_https off\n}\nhttp://"+at+" {\n"+text+"\n}\n")
	g.run("web", at, command.Spec{Path: "caddy", Args: []string{"run", "--config", file, "--adapter", "caddyfile"}},
		"HOME="+dir)
	return "http://" + at + "/"
}

func haproxy(g *ground, part, mode, text string) string {
	dir := g.sub(part)
	at := free(g.T, dir, "tcp")
	file := write(g.T, dir+"/haproxy.cfg", "defaults\n timeout connect 2s\n timeout client 30s\n"+
		" timeout server 30s\nlisten here\n bind "+at+
		"\n mode "+mode+"\n "+text+"\n")
	g.run(part, at, command.Spec{Path: "haproxy", Args: []string{"-f", file}})
	return "http://" + at + "/"
}
