// Command kasoku-hub is the second program of kasoku, which starts it: the hub of a fleet,
// the agent of a host, and what takes questions to a hub. It is a program of its own since
// NATS fills memory when a program that links it starts, whether or not it is used.
//
// What it is to be stands in a variable, see package fleet/relay. Its exit codes are those of
// kasoku: 0 it was ended, 2 the options are wrong, 3 it could not run.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/relay"
	"github.com/kasoku/kasoku/internal/contain"
)

func main() {
	text := os.Getenv(relay.Env)
	_ = os.Unsetenv(relay.Env) // a join line may be in it
	code := 3
	if err := contain.Do(contain.Part{Kind: contain.Command}, func() error {
		code = run(text, os.Stdin, os.Stdout, os.Stderr)
		return nil
	}); err != nil {
		fmt.Fprintf(os.Stderr, "kasoku: error: %s\n", err)
	}
	os.Exit(code)
}

func run(text string, stdin io.Reader, stdout, stderr io.Writer) int {
	o, err := relay.ParseOptions(text)
	if err != nil {
		return complain(stderr, err, 2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	switch {
	case o.Serve != nil:
		ctx, stop := while(ctx, o.Serve.While)
		defer stop()
		err = serve(ctx, o.Serve, stdout, stderr)
	case o.Agent != nil && o.Agent.End:
		err = end(ctx, o.Agent)
	case o.Agent != nil:
		ctx, stop := while(ctx, o.Agent.While)
		defer stop()
		err = answer(ctx, o.Agent, o.Kasoku, stdout)
	case o.Ask != nil:
		err = ask(o.Ask, stdin, stdout)
	default:
		err = errors.New("the options say not what to be")
	}
	if err != nil {
		return complain(stderr, err, 3)
	}
	return 0
}

// while returns a context that also ends when a file is gone.
func while(ctx context.Context, file string) (context.Context, func()) {
	ctx, stop := context.WithCancel(ctx)
	if file == "" {
		return ctx, stop
	}
	contain.Go(contain.Part{Kind: contain.Step, Name: "answer"}, func() {
		defer stop()
		for ctx.Err() == nil {
			if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Second / 2):
			}
		}
	})
	return ctx, stop
}

// complain prints an error and its hint as kasoku does.
func complain(w io.Writer, err error, code int) int {
	fmt.Fprintf(w, "kasoku: error: %s\n", fleet.Clean(err.Error()))
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		fmt.Fprintf(w, "kasoku: hint: %s\n", fleet.Clean(h.Hint()))
	}
	return code
}

// hinted is an error with what to do about it.
type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

// Hint returns what to do.
func (h hinted) Hint() string { return h.hint }
