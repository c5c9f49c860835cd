package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// outliveReader lets the process live on when who reads its output ends first, as tee
// does at the same Ctrl-C: that is an error of the write then, and not the end of a
// process that has something to put away. What it returns makes it as before.
func outliveReader() (before func()) {
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	return func() { signal.Stop(broken) }
}

// A readBy is an output that cancels when its reader has gone.
type readBy struct {
	io.Writer
	cancel context.CancelFunc
	gone   atomic.Bool // the reader has gone
}

// Write implements io.Writer.
func (r *readBy) Write(b []byte) (int, error) {
	n, err := r.Writer.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		r.gone.Store(true)
		r.cancel()
	}
	return n, err
}
