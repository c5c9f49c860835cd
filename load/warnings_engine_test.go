package load_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/engine"
	"github.com/kasoku/kasoku/load/nethttp"
)

// The engines that warnings are tested with.
var engines = []string{engine.EpollHTTP, engine.NetHTTP}

// warned makes a load and returns its warnings, one a line.
func warned(ctx context.Context, name, url string, perSec float64, most int) (string, error) {
	s, err := load.Constant(perSec, time.Second/2)
	if err != nil {
		return "", err
	}
	p := load.Plan{Schedule: s, Targets: []load.Target{{Method: "GET", URL: url}}}
	e, _, err := engine.New(engine.Options{Engine: name, HTTP: nethttp.Options{MaxInFlight: most, Timeout: time.Second}}, p)
	if err != nil {
		return "", err
	}
	r := load.NewRecorder(p, 0)
	sum, err := e.Run(ctx, p, time.Now(), r)
	var out strings.Builder
	for _, w := range load.Warnings(sum, r.Tally(0)) {
		fmt.Fprintf(&out, "%s: %s\n", w.Code, w.Text)
	}
	return out.String(), err
}

// stalling returns the address of a server that answers nothing.
func stalling(t *testing.T) (url string) {
	t.Helper()
	over := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	t.Cleanup(func() { close(over); srv.Close() })
	return srv.URL
}

// TestNoDescriptors runs a generator that may have few files open, in a process of
// its own, against a server that makes it open many: beyond its limit when asked to,
// and up to it by itself.
func TestNoDescriptors(t *testing.T) {
	const child = "KASOKU_TEST_FEW_FILES"
	if args := strings.Fields(os.Getenv(child)); len(args) == 3 {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 40, Max: 40}); err != nil {
			t.Fatal(err)
		}
		most, err := strconv.Atoi(args[2])
		if err != nil {
			t.Fatal(err)
		}
		text, err := warned(t.Context(), args[0], args[1], 400, most)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Print(text)
		return
	}
	url := stalling(t)
	for _, name := range engines {
		run := func(most, format string, least int) {
			t.Helper()
			cmd := exec.Command(os.Args[0], "-test.run=^TestNoDescriptors$", "-test.timeout=1m")
			cmd.Env = append(os.Environ(), child+"="+name+" "+url+" "+most)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, out)
			}
			var n int
			i := strings.Index(string(out), load.NoDescriptors)
			if _, err := fmt.Sscanf(string(out[max(i, 0):]), format, &n); err != nil || n < least {
				t.Errorf("%s: %d, %v\n%s", name, n, err, out)
			}
		}
		run("150", "no-descriptors: the generator ran out of file descriptors: %d requests failed", 10)
		run("0", "no-descriptors: the generator was short of file descriptors: requests in flight reached %d, which is what the limit of open files allows; later ones waited", 16)
	}
}

// TestInFlightCap: requests that wait for a place say so, with how long.
func TestInFlightCap(t *testing.T) {
	url := stalling(t)
	for _, name := range engines {
		text, err := warned(t.Context(), name, url, 100, 3)
		if err != nil || !strings.HasPrefix(text, "in-flight-cap: requests in flight reached their cap of 3; later ones waited") {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

// TestStoppedEarly: a load that was stopped says by what, and when.
func TestStoppedEarly(t *testing.T) {
	url := stalling(t)
	for _, name := range engines {
		ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
		text, err := warned(ctx, name, url, 50, 0)
		stop()
		if err != nil || !strings.Contains(text, "stopped-early: the load was stopped early, by deadline, after ") {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
