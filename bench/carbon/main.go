// Command carbon measures how many points kasoku's load of carbon sends on one core, by lines
// and by pickled lists, and how many for a second of CPU, beside haggar where that is on PATH
// or in KASOKU_PEERS.
//
// A sink that only reads has one core, the generator the other. What the generator sent is
// what it says and what the sink has read, which must agree; its CPU is what the kernel
// counted for the process.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku/internal/command"
)

// The musts, in metrics for a second of one core. Where other programs use the core too the
// generator has less than all of it: what it does with a second of CPU is judged.
const (
	mustLine   = 8e6
	mustPickle = 5e6
	mustTimes  = 50 // haggar's for a second of CPU
)

// haggar's metrics for a second of CPU as it was measured before, on two cores of an AMD EPYC:
// 50 agents of 10,000 metrics, a flush a second, with and without -cache_connections. They
// stand in for a haggar that is not there.
const haggarLeast, haggarMost = 0.154e6, 0.167e6

func main() {
	kasoku := flag.String("kasoku", "kasoku", "`PROGRAM` to measure")
	rounds := flag.Int("rounds", 5, "of which the median counts")
	seconds := flag.Int("seconds", 4, "of each")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := measureAll(ctx, *kasoku, *rounds, *seconds)
	if err != nil {
		fmt.Fprintln(os.Stderr, "carbon:", err)
		os.Exit(3)
	}
	if !ok {
		os.Exit(1)
	}
}

// A sink reads all that comes, and counts the bytes.
type sink struct {
	l    net.Listener
	read atomic.Int64
}

func newSink() (*sink, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &sink{l: l}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for b := make([]byte, 1<<20); ; {
					n, err := conn.Read(b)
					s.read.Add(int64(n))
					if err != nil {
						return
					}
				}
			}()
		}
	}()
	return s, nil
}

// against runs a generator, on the other core, against a sink of its own. It ends after the
// limit, if there is one.
func against(ctx context.Context, limit time.Duration, args func(addr string) []string) (
	out []byte, read int64, res command.Result, err error) {
	s, err := newSink()
	if err != nil {
		return nil, 0, res, err
	}
	defer s.l.Close()
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	var text bytes.Buffer
	res, err = command.Run(ctx, command.Spec{Path: "taskset", Args: append([]string{"-c", "1"},
		args(s.l.Addr().String())...),
		Stdout: &text, Stderr: os.Stderr, DieWithParent: true})
	if limit > 0 && ctx.Err() != nil {
		err = nil
	}
	return text.Bytes(), s.read.Load(), res, err
}

// cpuOf is the CPU time that a generator took.
func cpuOf(r command.Result) float64 { return (r.User + r.System).Seconds() }

// A rate is metrics in a second of one core, and for a second of CPU.
type rate struct{ perCore, perCPU float64 }

// measureKasoku makes one load, of more than any core sends: it ends with 1.
func measureKasoku(ctx context.Context, kasoku, protocol string, seconds int) (rate, error) {
	out, read, res, err := against(ctx, 0, func(addr string) []string {
		return []string{kasoku, "attack", "--carbon", addr, "--protocol", protocol, "--metrics", "200000000",
			"--interval", "1s", "--names", "haggar.agent.{agent}.metrics.{metric}", "-duration", fmt.Sprintf("%ds",
				seconds),
			"--ramp", "0s", "--connections", "1", "-o", "json"}
	})
	if err != nil && res.ExitCode != 1 {
		return rate{}, err
	}
	var got struct {
		Total struct {
			Sent uint64 `json:"sent"`
		} `json:"total"`
		Seconds []struct {
			To float64 `json:"to_s"`
		} `json:"seconds"`
	}
	if err := json.Unmarshal(out, &got); err != nil || len(got.Seconds) == 0 {
		return rate{}, fmt.Errorf("what kasoku prints: %w", errors.Join(err, errors.New(string(out[:min(len(out),
			200)]))))
	}
	if least := int64(got.Total.Sent) * int64(len("haggar.agent.0.metrics.0 0 1795163619\n")); read < least {
		return rate{}, fmt.Errorf("%d metrics were said to be sent, the sink read %d bytes", got.Total.Sent, read)
	}
	wall := got.Seconds[len(got.Seconds)-1].To
	return rate{float64(got.Total.Sent) / wall, float64(got.Total.Sent) / cpuOf(res)}, nil
}

// measureHaggar makes one load with haggar: what it sent is what the sink has read, by the
// length of its lines.
func measureHaggar(ctx context.Context, haggar string, seconds int) (rate, error) {
	limit := time.Duration(seconds) * time.Second
	_, read, res, err := against(ctx, limit, func(addr string) []string {
		return []string{haggar, "-carbon=" + addr, "-agents=50", "-metrics=10000", "-flush-interval=1s", "-jitter=1ns",
			"-spawn-interval=5ms"}
	})
	mean := float64(len("haggar.agent.25.metrics.5000 500 "+
		"1795163619\n")) - 0.2 // of 50 agents, 10,000 metrics, 1,000 values
	n := float64(read) / mean
	return rate{n / limit.Seconds(), n / cpuOf(res)}, err
}

// findHaggar returns where haggar is; empty: nowhere.
func findHaggar() string {
	for _, dir := range filepath.SplitList(os.Getenv("KASOKU_PEERS")) {
		if path, err := command.LookPath(filepath.Join(dir, "haggar")); err == nil {
			return path
		}
	}
	path, err := command.LookPath("haggar")
	if err != nil {
		return ""
	}
	return path
}

// measureAll prints the table, and reports whether the musts are met.
func measureAll(ctx context.Context, kasoku string, rounds, seconds int) (ok bool, err error) {
	ok = true
	var line rate
	fmt.Printf("%-16s %14s %12s %18s %10s\n", "", "M metrics/s", "of its core", "M metrics/CPU s", "must")
	for _, x := range []struct {
		protocol string
		must     float64
	}{{"line", mustLine}, {"pickle", mustPickle}} {
		var all []rate
		for range rounds {
			r, err := measureKasoku(ctx, kasoku, x.protocol, seconds)
			if err != nil {
				return false, err
			}
			all = append(all, r)
		}
		r := middle(all)
		if x.protocol == "line" {
			line = r
		}
		verdict := "met"
		if r.perCPU < x.must {
			verdict, ok = "missed", false
		}
		fmt.Printf("%-16s %14.1f %10.0f %% %18.1f %6.0f %s\n", "kasoku "+x.protocol, r.perCore/1e6,
			100*r.perCore/r.perCPU, r.perCPU/1e6, x.must/1e6,
			verdict)
	}
	peer, from := haggarMost, "measured before: haggar is not on PATH, nor in KASOKU_PEERS"
	if haggar := findHaggar(); haggar != "" {
		r, err := measureHaggar(ctx, haggar, seconds)
		if err != nil {
			return false, err
		}
		peer, from = r.perCPU, "measured now"
		fmt.Printf("%-16s %14.3f %12s %18.3f\n", "haggar", r.perCore/1e6, "", r.perCPU/1e6)
	} else {
		fmt.Printf("%-16s %14s %12s %12.3f-%.3f\n", "haggar", "", "", haggarLeast/1e6, haggarMost/1e6)
	}
	verdict := "met"
	if line.perCPU < mustTimes*peer {
		verdict, ok = "missed", false
	}
	fmt.Printf("%.0f times haggar's metrics for a second of CPU (%s); must be %d: %s\n", line.perCPU/peer, from,
		mustTimes, verdict)
	return ok, nil
}

// middle are the medians of each figure.
func middle(all []rate) rate {
	median := func(f func(rate) float64) float64 {
		var v []float64
		for _, r := range all {
			v = append(v, f(r))
		}
		slices.Sort(v)
		return v[len(v)/2]
	}
	return rate{median(func(r rate) float64 { return r.perCore }), median(func(r rate) float64 { return r.perCPU })}
}
