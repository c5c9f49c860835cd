package loop

import (
	"sort"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/lines"
	"github.com/kasoku/kasoku/observe"
)

// clock remembers, tick by tick, what the wall clock said and how long each
// log was. From that it places a log's wall times and byte offsets on the
// run's clock, also when the wall clock was stepped meanwhile.
//
// It stands between the sampler and the run file and passes everything on.
type clock struct {
	next  observe.Sink
	start time.Time // with monotonic reading

	mu    sync.Mutex // guards the fields below
	ticks []tick
	sizes map[string][]sizeAt // by log path
}

type tick struct {
	at   time.Duration
	wall time.Time // without monotonic reading
}

type sizeAt struct {
	at   time.Duration
	size int64
}

func newClock(start time.Time, next observe.Sink) *clock {
	return &clock{next: next, start: start, sizes: map[string][]sizeAt{}, ticks: []tick{{0, start.Round(0)}}}
}

// Frame remembers what it needs and passes the frame on.
func (c *clock) Frame(f *kasoku.Frame) error {
	now := time.Now()
	c.mu.Lock()
	at := now.Sub(c.start)
	if c.ticks[len(c.ticks)-1].at+time.Second/2 < at {
		c.ticks = append(c.ticks, tick{at, now.Round(0)})
	}
	if f.Source == "log" {
		for _, s := range f.Samples {
			if s.Name == "size" {
				c.sizes[s.Instance] = append(c.sizes[s.Instance], sizeAt{f.At, int64(s.Value)})
			}
		}
	}
	c.mu.Unlock()
	return c.next.Frame(f)
}

// Gap passes a gap on.
func (c *clock) Gap(g kasoku.Gap) error { return c.next.Gap(g) }

// Event passes an event on.
func (c *clock) Event(e kasoku.Event) error { return c.next.Event(e) }

// wall places a wall time on the run's clock, by the last tick at or before it.
func (c *clock) wall(t time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	t = t.Round(0)
	n := sort.Search(len(c.ticks), func(i int) bool { return c.ticks[i].wall.After(t) })
	k := c.ticks[max(n-1, 0)]
	return k.at + t.Sub(k.wall)
}

// offset returns a function that places a byte of a log on the run's clock. Bytes
// count from the mark, over rotations, as lines.Window counts them; those up to a
// tick's size were written before that tick.
func (c *clock) offset(mark lines.Mark) func(int64) time.Duration {
	c.mu.Lock()
	sizes := grown(mark.Offset, c.sizes[mark.Path])
	c.mu.Unlock()
	return func(off int64) time.Duration {
		n := sort.Search(len(sizes), func(i int) bool { return sizes[i].size > off })
		switch {
		case len(sizes) == 0:
			return 0
		case n == len(sizes):
			return sizes[n-1].at
		case n == 0:
			return sizes[0].at
		}
		a, b := sizes[n-1], sizes[n]
		part := float64(off-a.size) / float64(b.size-a.size)
		return a.at + time.Duration(part*float64(b.at-a.at))
	}
}

// grown turns the sizes of a file into what was written since the mark. A file
// that shrank was rotated or truncated and begins anew.
func grown(mark int64, sizes []sizeAt) []sizeAt {
	out := make([]sizeAt, len(sizes))
	last, sum := mark, int64(0)
	for i, s := range sizes {
		if s.size >= last {
			sum += s.size - last
		} else {
			sum += s.size
		}
		last = s.size
		out[i] = sizeAt{s.at, sum}
	}
	return out
}
