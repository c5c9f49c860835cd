package main

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/agenttest"
)

// An api stands for Mackerel's.
type api struct {
	*httptest.Server
	mu              sync.Mutex
	status, retired string
	code            int // 0: 200
	asked           int
}

// says changes what the API answers.
func (a *api) says(status, retired string, code int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status, a.retired, a.code = status, retired, code
}

func (a *api) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked
}

func newAPI(t *testing.T) *api {
	t.Helper()
	a := &api{status: "working", retired: "false"}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.asked++
		switch {
		case a.code != 0:
			w.WriteHeader(a.code)
		case r.Header.Get("X-Api-Key") != "key":
			w.WriteHeader(http.StatusForbidden)
		case r.URL.Path != "/api/v0/hosts/2abcDEF":
			w.WriteHeader(http.StatusNotFound)
		default:
			fmt.Fprintf(w, `{"host":{"id":"2abcDEF","name":"web1","status":%s,"isRetired":%s}}`, strconv.QuoteToASCII(a.status), a.retired)
		}
	}))
	t.Cleanup(a.Close)
	return a
}

// agentDir is the configuration and the root of an agent.
func agentDir(t *testing.T, base, key string) (conf string) {
	t.Helper()
	dir := t.TempDir()
	conf = filepath.Join(dir, "mackerel-agent.conf")
	text := fmt.Sprintf("# apikey = \"old\"\napikey = %q # of the organization\napibase = '%s'\nroot = %q\n[plugin.metrics.x]\napikey = \"not this\"\n", key, base, dir)
	for path, content := range map[string]string{conf: text, filepath.Join(dir, "id"): "2abcDEF\n"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return conf
}

// TestAgent runs the check as the agent does.
func TestAgent(t *testing.T) {
	bin := agenttest.Build(t)
	a := newAPI(t)
	agent := agenttest.New(t)
	args := []string{bin, "--conf", agentDir(t, a.URL, "key"), "--ttl", "0s"}
	status, message, r := agent.Check(t, args...)
	if status != agenttest.OK || message != "check-mackerel-host-status OK: host 2abcDEF is working" {
		t.Errorf("%s %q %q", status, message, r.Stderr)
	}
	agenttest.Show(t, r, "check-mackerel-host-status")
	a.says("maintenance", "false", 0)
	status, message, r = agent.Check(t, args...)
	if status != agenttest.Critical || message != "check-mackerel-host-status CRITICAL: host 2abcDEF is maintenance" {
		t.Errorf("%s %q", status, message)
	}
	agenttest.Show(t, r, "check-mackerel-host-status")
	a.says("", "", http.StatusServiceUnavailable)
	status, message, r = agent.Check(t, args...)
	if status != agenttest.Critical || !strings.Contains(message, "host 2abcDEF is maintenance") || !strings.Contains(message, "the API does not answer: GET /api/v0/hosts/2abcDEF: 503") {
		t.Errorf("%s %q", status, message)
	}
	agenttest.Show(t, r, "check-mackerel-host-status # while the API is down")
}

// A gate is the check in process, with a directory of its own.
type gate struct {
	dir  string
	conf string
	env  map[string]string
}

func newGate(t *testing.T, base, key string) *gate {
	t.Helper()
	dir := t.TempDir()
	return &gate{dir, agentDir(t, base, key), map[string]string{"MACKEREL_PLUGIN_WORKDIR": dir}}
}

func (g *gate) run(args ...string) (int, string) {
	var out, errs bytes.Buffer
	code := run(append([]string{"--conf", g.conf}, args...), &out, &errs, func(name string) string { return g.env[name] })
	return code, strings.TrimPrefix(out.String(), name+" ") + errs.String()
}

// expect runs the check and looks at its answer.
func (g *gate) expect(t *testing.T, code int, want string, args ...string) {
	t.Helper()
	if got, text := g.run(args...); got != code || !strings.Contains(text, want) {
		t.Errorf("%q: exit %d, %q, want %d, %q", args, got, text, code, want)
	}
}

func TestStatuses(t *testing.T) {
	a := newAPI(t)
	g := newGate(t, a.URL, "key")
	a.says("standby", "false", 0)
	g.expect(t, 2, "CRITICAL: host 2abcDEF is standby\n", "--ttl", "0s")
	g.expect(t, 0, "OK: host 2abcDEF is standby\n", "--ttl", "0s", "--status", "working,standby")
	a.says("strange \u2028", "false", 0)
	g.expect(t, 2, `CRITICAL: host 2abcDEF is "strange \u2028"`, "--ttl", "0s")
	a.says("working", "true", 0)
	g.expect(t, 2, "CRITICAL: host 2abcDEF is retired\n", "--ttl", "0s")
}

// TestRemembers: the API is asked once a minute, down or not.
func TestRemembers(t *testing.T) {
	a := newAPI(t)
	g := newGate(t, a.URL, "key")
	for range 5 {
		g.expect(t, 0, "is working")
	}
	if a.count() != 1 {
		t.Errorf("asked %d times", a.count())
	}
	down := newAPI(t)
	down.says("", "", http.StatusBadGateway)
	g = newGate(t, down.URL, "key")
	for range 5 {
		g.expect(t, 0, "is taken as working: the API does not answer: GET /api/v0/hosts/2abcDEF: 502 Bad Gateway")
	}
	if down.count() != 1 {
		t.Errorf("asked %d times while it is down", down.count())
	}
}

// TestKilled: while a run waits for the API, or has been killed in it, the next one
// does not.
func TestKilled(t *testing.T) {
	var g *gate
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 1 {
			g.expect(t, 0, "OK: host 2abcDEF is taken as working: the API does not answer: a question is under way")
		}
		fmt.Fprint(w, `{"host":{"id":"2abcDEF","status":"maintenance"}}`)
	}))
	defer s.Close()
	g = newGate(t, s.URL, "key")
	g.expect(t, 2, "CRITICAL: host 2abcDEF is maintenance\n")
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	m := memory{Status: "maintenance", Answered: 100, Asked: 100}.asking(time.Unix(200, 0))
	o := options{Status: "working", Keep: time.Hour}
	if r := o.judge("x", m, time.Unix(201, 0)); r.Status != 2 || !strings.HasPrefix(r.Message, "host x is maintenance (1m41s ago); ") {
		t.Errorf("the answer before: %s", r)
	}
}

func TestFailsOpen(t *testing.T) {
	a := newAPI(t)
	g := newGate(t, a.URL, "key")
	a.says("maintenance", "false", 0)
	g.expect(t, 2, "is maintenance", "--ttl", "0s")
	a.Close()
	g.expect(t, 2, "is maintenance", "--ttl", "0s")
	g.expect(t, 0, "is taken as working: the API does not answer: ", "--ttl", "0s", "--keep", "-1s")
}

func TestRefusals(t *testing.T) {
	a := newAPI(t)
	g := newGate(t, a.URL, "wrong")
	g.expect(t, 3, "UNKNOWN: GET /api/v0/hosts/2abcDEF: 403 Forbidden (hint: ")
	g.expect(t, 0, "OK: GET /api/v0/hosts/2abcDEF: 403 Forbidden (hint: ", "--gate")
	if a.count() != 1 {
		t.Errorf("asked %d times with a key that is refused", a.count())
	}
	g.env["MACKEREL_APIKEY"] = "key"
	g.expect(t, 0, "is working")
	if a.count() != 2 {
		t.Errorf("another key: asked %d times", a.count())
	}
	g.env["MACKEREL_APIKEY"] = "wrong"
	g.expect(t, 3, "403", "--ttl", "0s")
	a.says("", "", http.StatusServiceUnavailable)
	g.expect(t, 0, "is taken as working", "--ttl", "0s")
	a.says("working", "false", 0)
	g.env["MACKEREL_APIKEY"] = "key"
	g.expect(t, 3, "404 Not Found", "--host-id", "3other")
	g.expect(t, 3, "is no id of a host", "--host-id", "../x")
	g.expect(t, 3, "read the host's id: ", "--id-file", "/nonexistent")
	g.expect(t, 3, "the key goes over https only", "--apibase", "http://api.example.com", "--ttl", "0s")
	g = newGate(t, a.URL, "")
	g.expect(t, 3, "no API key in ")
	if _, text := newGate(t, a.URL, "secret-key").run(); strings.Contains(text, "secret-key") {
		t.Errorf("the key is in %q", text)
	}
}

// TestMemory: a file that somebody else made, or that makes no sense, is not heard.
func TestMemory(t *testing.T) {
	a := newAPI(t)
	g := newGate(t, a.URL, "key")
	g.expect(t, 0, "is working")
	files, err := filepath.Glob(filepath.Join(g.dir, name+"-*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	now := time.Now().Unix()
	closed := fmt.Sprintf(`{"status":"poweroff","answered":%d,"asked":%[1]d}`, now)
	for _, tt := range []struct {
		content string
		code    int
	}{
		{closed, 2},
		{"{", 0},
		{fmt.Sprintf(`{"status":"poweroff","answered":%d,"asked":%[1]d}`, now+3600), 0},
		{`{"status":"poweroff","answered":5,"asked":4}`, 0},
	} {
		if err := os.WriteFile(files[0], []byte(tt.content), 0o600); err != nil {
			t.Fatal(err)
		}
		g.expect(t, tt.code, "2abcDEF is ")
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte(closed), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, files[0]); err != nil {
		t.Fatal(err)
	}
	g.expect(t, 0, "is working")
}

func TestParseConf(t *testing.T) {
	got := parseConf([]byte("apikey=\"a\\\"b\" # c\n  root = '/x y'\npidfile = \"unclosed\nverbose = true\n\"apibase\" = \"https://x\"\n#k = \"v\"\n[table]\nlater = \"no\"\n"))
	want := map[string]string{"apikey": `a"b`, "root": "/x y", "apibase": "https://x"}
	if !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzParseConf(f *testing.F) {
	f.Add([]byte("apikey = \"k\"\nroot='/var'\n[x]\n"))
	f.Add([]byte("a = \"\\u00e9\\x\"\n = \"\n'=''"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := parseConf(data); len(got) > bytes.Count(data, []byte("="))+1 {
			t.Errorf("%q", got)
		}
	})
}

func FuzzParseMemory(f *testing.F) {
	f.Add([]byte(`{"status":"working","answered":1,"asked":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseMemory(data)
		if err != nil && m != (memory{}) {
			t.Error("an error and a result")
		}
		options{Status: "working"}.judge("x", m, time.Unix(10, 0))
	})
}
