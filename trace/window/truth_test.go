package window

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/trace"
)

// A judge compares what a window ties with what statements say of themselves.
type judge struct {
	right, wrong, missed, jobs uint64
	examples                   []string
}

// take judges one statement. A comment is "METHOD /path" or "job".
func (j *judge) take(r *trace.Request, comment string) {
	comment = strings.TrimSpace(comment)
	said := "job"
	if r != nil {
		said = r.Method + " " + r.Path
	}
	switch {
	case comment == "":
		return
	case said == comment && r == nil:
		j.jobs++
		return
	case said == comment:
		j.right++
		return
	case r == nil:
		j.missed++
	default:
		j.wrong++
	}
	if len(j.examples) < 10 {
		j.examples = append(j.examples, comment+" is said to be of "+said)
	}
}

// perfect fails the test unless all statements are right, and enough of them.
func (j *judge) perfect(t *testing.T, seen *Seen, least uint64) {
	t.Helper()
	t.Logf("%d right, %d wrong, %d missed, %d of jobs; attached in %s, CPU %s, %d events, %d lost; %+v; %v",
		j.right, j.wrong, j.missed, j.jobs, seen.Attach, seen.CPU, seen.Events, seen.Lost, seen.Counts, seen.Notes)
	for _, u := range seen.Uncovered {
		t.Logf("not covered: %s, %d", u.What, u.Count)
	}
	if j.wrong > 0 || j.missed > 0 || j.right < least {
		t.Errorf("%d right of at least %d, %d wrong, %d missed: %s", j.right, least, j.wrong, j.missed,
			strings.Join(j.examples, "; "))
	}
	if seen.Lost > 0 {
		t.Errorf("%d events were lost", seen.Lost)
	}
}

// startServer starts a program that prints its address, and returns that and its process.
func startServer(t *testing.T, program string, args ...string) (addr string, pid int) {
	t.Helper()
	return startCommand(t, exec.Command(program, args...))
}

// startCommand is startServer of a command.
func startCommand(t *testing.T, cmd *exec.Cmd) (addr string, pid int) {
	t.Helper()
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%s did not print its address: %v", cmd.Path, err)
	}
	return strings.TrimSpace(line), cmd.Process.Pid
}

// buildGoServer builds the test server of Go with a version of it; empty: the one of this test.
func buildGoServer(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	bin := filepath.Join(dir, "goserver")
	source, err := os.ReadFile("testdata/goserver/main.go")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	// A module of its own, that older versions build too.
	for name, text := range map[string][]byte{"main.go": source, "go.sum": sums, "go.mod": []byte("module goserver\n\ngo 1.21.0\n\n" +
		"require github.com/go-sql-driver/mysql v1.9.3\n\nrequire filippo.io/edwards25519 v1.1.0 // indirect\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if version != "" {
		build.Env = append(build.Env, "GOTOOLCHAIN="+version)
	}
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// drive asks paths in turn with so many connections until the context ends; every eleventh
// client gives up at once where it asks for a path that is slow.
func drive(ctx context.Context, t *testing.T, client *http.Client, base string, inFlight int,
	paths ...string) *sync.WaitGroup {
	var wg sync.WaitGroup
	var n, failed atomic.Int64
	for i := range inFlight {
		wg.Go(func() {
			for k := i; ctx.Err() == nil; k++ {
				path := paths[k%len(paths)]
				one, cancel := ctx, context.CancelFunc(func() {})
				if strings.HasSuffix(path, "/slow") && k%3 == 0 {
					one, cancel = context.WithTimeout(ctx, 20*time.Millisecond)
				}
				req, _ := http.NewRequestWithContext(one, "GET", base+path, nil)
				resp, err := client.Do(req)
				if err == nil {
					if _, err = io.Copy(io.Discard, resp.Body); err == nil && resp.StatusCode != 200 {
						failed.Add(1)
					}
					_ = resp.Body.Close()
				}
				cancel()
				n.Add(1)
			}
		})
	}
	t.Cleanup(func() {
		t.Logf("%d requests", n.Load())
		if failed.Load() > 0 {
			t.Errorf("%d of %d requests failed", failed.Load(), n.Load())
		}
	})
	return &wg
}

// pipeline sends several requests at once on a connection, again and again; every other one with a body, if any.
func pipeline(ctx context.Context, addr, body string, paths ...string) {
	var d net.Dialer
	for ctx.Err() == nil {
		c, err := d.DialContext(ctx, "tcp", addr)
		if err != nil {
			return
		}
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		r := bufio.NewReader(c)
		for range 20 {
			var all strings.Builder
			for i, p := range paths {
				if i%2 == 0 || body == "" {
					fmt.Fprintf(&all, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", p)
				} else {
					fmt.Fprintf(&all, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", p, len(body), body)
				}
			}
			if _, err := io.WriteString(c, all.String()); err != nil {
				break
			}
			for range paths {
				resp, err := http.ReadResponse(r, nil)
				if err != nil {
					break
				}
				_, _ = io.Copy(io.Discard, resp.Body)
			}
		}
		_ = c.Close()
	}
}

func keepAlive(n int) *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n, MaxConnsPerHost: 0}}
}

// otherTakes is how long the other service takes for an answer.
const otherTakes = 5 * time.Millisecond

// startOther starts another service, and returns its URL.
func startOther(t *testing.T) string {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(otherTakes)
		fmt.Fprint(w, "{}")
	}))
	t.Cleanup(other.Close)
	return other.URL
}

// TestTruth_Go: each statement of a Go server is tied to the request that ran it, whatever the
// pool, the clients and the goroutines do.
func TestTruth_Go(t *testing.T) {
	needRights(t)
	turn.Wait(t)
	db := sandboxtest.MariaDB(t, sandboxtest.Unsafe())
	bin := buildGoServer(t, os.Getenv("KASOKU_GO"))
	other := startOther(t)
	t.Run("programs", func(t *testing.T) {
		addr, pid := startServer(t, bin, "-dsn", db.DSN("", ""))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		wg := drive(ctx, t, keepAlive(4), "http://"+addr, 4, "/start", "/one")
		startsAreExact(t, watch(t, &judge{}, Target{PID: pid, Member: "goserver"}), "")
		cancel()
		wg.Wait()
	})
	for _, c := range []goCase{{16, 8, "?interpolateParams=true", true}, {64, 16, "", false},
		{256, 32, "?interpolateParams=true", true}} {
		if slices.Contains(inFlights(), c.inFlight) {
			t.Run(fmt.Sprint(c.inFlight), func(t *testing.T) { c.run(t, bin, db.DSN("", ""), other) })
		}
	}
}

// versions are the releases of Go that programs are traced of, each the last of its kind when it was tried.
var versions = []string{"go1.21.13", "go1.22.12", "go1.23.12", "go1.24.13", "go1.25.7", "go1.27.4"}

// TestTruth_GoVersions: the same of servers that other versions of Go have built.
func TestTruth_GoVersions(t *testing.T) {
	needRights(t)
	if os.Getenv("KASOKU_LONG") == "" {
		t.Skip("downloads compilers: KASOKU_LONG=1")
	}
	db := sandboxtest.MariaDB(t, sandboxtest.Unsafe())
	other := startOther(t)
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			goCase{64, 16, "", true}.run(t, buildGoServer(t, version), db.DSN("", ""), other)
		})
	}
}

// A goCase is a load on the test server of Go.
type goCase struct {
	inFlight, pool int
	options        string // of the DSN
	pipelined      bool
}

func (c goCase) run(t *testing.T, bin, dsn, other string) {
	addr, pid := startServer(t, bin, "-dsn", dsn+c.options, "-pool", fmt.Sprint(c.pool), "-other", other)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // ended when it was watched
	defer cancel()
	wg := drive(ctx, t, keepAlive(c.inFlight), "http://"+addr, c.inFlight, "/one", "/posts", "/fan", "/nested",
		"/prepared", "/tx", "/none", "/held", "/call", "/slow")
	if c.pipelined {
		for range 4 {
			wg.Go(func() { pipeline(ctx, addr, "GET /", "/one", "/posts", "/fan", "/tx", "/none", "/prepared") })
		}
	}
	var j judge
	seen := watch(t, &j, Target{PID: pid, Member: "goserver"})
	cancel()
	wg.Wait()
	j.perfect(t, seen, 100)
	if j.jobs == 0 {
		t.Error("no statement of a job was seen")
	}
	for _, e := range seen.Endpoints {
		t.Logf("%s %s: %d requests, %s, pool %s in %d, %v", e.Method, e.Path, e.Requests,
			e.Time/time.Duration(e.Requests), e.PoolWait, e.Waits, e.External)
		for _, k := range e.Calls {
			t.Logf("   %.4f × %s (%d to %d), of requests %d", float64(k.Count)/float64(k.Requests),
				seen.Classes[k.Class].Fingerprint, k.Least, k.Most, k.With)
		}
	}
}

// startsAreExact checks that each request of /start, and no other one, started a shell, and that another
// program; starter is by which program the shell was started, if any.
func startsAreExact(t *testing.T, seen *Seen, starter string) {
	t.Helper()
	requests := map[string]uint64{}
	for _, e := range seen.Endpoints {
		requests[e.Path] += e.Requests
		var got []string
		for _, p := range e.Programs {
			got = append(got, fmt.Sprintf("%s %d of %d", p.Name, p.Count, p.With))
		}
		var all []string
		if e.Path == "/start" {
			for name := range strings.FieldsSeq(starter + " sh true") {
				all = append(all, fmt.Sprintf("%s %d of %d", name, e.Requests, e.Requests))
			}
		}
		want := strings.Join(all, ", ")
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%d requests of %s started %q, not %q", e.Requests, e.Path, s, want)
		}
	}
	t.Logf("%v", requests)
	if requests["/start"] < 20 || requests["/one"] < 20 {
		t.Errorf("too few requests: %v, %v", requests, seen.Notes)
	}
}

// inFlights are how many requests are in flight: with KASOKU_LONG=1 all that are promised.
func inFlights() []int {
	if os.Getenv("KASOKU_LONG") != "" {
		return []int{16, 64, 256}
	}
	return []int{64}
}

// watch looks at processes for two seconds.
func watch(t *testing.T, j *judge, targets ...Target) *Seen {
	t.Helper()
	time.Sleep(300 * time.Millisecond) // the load is under way
	w, err := Open(t.Context(), targets, true)
	if err != nil {
		t.Fatal(err)
	}
	w.Each(j.take)
	seen, err := w.Watch(t.Context(), 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return seen
}
