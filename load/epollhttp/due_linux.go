//go:build amd64 || arm64

package epollhttp

import (
	"time"

	"github.com/kasoku/kasoku/load"
)

// due are the requests that a shard has to send, the next one first.
type due struct {
	arrivals   load.Arrivals // nil in a closed loop
	stride     int           // number of shards
	apart      uint64        // numbers of the plan's requests: 1, or the machines that share the load
	economical bool          // they are sent at ticks
	more       bool          // there is a next one
	next       load.Hit      // N, Step, Due of it
	sendAt     time.Duration // when it is sent: when due, or at a tick
	capped     bool          // it is due but at the cap
}

// skip goes on to the n-th request from the present one.
func (d *due) skip(n int) {
	d.next.N += uint64(n) * d.apart
	for range n {
		if d.next.Due, d.next.Step, d.more = d.arrivals.Next(); !d.more {
			d.sendAt, d.capped = never, false
			return
		}
	}
	d.sendAt = d.next.Due
	if d.economical && d.sendAt < never-tick {
		d.sendAt = (d.sendAt + tick - 1) / tick * tick
	}
}
