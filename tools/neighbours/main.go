// Neighbours runs a command on a host that is shared: beside three databases, three
// nginx, two PHP projects under load, a program that forks, and a build, which all
// together may use half a core.
//
//	go run tools/neighbours/main.go [-quota CORES] COMMAND ARGUMENT…
//
// The exit code is the command's; 2 for wrong usage; 3 when the neighbours could not be
// started or stopped. It takes root.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/test/neighbours"
)

func main() {
	neighbours.Main()
	o := neighbours.Whole()
	flag.Float64Var(&o.Quota, "quota", o.Quota, "`cores` that the neighbours may use")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: neighbours [-quota CORES] COMMAND ARGUMENT…")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	code, err := runBeside(o, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "neighbours:", err)
		code = 3
	}
	os.Exit(code)
}

// runBeside runs a command beside a bed, and returns its exit code.
func runBeside(o neighbours.Options, args []string) (code int, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	bed, err := neighbours.Start(ctx, o)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, bed.Stop()) }()
	fmt.Fprintf(os.Stderr, "neighbours: %s, %v\n", bed.Word, bed.Parts)
	before, err := bed.CPU()
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	_, err = command.Run(ctx, command.Spec{Path: args[0], Args: args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
	var exit *command.ExitError
	if errors.As(err, &exit) {
		code, err = max(exit.Result.ExitCode, 1), nil
	}
	after, errOfCPU := bed.CPU()
	fmt.Fprintf(os.Stderr, "neighbours: used %.2f cores for %.0f s\n",
		(after-before).Seconds()/time.Since(begin).Seconds(), time.Since(begin).Seconds())
	return code, errors.Join(err, errOfCPU)
}
