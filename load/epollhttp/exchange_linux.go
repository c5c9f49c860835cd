//go:build amd64 || arm64

package epollhttp

import (
	"time"

	"github.com/kasoku/kasoku/load/http1"
)

// exchanges are the requests of a shard that are under way, and the connections on which
// they go out and their answers come in. When each is sent is not their concern.
type exchanges struct {
	run    *run
	poller *poller
	clock  clock
	dialer dialer
	inbox  inbox  // what is read
	out    []byte // the request that is sent, when it must be made

	hosts   []host
	conns   connTable
	waiting int // flights without connection
	flights flights
	follows follows
	aborted error         // why all in flight is aborted; nil: it is not
	ended   func(*flight) // takes a flight that has its answer

	count struct{ answers, connections, resent uint64 }
}

// init makes them those of one of so many shards.
func (x *exchanges) init(r *run, p *poller, id, of int) {
	x.run, x.poller = r, p
	x.follows.run, x.follows.poller = r, p
	x.dialer = dialer{ep: p.ep, from: r.sites.from, timed: r.users == nil}
	x.inbox.init()
	x.clock.base = time.Now()
	x.clock.offset = x.clock.base.Sub(r.start)
	x.conns.memos = make([]http1.Memo, len(r.templates))
	x.hosts = make([]host, len(r.sites.list))
	for i := range x.hosts {
		x.hosts[i] = host{site: &r.sites.list[i], turn: id,
			maxOpen: shareOf(r.opts.MaxConnections, id, of), maxIdle: max(shareOf(r.opts.IdleConns, id, of), 1)}
	}
}

// begin sends a request, or lets it wait for a connection.
func (x *exchanges) begin(f *flight) {
	f.hit.Target = x.run.order.Target(f.hit.N)
	f.hit.Sent = x.clock.at
	f.t = &x.run.templates[f.hit.Target]
	f.host = &x.hosts[x.run.sites.of[f.hit.Target]]
	x.flights.ages.push(f)
	x.submit(f)
}

// abort ends all that is in flight, and what is lost from then on.
func (x *exchanges) abort(cause error) {
	x.aborted = cause
	x.run.abort(cause)
	for f := x.flights.ages.first; f != nil; f = x.flights.ages.first {
		x.cut(f, cause, cause)
	}
}
