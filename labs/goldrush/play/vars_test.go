package play_test

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
	"github.com/kasoku/kasoku/labs/goldrush/mine"
	"github.com/kasoku/kasoku/labs/goldrush/play"
	"github.com/kasoku/kasoku/labs/goldrush/server"
	"github.com/kasoku/kasoku/observe/expvar"
)

// beside asks a server without a network, on the clock of its bubble.
type beside struct{ s *server.Server }

func (b beside) Ask(ctx context.Context, r goldrush.Request) goldrush.Answer {
	a, _ := b.s.Ask(ctx, r) // without an answer its status is 0
	return a
}

func (b beside) CPU(context.Context) ([goldrush.Calls]time.Duration, bool) {
	stats, _ := b.s.Stats()
	return stats.CPU, true
}

// TestVars_ServiceTime: a treasure takes 10 ms of the server at each depth, and that is what grows by depth
// in who looks each second and adds up by how much it grew; no sum falls, and together they are
// what the server has worked for.
func TestVars_ServiceTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := server.New(mine.Options{Rules: goldrush.Published(), Seed: 42})
		ctx, end := context.WithCancel(t.Context())
		var runs sync.WaitGroup
		defer func() { end(); runs.Wait() }()
		runs.Go(func() { s.Run(ctx) })
		vars := play.NewVars()
		runs.Go(func() {
			p, err := variant(t, "tuned").With("CLI-13")
			if err != nil {
				t.Error(err)
			}
			play.Run(ctx, play.Played{Asker: beside{s}, Rules: goldrush.Published(), Params: p, Lasts: time.Minute, Vars: vars})
		})
		before, grown := map[string]map[string]float64{}, map[string]map[string]float64{}
		for range 58 {
			time.Sleep(time.Second + time.Millisecond) // of the bubble's clock: it drifts through the client's second
			now := look(t, vars)
			for place, values := range now {
				if !strings.HasPrefix(place, "operations.") {
					continue
				}
				if grown[place] == nil {
					grown[place] = map[string]float64{}
				}
				for name, v := range values {
					if v < before[place][name] {
						t.Errorf("%s of %s falls from %v to %v", name, place, before[place][name], v)
					}
					grown[place][name] += max(v-before[place][name], 0)
				}
			}
			before = now
		}
		sum, depths := 0.0, 0
		for place, of := range grown {
			if sum += of[expvar.ServiceTime]; !strings.Contains(place, "depth") {
				continue
			}
			n := of[expvar.Answers]
			if depths++; n < 50 {
				t.Errorf("%s: %v treasures were cashed", place, n)
			} else if mean := of[expvar.ServiceTime] / n; math.Abs(mean-0.010) > 0.0005 {
				t.Errorf("%s: %.5f s of the server for each of %v treasures, want 0.010", place, mean, n)
			}
		}
		stats, _ := s.Stats()
		used := 0.0
		for _, of := range stats.CPU {
			used += of.Seconds()
		}
		if depths != 10 || sum > used || sum < used-2.1 {
			t.Errorf("%d depths; the operations took %.2f s of the server's %.2f", depths, sum, used)
		}
	})
}
