package find

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// A ground is a host on which an arrangement stands: its parts by name, those of strangers
// with "other" before them.
type ground struct {
	*testing.T
	dir   string
	roots map[int]string // the first process of a part
	db    *sandbox.Server
	// other is a database of strangers.
	other *sandbox.Server
}

// An arrangement is a service that is set up in one way.
type arrangement struct {
	name string
	// start starts it and returns its URL and the parts that are the service's.
	start func(g *ground) (url string, parts []string)
}

// sub returns a directory of the ground's own for a part.
func (g *ground) sub(part string) string {
	dir := filepath.Join(g.dir, part)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		g.Fatal(err)
	}
	return dir
}

// run starts a part that listens at l.
func (g *ground) run(part, l string, spec command.Spec, env ...string) int {
	dir := g.sub(part)
	spec.Env = append(append(spec.Env, "KASOKU_PART="+part), env...)
	if spec.Dir == "" {
		spec.Dir = dir
	}
	database := ""
	for _, word := range env {
		if d, ok := strings.CutPrefix(word, "D="); ok {
			database = d
		}
	}
	p := start(g.T, spec, dir, l, database)
	g.roots[p.Pid()] = part
	return p.Pid()
}

// app starts an application of a recipe, with a database.
func (g *ground) app(part, name, by, database string) (l string) {
	i := slices.IndexFunc(recipes, func(r recipe) bool { return r.name == name })
	r := recipes[i]
	dir := g.sub(part)
	l = free(g.T, dir, by)
	spec := r.start(g.T, dir, l, database)
	if spec.Dir == "" {
		spec.Dir = dir
	}
	spec.Env = append(spec.Env, "KASOKU_PART="+part)
	p := start(g.T, spec, dir, l, database)
	g.roots[p.Pid()] = part
	return l
}

// nginx starts one with a configuration of its own: the text of its http block, in which
// {port} and {dir} stand for its own.
func (g *ground) nginx(part, text string) *sandbox.NginxServer {
	conf := `{user}
pid "{dir}/nginx.pid"; error_log "{dir}/error.log"; events {}
http { access_log "{dir}/access.log"; client_body_temp_path "{dir}/b"; proxy_temp_path "{dir}/p"; fastcgi_temp_path "{dir}/f";
uwsgi_temp_path "{dir}/u"; scgi_temp_path "{dir}/s"; ` + text + ` }`
	s := sandboxtest.Nginx(g.T, sandbox.NginxOptions{Config: conf})
	g.roots[s.Pid()] = part
	return s
}

// proxy is the http block of an nginx that passes requests on.
func proxy(up string) string {
	if strings.HasPrefix(up, "/") {
		up = "unix:" + up
	}
	return `server { listen 127.0.0.1:{port}; location / { proxy_pass http://` + up + `; } }`
}

// part returns the part that a process is of, by its ancestors, else by its environment.
func (g *ground) part(pid int) string {
	for at := pid; at > 1; {
		if part, ok := g.roots[at]; ok {
			return part
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", at))
		if err != nil {
			break
		}
		f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		at, _ = strconv.Atoi(f[1])
	}
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	for word := range strings.SplitSeq(string(text), "\x00") {
		if part, ok := strings.CutPrefix(word, "KASOKU_PART="); ok {
			return part
		}
	}
	if at, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err == nil { // with an environment of its own
		if part, err := filepath.Rel(g.dir, at); err == nil && filepath.IsLocal(part) && part != "." {
			return part
		}
	}
	return fmt.Sprintf("pid %d", pid)
}

// judge compares what was found with the truth.
func (g *ground) judge(s kasoku.Service, parts []string) (verdict string, seen []string) {
	found := map[string]bool{}
	wrong := ""
	for _, m := range s.Members {
		for _, p := range m.Processes {
			if _, err := os.Stat(fmt.Sprintf("/proc/%d/cwd", p.PID)); err != nil {
				continue // a worker that has ended
			}
			part := g.part(p.PID)
			if strings.HasPrefix(part, "other") || strings.HasPrefix(part, "pid ") {
				wrong += fmt.Sprintf("%s has pid %d of %s; ", m.ID, p.PID, part)
			}
			found[part] = true
		}
	}
	seen = slices.Sorted(maps.Keys(found))
	slices.Sort(parts)
	switch {
	case wrong != "":
		return "WRONG: " + wrong, seen
	case slices.Equal(seen, parts):
		return "right", seen
	case len(s.Unknown) > 0:
		return "unknown", seen
	}
	return "MISSED", seen
}

// TestFind_Arrangements: services as people set them up, each beside strangers that run the
// same programs. What is found is right, else it is said what is unknown; wrong never.
func TestFind_Arrangements(t *testing.T) {
	if os.Getenv("KASOKU_LONG") == "" {
		t.Skip("takes minutes: KASOKU_LONG=1")
	}
	db, other := sandboxtest.MariaDB(t, sandbox.Options{}), sandboxtest.MariaDB(t, sandbox.Options{})
	counts := map[string]int{}
	for _, a := range slices.Concat(arrangements, moreArrangements) {
		t.Run(a.name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "find")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			g := &ground{T: t, dir: dir, roots: map[int]string{db.Pid(): "db", other.Pid(): "other db"}, db: db, other: other}
			url, parts := a.start(g)
			wait(t, dir, func() bool { return get(t, url) == http.StatusOK })
			end := g.load(url)
			defer end()
			<-time.After(1500 * time.Millisecond) // as a run does: the load's connections are open by then
			s, err := Find(t.Context(), Ask{URLs: []string{url}, Loaded: true})
			if err != nil {
				t.Fatal(err)
			}
			verdict, seen := g.judge(s, parts)
			word, _, _ := strings.Cut(verdict, ":")
			counts[word]++
			t.Logf("%s\n\t%s\n\twant %q\n\tseen %q", verdict, s.Picture(), parts, seen)
			for _, u := range s.Unknown {
				t.Logf("unknown: %s: %s (%s)", u.What, u.Why, u.Show)
			}
			if word == "WRONG" || word == "MISSED" {
				t.Errorf("%s", verdict)
				for _, m := range s.Members {
					t.Logf("%s %s %s %s/%s %v", m.ID, m.Role, m.Sure, m.Language, m.Framework, m.Found)
				}
			}
		})
	}
	t.Log(counts)
}

// load asks for a page again and again, until what it returns is called.
func (g *ground) load(url string) (end func()) {
	ctx, cancel := context.WithCancel(g.Context())
	done := make(chan struct{})
	for range 4 {
		go func() {
			defer func() { done <- struct{}{} }()
			for ctx.Err() == nil {
				req, _ := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
				if res, err := http.DefaultClient.Do(req); err == nil {
					_, _ = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
				}
				<-time.After(30 * time.Millisecond)
			}
		}()
	}
	return func() {
		cancel()
		for range 4 {
			<-done
		}
	}
}

// need ends an arrangement of which a program is not installed.
func (g *ground) need(programs ...string) {
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			g.Skipf("%s is not installed here", p)
		}
	}
}
