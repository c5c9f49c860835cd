package main

import (
	"context"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/command"
)

// TestMain lets the test's own program be a sink.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args[1:], "sink") {
		main()
		return
	}
	os.Exit(m.Run())
}

// A generator is measured at a sink and at nginx: both count about what it says.
func TestLab(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs wrk and nginx for seconds")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := lab{self: self, dir: t.TempDir(), server: "0", client: "0"}
	if runtime.NumCPU() > 1 {
		l.client = "1"
	}
	wrk := allPeers()[0]
	if wrk.path, err = command.LookPath(wrk.name); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	sink, err := l.sink(ctx, "-rate", "1000", "-record", "100000")
	if err != nil {
		t.Fatal(err)
	}
	nginx, err := l.nginx(ctx, bodyBytes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := nginx.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for _, srv := range []server{sink, nginx} {
		if n, ok := srv.(*nginxServer); ok {
			if err := n.begin(ctx); err != nil {
				t.Fatal(err)
			}
		}
		w := work{url: srv.url(), length: time.Second, conns: 8}
		in := wrk.invocation(w, wrk.closed(w))
		in.memory = true
		r, err := l.run(ctx, srv, in)
		if err != nil {
			t.Fatal(err)
		}
		if r.requests < 100 || r.perSec < 100 || r.cpu <= 0 || r.served.cpu <= 0 || r.maxRSS < 1<<20 || r.memory.peak < 1<<20 || len(r.memory.readings) == 0 {
			t.Errorf("%T: %+v", srv, r)
		}
	}
}

func TestCPUOfThisProcess(t *testing.T) {
	for began := time.Now(); ownCPU() < 50*time.Millisecond; {
		if time.Since(began) > 30*time.Second {
			t.Fatal("no CPU time")
		}
	}
	d, err := cpuOf(os.Getpid())
	if err != nil || d < 30*time.Millisecond {
		t.Errorf("got %s, %v", d, err)
	}
}
