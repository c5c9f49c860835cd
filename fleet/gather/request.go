package gather

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/coordinate"
)

// A Sighting is the request with which a run begins, seen at a host.
type Sighting struct {
	Host  string
	Path  string        // of the log that has it
	At    time.Duration // own CLOCK_MONOTONIC: when it began
	Blind bool          // when it was logged, rather
}

// Logs returns in how many access logs the hosts wait for the request. Call it after Begin.
func (g *Gathering) Logs() (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range g.hosts {
		n += h.logs
	}
	return n
}

// Seen returns the first request that a host saw; nil: none did yet. The error is a host of which
// nothing more comes, without which nothing begins.
func (g *Gathering) Seen() (*Sighting, error) {
	for _, h := range g.hosts {
		select {
		case <-h.ended:
			return nil, fmt.Errorf("%s: %s", h.name, h.part.Lost)
		default:
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seen, nil
}

// Cut has all hosts begin at a moment of the own clock that may be past: they keep what came since.
func (g *Gathering) Cut(at time.Time) error {
	cut, err := fleet.ClockOf(at)
	if err != nil {
		return err
	}
	g.mu.Lock()
	g.cut = cut
	g.mu.Unlock()
	g.nudge()
	return nil
}

// Grown returns by how many bytes the hosts' access logs have grown since they began, and whether
// all that are followed answered of late.
func (g *Gathering) Grown() (n int64, known bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	known = true
	for _, h := range g.hosts {
		n += h.grown
		select {
		case <-h.ended:
		default:
			known = known && time.Since(h.heard) < fresh
		}
	}
	return n, known
}

// sighted takes what a host says of its access logs.
func (h *host) sighted(a *fleet.RecordingAnswer) error {
	now, err := fleet.Monotonic()
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.heard, h.grown, h.logs = time.Now(), max(a.Grown, 0), min(max(a.Logs, 0), 1000)
	if a.State != fleet.Waiting || a.Seen == 0 || h.saw {
		return nil
	}
	offset, bound := h.clock.Offset()
	at := a.Seen - offset
	if at < now-longAgo || at > now+bound {
		return errors.New("when it saw the request cannot be")
	}
	h.saw = true
	if h.seen == nil {
		h.seen = &Sighting{Host: h.name, Path: fleet.Clean(a.Path), At: at, Blind: a.Blind}
	}
	return nil
}

// compare compares the clock of a host that waits anew, now and then: until the request comes it may
// drift by more than the first comparison's bound.
func (h *host) compare(a *fleet.RecordingAnswer) {
	if a.State != fleet.Waiting || time.Since(h.compared) < compareEvery {
		return
	}
	h.compared = time.Now()
	ctx, cancel := context.WithTimeout(h.hard, askTime)
	defer cancel()
	if x, err := coordinate.Compare(ctx, h.bus, h.name); err == nil { // else the one before is the best that is known
		h.clock = x
	}
}
