// Trace measures what a trace of system calls loses and costs, beside a service under load. See
// bench/trace.sh.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/median"
	"github.com/kasoku/kasoku/internal/procstat"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/trace/kernel"
	"github.com/kasoku/kasoku/trace/window"
)

// The goals.
const (
	leastStatements = 5000  // a second, at which events are counted
	mostLost        = 0.001 // of the events
	mostCPU         = 0.10  // more of the traced service, while it is watched
	mostOfRun       = 0.01  // over a run of a minute with a window of ten seconds
	mostAttach      = 100 * time.Millisecond
	mostMemory      = 96 << 20
	mostGrown       = 3 << 20
)

func main() {
	server := flag.String("server", "", "the test server of Go")
	kasoku := flag.String("kasoku", "", "the binary")
	base := flag.String("base", "", "a binary without the trace")
	pairs := flag.Int("pairs", 9, "with and without")
	half := flag.Duration("half", 4*time.Second, "of a pair")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	b := &bench{good: true}
	if err := b.run(ctx, *server, *pairs, *half); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	b.size(*kasoku, *base)
	if !b.good {
		os.Exit(1)
	}
}

type bench struct{ good bool }

// goal prints a figure and whether it is as promised.
func (b *bench) goal(name, got, want string, met bool) {
	word := "met"
	if !met {
		word, b.good = "NOT MET", false
	}
	fmt.Printf("%-58s %-24s %-14s %s\n", name, got, want, word)
}

// run measures pairs beside one service.
func (b *bench) run(ctx context.Context, server string, pairs int, half time.Duration) error {
	db, err := sandbox.MariaDB(ctx, sandbox.Options{Vars: map[string]string{"innodb_flush_log_at_trx_commit": "0"}})
	if err != nil {
		return err
	}
	defer func() { _ = db.Stop(context.WithoutCancel(ctx)) }()
	said, says := io.Pipe()
	service, err := command.Start(ctx, command.Spec{Path: server, Stdout: says, Args: []string{
		"-dsn", db.DSN("", "") + "?interpolateParams=true", "-pool", "16", "-other", "http://127.0.0.1:1"}})
	if err != nil {
		return err
	}
	defer func() { _ = service.Signal(syscall.SIGKILL) }()
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		return fmt.Errorf("address of the server: %w", err)
	}
	pid := service.Pid()
	l := startLoad(ctx, "http://"+strings.TrimSpace(line), 32)
	defer l.stop()
	time.Sleep(half) // connections are open, buffers have their size
	var grown, attach, rates []float64
	var events, lost, statements uint64
	before := l.costOf(pid, func() { time.Sleep(half) })
	for range pairs {
		w, err := window.Open(ctx, []window.Target{{PID: pid, Member: "goserver"}}, true)
		if err != nil {
			return err
		}
		var seen *window.Seen
		with := l.costOf(pid, func() { seen, err = w.Watch(ctx, half) })
		if err != nil {
			return err
		}
		after := l.costOf(pid, func() { time.Sleep(half) })
		without := (before + after) / 2
		before = after
		grown = append(grown, with/without-1)
		attach = append(attach, seen.Attach.Seconds())
		events, lost, statements = events+seen.Events, lost+seen.Lost, statements+seen.Counts.Statements
		rates = append(rates, float64(seen.Counts.Statements)/seen.Ended.Sub(seen.Began).Seconds())
		fmt.Printf("CPU of a request: %5.0f µs without, %5.0f with, %+.1f %%; %.0f statements/s, %d events, %d lost\n",
			without, with, 100*(with/without-1), rates[len(rates)-1], seen.Events, seen.Lost)
	}
	if err := l.programs(ctx, pid, half); err != nil {
		return err
	}
	cpu := median.Of(grown)
	b.goal("statements a second, median", fmt.Sprintf("%.0f", median.Of(rates)), fmt.Sprintf("≥ %d",
		leastStatements), median.Of(rates) >= leastStatements)
	share := float64(lost) / float64(max(events+lost, 1))
	b.goal("events lost", fmt.Sprintf("%.3f %% of %d", 100*share, events), "< 0.1 %", share < mostLost)
	b.goal("CPU of the traced service while watched, median of pairs", fmt.Sprintf("%+.1f %%", 100*cpu),
		"≤ +10 %", cpu <= mostCPU)
	b.goal("over a run of 60 s with a window of 10 s", fmt.Sprintf("%+.2f %%", 100*cpu/6), "≤ 1 %", cpu/6 <= mostOfRun)
	b.goal("attach, median", fmt.Sprintf("%.0f ms", 1000*median.Of(attach)), "≤ 100 ms",
		median.Of(attach) <= mostAttach.Seconds())
	rss := residentOf(os.Getpid())
	b.goal("memory of this process, with its load", fmt.Sprintf("%.1f MiB", float64(rss)/(1<<20)), "≤ 96 MiB",
		rss <= mostMemory)
	return nil
}

// size compares binaries, and what `kasoku version` takes.
func (b *bench) size(kasoku, base string) {
	now, err := os.Stat(kasoku)
	if err != nil {
		return
	}
	before, err := os.Stat(base)
	if err != nil {
		fmt.Printf("size of the binary: %.2f MiB; BASE=REVISION compares it\n", float64(now.Size())/(1<<20))
		return
	}
	grown := now.Size() - before.Size()
	b.goal("size of the binary", fmt.Sprintf("%+.2f MiB", float64(grown)/(1<<20)), "≤ 3 MiB", grown <= mostGrown)
}

// A driver keeps a server busy.
type driver struct {
	done   atomic.Int64 // requests
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

func startLoad(ctx context.Context, base string, inFlight int) *driver {
	ctx, cancel := context.WithCancel(ctx)
	l := &driver{cancel: cancel}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: inFlight}}
	paths := []string{"/posts", "/one", "/fan", "/tx"}
	for i := range inFlight {
		l.wg.Go(func() {
			for k := i; ctx.Err() == nil; k++ {
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+paths[k%len(paths)], nil)
				if err != nil {
					return
				}
				resp, err := client.Do(req)
				if err != nil {
					continue
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				l.done.Add(1)
			}
		})
	}
	return l
}

func (l *driver) stop() {
	l.cancel()
	l.wg.Wait()
}

// costOf returns the CPU time in µs of a process for each request that was answered meanwhile.
func (l *driver) costOf(pid int, meanwhile func()) float64 {
	cpu, done := cpuOf(pid), l.done.Load()
	meanwhile()
	return float64((cpuOf(pid) - cpu).Microseconds()) / float64(max(l.done.Load()-done, 1))
}

// programs prints how often the kernel runs each program, and how long that takes. The counting costs as
// well, so it has no part in the pairs.
func (l *driver) programs(ctx context.Context, pid int, length time.Duration) error {
	stats, err := kernel.CountCosts()
	if err != nil {
		return err
	}
	defer stats.Close()
	w, err := window.Open(ctx, []window.Target{{PID: pid, Member: "goserver"}}, true)
	if err != nil {
		return err
	}
	timer := time.AfterFunc(length, printPrograms)
	defer timer.Stop()
	_, err = w.Watch(ctx, length+time.Second)
	return err
}

func printPrograms() {
	for _, c := range kernel.Costs() {
		fmt.Printf("%-16s %9d runs, %5.0f ns each\n", c.Program, c.Runs, float64(c.Time.Nanoseconds())/float64(c.Runs))
	}
}

// cpuOf returns the CPU time of a process.
func cpuOf(pid int) time.Duration {
	const sched = 2 // CPUCLOCK_SCHED; see clock_getcpuclockid(3)
	var at unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|sched), &at); err != nil {
		return 0
	}
	return time.Duration(at.Nano())
}

// residentOf returns the memory of a process, in bytes.
func residentOf(pid int) uint64 {
	st, err := procstat.Read(pid)
	if err != nil {
		return 0
	}
	return st.RSS * uint64(os.Getpagesize())
}
