package kataribe

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"

	"github.com/kasoku/kasoku/compat/exact"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/logs/lines"
)

// The exit codes. A configuration that cannot be read is 2, as a wrong flag is.
const (
	exitGood  = 0
	exitNone  = 1 // no line is a request, or the log cannot be read
	exitUsage = 2
)

// Run does what kataribe does with these arguments, which do not hold its name,
// and returns the exit code. After the flags it takes logs to read instead of
// standard input; they may be compressed.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("kataribe", flag.ContinueOnError)
	fs.SetOutput(stderr)
	var path string
	fs.StringVar(&path, "conf", "kataribe.toml", "configuration `file`")
	fs.StringVar(&path, "f", "kataribe.toml", "configuration `file` (shorthand)")
	generate := fs.Bool("generate", false, "generate configuration file")
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		return exitGood
	} else if err != nil {
		return exitUsage
	}
	if *generate {
		if err := private.Output.WriteFile(path, []byte(defaultConfig)); err != nil {
			fmt.Fprintln(stderr, "kataribe: generate configuration:", err)
			return exitNone
		}
		return exitGood
	}
	p, err := loadPlan(path)
	if err != nil {
		fmt.Fprintln(stderr, "kataribe:", err)
		fs.Usage()
		return exitUsage
	}
	in := []lines.Input{{Path: "-", R: stdin}}
	if fs.NArg() > 0 {
		in, err = lines.Inputs(fs.Args())
	}
	if err == nil {
		err = p.report(ctx, in, stdout, stderr)
	}
	if err != nil {
		fmt.Fprintln(stderr, "kataribe:", err)
		return exitNone
	}
	return exitGood
}

// A noneError says in kataribe's own words that no line is a request.
type noneError struct{}

func (noneError) Error() string { return "No parsed requests found. Please confirm log_format." }

// report reads the logs and prints the report on them.
func (p *plan) report(ctx context.Context, in []lines.Input, stdout, stderr io.Writer) error {
	k := exact.NewBook()
	workers := make([]*worker, runtime.GOMAXPROCS(0))
	for i := range workers {
		workers[i] = newWorker(p, k)
	}
	o := lines.SplitOptions{Workers: len(workers), Note: func(_ int, text string) {
		fmt.Fprintln(stderr, "kataribe:",
			text)
	}}
	if err := lines.Split(ctx, in, o, func(i int, b *lines.Block) error {
		workers[i].block(b)
		return nil
	}); err != nil {
		return err
	}
	if dropped, lines, first := k.Dropped(); dropped > 0 {
		fmt.Fprintf(stderr, "kataribe: %d of %d lines do not match log_format; the first is line %d: %q\n", dropped,
			lines, first.Line, first.Text)
	}
	if len(k.Names()) == 0 {
		return noneError{}
	}
	w := bufio.NewWriter(stdout)
	collectResult(p, k, workers).print(w, p)
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
