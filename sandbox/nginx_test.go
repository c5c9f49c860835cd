package sandbox_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

func TestNginx(t *testing.T) {
	temp := filepath.Join(t.TempDir(), "a b")
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temp)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "from "+r.URL.Path) }))
	defer upstream.Close()
	s := sandboxtest.Nginx(t, sandbox.NginxOptions{Upstream: strings.TrimPrefix(upstream.URL, "http://")})
	if got := get(t, s.URL()+"/a"); got != "from /a" {
		t.Errorf("got %q", got)
	}
	if s.Pid() == 0 {
		t.Error("no pid")
	}
	dump, err := command.Output(t.Context(), command.Spec{Path: s.Program, Args: append(s.Args(), "-T")}, 0)
	if err != nil || !strings.Contains(string(dump), "log_format kasoku") {
		t.Errorf("-T: %v\n%s", err, dump)
	}
	if err := s.Stop(t.Context()); err != nil { // the log is complete once the worker has ended
		t.Fatal(err)
	}
	if s.Pid() != 0 {
		t.Error("still there")
	}
	if _, err := os.Stat(s.Dir); !os.IsNotExist(err) {
		t.Errorf("directory: %v", err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNginx_Config(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b")
	conf := "{user}\npid \"{dir}/nginx.pid\";\nerror_log \"{dir}/error.log\";\nevents {}\nhttp {\naccess_log \"{dir}/access.log\";\n" +
		"server { listen 127.0.0.1:{port}; location / { return 200 'own'; } }\n}\n"
	s := sandboxtest.Nginx(t, sandbox.NginxOptions{Dir: dir, Config: conf})
	if got := get(t, s.URL()); got != "own" {
		t.Errorf("got %q", got)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(s.AccessLog)
	if err != nil || !strings.Contains(string(log), "GET / HTTP/1.1") {
		t.Errorf("log: %v\n%s", err, log)
	}
}

func TestNginx_BadConfig(t *testing.T) {
	if testing.Short() {
		t.Skip("needs nginx; not in short mode")
	}
	_, err := sandbox.Nginx(t.Context(), sandbox.NginxOptions{Config: "nonsense;"})
	var e *sandbox.Error
	if !errors.As(err, &e) || !strings.Contains(e.Log, `unknown directive "nonsense"`) {
		t.Errorf("got %v", err)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
