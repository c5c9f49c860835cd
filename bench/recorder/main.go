// Recorder records this machine with kasoku's sources and its run file, and
// nothing else, so that a script can measure what recording costs from outside.
// At the end it prints what each source cost by its own measurement, in percent
// of one core. Without sources it only waits: the baseline for its memory.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/cgroup"
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/logsize"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/observe/sockets"
	"github.com/kasoku/kasoku/store"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "recorder: error:", err)
		os.Exit(3)
	}
}

func run(args []string, out io.Writer) error {
	var (
		flags = flag.NewFlagSet("recorder", flag.ContinueOnError)
		long  = flags.Duration("for", 30*time.Second, "record so long")
		dsn   = flags.String("mysql", "", "`DSN` of a server to record")
		path  = flags.String("o", "", "run `FILE`; none drops the samples")
		idle  = flags.Bool("idle", false, "only wait")
	)
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *long)
	defer cancel()
	if *idle {
		<-ctx.Done()
		return nil
	}
	return recordRun(ctx, *dsn, *path, out)
}

// recordRun samples until ctx ends.
func recordRun(ctx context.Context, dsn, path string, out io.Writer) (err error) {
	sources, err := makeSources(dsn, path)
	if err != nil {
		return err
	}
	start := time.Now()
	sink := &sink{next: discard{}}
	if path != "" {
		run := kasoku.Run{Label: "bench", Started: start.Round(0), Hosts: []kasoku.Host{{Name: "bench"}}}
		w, err := store.Create(path, run)
		if err != nil {
			return err
		}
		defer func() {
			run.Length, run.State = time.Since(start), kasoku.Finished
			err = errors.Join(err, w.Finish(run))
		}()
		sink.next = w
	}
	sampler := observe.New(observe.Options{Host: "bench", Start: start, Sources: sources, Sink: sink})
	if err := sampler.Run(ctx); err != nil {
		return err
	}
	_, err = io.WriteString(out, sink.summary(time.Since(start), sampler.Warnings()))
	return err
}

// makeSources are those of kasoku record; a run file stands in for a log.
func makeSources(dsn, log string) ([]observe.Source, error) {
	h, err := host.New(host.Options{})
	if err != nil {
		return nil, err
	}
	p, err := process.New(process.Options{PIDs: []int{os.Getpid()}})
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	out := []observe.Source{h, p, cgroup.New(cgroup.Options{PIDs: p.Watched}), sockets.New(sockets.Options{}), logsize.New(log)}
	if dsn != "" {
		db, err := mysqlflags.OpenDSN(dsn)
		if err != nil {
			return nil, errors.Join(err, h.Close(), p.Close())
		}
		out = append(out, mysql.New(db))
	}
	return out, nil
}

// A sink passes everything on and keeps what the sources cost.
type sink struct {
	next    observe.Sink
	costs   []kasoku.Sample
	samples map[string]int // in the last frame, by source
	gaps    []string
}

func (s *sink) Frame(f *kasoku.Frame) error {
	if f.Source == observe.SelfName {
		s.costs = append(s.costs[:0], f.Samples...)
	}
	if s.samples == nil {
		s.samples = map[string]int{}
	}
	s.samples[f.Source] = len(f.Samples)
	return s.next.Frame(f)
}

func (s *sink) Gap(g kasoku.Gap) error {
	s.gaps = append(s.gaps, fmt.Sprintf("%s to %s %s: %s", g.Interval.From, g.Interval.To, g.Source, g.Reason))
	return s.next.Gap(g)
}

func (s *sink) Event(e kasoku.Event) error { return s.next.Event(e) }

// summary lists the costs, the greatest first, and what went wrong.
func (s *sink) summary(long time.Duration, warnings []kasoku.Warning) string {
	var b strings.Builder
	sort.SliceStable(s.costs, func(i, j int) bool { return s.costs[i].Value > s.costs[j].Value })
	for _, c := range s.costs {
		if name, ok := strings.CutPrefix(c.Name, "cost."); ok {
			fmt.Fprintf(&b, "  %-8s %6.3f %%  %4d samples a tick\n", name, 100*c.Value/long.Seconds(), s.samples[name])
		}
	}
	for _, g := range s.gaps {
		fmt.Fprintf(&b, "gap: %s\n", g)
	}
	for _, w := range warnings {
		fmt.Fprintf(&b, "warning: %s\n", w.Text)
	}
	return b.String()
}

// discard drops everything.
type discard struct{}

func (discard) Frame(*kasoku.Frame) error { return nil }
func (discard) Gap(kasoku.Gap) error      { return nil }
func (discard) Event(kasoku.Event) error  { return nil }
