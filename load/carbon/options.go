package carbon

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/wire/graphite"
)

// Bounds of a load. What it holds does not depend on the number of series, nor on what the
// server does: 40 MB, and 20 kB for each agent (measured with 1,000 and 8,000).
const (
	mostAgents  = 20_000
	mostMetrics = 1_000_000_000 // of all agents
	mostBuffers = 64 << 20      // bytes of all agents
	mostBuffer  = 64 << 10      // bytes of one
	leastBuffer = 3 << 10
)

// Options configure a load.
type Options struct {
	Address  string // host:port
	Protocol graphite.Protocol
	Names    Template
	Agents   int           // each with a connection of its own
	Metrics  int           // series of all agents together
	Interval time.Duration // between two points of a series
	Duration time.Duration // how long points are due; 0: until the context ends
	Ramp     time.Duration // until all series are sent, at an even pace from none
	NewShare float64       // 0..1, of the series of an interval: they end, and as many new ones begin
	OldShare float64       // 0..1, of the points: their time lies two intervals back

	// Launches are when each agent begins; it flushes first one interval later, all of its
	// series at once. Nil: all begin at once, and each spreads its series over the interval.
	Launches []time.Duration
	OneEpoch bool // the time of a point is that at which its flush began, as haggar's, not at which it was due
	DropLate bool // of flushes that came due while one went on one is kept, as a Go ticker does; the others are left out and counted
	Redial   bool // a connection lasts for one flush

	Permit load.Permit
	Seed   uint64            // of the values
	Begun  func()            // called when the address may be loaded and was reached; may be nil
	Toggle <-chan os.Signal  // each stops the launch of agents, or goes on with it; may be nil
	Watch  func(now *Result) // called each second, with what is known; it must not keep it; may be nil
}

// Check returns what is wrong with the options, nil when nothing is.
func (o *Options) Check() error {
	if _, port, err := net.SplitHostPort(o.Address); err != nil || port == "" {
		return fmt.Errorf("address %q: want host:port", o.Address)
	}
	if !slices.Contains(graphite.Protocols(), o.Protocol) {
		return fmt.Errorf("protocol %q: want line, pickle or udp", o.Protocol)
	}
	if err := o.Names.Check(); err != nil {
		return err
	}
	switch {
	case o.Agents < 1 || o.Agents > mostAgents:
		return fmt.Errorf("%d connections: want 1 to %d", o.Agents, mostAgents)
	case o.Metrics < o.Agents || o.Metrics > mostMetrics:
		return fmt.Errorf("%d metrics: want %d, one for each connection, to %d", o.Metrics, o.Agents, mostMetrics)
	case o.Interval < time.Millisecond:
		return fmt.Errorf("interval %s: want 1ms or more", o.Interval)
	case o.Duration < 0 || o.Ramp < 0:
		return errors.New("a time below 0")
	case !isShare(o.NewShare) || !isShare(o.OldShare):
		return errors.New("a share: want 0 to 1")
	case o.NewShare > 0 && o.Agents > 1 && !o.Names.hasAgent():
		return errors.New("new series of several connections need {agent} in their names")
	case o.Launches != nil && len(o.Launches) != o.Agents:
		return errors.New("want one launch for each agent")
	}
	return nil
}

// isShare reports whether v is from 0 to 1; NaN is not.
func isShare(v float64) bool { return v >= 0 && v <= 1 }

// bufferOf returns how many bytes one agent collects for a write.
func (o *Options) bufferOf() int {
	if o.Protocol == graphite.UDP {
		return maxDatagram
	}
	return min(max(mostBuffers/o.Agents, leastBuffer), mostBuffer)
}

// maxDatagram is how long a datagram gets: what a network with frames of 1,500 bytes
// carries whole, with room for tunnels.
const maxDatagram = 1400
