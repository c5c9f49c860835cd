// Trace measures what a trace of system calls loses and costs, beside a service under load. See
// bench/trace.sh.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/config"
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
	mostOfRun       = 0.01  // over a run with the default window
	mostAttach      = 100 * time.Millisecond
	mostOfAttach    = 16 << 20
	mostMemory      = 96 << 20
	mostGrown       = 3 << 20
)

// The load: so many connections, and requests a second of the pairs at a fixed rate, by which the goals are judged:
// the work of both halves is the same. Where as many are made as can be, each thing that the host does beside changes
// the CPU of a request, and stretches in which nothing is watched lie a fifth and more apart.
const (
	inFlight  = 32
	pacedRate = 1200
)

func main() {
	server := flag.String("server", "", "the test server of Go")
	kasoku := flag.String("kasoku", "", "the binary")
	base := flag.String("base", "", "a binary without the trace")
	pairs := flag.Int("pairs", 36, "with and without")
	half := flag.Duration("half", time.Second, "of a pair")
	run := flag.Duration("run", time.Minute, "a run with the default window, and one without a trace; 0: none")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	b := &bench{good: true}
	if err := b.run(ctx, *server, *pairs, *half, *run); err != nil {
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

// run measures pairs, and whole runs, beside one service.
func (b *bench) run(ctx context.Context, server string, pairs int, half, run time.Duration) error {
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
	idle := heapOf()
	w, err := window.Open(ctx, []window.Target{{PID: pid, Member: "goserver"}}, true)
	if err != nil {
		return err
	}
	took := heapOf() - idle + kernel.MapMemory()
	if err := w.Close(); err != nil {
		return err
	}
	url := "http://" + strings.TrimSpace(line)
	l := startLoad(ctx, url, 0)
	defer l.stop()
	time.Sleep(half) // connections are open, buffers have their size
	fmt.Println("at as many requests as there can be:")
	p, err := l.pairs(ctx, pid, pairs, half)
	if err != nil {
		return err
	}
	if err := l.programs(ctx, pid, half); err != nil {
		return err
	}
	if err := l.wholeRuns(ctx, pid, run); err != nil {
		return err
	}
	l.stop()
	paced := startLoad(ctx, url, pacedRate)
	defer paced.stop()
	fmt.Printf("at %d requests a second:\n", pacedRate)
	time.Sleep(half)
	at, err := paced.pairs(ctx, pid, pairs, half)
	if err != nil {
		return err
	}
	fmt.Printf("at as many requests as there can be, median of %s\n", p)
	fmt.Printf("at %d a second, median of %s\n", pacedRate, at)
	cpu, rate := median.Of(at.grown), median.Of(at.rates)
	b.goal("statements a second, median", fmt.Sprintf("%.0f", rate), fmt.Sprintf("≥ %d", leastStatements),
		rate >= leastStatements)
	events, lost := p.events+at.events, p.lost+at.lost
	share := float64(lost) / float64(max(events+lost, 1))
	b.goal("events lost, of both", fmt.Sprintf("%.3f %% of %d", 100*share, events), "< 0.1 %", share < mostLost)
	b.goal("CPU of the traced service while watched, median of pairs", fmt.Sprintf("%+.1f %%", 100*cpu),
		"≤ +10 %", cpu <= mostCPU)
	_, length := usual.Length(time.Minute)
	ofRun := cpu * length.Seconds() / time.Minute.Seconds()
	b.goal(fmt.Sprintf("that, over a run of 60 s with the default window of %s", length),
		fmt.Sprintf("%+.2f %%", 100*ofRun), "≤ 1 %", ofRun <= mostOfRun)
	b.goal("attach, median", fmt.Sprintf("%.0f ms", 1000*median.Of(p.attach)), "≤ 100 ms",
		median.Of(p.attach) <= mostAttach.Seconds())
	b.goal("memory that attaching takes, with the kernel's maps", fmt.Sprintf("%.1f MiB", float64(took)/(1<<20)), "≤ 16 MiB", took <= mostOfAttach)
	rss := residentOf(os.Getpid())
	b.goal("memory of this process, with its load", fmt.Sprintf("%.1f MiB", float64(rss)/(1<<20)), "≤ 96 MiB",
		rss <= mostMemory)
	return nil
}

// paired is what pairs of stretches gave, one in which the service was watched beside two in which it was not.
type paired struct {
	grown        []float64 // of the CPU of a request, 0.1 is a tenth more
	alone        []float64 // CPU of a request in µs, while nothing was watched
	attach       []float64 // seconds
	rates        []float64 // statements a second
	events, lost uint64
}

func (p *paired) String() string {
	return fmt.Sprintf("%d pairs %s; the same of stretches in which nothing was watched %s", len(p.grown),
		within(p.grown), within(control(p.alone)))
}

// pairs measures so many.
func (l *driver) pairs(ctx context.Context, pid, pairs int, half time.Duration) (*paired, error) {
	before := l.costOf(pid, func() { time.Sleep(half) })
	p := &paired{alone: []float64{before}}
	for range pairs {
		w, err := window.Open(ctx, []window.Target{{PID: pid, Member: "goserver"}}, true)
		if err != nil {
			return nil, err
		}
		var seen *window.Seen
		with := l.costOf(pid, func() { seen, err = w.Watch(ctx, half) })
		if err != nil {
			return nil, err
		}
		after := l.costOf(pid, func() { time.Sleep(half) })
		without := (before + after) / 2
		before, p.alone = after, append(p.alone, after)
		p.grown = append(p.grown, with/without-1)
		p.attach = append(p.attach, seen.Attach.Seconds())
		p.events, p.lost = p.events+seen.Events, p.lost+seen.Lost
		p.rates = append(p.rates, float64(seen.Counts.Statements)/seen.Ended.Sub(seen.Began).Seconds())
		fmt.Printf("CPU of a request: %5.0f µs without, %5.0f with, %+.1f %%; %.0f statements/s, %d events, %d lost\n",
			without, with, 100*(with/without-1), p.rates[len(p.rates)-1], seen.Events, seen.Lost)
	}
	return p, nil
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

// startLoad keeps a server busy over inFlight connections: with so many requests a second, each at its time; 0: with
// as many as there can be.
func startLoad(ctx context.Context, base string, perSec int) *driver {
	ctx, cancel := context.WithCancel(ctx)
	l := &driver{cancel: cancel}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: inFlight}}
	paths := []string{"/posts", "/one", "/fan", "/tx"}
	began := time.Now()
	for i := range inFlight {
		l.wg.Go(func() {
			for k := i; ctx.Err() == nil; k++ {
				if perSec > 0 {
					nth := (k-i)*inFlight + i
					time.Sleep(time.Until(began.Add(time.Duration(nth) * time.Second / time.Duration(perSec))))
				}
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

// control compares each stretch in which nothing was watched with those before and after it, as a watched one
// is: how far it is from 0 is by chance.
func control(alone []float64) (out []float64) {
	for i := 1; i+1 < len(alone); i++ {
		out = append(out, alone[i]/((alone[i-1]+alone[i+1])/2)-1)
	}
	return out
}

// within writes a median with its interval of 95 %, which lies between two of the values in their order; see
// Conover, Practical Nonparametric Statistics, 3.2.
func within(values []float64) string {
	if len(values) < 6 {
		return "of too few"
	}
	sorted := slices.Sorted(slices.Values(values))
	n := float64(len(sorted))
	k := int(n/2 - 1.96*math.Sqrt(n)/2)
	return fmt.Sprintf("%+.1f %% (%+.1f to %+.1f)", 100*median.Of(values), 100*sorted[k], 100*sorted[len(sorted)-1-k])
}

// usual is the plan of a run that does not ask for a trace, nor against it; see [config.Default].
var usual = window.Planned(nil, config.Default().Trace.For, config.Default().Trace.After)

// wholeRuns prints what a request costs over a run with the default window, and over one without a trace.
// Runs of a minute lie further apart than the hundredth that is promised; so that is reckoned from the pairs.
func (l *driver) wholeRuns(ctx context.Context, pid int, length time.Duration) error {
	after, watched := usual.Length(length)
	if length <= 0 || watched < time.Second {
		return nil
	}
	var err error
	with := l.costOf(pid, func() {
		time.Sleep(after)
		if _, err = window.Take(ctx, []window.Target{{PID: pid, Member: "goserver"}}, watched, true, nil); err == nil {
			time.Sleep(length - after - watched)
		}
	})
	if err != nil {
		return err
	}
	without := l.costOf(pid, func() { time.Sleep(length) })
	fmt.Printf("CPU of a request over %s: %5.0f µs with a window of %s, %5.0f without, %+.2f %%\n", length, with, watched,
		without, 100*(with/without-1))
	return nil
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

// heapOf returns what was allocated on the heap so far, in bytes, whether or not it is in use.
func heapOf() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// residentOf returns the memory of a process, in bytes.
func residentOf(pid int) uint64 {
	st, err := procstat.Read(pid)
	if err != nil {
		return 0
	}
	return st.RSS * uint64(os.Getpagesize())
}
