//go:build amd64 || arm64

package epollhttp

import (
	"context"
	"sync"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
)

// follows are the redirects of a shard, which goroutines follow.
type follows struct {
	run    *run
	poller *poller
	n      int // under way or not yet taken
	all    uint64

	mu     sync.Mutex
	landed []*flight // have come to their end; guarded by mu
}

// follow hands a flight to a goroutine that follows the redirect. The flight is
// the goroutine's until it has landed.
func (l *follows) follow(f *flight, code int, location string) {
	l.all++
	l.n++
	f.hit.Code, f.hit.BytesIn, f.hit.BytesOut, f.hit.Err = 0, 0, 0, ""
	l.run.followers.Go(func() {
		ctx := l.run.followCtx
		if t := l.run.opts.Timeout; t > 0 {
			var stop context.CancelFunc
			ctx, stop = context.WithDeadlineCause(ctx, l.run.start.Add(f.hit.Sent+t), nethttp.ErrTimeout)
			defer stop()
		}
		if contain.Run(shardPart, func() { l.run.opts.Follow(ctx, &f.hit, code, location) }) != nil {
			f.hit.Err = load.ErrBug.Error()
		}
		l.mu.Lock()
		l.landed = append(l.landed, f)
		l.mu.Unlock()
		l.poller.interrupt()
	})
}

// take returns the flights that have come to their end.
func (l *follows) take() []*flight {
	if l.n == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	landed := l.landed
	l.landed = nil
	l.n -= len(landed)
	return landed
}
