// Command join prints how right the join of statements to endpoints is on
// recordings whose truth is known, and what it costs.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/kasoku/kasoku/bench/jointruth"
	"github.com/kasoku/kasoku/logs/join"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "join:", err)
		os.Exit(3)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("join", flag.ContinueOnError)
	halves := flags.Bool("halves", false, "also the first and the second half of each recording")
	wrong := flags.Bool("wrong", false, "name the pairs that are wrong or missing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return fmt.Errorf("one directory is needed, %d given", flags.NArg())
	}
	dirs, err := jointruth.Folders(flags.Arg(0))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%-20s %-10s %-6s %5s %5s %5s %7s %7s %9s %11s  %s\n",
		"recording", "times", "part", "pairs", "P", "R", "median", "p90", "high", "s/100,000", "pool")
	for _, dir := range dirs {
		rec, err := jointruth.Load(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		p := printer{out: out, rec: rec, wrong: *wrong}
		for _, form := range []jointruth.Form{jointruth.Micros, jointruth.Tail} {
			if strings.HasSuffix(rec.Name, "-probe") {
				f, ok := rec.ScoreProbe(form)
				if !ok {
					fmt.Fprintf(out, "%-20s %-10s requests come too soon after each other to be counted\n", rec.Name, form)
					continue
				}
				p.line(form, "", f, "", "counted")
				continue
			}
			if err := p.join(form, "all", 0, 0); err != nil {
				return err
			}
			if *halves {
				from, to := rec.Span()
				if err := p.join(form, "first", from, (from+to)/2); err != nil {
					return err
				}
				if err := p.join(form, "second", (from+to)/2, to); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// printer prints the lines of one recording.
type printer struct {
	out   io.Writer
	rec   *jointruth.Recording
	wrong bool
}

// join infers and prints the figures of one window.
func (p *printer) join(form jointruth.Form, part string, from, to int64) error {
	in := p.rec.Input(form, from, to)
	before := cpuTime()
	res, err := join.Infer(context.Background(), in, join.Options{})
	if err != nil {
		return err
	}
	used := cpuTime() - before
	pool := fmt.Sprintf("busy %.1f of %.0f", res.Busy, res.Open)
	if res.Saturated {
		pool += ", used up"
	}
	if res.Refused != "" {
		pool = "refused: " + res.Refused
	}
	cost := used.Seconds() * 100_000 / float64(max(res.Events, 1))
	p.line(form, part, p.rec.Score(res), fmt.Sprintf("%.2f", cost), pool)
	return nil
}

func (p *printer) line(form jointruth.Form, part string, f jointruth.Figures, cost, pool string) {
	fmt.Fprintf(p.out, "%-20s %-10s %-6s %5d %5.2f %5.2f %6.1f%% %6.1f%% %4d/%-4d %11s  %s\n",
		p.rec.Name, form, part, f.True, f.Precision(), f.Recall(), 100*f.MedianError, 100*f.Error90,
		f.HighRight, f.High, cost, pool)
	if !p.wrong {
		return
	}
	for _, s := range f.False {
		fmt.Fprintf(p.out, "    wrong   %.150s\n", s)
	}
	for _, s := range f.Missed {
		fmt.Fprintf(p.out, "    missing %.150s\n", s)
	}
}

// cpuTime is the processor time that this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
