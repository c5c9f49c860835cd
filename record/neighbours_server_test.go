package record

import (
	"bytes"
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// The words that configurations hold: a member's are kept, a neighbour's are not.
const (
	ownWord       = "planted_own_word"
	neighbourWord = "planted_word_of_a_neighbour"
)

const wordConf = `{user}
# WORD
pid "{dir}/nginx.pid"; error_log "{dir}/error.log"; events {}
http { include {dir}/site*.conf; access_log "{dir}/access.log"; server { listen 127.0.0.1:{port}; location / { proxy_pass http://{upstream}; } } }`

// plantedNginx starts an nginx whose files hold a word; the files of both lie side by side
// in one directory, as in conf.d.
func plantedNginx(t *testing.T, word, upstream string) *sandbox.NginxServer {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "site.conf"), []byte("# "+word+"_site\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return sandboxtest.Nginx(t, sandbox.NginxOptions{Dir: dir, Upstream: upstream, Config: strings.ReplaceAll(wordConf, "WORD", word)})
}

// plantedDatabase starts a MariaDB by an option file that includes another, both with a
// word. The sandbox makes its data. It leaves a connection open that says nothing, as
// [dialling] has one.
func plantedDatabase(t *testing.T, word string) *sandbox.Server {
	t.Helper()
	home, err := os.MkdirTemp("", "db") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	s := sandboxtest.MariaDB(t, sandbox.Options{Dir: home})
	program, err := os.Readlink("/proc/" + strconv.Itoa(s.Pid()) + "/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "my.cnf")
	for path, text := range map[string]string{
		file: "# " + word + "\n[mysqld]\n!include " + dir + "/more.cnf\n[mysqld]\ndatadir=" + s.Dir + "/data\nport=" + strconv.Itoa(s.Port) +
			"\nsocket=" + s.Socket + "\nbind-address=127.0.0.1\nconnect_timeout=600\npid-file=" + dir + "/pid\nlog-error=" + dir + "/error.log\n",
		filepath.Join(dir, "more.cnf"): "# " + word + "_more\n[mysqld]\ninit_connect='/*" + word + "*/'\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	spec := command.Spec{Path: program, Args: []string{"--defaults-file=" + file}, DieWithParent: true}
	if os.Geteuid() == 0 {
		spec.Args = append(spec.Args, "--user=root")
	}
	p, err := command.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = p.Stop() })
	db := sandboxtest.DB(t, s, "")
	sandboxtest.Until(t, "the database answers", func() bool { return db.PingContext(t.Context()) == nil })
	return s
}

// TestRecord_Neighbours: two nginx and two databases on one host, of which one each is
// another project's: the run holds no byte of their files, however the service is named.
func TestRecord_Neighbours(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	db, other := plantedDatabase(t, ownWord+"_db"), plantedDatabase(t, neighbourWord+"_db")
	app := dialling(t, db)
	foreign := dialling(t, other)
	web, beside := plantedNginx(t, ownWord, app), plantedNginx(t, neighbourWord, foreign)
	engine, err := nethttp.New(nethttp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	target := load.Target{Method: http.MethodGet, URL: web.URL() + "/"}
	byLoad := &Load{Targets: []load.Target{target}, Engine: engine, Each: 2 * time.Second, Next: Climb(20)}
	unnamed := Course{Command: []string{"sh", "-c", "exit 0"}}
	for name, c := range map[string]struct {
		o              Options
		nginx, options bool
		note           string
	}{
		"by its load":      {o: Options{Course: Course{Load: byLoad}, Database: Database{MySQL: db.DSN("", "")}}, nginx: true, options: true},
		"by its log":       {o: Options{Course: Course{For: 3 * time.Second}, Sources: Sources{AccessLog: web.AccessLog}}, nginx: true, options: true},
		"by its port":      {o: Options{Course: Course{For: 3 * time.Second}, Service: Named{Port: web.Port}}, nginx: true, options: true},
		"by its database":  {o: Options{Course: Course{For: 3 * time.Second}, Database: Database{MySQL: db.DSN("", "")}}, options: true, note: "an access log"},
		"of which nothing": {o: Options{Course: unnamed}, note: "[service]"},
	} {
		t.Run(name, func(t *testing.T) {
			o := c.o
			o.Path, o.Capture = filepath.Join(t.TempDir(), "x.kasoku"), &capture.Options{}
			res, err := Record(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			kept := func(word string) bool {
				return slices.ContainsFunc(res.Recording.Configs, func(c kasoku.Config) bool { return strings.Contains(c.Text, word) })
			}
			if got := kept(ownWord+"_site") && kept("# "+ownWord); got != c.nginx {
				t.Errorf("nginx kept: %v; %+v", got, res.Recording.Service)
			}
			if got := kept(ownWord + "_db_more"); got != c.options {
				t.Errorf("option file kept: %v; %+v", got, res.Recording.Warnings)
			}
			noted := res.Recording.Service != nil && slices.ContainsFunc(res.Recording.Service.Unknown, func(u kasoku.Unseen) bool {
				return strings.Contains(u.Why, "of none it is kept") && strings.Contains(u.Show, c.note)
			})
			if noted != (c.note != "") {
				t.Errorf("unknown %+v", res.Recording.Service)
			}
			file, err := os.ReadFile(o.Path)
			if err != nil {
				t.Fatal(err)
			}
			for _, trace := range []string{neighbourWord, beside.Dir} {
				if bytes.Contains(file, []byte(trace)) {
					t.Errorf("the file holds %q of a neighbour", trace)
				}
			}
			named := c.note != "[service]" // else all that the host has is measured
			for _, at := range []string{foreign, "127.0.0.1:" + strconv.Itoa(beside.Port), other.Socket} {
				if named && bytes.Contains(file, []byte(at)) {
					t.Errorf("the file holds the listener %s of a neighbour", at)
				}
			}
		})
	}
}

const plainConf = `{user}
pid "{dir}/nginx.pid"; error_log "{dir}/error.log"; events {}
http { access_log "{dir}/access.log"; server { listen 127.0.0.1:{port}; location / { proxy_pass http://{upstream}; } } }`

// TestRecord_OthersSite: another project's site of the service's own nginx, in a file of its
// own, is not in the run, nor what is left of it in the file.
func TestRecord_OthersSite(t *testing.T) {
	t.Parallel()
	db := plantedDatabase(t, ownWord+"_db")
	dir := t.TempDir()
	conf := strings.Replace(wordConf, "listen 127.0.0.1:{port};", "listen 127.0.0.1:{port} default_server;", 1)
	end := strings.LastIndexByte(conf, '}')
	conf = conf[:end] + "\n  server { listen 127.0.0.1:{port}; server_name wiki.test; root /srv/" + neighbourWord +
		"; }\n" + conf[end:]
	web := sandboxtest.Nginx(t, sandbox.NginxOptions{Dir: dir, Upstream: dialling(t, db), Config: conf})
	site := "server { listen 127.0.0.1:" + strconv.Itoa(web.Port) + "; server_name blog.test; root /srv/" + neighbourWord + "; }\n"
	for name, text := range map[string]string{"site-blog.conf": site, "site.conf": "# " + ownWord + "_site\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Kill(web.Pid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	sandboxtest.Until(t, "the blog's site answers", func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL()+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "blog.test"
		res, err := http.DefaultClient.Do(req)
		return err == nil && res.Body.Close() == nil && res.StatusCode == http.StatusNotFound
	})
	engine, err := nethttp.New(nethttp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Path: filepath.Join(t.TempDir(), "x.kasoku"), Capture: &capture.Options{}, Course: Course{Load: &Load{
		Targets: []load.Target{{Method: http.MethodGet, URL: web.URL() + "/"}}, Engine: engine, Each: 2 * time.Second, Next: Climb(20)}}}
	res, err := Record(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(res.Recording.Configs, func(c kasoku.Config) bool { return strings.Contains(c.Text, ownWord+"_site") }) {
		t.Errorf("the service's own files are not kept: %+v", res.Recording.Service)
	}
	if !slices.ContainsFunc(res.Recording.Configs, func(c kasoku.Config) bool {
		return strings.Contains(c.Text,
			"# kasoku: of another site")
	}) {
		t.Errorf("nothing says what was left out: %+v", res.Recording.Configs)
	}
	file, err := os.ReadFile(o.Path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(file, []byte(neighbourWord)) {
		t.Error("the file holds another project's site")
	}
}

// TestRecord_Logs: that a log is not there, or another server's, is said when the run
// begins and when it ends; that rules are blind for want of values, once, with the line
// that grants them, and never of an application's own log.
func TestRecord_Logs(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	db := sandboxtest.MariaDB(t, sandbox.Options{})
	app := dialling(t, db)
	web := sandboxtest.Nginx(t, sandbox.NginxOptions{Config: plainConf, Upstream: app})
	rich := sandboxtest.Nginx(t, sandbox.NginxOptions{Upstream: app})
	beside := sandboxtest.Nginx(t, sandbox.NginxOptions{Upstream: app})
	own := filepath.Join(t.TempDir(), "own.log")
	if err := os.WriteFile(own, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	engine, err := nethttp.New(nethttp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := func(url, log string, begin, end []string, hint string) *Result {
		t.Helper()
		var said []string
		o := Options{Path: filepath.Join(t.TempDir(), "x.kasoku"), Sources: Sources{AccessLog: log},
			OnDoubt: func(w kasoku.Warning) { said = append(said, w.Code) }}
		o.Load = &Load{Targets: []load.Target{{Method: http.MethodGet, URL: url + "/"}}, Engine: engine, Each: 2 * time.Second, Next: Climb(20)}
		res, err := Record(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(said, begin) {
			t.Errorf("%s: said %q when it began, want %q", log, said, begin)
		}
		var ended []string
		for _, w := range res.Recording.Warnings {
			if strings.HasPrefix(w.Code, "log-") || w.Code == "empty-log" {
				ended = append(ended, w.Code)
				if !strings.Contains(w.Text+w.Hint, hint) {
					t.Errorf("%s: no %q in %+v", log, hint, w)
				}
			}
		}
		if slices.Sort(ended); !slices.Equal(ended, end) {
			t.Errorf("%s: warned of %q, want %q: %+v", log, ended, end, res.Recording.Warnings)
		}
		return res
	}
	f(web.URL(), web.AccessLog, nil, []string{"log-lacks"}, "")
	f(web.URL(), web.AccessLog, nil, []string{"log-lacks"}, "has no $request_time and no $upstream_response_time")
	f(web.URL(), web.AccessLog, nil, []string{"log-lacks"}, "log_format kasoku \"time:$msec")
	f(rich.URL(), rich.AccessLog, nil, nil, "")
	f(web.URL(), beside.AccessLog, []string{"log-foreign"}, []string{"empty-log", "log-foreign"}, "")
	f(web.URL(), filepath.Join(t.TempDir(), "none.log"), []string{"log-missing"}, []string{"log-missing"}, "none.log")
	// An application alone, whose log someone else writes for it here.
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(100 * time.Millisecond):
			}
			line := fmt.Sprintf("127.0.0.1 - - [%s] \"GET / HTTP/1.1\" 200 2 \"-\" \"x\"\n", time.Now().Format("02/Jan/2006:15:04:05 -0700"))
			log, err := os.OpenFile(own, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, _ = log.WriteString(line)
				_ = log.Close()
			}
		}
	}()
	if res := f("http://"+app, own, nil, nil, ""); len(res.Recording.Logs) != 1 || res.Recording.Logs[0].Lines == 0 {
		t.Errorf("logs %+v", res.Recording.Logs)
	}
}

// TestMain is, in a child, a program that answers at $KASOKU_TEST_LISTEN and is connected
// to $KASOKU_TEST_DIAL.
func TestMain(m *testing.M) {
	at := os.Getenv("KASOKU_TEST_LISTEN")
	switch {
	case at == "":
		os.Exit(m.Run())
	case os.Getenv("KASOKU_TEST_DSN") != "":
		querying()
	}
	l, err := net.Listen("tcp", at)
	var db *sql.DB
	if err == nil {
		if db, err = mysqlflags.OpenDSN("root@unix(" + os.Getenv("KASOKU_TEST_DIAL") + ")/"); err == nil {
			err = db.Ping() // that logs in, else the server ends it after connect_timeout, 10 s
		}
	}
	if err == nil {
		err = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") }))
	}
	runtime.KeepAlive(db)
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// freeAddress is where nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

// dialling starts a program that answers requests and keeps a connection to a database.
func dialling(t *testing.T, db *sandbox.Server) (address string) {
	t.Helper()
	address = freeAddress(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := command.Start(t.Context(), command.Spec{Path: exe, DieWithParent: true, Stderr: os.Stderr,
		Env: []string{"KASOKU_TEST_LISTEN=" + address, "KASOKU_TEST_DIAL=" + db.Socket}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = p.Stop() })
	sandboxtest.Until(t, "the program answers", func() bool {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return false
		}
		_ = c.Close()
		return true
	})
	return address
}
