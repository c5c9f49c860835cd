package export

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/kasoku/kasoku/wire/graphite"
)

// A Carbon sends values to Graphite.
type Carbon struct {
	sender *graphite.Sender
	start  time.Time
	drop   bool
	points []graphite.Point

	mu    sync.Mutex // guards the following field
	names *namer
}

// CarbonOptions configure where to.
type CarbonOptions struct {
	graphite.Options
	Prefix string    // of all paths, with dots between its parts; may be empty
	Start  time.Time // wall time of offset 0
	Drop   bool      // rather than wait, up to half a minute, when the server is gone or slow: for a live export
}

// NewCarbon returns an output that is to be closed.
func NewCarbon(o CarbonOptions) (*Carbon, error) {
	s, err := graphite.NewSender(o.Options)
	if err != nil {
		return nil, err
	}
	return &Carbon{sender: s, start: o.Start, drop: o.Drop,
		names: newNamer(func(v *Value) string { return graphitePath(o.Prefix, v) })}, nil
}

// Write implements [Output].
func (c *Carbon) Write(ctx context.Context, values []Value) error {
	c.name(values)
	if c.drop {
		c.sender.Offer(c.points)
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := c.sender.Write(limited, c.points)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return fmt.Errorf("graphite: no room for %s, %s", patience, c.why())
	}
	return err
}

// name makes the values points.
func (c *Carbon) name(values []Value) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.points = c.points[:0]
	for i := range values {
		v := &values[i]
		c.points = append(c.points, graphite.Point{Path: c.names.of(v), Time: second(c.start, v.At), Value: v.Value})
	}
}

// Series returns the paths that were sent, sorted; of very many those of late. It may be
// called at any time.
func (c *Carbon) Series() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.names.taken))
}

// patience is how long the points of a series may wait for room.
const patience = 30 * time.Second

// why describes what keeps the points.
func (c *Carbon) why() string {
	if why := c.sender.Stats().LastError; why != "" {
		return "the last error: " + why
	}
	return "the server takes nothing"
}

// Stats returns what was sent.
func (c *Carbon) Stats() graphite.Stats { return c.sender.Stats() }

// Close implements [Output].
func (c *Carbon) Close(ctx context.Context) error { return c.sender.Close(ctx) }
