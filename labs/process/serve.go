package process

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"
)

// Pauses between attempts to reach a server that is not there yet.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 2 * time.Second
)

// Await calls try until it succeeds or the context ends, again and again with
// growing pauses. It returns the last error; those before are logged with the name
// of the step.
func Await(ctx context.Context, appLog *log.Logger, step string, try func(context.Context) error) error {
	for wait := firstPause; ; wait = min(2*wait, lastPause) {
		err := try(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		appLog.Printf("%s: %v; trying again in %s", step, err, wait)
		again := time.NewTimer(wait)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return ctx.Err()
		}
	}
}

// Serve answers requests until the context ends, then lets those in flight finish
// for at most two seconds. It closes the listener.
func Serve(ctx context.Context, srv *http.Server, ln net.Listener) error {
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	err := srv.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	<-served
	return err
}
