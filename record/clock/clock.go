// Package clock places wall times and bytes of logs on the clock of a run, and finds out in
// which time zone a log is written.
package clock

import (
	"sort"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/logsize"
)

// Clock remembers, tick by tick, what the wall clock said and how long each
// log was. From that it places a log's wall times and byte offsets on the
// run's clock, also when the wall clock was stepped meanwhile.
//
// It stands between the sampler and the run file and passes everything on. Safe for
// concurrent use once its fields are set.
type Clock struct {
	next  observe.Sink
	start time.Time // with monotonic reading

	// GiveUp is called when the sink has taken nothing for a while; may be nil.
	GiveUp func(why error)

	// WallAt returns what the wall clock says at a moment that time.Now gave; nil: that
	// moment.
	WallAt func(time.Time) time.Time

	mu     sync.Mutex // guards the fields below
	pieces []piece
	sizes  map[string][]sizeAt // by log path
	failed time.Duration       // since when the sink takes nothing; 0 while it does
}

// A piece is a part of the run in which the wall clock kept pace with the run's.
type piece struct {
	from, to time.Duration // of its first and its last tick
	wall     time.Time     // at from, without monotonic reading
}

// pace is how far the wall clock may drift from a piece's pace before another
// begins. A clock that is slewed at 500 ppm, the most that adjtimex(2) allows,
// takes 20 s for it.
const pace = 10 * time.Millisecond

// tail is how long after the last tick a time is taken for one of the run before
// it is taken for one that the wall clock had shown earlier.
const tail = time.Second

// patience is how long the sink may take nothing before the run is given up.
const patience = 3 * time.Second

type sizeAt struct {
	at   time.Duration
	size int64
}

// New returns the clock of a run that begins at start, which needs a monotonic reading.
// All that it receives goes on to next.
func New(start time.Time, next observe.Sink) *Clock {
	return &Clock{next: next, start: start, sizes: map[string][]sizeAt{}, pieces: []piece{{0, 0, start.Round(0)}}}
}

// Frame remembers what it needs and passes the frame on.
func (c *Clock) Frame(f *kasoku.Frame) error { return c.FrameAt(f, time.Now()) }

// FrameAt takes a frame that came at that time, which has a monotonic reading.
func (c *Clock) FrameAt(f *kasoku.Frame, now time.Time) error {
	at := c.remember(f, now)
	err := c.next.Frame(f)
	c.heed(at, err)
	return err
}

// remember takes what is needed of a frame, and returns when it came.
func (c *Clock) remember(f *kasoku.Frame, now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, wall := now.Sub(c.start), now
	if c.WallAt != nil {
		wall = c.WallAt(now)
	}
	c.tick(at, wall.Round(0))
	if f.Source == logsize.Name {
		for _, s := range f.Samples {
			if s.Name == "size" {
				c.sizes[s.Instance] = append(c.sizes[s.Instance], sizeAt{f.At, int64(s.Value)})
			}
		}
	}
	return at
}

// Gap passes a gap on.
func (c *Clock) Gap(g kasoku.Gap) error { return c.next.Gap(g) }

// Event passes an event on.
func (c *Clock) Event(e kasoku.Event) error { return c.next.Event(e) }

// tick remembers what the wall clock said at an offset. The caller holds mu.
func (c *Clock) tick(at time.Duration, wall time.Time) {
	last := &c.pieces[len(c.pieces)-1]
	if at < last.to {
		return // two sources were read at the same moment
	}
	if drift := wall.Sub(last.wall) - (at - last.from); drift.Abs() <= pace {
		last.to = at
		return
	}
	c.pieces = append(c.pieces, piece{at, at, wall})
}

// Wall places a wall time on the run's clock. A time that the wall clock showed
// twice, because it was put back, is taken for the later one; a time that it
// never showed, because it was put forward, for the first tick afterwards.
func (c *Clock) Wall(t time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	t = t.Round(0)
	for i := len(c.pieces) - 1; i >= 0; i-- {
		p := c.pieces[i]
		at := p.from + t.Sub(p.wall)
		if i == 0 && at < 0 {
			if just, ok := c.justBefore(t); ok {
				return just
			}
		}
		// Between the last tick of a piece and the first of the next one the clock
		// was stepped, it is unknown when: either pace may hold there.
		afterStart := i == 0 || at >= c.pieces[i-1].to
		beforeEnd := at <= p.to+tail
		if i < len(c.pieces)-1 {
			beforeEnd = at <= c.pieces[i+1].from
		}
		if afterStart && beforeEnd {
			return at
		}
	}
	for i := 1; i < len(c.pieces); i++ {
		if c.pieces[i].wall.After(t) {
			return c.pieces[i].from
		}
	}
	last := c.pieces[len(c.pieces)-1] // the run was over
	return last.from + t.Sub(last.wall)
}

// justBefore places a time, which else were before the run, between the two ticks of
// which the second saw that the wall clock was put back: after it was, and, as logs cut
// times to whole seconds, up to a second before that. The caller holds mu.
func (c *Clock) justBefore(t time.Time) (at time.Duration, ok bool) {
	for i := len(c.pieces) - 1; i > 0; i-- {
		p, last := c.pieces[i], c.pieces[i-1].to
		if early := p.wall.Sub(t); early > 0 && early <= p.from-last+time.Second {
			return max(p.from-early, last), true
		}
	}
	return 0, false
}

// Offset returns a function that places a byte of a log on the run's clock. Bytes
// count from the mark, over rotations, as lines.Window counts them; those up to a
// tick's size were written before that tick.
func (c *Clock) Offset(mark lines.Mark) func(int64) time.Duration {
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

// Gained returns how many bytes a log has grown by since the mark, as the ticks saw it. It
// is too low when the log was cut or replaced between two ticks.
func (c *Clock) Gained(mark lines.Mark) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	sizes := grown(mark.Offset, c.sizes[mark.Path])
	if len(sizes) == 0 {
		return 0
	}
	return sizes[len(sizes)-1].size
}

// grown turns the sizes of a file into what was written since the mark. A file
// that shrank was rotated or truncated and begins anew.
func grown(mark int64, sizes []sizeAt) []sizeAt {
	out := make([]sizeAt, len(sizes))
	last, sum := mark, int64(0)
	for i, s := range sizes {
		sum += kasoku.Growth(last, s.size)
		last = s.size
		out[i] = sizeAt{s.at, sum}
	}
	return out
}
