package window

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// An app is a server of another language: how it is started, and where it listens.
type app struct {
	name    string
	command func(t *testing.T, dir, listen string) *exec.Cmd
	after   func(t *testing.T, dir string) string // what passes requests on to it in nginx; nil: it speaks HTTP
	piped   bool                                  // it is also asked in pipelines
	jobs    bool
	paths   []string
	locks   string // what locks rows while other services are called; empty: none are called
	starter string // the program by which others are started, if any
}

var apps = []app{
	{"gunicorn", func(t *testing.T, dir, listen string) *exec.Cmd {
		return exec.Command("gunicorn", "-k", "gthread", "-w", "2", "--threads", "12", "--keep-alive", "5",
			"--graceful-timeout", "1",
			"-b", listen,
			"--chdir", abs(t, "testdata"), "app:app")
	}, nil, false, true, []string{"/one", "/posts", "/tx", "/none", "/slow", "/late"}, "select ? for update", ""},
	{"uwsgi", func(t *testing.T, dir, _ string) *exec.Cmd {
		return exec.Command("uwsgi-core", "--plugin", "python3", "--socket", filepath.Join(dir, "app.sock"), "--listen", "511",
			"--processes", "2", "--threads", "12", "--master", "--lazy-apps", "--die-on-term", "--disable-logging",
			"--chdir", abs(t, "testdata"), "--wsgi", "app:app")
	}, byUWSGI, false, true, []string{"/one", "/posts", "/tx", "/none", "/slow", "/late"}, "select ? for update", ""},
	{"puma", func(t *testing.T, dir, listen string) *exec.Cmd {
		return exec.Command("puma", "-q", "-t", "8:8", "-b", "tcp://"+listen, abs(t, "testdata/config.ru"))
	}, nil, true, true, []string{"/one", "/posts", "/prepared", "/none", "/slow"}, "", ""},
	{"php-fpm", func(t *testing.T, dir, listen string) *exec.Cmd {
		conf := filepath.Join(dir, "fpm.conf")
		text := fmt.Sprintf("[global]\nerror_log = %s/fpm.log\ndaemonize = no\n[www]\nuser = root\ngroup = root\nlisten = %s/app.sock\n"+
			"pm = static\npm.max_children = 12\nclear_env = no\nlisten.backlog = 511\n", dir, dir)
		if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return exec.Command(sandboxtest.PHPFPM(t), "-R", "-F", "-y", conf)
	}, byFastCGI, false, false, []string{"/one", "/posts", "/prepared", "/none", "/late"}, "", ""},
}

func abs(t *testing.T, name string) string {
	t.Helper()
	out, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTruth_Threads: servers in which a thread, or a process, works for one request at a time.
func TestTruth_Threads(t *testing.T) {
	needRights(t)
	turn.Wait(t)
	db := sandboxtest.MariaDB(t, sandboxtest.Unsafe())
	other := startOther(t)
	for _, a := range apps {
		t.Run(a.name, func(t *testing.T) { a.truth(t, db, other) })
	}
}

// truth holds what is seen of an app to what its statements say of themselves.
func (a *app) truth(t *testing.T, db *sandbox.Server, other string) {
	base, pid := a.start(t, db, other)
	targets := func() (out []Target) {
		for _, pid := range family(pid) {
			out = append(out, Target{PID: pid, Member: a.name})
		}
		return out
	}
	t.Run("programs", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		watched := targets()
		wg := drive(ctx, t, keepAlive(4), base, 4, "/start", "/one")
		startsAreExact(t, watch(t, &judge{}, watched...), a.starter)
		cancel()
		wg.Wait()
	})
	if a.locks != "" {
		t.Run("calls", func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			watched := targets()
			wg := drive(ctx, t, keepAlive(8), base, 8, "/held", "/call", "/one")
			callsAreExact(t, watch(t, &judge{}, watched...), a.locks)
			cancel()
			wg.Wait()
		})
	}
	for _, inFlight := range inFlights() {
		t.Run(strconv.Itoa(inFlight), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // ended when it was watched
			defer cancel()
			wg := drive(ctx, t, keepAlive(inFlight), base, inFlight, a.paths...)
			if a.piped {
				for range 4 {
					wg.Go(func() { pipeline(ctx, strings.TrimPrefix(base, "http://"), "", a.paths...) })
				}
			}
			var j judge
			seen := watch(t, &j, targets()...)
			cancel()
			wg.Wait()
			j.perfect(t, seen, 100)
			if a.jobs && j.jobs == 0 {
				t.Error("no statement of a job was seen")
			}
			for _, e := range seen.Endpoints {
				for _, k := range e.Calls {
					text := seen.Classes[k.Class].Fingerprint
					t.Logf("%s %s: %.4f × %s (%d to %d), of requests %d", e.Method, e.Path,
						float64(k.Count)/float64(k.Requests), text, k.Least, k.Most, k.Requests)
					if strings.HasPrefix(text, "(") { // each request prepares its own
						t.Errorf("%d statements of %s have no text", k.Count, e.Path)
					}
				}
			}
		})
	}
}

// start starts an app, and returns where it is asked and its first process.
func (a *app) start(t *testing.T, db *sandbox.Server, other string) (base string, pid int) {
	port, err := sandbox.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	dir, listen := t.TempDir(), "127.0.0.1:"+strconv.Itoa(port)
	cmd := a.command(t, dir, listen)
	cmd.Env = append(os.Environ(), "PORT="+strconv.Itoa(db.Port), "SOCKET="+db.Socket, "USER_NAME=root",
		"PASSWORD=", "OTHER="+other)
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	base = "http://" + listen
	if a.after != nil {
		n := sandboxtest.Nginx(t, sandbox.NginxOptions{Config: fmt.Sprintf(passing, a.after(t, dir))})
		base = "http://127.0.0.1:" + strconv.Itoa(n.Port)
	}
	sandboxtest.Until(t, "an answer of one of its processes", func() bool {
		resp, err := http.Get(base + a.paths[0])
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return base, cmd.Process.Pid
}

// callsAreExact checks that each request of /held, and of /call, asked the other service once, and that rows
// were locked meanwhile by those of /held alone: what LCK-05 reads. They were locked by statements of that
// fingerprint.
func callsAreExact(t *testing.T, seen *Seen, locks string) {
	t.Helper()
	for _, e := range seen.Endpoints {
		var got []string
		for _, x := range e.External {
			got = append(got, fmt.Sprintf("%s %s: %d, held %d, locked %d by %q", x.Method, x.Path, x.Count, x.Held,
				x.Locked, seen.Classes[x.Locks].Fingerprint))
			if each := x.LockedTime / time.Duration(max(x.Locked, 1)); x.Locked > 0 && each < otherTakes {
				t.Errorf("rows are locked for %s, where the other service takes %s", each, otherTakes)
			}
		}
		n, want := e.Requests, ""
		switch e.Path {
		case "/held":
			want = fmt.Sprintf("GET /rates/:id: %d, held %d, locked %d by %q", n, n, n, locks)
		case "/call":
			want = fmt.Sprintf("GET /rates/:id: %d, held 0, locked 0 by %q", n, seen.Classes[0].Fingerprint)
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%d requests of %s: %s; want %s", n, e.Path, s, want)
		}
		if n < 20 {
			t.Errorf("only %d requests of %s", n, e.Path)
		}
	}
	if len(seen.Endpoints) != 3 || seen.Lost > 0 {
		t.Errorf("%d endpoints, %d events are lost", len(seen.Endpoints), seen.Lost)
	}
}

// passing is the configuration of an nginx that passes all requests on.
const passing = `{user}
worker_processes 1;
pid {dir}/nginx.pid;
error_log {dir}/error.log;
events { worker_connections 1024; }
http {
    access_log off;
    server {
        listen 127.0.0.1:{port} backlog=1024;
        location / {
            %s
        }
    }
}
`

func byFastCGI(t *testing.T, dir string) string {
	return fmt.Sprintf("fastcgi_pass unix:%s/app.sock; fastcgi_param SCRIPT_FILENAME %s; fastcgi_param REQUEST_METHOD "+
		"$request_method; fastcgi_param REQUEST_URI $request_uri;", dir, abs(t, "testdata/app.php"))
}

func byUWSGI(_ *testing.T, dir string) string {
	return fmt.Sprintf("uwsgi_pass unix:%s/app.sock; include /etc/nginx/uwsgi_params;", dir)
}

// family returns a process and all that it started.
func family(pid int) []int {
	out := []int{pid}
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range tasks {
		text, _ := os.ReadFile(name)
		for _, child := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(child); err == nil {
				out = append(out, family(n)...)
			}
		}
	}
	return out
}
