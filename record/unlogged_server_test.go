package record

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose/rules/index"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
	"github.com/kasoku/kasoku/trace/window"
)

// pagePooled keeps its connection from one request to the next.
const pagePooled = `<?php $d = new PDO('mysql:host=127.0.0.1;dbname=shop;port=' . getenv('PORT'), 'root', '',
	[PDO::ATTR_PERSISTENT => true, PDO::ATTR_EMULATE_PREPARES => false]);
$name = 'name ' . rand(1, 9999);
$d->query("SELECT id, name FROM items WHERE name = '$name' ORDER BY id LIMIT 5")->fetchAll();
$p = $d->prepare('SELECT name FROM items WHERE id = ?'); $p->bindValue(1, rand(1, 9999), PDO::PARAM_INT); $p->execute();
$p->fetchAll(); echo 'ok';`

// startPooled starts a site whose connections to the database are open before the run.
func startPooled(t *testing.T, s *sandbox.Server) *sandbox.NginxServer {
	t.Helper()
	db := sandboxtest.DB(t, s, "")
	sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.items (id INT PRIMARY KEY, name VARCHAR(50), note TEXT)",
		"INSERT INTO shop.items SELECT seq, CONCAT('name ', seq), REPEAT('x', 100) FROM shop.seq_1_to_20000",
		"ANALYZE TABLE shop.items")
	dir, err := os.MkdirTemp("", "fpm") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	page := filepath.Join(dir, "index.php")
	for path, text := range map[string]string{page: pagePooled, filepath.Join(dir, "fpm.conf"): fmt.Sprintf("[global]\nerror_log=%s/fpm.log\n"+
		"daemonize=no\n[shop]\nuser=root\ngroup=root\nlisten=%[1]s/shop.sock\nlisten.mode=0666\npm=static\npm.max_children=2\n"+
		"env[PORT]=%[2]d\n", dir, s.Port)} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fpm, err := command.Start(t.Context(), command.Spec{Path: "php-fpm8.2", DieWithParent: true, Stderr: os.Stderr,
		Args: []string{"-R", "-y", filepath.Join(dir, "fpm.conf")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = fpm.Stop() })
	web := sandboxtest.Nginx(t, sandbox.NginxOptions{Config: fmt.Sprintf(`{user}
pid "{dir}/nginx.pid"; error_log "{dir}/error.log"; events {}
http { access_log "{dir}/access.log"; include /etc/nginx/fastcgi_params; fastcgi_param SCRIPT_FILENAME %s;
  server { listen 127.0.0.1:{port}; location / { fastcgi_pass unix:%s/shop.sock; } } }`, page, dir)})
	sandboxtest.Until(t, "the site answers", func() bool { return answersOK(t, web, "shop.test") })
	for range 20 { // both programs have their connection
		answersOK(t, web, "shop.test")
	}
	return web
}

// TestRecord_Unlogged: the sessions of a pool that was open before the run write nothing into the slow log of
// a MariaDB that does not count statements itself. The run's statements are those of the trace then, with
// texts, plans and rows, and what they lack is named.
func TestRecord_Unlogged(t *testing.T) {
	turn.Wait(t)
	s := sandboxtest.MariaDB(t, sandbox.Options{})
	web := startPooled(t, s)
	engine, err := nethttp.New(nethttp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.kasoku")
	if _, err = Record(t.Context(), Options{Path: path, Capture: &capture.Options{}, Database: Database{MySQL: s.DSN("", "shop"), SlowLog: true},
		Sources: Sources{AccessLog: web.AccessLog, Trace: &window.Plan{For: time.Second, After: time.Second, Asked: true}},
		Rules:   index.Rules(), Course: Course{Load: &Load{Targets: []load.Target{{Method: http.MethodGet, URL: web.URL() + "/"}},
			Engine: engine, Each: 8 * time.Second, Next: Climb(20)}}}); err != nil {
		t.Fatal(err)
	}
	rec, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.Traces) != 1 || rec.Traces[0].Interval.Len() < 4*time.Second || rec.StatementSource() != kasoku.FromTrace {
		t.Fatalf("statements from %s; %+v\n%+v", rec.StatementSource(), rec.Traces, rec.Warnings)
	}
	for text, rows := range map[string]float64{"where name = ?": 20_000, "where id = ?": 1} {
		at := slices.IndexFunc(rec.Queries, func(q kasoku.Query) bool { return strings.Contains(q.Fingerprint, text) })
		if at < 0 {
			t.Fatalf("no %q among %+v", text, rec.Queries)
		}
		q := &rec.Queries[at]
		if examined := float64(q.RowsExamined) / float64(q.Calls); q.Calls < 100 || q.Calls > 220 || examined < rows || examined > rows+10 ||
			q.RowsSent != q.Calls || q.Raw != "" {
			t.Errorf("%d calls of %s, each %v rows of %d; raw %q", q.Calls, text, examined, q.RowsSent, q.Raw)
		}
		if planned := slices.IndexFunc(rec.Plans, func(p kasoku.Plan) bool { return p.QueryID == q.ID }); planned < 0 || len(rec.Plans[planned].Rows) == 0 {
			t.Errorf("no plan of %s: %+v", text, rec.Plans)
		}
	}
	if !slices.ContainsFunc(rec.Diagnosis.Findings, func(f kasoku.Finding) bool { return f.Object.Name == "items" && len(f.Fixes) > 0 }) {
		t.Errorf("the index of items is not proposed: %+v", rec.Diagnosis.Findings)
	}
	if b, err := os.ReadFile(path); err != nil || strings.Contains(string(b), "'name 1") {
		t.Errorf("the run keeps values of statements: %v", err)
	}
}
