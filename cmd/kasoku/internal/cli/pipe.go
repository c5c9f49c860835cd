package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// OutliveReader lets the process live on when who reads its output ends first, as tee does at
// the same Ctrl-C: a write then fails with an error (EPIPE), and a process that has something
// to put away goes on. The function that it returns restores SIGPIPE.
func OutliveReader() (before func()) {
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	return func() { signal.Stop(broken) }
}

// A ReadBy is an output that cancels when its reader has gone.
type ReadBy struct {
	io.Writer
	Cancel context.CancelFunc
	Gone   atomic.Bool // the reader has gone
}

// Write implements io.Writer.
func (r *ReadBy) Write(b []byte) (int, error) {
	n, err := r.Writer.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		r.Gone.Store(true)
		r.Cancel()
	}
	return n, err
}
