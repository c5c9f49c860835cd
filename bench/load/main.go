// Load measures kasoku's load engine side by side with other load generators:
// generator on one core, server on another, rounds in which all of them take
// turns, ratios of the same round, medians.
//
//	load compare [flags] [ROW…]  measures and prints the tables
//	load stall                   shows a server that stands still, in several p99s
//	load sink [flags]            is a server that costs as little as a server can
//	load plain [flags] URL       is the closed loop that one would write with net/http
//	load results [flags] FILE    writes results as Vegeta does
//
// compare and stall run the others as processes. CPU is the kernel's rusage of a
// generator with its children, requests are counted at the server. Peak memory is
// ru_maxrss, which in a child begins at what the parent had: this program stays
// small while it measures.
//
// The package is for Linux. Sources: getrusage(2), proc(5), taskset(1).
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/kasoku/kasoku/internal/command"
)

// errUsage is a wrong command line.
var errUsage = errors.New("usage: load compare|stall|sink|plain|results; -h after each lists the flags")

// errBelow means that a must was not met.
var errBelow = errors.New("not every must is met")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errBelow):
		os.Exit(1)
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "load: stopped; above is what was measured so far")
		os.Exit(3)
	default:
		fmt.Fprintln(os.Stderr, "load: error:", err)
		os.Exit(3)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errUsage
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	switch args[0] {
	case "compare":
		return compareCommand(ctx, flags, args[1:], out)
	case "stall":
		return stallCommand(ctx, flags, args[1:], out)
	case "sink":
		return sinkCommand(ctx, flags, args[1:], out)
	case "plain":
		return plainCommand(ctx, flags, args[1:])
	case "results":
		n := flags.Int("n", resultCount, "results to write")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return writeResults(flags.Arg(0), *n)
	}
	return errUsage
}

// labFlags are the flags of what runs servers and generators.
func labFlags(flags *flag.FlagSet, l *lab) {
	flags.StringVar(&l.kasoku, "kasoku", "kasoku", "`PROGRAM` to measure")
	flags.StringVar(&l.dir, "dir", os.TempDir(), "`DIRECTORY` for results and run files, best one in memory")
}

// complete finds this program and the others, and the cores.
func (l *lab) complete(ctx context.Context) (all []*peer, missing []string, err error) {
	if l.server, l.client, err = splitCores(); err != nil {
		return nil, nil, err
	}
	if l.self, err = os.Executable(); err != nil {
		return nil, nil, err
	}
	if l.kasoku, err = command.LookPath(l.kasoku); err != nil {
		return nil, nil, err
	}
	if l.kasoku, err = filepath.Abs(l.kasoku); err != nil {
		return nil, nil, err
	}
	all = allPeers()
	missing = findPeers(ctx, all, filepath.SplitList(os.Getenv("KASOKU_PEERS")))
	if all[0].path == "" {
		return nil, nil, errors.New("wrk is missing, and all is measured against it: apt-get install wrk")
	}
	return all, missing, nil
}

func compareCommand(ctx context.Context, flags *flag.FlagSet, args []string, out io.Writer) error {
	b := &bench{out: out, progress: newProgress(), plan: plan{rounds: 5, peerRounds: 2,
		each: 5 * time.Second, peer: 4 * time.Second, settled: 8 * time.Second, thin: 12 * time.Second, long: time.Minute}}
	labFlags(flags, &b.lab)
	flags.BoolVar(&b.quick, "quick", false, "two rounds of short runs: a look, no proof")
	rounds := flags.Int("rounds", 0, "rounds to measure; 0: 5, with -quick 2")
	file := flags.String("o", "", "also write each single figure to `FILE`, as TSV")
	flags.Usage = func() { printUsage(flags, out) }
	names, err := parseMixed(flags, args)
	if err != nil {
		return err
	}
	rows, err := chooseRows(names)
	if err != nil {
		return err
	}
	if b.quick {
		b.plan = plan{rounds: 2, peerRounds: 1,
			each: 2 * time.Second, peer: 2 * time.Second, settled: 3 * time.Second, thin: 4 * time.Second,
			long: 12 * time.Second, quick: true}
	}
	if *rounds > 0 {
		b.rounds, b.peerRounds = *rounds, min(b.peerRounds, *rounds)
	}
	var missing []string
	if b.peers, missing, err = b.complete(ctx); err != nil {
		return err
	}
	if err := b.measureVersion(ctx); err != nil {
		return err
	}
	b.introduce()
	err = b.measure(ctx, rows)
	if *file != "" {
		err = errors.Join(err, b.keep(*file))
	}
	b.conclude(missing)
	for i := range b.goals {
		if !b.goals[i].met() {
			return cmp.Or(err, errBelow)
		}
	}
	return err
}

// parseMixed parses flags that stand before and after names, and returns those.
func parseMixed(flags *flag.FlagSet, args []string) (names []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		if args = flags.Args(); len(args) == 0 {
			return names, nil
		}
		names, args = append(names, args[0]), args[1:]
	}
}

const method = `
How it is measured. A server on one core, a generator on another, one after the
other, in rounds that each begin with another one. Requests are counted at the
server; CPU is what the kernel says of a generator and its children, user and
system, from start to end. × wrk is a ratio to wrk in the same round. What is
printed is the median of the rounds, in parentheses the lowest and the highest.

  kasoku          kasoku attack below kasoku record, which samples host and processes
                  each second and writes the run file; both count
  kasoku attack   alone, its seconds in histograms all the same
  deviation       of an arrival from the grid on which one comes each 1/rate seconds;
                  the median arrival is on the grid; the first second does not count
  in theory       what waits in a stall, worked out from the rate, the length of the
                  stall and the speed at which the server went on
  peak MB         resident; "<" where it is less than this program has itself
`

// printUsage prints what can be measured and how.
func printUsage(flags *flag.FlagSet, out io.Writer) {
	fmt.Fprint(out, "usage: bench/load.sh [flags] [ROW…]\n\nrows, all of them by default:\n")
	for _, r := range allRows() {
		fmt.Fprintf(out, "  %-10s%s\n", r.name, r.about)
	}
	fmt.Fprint(out, method, "\nflags:\n")
	flags.SetOutput(out)
	flags.PrintDefaults()
}

// measureVersion measures the memory of a kasoku that does nothing, before this
// program grows.
func (b *bench) measureVersion(ctx context.Context) error {
	var r reading
	if err := b.generate(ctx, invocation{path: b.kasoku, args: []string{"version"}}, &r); err != nil {
		return err
	}
	b.version = float64(r.maxRSS)
	return nil
}

// introduce describes how and where is measured, and whether the machine is busy with
// something else.
func (b *bench) introduce() {
	fmt.Fprintf(b.out, "server on core %s, generators on core %s; %d rounds, runs of %s to %s; MB = 1,000,000 bytes\n",
		b.server, b.client, b.rounds, b.peer, b.thin)
	if load, err := loadAverage(); err == nil && load > 0.5 {
		fmt.Fprintf(b.out, "warning: the machine is busy, load average %.2f; what is below includes that, too\n", load)
	}
}

func (b *bench) keep(file string) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(b.book.tsv(f), f.Close())
}

// conclude prints the goals of all rows together, and the names of missing peers.
func (b *bench) conclude(missing []string) {
	if len(b.goals) > 0 && b.goals[0].row != b.goals[len(b.goals)-1].row {
		b.summary()
	}
	if len(missing) > 0 {
		fmt.Fprintf(b.out, "\nmissing, so not compared with: %s\n", strings.Join(missing, ", "))
	}
}

func (b *bench) summary() {
	fmt.Fprintf(b.out, "\nall goals, of medians of %d rounds; %q is `kasoku attack` below `kasoku record`, both counted:\n\n", b.rounds, recorded)
	for i := range b.goals {
		b.goals[i].what = b.goals[i].row + ": " + b.goals[i].what
	}
	writeGoals(b.out, b.goals)
}

// newProgress returns a function that shows on a terminal what is being done; with "" it wipes
// that away.
func newProgress() func(string) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return func(string) {}
	}
	return func(s string) { fmt.Fprintf(os.Stderr, "\r\x1b[K%s", s) }
}

func sinkCommand(ctx context.Context, flags *flag.FlagSet, args []string, out io.Writer) error {
	var o sinkOptions
	flags.TextVar(&o.addr, "addr", netip.MustParseAddrPort("127.0.0.1:0"),
		"where to listen, on IPv4; port 0 takes a free one")
	flags.IntVar(&o.body, "body", bodyBytes, "bytes of an answer's body")
	flags.DurationVar(&o.service, "service", 0, "time between a request and its answer")
	flags.DurationVar(&o.stallAt, "stall-at", 0, "when to stand still, after the first request")
	flags.DurationVar(&o.stallFor, "stall", 0, "how long to stand still; 0: never")
	flags.IntVar(&o.record, "record", 0, "arrivals to keep")
	flags.Float64Var(&o.perSec, "rate", 0, "of the requests that are to come, for their deviation")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s, err := newSink(o)
	if err != nil {
		return err
	}
	port, err := s.port()
	if err != nil {
		return err
	}
	fmt.Fprintln(out, port)
	report, err := s.run(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(report)
}

func plainCommand(ctx context.Context, flags *flag.FlagSet, args []string) error {
	conns := flags.Int("c", connections, "connections")
	length := flags.Duration("for", 5*time.Second, "how long")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, *length)
	defer cancel()
	return plainLoad(ctx, flags.Arg(0), *conns)
}
