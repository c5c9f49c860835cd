package callers

import (
	"sort"
	"sync"
	"time"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/logs/lines"
)

const (
	// tailEvery is how often a log is looked at for how long it is, so that its
	// lines get finer times than they have. Two calls of stat(2) each.
	tailEvery = 5 * time.Millisecond
	// mostStamps bounds the looks at one log that are kept: 6 MB, of a log that
	// grows all the time 20 minutes. The latest are kept.
	mostStamps = 1 << 18
)

// A tailer notes again and again how long logs are, while a run is made. It only
// looks at sizes; the logs are read when the run is over. What it costs is part of
// this process, whose use is sampled.
type tailer struct {
	base  time.Time // of the stamps, with monotonic reading
	files []*tailed
	stop  chan struct{}
	done  <-chan struct{}
	once  sync.Once
}

// tailed is one log that is looked at. Only the tailer's goroutine uses it until
// the tailer was halted.
type tailed struct {
	mark   lines.Mark
	growth *lines.Growth
	looked time.Duration // at the last look, its beginning
	stamps []stamp
	failed error // why it was given up
}

// A stamp says that a log was that long at a moment and shorter at the one before.
type stamp struct {
	size       int64 // bytes gained since the mark
	before, at time.Duration
}

// startTailer looks at the logs from now on. It returns nil when there are none.
func startTailer(marks []lines.Mark) *tailer {
	if len(marks) == 0 {
		return nil
	}
	t := &tailer{base: time.Now(), stop: make(chan struct{})}
	for _, m := range marks {
		t.files = append(t.files, &tailed{mark: m, growth: lines.Follow(m)})
	}
	t.look()
	t.done = contain.Go(contain.Part{Kind: contain.Step, Name: "growth of logs"}, t.run)
	return t
}

func (t *tailer) run() {
	tick := time.NewTicker(tailEvery)
	defer tick.Stop()
	for {
		select {
		case <-t.stop:
			t.look()
			return
		case <-tick.C:
			t.look()
		}
	}
}

// halt ends the looking with a last look. It may be called more than once, and on
// nil.
func (t *tailer) halt() {
	if t == nil {
		return
	}
	t.once.Do(func() {
		close(t.stop)
		<-t.done
		for _, f := range t.files {
			_ = f.growth.Close() // it was only looked at
		}
	})
}

func (t *tailer) look() {
	for _, f := range t.files {
		if f.failed != nil {
			continue
		}
		from := time.Since(t.base)
		size, err := f.growth.Bytes()
		f.see(size, from, time.Since(t.base))
		f.failed = err
	}
}

// see takes what a look from one moment to another has found.
func (f *tailed) see(size int64, from, to time.Duration) {
	last := int64(0)
	if n := len(f.stamps); n > 0 {
		last = f.stamps[n-1].size
	}
	switch {
	case size > last:
		if len(f.stamps) >= mostStamps {
			f.stamps = append(f.stamps[:0], f.stamps[mostStamps/2:]...)
		}
		f.stamps = append(f.stamps, stamp{size: size, before: f.looked, at: to})
	case size < last: // truncated: what was before is lost
		f.stamps = f.stamps[:0]
	}
	f.looked = from
}

// of returns what is known of a log from its mark on; nil when it was not looked
// at. The tailer must have been halted.
func (t *tailer) of(mark lines.Mark, start time.Time) *stamps {
	if t == nil {
		return nil
	}
	for _, f := range t.files {
		if f.mark.Path != mark.Path {
			continue
		}
		moved := mark.Offset - f.mark.Offset
		if mark.Device != f.mark.Device || mark.Inode != f.mark.Inode {
			if !f.mark.Missing || mark.Missing != f.mark.Missing {
				return nil // it was rotated while the run waited to begin
			}
			moved = 0
		}
		return &stamps{list: f.stamps, moved: moved, shift: t.base.Sub(start)}
	}
	return nil
}

// stamps place bytes of a log on a run's clock.
type stamps struct {
	list  []stamp
	moved int64         // bytes from the tailer's mark to the run's
	shift time.Duration // from the run's beginning to the tailer's
}

// when returns between which moments the byte at an offset was written. ok is
// false when the log was not looked at then.
func (s *stamps) when(offset int64) (from, to time.Duration, ok bool) {
	offset += s.moved
	i := sort.Search(len(s.list), func(i int) bool { return s.list[i].size > offset })
	if i == len(s.list) || i == 0 && len(s.list) >= mostStamps/2 { // older than what was kept
		return 0, 0, false
	}
	return s.list[i].before + s.shift, s.list[i].at + s.shift, true
}
