package loadtest

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load"
)

// Options are those settings of an engine that the suite varies.
type Options struct {
	Timeout     time.Duration
	MaxInFlight int
	NoKeepAlive bool
	Chunked     bool
	MaxBody     int64
	Redirects   int // as in the net/http engine: -1 follows none
}

// An outcome is what came of a request, without when it came.
type outcome struct {
	Code              int
	BytesIn, BytesOut uint64
	Err               string // its class
}

// A group is a load that both engines make.
type group struct {
	name    string
	opts    Options
	targets []load.Target
	perSec  float64 // 0: all are due at once
	rounds  int     // over the targets; 0: 2
	// sameConns: how many connections were made says which of them were kept, so it
	// must be equal too. It cannot be where an answer races with the end of a
	// connection.
	sameConns bool
	// excused, when not nil, says of outcomes that differ whether that is right.
	excused func(path string, a, b outcome) bool
}

// Same runs the catalogue through both engines and demands that they make the
// same of it. The first one is right.
func Same(t *testing.T, right, other func(testing.TB, Options) load.Engine) {
	for i, g := range new(Hostile).groups() {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			h := Start(t)
			g := h.groups()[i]
			want, wantSum := h.run(t, right(t, g.opts), &g)
			got, gotSum := h.run(t, other(t, g.opts), &g)
			for i := range want {
				target := &g.targets[i%len(g.targets)]
				path := strings.TrimPrefix(target.URL, h.URL(""))
				if got[i] != want[i] && (g.excused == nil || !g.excused(path, got[i], want[i])) {
					t.Errorf("request %d, %s %s:\n got %+v\nwant %+v", i, target.Method, path, got[i], want[i])
				}
			}
			if g.sameConns && !gotSum.near(wantSum) {
				t.Errorf("got %+v, want %+v", gotSum, wantSum)
			}
		})
	}
}

// near reports whether two loads counted the same, but for connections of which a busy
// host lets one or two more be open at once.
func (s sums) near(o sums) bool {
	const few = 3
	return s.resent == o.resent && s.redirected == o.redirected &&
		max(s.seen, o.seen)-min(s.seen, o.seen) <= few && max(s.connections, o.connections)-min(s.connections, o.connections) <= few
}

// sums are what a load counts beside its hits.
type sums struct {
	seen, connections, resent uint64 // seen: by the server
	redirected                uint64
}

// run makes the load of a group.
func (h *Hostile) run(t *testing.T, e load.Engine, g *group) ([]outcome, sums) {
	t.Helper()
	opened := h.Opened()
	sum, hits := Attack(t, e, cmp.Or(g.rounds, 2)*len(g.targets), g.perSec, g.targets...)
	out := make([]outcome, len(hits))
	for i, hit := range hits {
		out[i] = outcome{hit.Code, hit.BytesIn, hit.BytesOut, load.ErrorClass(hit.Err)}
	}
	seen := uint64(h.Opened() - opened)
	if g.sameConns {
		seen = h.settle(opened, sum.Connections)
	}
	return out, sums{seen, sum.Connections, sum.Resent, sum.Redirected}
}

// settle waits until the server has seen as many connections as the client has made, and
// returns how many it has seen. On a busy machine it sees the last ones after the client
// is done with them.
func (h *Hostile) settle(before int, connections uint64) uint64 {
	limit := time.After(5 * time.Second)
	for {
		seen := uint64(h.Opened() - before)
		if seen == connections {
			return seen
		}
		select {
		case <-time.After(time.Millisecond):
		case <-limit:
			return seen
		}
	}
}

// Attack sends n requests to the targets in turn, perSec of them a second, or all
// due at once when it is 0. It returns the hits by number, and fails when one of
// them is missing, or at odds with itself.
func Attack(t testing.TB, e load.Engine, n int, perSec float64, targets ...load.Target) (kasoku.LoadSummary,
	[]load.Hit) {
	t.Helper()
	d := time.Millisecond
	if perSec > 0 {
		d = time.Duration(float64(n) / perSec * float64(time.Second))
	}
	sched, err := load.Constant(float64(n)/d.Seconds(), d)
	if err != nil {
		t.Fatal(err)
	}
	var c Collector
	sum, err := e.Run(t.Context(), load.Plan{Schedule: sched, Targets: targets}, time.Now(), &c)
	if err != nil {
		t.Fatal(err)
	}
	hits := c.All()
	if len(hits) != n {
		t.Fatalf("%d requests are accounted for, want %d", len(hits), n)
	}
	for i, hit := range hits {
		if hit.N != uint64(i) || hit.Target != i%len(targets) {
			t.Fatalf("at place %d is request %d, to target %d", i, hit.N, hit.Target)
		}
		if ok := hit.Code >= 200 && hit.Code < 400; ok != (hit.Err == "") {
			t.Errorf("request %d: code %d, error %q", i, hit.Code, hit.Err)
		}
		if hit.Sent < hit.Due || hit.Done < hit.Sent {
			t.Errorf("request %d: due %s, sent %s, done %s", i, hit.Due, hit.Sent, hit.Done)
		}
	}
	return sum, hits
}
