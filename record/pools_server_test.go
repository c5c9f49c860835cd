package record

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// pageAnew connects for each request, and ends its connection with it.
const pageAnew = `<?php $d = getenv('SOCK') ? new mysqli('localhost', getenv('U'), '', getenv('DB'), 0, getenv('SOCK'))
	: new mysqli('127.0.0.1', getenv('U'), '', getenv('DB'), (int)getenv('PORT'));
$d->query('SELECT id, SLEEP(0.04) FROM ' . getenv('T') . ' WHERE id = ' . rand(1, 9)); echo 'ok';`

const poolsConf = `{user}
pid "{dir}/nginx.pid"; error_log "{dir}/error.log"; events {}
http { access_log "{dir}/access.log"; include /etc/nginx/fastcgi_params; fastcgi_param SCRIPT_FILENAME %[1]s;
  server { listen 127.0.0.1:{port} default_server; server_name shop.test; location / { fastcgi_pass unix:%[2]s/shop.sock; } }
  server { listen 127.0.0.1:{port}; server_name blog.test; location / { fastcgi_pass unix:%[2]s/blog.sock; } } }`

// startPools starts two sites, shop and blog, whose pools have one PHP-FPM, with a database each of a
// server, before one nginx.
func startPools(t *testing.T, s *sandbox.Server, socket bool) *sandbox.NginxServer {
	t.Helper()
	db := sandboxtest.DB(t, s, "")
	dir, err := os.MkdirTemp("", "fpm") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	conf := "[global]\nerror_log=" + dir + "/fpm.log\ndaemonize=no\n"
	for pool, table := range map[string]string{"shop": "own", "blog": "nbtable"} {
		sandboxtest.Exec(t, db, "CREATE DATABASE "+pool, "CREATE TABLE "+pool+"."+table+" (id INT)",
			"INSERT INTO "+pool+"."+table+" VALUES (1),(2),(3)", "CREATE USER "+pool+"@'%'", "CREATE USER "+pool+"@localhost",
			"GRANT ALL ON *.* TO "+pool+"@'%'", "GRANT ALL ON *.* TO "+pool+"@localhost")
		conf += fmt.Sprintf("[%[1]s]\nuser=root\ngroup=root\nlisten=%[2]s/%[1]s.sock\nlisten.mode=0666\npm=static\n"+
			"pm.max_children=2\nenv[DB]=%[1]s\nenv[U]=%[1]s\nenv[T]=%[3]s\nenv[PORT]=%[4]d\n", pool, dir, table, s.Port)
		if socket {
			conf += "env[SOCK]=" + s.Socket + "\n"
		}
	}
	page := filepath.Join(dir, "index.php")
	for path, text := range map[string]string{page: pageAnew, filepath.Join(dir, "fpm.conf"): conf} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fpm, err := command.Start(t.Context(), command.Spec{Path: sandboxtest.PHPFPM(t), DieWithParent: true, Stderr: os.Stderr,
		Args: []string{"-R", "-y", filepath.Join(dir, "fpm.conf")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = fpm.Stop() })
	web := sandboxtest.Nginx(t, sandbox.NginxOptions{Config: fmt.Sprintf(poolsConf, page, dir)})
	sandboxtest.Until(t, "the sites answer", func() bool { return answersOK(t, web, "shop.test") && answersOK(t, web, "blog.test") })
	return web
}

// visitBlog asks the blog's site until the test ends.
func visitBlog(t *testing.T, web *sandbox.NginxServer) {
	t.Helper()
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				answersOK(t, web, "blog.test")
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-ended })
}

// TestRecord_Pools: two sites whose pools have one PHP-FPM, and that connect anew to one database for
// each request: of the one that is not measured no statement is in the run, and of the other all are;
// by Unix sockets none, where it was not seen whose a session is.
func TestRecord_Pools(t *testing.T) {
	turn.Wait(t)
	for name, c := range map[string]struct {
		socket bool
		schema string
	}{"by TCP": {}, "by Unix sockets": {socket: true}, "by Unix sockets, the schema named": {true, "shop"}} {
		t.Run(name, func(t *testing.T) {
			s := sandboxtest.MariaDB(t, sandbox.Options{})
			web := startPools(t, s, c.socket)
			visitBlog(t, web)
			engine, err := nethttp.New(nethttp.Options{})
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "x.kasoku")
			if _, err = Record(t.Context(), Options{Path: path, Capture: &capture.Options{}, Sources: Sources{AccessLog: web.AccessLog},
				Database: Database{MySQL: s.DSN("", c.schema), SlowLog: true}, Course: Course{Load: &Load{Targets: []load.Target{{
					Method: http.MethodGet, URL: web.URL() + "/", Header: http.Header{"Host": {"shop.test"}}}}, Engine: engine,
					Each: 6 * time.Second, Next: Climb(20)}}}); err != nil {
				t.Fatal(err)
			}
			rec, err := store.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			if own := callsOf(rec, "own"); own < 100 && (own > 0 || !c.socket || c.schema != "") {
				t.Errorf("%d calls of the service; %+v\n%+v", own, rec.Warnings, rec.Service)
			}
			said := slices.ContainsFunc(rec.Warnings, func(w kasoku.Warning) bool {
				return w.Code == "shared-server" || w.Code == "sessions-unknown"
			})
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if n := callsOf(rec, "nbtable"); n > 0 || bytes.Contains(file, []byte("nbtable")) || !said {
				t.Errorf("%d calls of the other site; %+v\n%+v", n, rec.Warnings, rec.Service)
			}
		})
	}
}

// answersOK reports whether a site answers.
func answersOK(t *testing.T, web *sandbox.NginxServer, host string) bool {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL()+"/", nil)
	if err != nil {
		return false
	}
	req.Host = host
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}
