// Package freespace is the source "space": how much room the file systems have
// that a recording writes to or lets a server write to, and how fast a log takes it.
//
// The one idea: who fills a disk must look at it. At each tick the free room of each
// directory's file system is compared with what is to stay free; below that Low is
// called, once, within the tick, so that what fills the disk is stopped before the
// next one. Room is what an ordinary user may take, in bytes.
//
// A directory that cannot be looked at, such as one of another host, has no sample.
//
// Source: statfs(2).
package freespace

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/pathwalk"
	"github.com/kasoku/kasoku/internal/unit"
)

// Name is the name of the source.
const Name = "space"

// Options configure where to look.
type Options struct {
	Dirs  []string // of different file systems, or of the same
	Log   string   // whose growth is reported; empty: none
	Least unit.Least
	// Low is called at the first tick at which less is left than is to stay, and again at each
	// tick after that until it returns no error. It returns what was done about it.
	Low func(ctx context.Context, at Room) (string, error)
}

// A Room is what a file system has left.
type Room struct {
	Dir         string
	Free, Least uint64  // bytes
	PerSec      float64 // by which the log grows, bytes; 0: unknown
}

// Of looks at a directory's file system; ok is false when it cannot be looked at.
func Of(dir string, least unit.Least) (r Room, ok bool) {
	st, err := pathwalk.Statfs(dir)
	if err != nil {
		return Room{}, false
	}
	size := uint64(st.Bsize)
	return Room{Dir: dir, Free: st.Bavail * size, Least: least.Of(st.Blocks * size)}, true
}

// Low reports whether less is left than is to stay.
func (r Room) Low() bool { return r.Free < r.Least }

// A Source looks at file systems. Growth may be called from any goroutine.
type Source struct {
	o      Options
	acted  bool
	size   int64
	at     time.Time
	growth atomic.Uint64 // bytes a second
	events []kasoku.Event
}

// New returns a source. Nothing is looked at yet.
func New(o Options) *Source { return &Source{o: o} }

// Name returns "space".
func (s *Source) Name() string { return Name }

// Growth returns by how many bytes the log grew each second, as of the last tick.
func (s *Source) Growth() uint64 { return s.growth.Load() }

// Collect looks at every directory. It fails with what Low fails with.
func (s *Source) Collect(ctx context.Context, f *kasoku.Frame) error {
	s.grow(f)
	for _, dir := range s.o.Dirs {
		r, ok := Of(dir, s.o.Least)
		if !ok {
			continue
		}
		f.Gauge(Free, dir, "bytes", float64(r.Free))
		if !r.Low() || s.acted || s.o.Low == nil {
			continue
		}
		r.PerSec = float64(s.Growth())
		text, err := s.o.Low(ctx, r)
		if err != nil {
			return err
		}
		s.acted = true
		s.events = append(s.events, kasoku.Event{Kind: "brake", Text: text})
	}
	return nil
}

// grow reports by how much the log grew since the last tick.
func (s *Source) grow(f *kasoku.Frame) {
	st, err := pathwalk.Stat(s.o.Log)
	if err != nil {
		return
	}
	now, perSec := time.Now(), 0.0
	if !s.at.IsZero() {
		perSec = float64(kasoku.Growth(s.size, st.Size)) / max(now.Sub(s.at).Seconds(), 0.001)
	}
	if !s.at.IsZero() {
		f.Gauge(Growth, s.o.Log, "bytes", perSec)
	}
	s.growth.Store(uint64(perSec))
	s.size, s.at = st.Size, now
}

// Events returns what was done since the last call.
func (s *Source) Events() []kasoku.Event {
	out := s.events
	s.events = nil
	return out
}
