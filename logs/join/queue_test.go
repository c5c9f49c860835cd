package join_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/logs/join"
)

// TestQueue: an application of few workers, as gunicorn's, before which requests wait in
// line. All of those are open together, and the time of a statement says little of whose it
// is. No count is called sure then; where the workers keep up, counts are.
func TestQueue(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	for _, d := range []struct {
		perSec, until float64
		sure          bool
	}{{5, 120, true}, {9, 60, false}, {10, 60, false}, {12, 28, false}, {14, 60, false}} {
		for seed := range uint64(3) {
			in, truth := queue(seed, d.perSec, d.until)
			res, err := join.Infer(context.Background(), in, join.Options{})
			if err != nil || len(res.Pairs) == 0 {
				t.Fatal(res, err)
			}
			high := 0
			for _, p := range res.Pairs {
				if p.Class != join.High {
					continue
				}
				high++
				if want := truth[[2]int32{p.Endpoint, p.Query}]; p.PerRequest < want-1 || p.PerRequest > want+1 || want == 0 {
					t.Errorf("%v requests/s, seed %d: endpoint %d has %.2f of query %d, want %.0f", d.perSec, seed, p.Endpoint, p.PerRequest, p.Query, want)
				}
			}
			if (high > 0) != d.sure || res.InLine == d.sure {
				t.Errorf("%v requests/s, seed %d: %d sure pairs, in line %v", d.perSec, seed, high, res.InLine)
			}
		}
	}
}

// queue is so many seconds of Poisson arrivals at three workers, each of which needs 0.2 to
// 0.4 s a request, on a connection of its own. truth is statements a request by endpoint
// and query; the last statement of all is query 0, the COMMIT.
func queue(seed uint64, perSec, until float64) (in join.Input, truth map[[2]int32]float64) {
	const endpoints, queries = 11, 8
	rnd := rand.New(rand.NewPCG(seed, 1))
	in.Resolution, in.Queries, truth = 7e6, make([]join.QueryInfo, queries), map[[2]int32]float64{}
	of := make([][]int32, endpoints) // statements of a request, in their order
	for e := range int32(endpoints) {
		in.Endpoints = append(in.Endpoints, strconv.Itoa(int(e)))
		for q := int32(queries - 1); q > 0; q-- {
			if rnd.IntN(3) == 0 {
				of[e] = append(of[e], slices.Repeat([]int32{q}, 1+rnd.IntN(2))...)
			}
		}
		of[e] = append(of[e], 0)
		for _, q := range of[e] {
			truth[[2]int32{e, q}]++
		}
	}
	µs := func(s float64) int64 { return int64(s * 1e6) }
	free := make([]float64, 3) // when each worker is
	for at, n := 0.0, 0; at < until; n++ {
		at += rnd.ExpFloat64() / perSec
		e := int32(n % endpoints)
		took := 0.2 + 0.2*rnd.Float64()
		worker := slices.Index(free, slices.Min(free))
		begin := max(at, free[worker])
		free[worker] = begin + took
		in.Requests = append(in.Requests, join.Request{Start: µs(at), End: µs(begin + took), Endpoint: e, Status: 200})
		for i, q := range of[e] {
			end := µs(begin + took*float64(i+1)/float64(len(of[e])+1))
			in.Events = append(in.Events, join.Event{Start: end - 500, End: end, Slack: 6000, Seq: int64(len(in.Events)), Conn: uint64(n + 1), Query: q})
		}
	}
	return in, truth
}
