package window

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/peertest"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestTruth_EventLoop: on the one thread of Node.js, where timers run statements too and requests are given
// up, at least 99 % of the statements that are said to be a request's are; all others are counted as not
// known, and none as of no request.
func TestTruth_EventLoop(t *testing.T) {
	needRights(t)
	turn.Wait(t)
	db := sandboxtest.MariaDB(t, sandboxtest.Unsafe())
	paths := []string{"/one", "/posts", "/together", "/prepared", "/tx", "/pause", "/none", "/slow"}
	for _, inFlight := range append([]int{1, someTogether}, inFlights()...) {
		t.Run(fmt.Sprint(inFlight), func(t *testing.T) {
			cmd := exec.Command("node", "testdata/node/server.js")
			cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(peertest.Dir(t, "node"), "node_modules"),
				fmt.Sprint("PORT=", db.Port), "USER_NAME=root", "PASSWORD=")
			addr, pid := startCommand(t, cmd)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // ended when it was watched
			defer cancel()
			var wg *sync.WaitGroup
			if inFlight == someTogether {
				wg = wander(ctx, t, "http://"+addr, inFlight, paths...)
			} else {
				wg = drive(ctx, t, keepAlive(inFlight), "http://"+addr, inFlight, paths...)
			}
			var j judge
			seen := watch(t, &j, Target{PID: pid, Member: "node"})
			cancel()
			wg.Wait()
			j.honest(t, seen, inFlight)
		})
	}
}

// someTogether are so few clients that pause that some of their requests are alone, and some are not.
const someTogether = 2

// wander asks paths with clients that pause after each answer, each as long as it happens.
func wander(ctx context.Context, t *testing.T, base string, clients int, paths ...string) *sync.WaitGroup {
	var wg sync.WaitGroup
	client := keepAlive(clients)
	for i := range clients {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(i)))
			for ctx.Err() == nil {
				req, _ := http.NewRequestWithContext(ctx, "GET", base+paths[rnd.IntN(len(paths))], nil)
				if resp, err := client.Do(req); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
				pause := time.NewTimer(time.Duration(rnd.IntN(150)) * time.Millisecond)
				select {
				case <-pause.C:
				case <-ctx.Done():
				}
			}
		})
	}
	return &wg
}

// honest fails the test unless 99 % of what is said to be exact is right, and all else is counted as unknown.
func (j *judge) honest(t *testing.T, seen *Seen, inFlight int) {
	t.Helper()
	n := seen.Counts
	t.Logf("%d right, %d wrong, %d missed; %d of %d statements are called exact; %d events, %d lost; %+v", j.right,
		j.wrong, j.missed, n.Tied, n.Statements, seen.Events, seen.Lost, n)
	if said := j.right + j.wrong + j.missed; float64(j.right) < 0.99*float64(said) {
		t.Errorf("%d of %d are right: %q", j.right, said, j.examples)
	}
	if inFlight <= someTogether && j.right < 20 {
		t.Errorf("%d statements are right: too few, where requests are alone", j.right)
	}
	if inFlight > 1 && (n.Mixed == 0 || n.Unresolved == 0) {
		t.Errorf("%d requests were not alone, %d statements are not known", n.Mixed, n.Unresolved)
	}
	if n.Outside > 0 || j.jobs > 0 {
		t.Errorf("%d statements are said to be of no request", n.Outside)
	}
	if sum := n.Tied + n.Unresolved + n.Before + n.Unfinished; sum != n.Statements {
		t.Errorf("%d statements of %d are counted", sum, n.Statements)
	}
	if seen.Lost > 0 {
		t.Errorf("%d events were lost", seen.Lost)
	}
}
