// Analysis measures kasoku's log analysis side by side with the tools that people
// use today: same file, page cache warm, median of several runs, wall time.
//
//	analysis make DIR        make the logs in DIR (those that are there stay)
//	analysis compare DIR     measure with them and print the table
//
// The access logs are generated, the same requests in three formats. The slow log
// is a real MariaDB's under a mixed load, its first 24 MB repeated until it is
// long enough. A peer that is missing is named and its goal counts as not met.
//
// Memory is the kernel's ru_maxrss. A child's begins at that of its parent, so this
// program stays small while it measures: what makes logs is a run of its own.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	met, err := run(ctx, os.Args[1:])
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "analysis: error:", err)
		os.Exit(3)
	case !met:
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (met bool, err error) {
	flags := flag.NewFlagSet("analysis", flag.ContinueOnError)
	var (
		requests = flags.Int("requests", 1_250_000, "requests in each access log")
		slow     = flags.Int64("slow", 292_000_000, "bytes of the slow log")
		o        options
	)
	flags.IntVar(&o.runs, "runs", 5, "measure so often and take the median")
	flags.IntVar(&o.peerRuns, "peer-runs", 5, "the same for peers, which are slow")
	flags.StringVar(&o.kasoku, "kasoku", "kasoku", "`PROGRAM` to measure")
	flags.StringVar(&o.only, "only", "", "measure only the works whose name holds this `TEXT`")
	if err := flags.Parse(args); err != nil {
		return false, err
	}
	what, dir := flags.Arg(0), flags.Arg(1)
	switch {
	case dir == "":
	case what == "make":
		return true, makeAll(ctx, dir, *requests, *slow)
	case what == "compare":
		o.dir = dir
		return compareWorks(ctx, o, os.Stdout)
	}
	return false, errors.New("usage: analysis [flags] make|compare DIR")
}

// makeAll makes the logs that are not there yet.
func makeAll(ctx context.Context, dir string, requests int, slow int64) error {
	for _, format := range []string{"combined", "ltsv", "json"} {
		err := makeFile(dir, format+".log", func(w io.Writer) error { return writeLog(w, format, requests) })
		if err != nil {
			return err
		}
	}
	return makeFile(dir, "slow.log", func(w io.Writer) error { return writeSlow(ctx, w, slow) })
}

// makeFile writes a file under another name first, so that one that is there is
// whole.
func makeFile(dir, name string, write func(io.Writer) error) error {
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	f, err := os.Create(path + ".part")
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("make %s: %w", name, err)
	}
	return os.Rename(path+".part", path)
}
