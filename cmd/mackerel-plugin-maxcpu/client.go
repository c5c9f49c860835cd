package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// startIn is how long a sampler may take to answer for the first time.
const startIn = 10 * time.Second

// A client asks the sampler, and starts it when there is none.
type client struct {
	socket   string
	interval time.Duration // between samples
	self     string        // path of the binary
	id       string        // of the asker
	log      io.Writer
}

// stats returns what the sampler says; nil when it has only just been started.
func (c client) stats(ctx context.Context) (*answer, error) {
	conn, err := dial(c.socket, os.Geteuid())
	if err == nil {
		if err = conn.hello(answerIn); err != nil {
			err = errors.Join(err, conn.close())
		}
	}
	switch {
	case errors.Is(err, errForeign):
		return nil, err
	case err != nil:
		fmt.Fprintf(c.log, "check daemon alive failed: %v\n", err)
		return nil, c.start(ctx)
	}
	var a answer
	if err := errors.Join(conn.call(request{Word: wordStats, Asker: c.id, Interval: c.interval}, &a, answerIn),
		conn.close()); err != nil {
		return nil, err
	}
	if a.Error != "" {
		return nil, errors.New(a.Error)
	}
	return &a, nil
}

// start starts a sampler in the background and waits until it answers.
func (c client) start(ctx context.Context) error {
	fmt.Fprintln(c.log, "start background process")
	if err := c.canStart(); err != nil {
		return err
	}
	before := fileID(c.socket)
	p, err := spawnDaemon(ctx, c.self, c.socket, c.interval)
	if err != nil {
		return err
	}
	limit := time.NewTimer(startIn)
	defer limit.Stop()
	again := time.NewTicker(10 * time.Millisecond) // a start takes some 20 ms
	defer again.Stop()
	for {
		select {
		case <-p.Done():
			if c.answers() {
				return nil // another one was started at the same time and has taken over
			}
			res, _ := p.Wait() // its outputs are /dev/null
			return fmt.Errorf("the background process ended: %s", res)
		case <-limit.C:
			return fmt.Errorf("the background process does not answer on %s", c.socket)
		case <-ctx.Done():
			return ctx.Err()
		case <-again.C:
			if fileID(c.socket) != before && c.answers() {
				return nil
			}
		}
	}
}

// answers reports whether a sampler answers.
func (c client) answers() bool {
	conn, err := dial(c.socket, os.Geteuid())
	if err != nil {
		return false
	}
	return errors.Join(conn.hello(answerIn), conn.close()) == nil
}

// canStart reports why a sampler would not start: it has no output of its own.
func (c client) canStart() error {
	read, end, err := statReader()
	if err != nil {
		return err
	}
	_, rerr := read()
	if err := errors.Join(rerr, end()); err != nil {
		return err
	}
	info, err := os.Stat(filepath.Dir(c.socket))
	switch {
	case err != nil:
		return fmt.Errorf("socket: %w", err)
	case !info.IsDir():
		return fmt.Errorf("socket: %s is not a directory", filepath.Dir(c.socket))
	case len(c.socket) > 96: // sun_path has 108 bytes, and the place that it is made in is some longer
		return fmt.Errorf("socket: the path has %d bytes, 96 is the most", len(c.socket))
	}
	return nil
}
