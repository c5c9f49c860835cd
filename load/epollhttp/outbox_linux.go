//go:build amd64 || arm64

package epollhttp

import (
	"time"

	"github.com/kasoku/kasoku/load"
)

// An outbox holds hits until they are given to the sink.
type outbox struct {
	sink     load.Sink
	hits     []load.Hit
	handOver time.Duration // when they are to be given at the latest
}

// report puts a hit by for the sink.
func (o *outbox) report(h *load.Hit) {
	if len(o.hits) == cap(o.hits) {
		o.flush()
	}
	if len(o.hits) == 0 {
		o.handOver = h.Done + hitAge
	}
	o.hits = append(o.hits, *h)
}

func (o *outbox) flush() {
	if len(o.hits) > 0 {
		o.sink.Hits(o.hits)
		clear(o.hits) // the texts in them
		o.hits = o.hits[:0]
	}
}
