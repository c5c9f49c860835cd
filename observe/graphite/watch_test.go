package graphite_test

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/observe/graphite"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// sendSeries sends a point of each of n series, and returns their names.
func sendSeries(t *testing.T, addr string, n int) (names []string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var b strings.Builder
	for i := range n {
		names = append(names, fmt.Sprintf("w.s%d", i))
		fmt.Fprintf(&b, "%s 1 %d\n", names[i], time.Now().Unix())
	}
	if _, err := conn.Write([]byte(b.String())); err != nil {
		t.Fatal(err)
	}
	return names
}

// TestWatch: of a real carbon-cache that creates 50 series a minute what is received, created
// and dropped is read, and the limit is named with the line of its configuration; a go-carbon
// without limits has none.
func TestWatch(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	t.Parallel()
	cache := sandboxtest.Carbon(t, sandbox.CarbonOptions{MetricInterval: time.Second,
		Settings: map[string]string{"MAX_CREATES_PER_MINUTE": "50"}})
	goCarbon := sandboxtest.GoCarbon(t, sandbox.CarbonOptions{MetricInterval: time.Second})
	f := func(s *sandbox.CarbonServer, o graphite.Options, enough func(*graphite.Tally) bool) {
		t.Helper()
		o.Agents = []string{"agents." + s.Host}
		w, err := graphite.NewWatch(o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); w.Run(ctx) }()
		sandboxtest.Until(t, "an answer", func() bool { ok, _ := w.Answered(); return ok })
		var tally graphite.Tally
		sandboxtest.Until(t, "what it counts of itself", func() bool {
			sendSeries(t, s.LineAddr(), 300)
			for _, r := range w.Take() {
				tally.Add(r)
			}
			n, ok := tally.Sum(graphite.CountReceived)
			return ok && n >= 300 && enough(&tally)
		})
		cancel()
		<-ended
	}
	f(cache, graphite.Options{Query: cache.QueryAddr()}, func(t *graphite.Tally) bool {
		l := t.Limits()
		return len(l) > 0 && l[0].Code == "creates" && strings.Contains(l[0].Hint,
			"`MAX_CREATES_PER_MINUTE = inf` in section [cache] of carbon.conf")
	})
	f(goCarbon, graphite.Options{Storage: filepath.Join(goCarbon.StorageDir, "whisper")},
		func(tally *graphite.Tally) bool {
			if l := tally.Limits(); len(l) > 0 {
				t.Errorf("limits of go-carbon: %+v", l)
			}
			created, ok := tally.Sum(graphite.CountCreated)
			return ok && created >= 300
		})
}

// TestKept: a carbon-cache that creates 50 series a minute has not made most of 200; it knows
// so when it is asked, and its files show it. go-carbon does not know the question.
func TestKept(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	t.Parallel()
	cache := sandboxtest.Carbon(t, sandbox.CarbonOptions{Settings: map[string]string{"MAX_CREATES_PER_MINUTE": "50"}})
	names := sendSeries(t, cache.LineAddr(), 200)
	var asked graphite.Kept
	sandboxtest.Until(t, "the cache to be empty", func() (done bool) {
		var err error
		if asked, err = graphite.KeptByCache(t.Context(), cache.QueryAddr(), names); err != nil {
			t.Fatal(err)
		}
		return asked.Waiting == 0 && asked.Exist > 0
	})
	files, err := graphite.KeptByFiles(filepath.Join(cache.StorageDir, "whisper"), names)
	if err != nil || files.Asked != 200 || files.Exist == 0 || files.Exist > 60 {
		t.Errorf("by files %+v, %v", files, err)
	}
	if asked.Asked != graphite.MostAsked || asked.All || asked.Missing() < 5 {
		t.Errorf("by the cache %+v", asked)
	}
	goCarbon := sandboxtest.GoCarbon(t, sandbox.CarbonOptions{})
	if k, err := graphite.KeptByCache(t.Context(), goCarbon.QueryAddr(), names); err == nil {
		t.Errorf("go-carbon answers %+v", k)
	}
}

// TestTally_Limits: the writes of carbon-cache are the limit where most of what it received
// waits; a cache that keeps up has none.
func TestTally_Limits(t *testing.T) {
	f := func(want string, all ...graphite.Reading) {
		t.Helper()
		var tally graphite.Tally
		for _, r := range all {
			r.Server = "agents.h-a"
			tally.Add(r)
		}
		var codes []string
		for _, l := range tally.Limits() {
			codes = append(codes, l.Code)
		}
		if got := strings.Join(codes, ","); got != want {
			t.Errorf("%+v: limits %q, want %q", all, got, want)
		}
	}
	r := func(c graphite.Count, v float64) graphite.Reading { return graphite.Reading{Count: c, Value: v} }
	f("")
	f("", r(graphite.CountReceived, 1000), r(graphite.CountCommitted, 990), r(graphite.CountCached, 10),
		r(graphite.CountDropped, 0))
	f("updates", r(graphite.CountReceived, 1000), r(graphite.CountCommitted, 100), r(graphite.CountCached, 900))
	f("", r(graphite.CountReceived, 1000), r(graphite.CountCommitted, 100), r(graphite.CountCached, 0))
	f("creates,cache", r(graphite.CountReceived, 1000), r(graphite.CountCommitted, 900), r(graphite.CountDropped,
		1), r(graphite.CountOverflow, 1))
	relay := graphite.Reading{Server: "relays.h-a", Count: graphite.CountReceived, Value: 1000}
	var tally graphite.Tally
	if tally.Add(relay); len(tally.Limits()) > 0 {
		t.Error("a relay's points count")
	}
}
