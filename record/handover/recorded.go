package handover

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/store"
)

const (
	// recordedShare is the part of the time that reading the run of another process may
	// take: 1/recordedShare.
	recordedShare = 50
	// recordedSettles is how long after its end what was counted in a second is reported:
	// by then it is in the file, and slow answers with it.
	recordedSettles = 2 * time.Second
	// recordedLate is for how many seconds answers that come later are counted as late.
	recordedLate = 60
)

// Recorded follows the load of a run that is recorded on this host meanwhile, for a
// caller that passes it on.
type Recorded struct {
	dir    string
	start  time.Time
	choice *Choice // nil: the load of any run is taken
	run    Ongoing // that is followed, without a path when none is; of Follow alone

	mu      sync.Mutex
	follows bool                // there is a run
	wanted  int                 // seconds before it were taken
	settled int                 // seconds before it may be taken
	now     []kasoku.LoadSecond // of the run that is followed, not taken yet
	ended   []kasoku.LoadSecond // of those before it
	taken   map[int]uint64      // answers that were taken, by second
	late    uint64              // answers that came after their second was taken
}

// NewRecorded returns a reader of the runs that [Recordings] finds in dir. Seconds count
// from start.
func NewRecorded(dir string, start time.Time) *Recorded {
	return &Recorded{dir: dir, start: start, taken: map[int]uint64{}}
}

// Choose limits what is reported to the load that the choice takes, and prefers the
// runs of its own project. It is called before Follow.
func (r *Recorded) Choose(c *Choice) { r.choice = c }

// Follow reads what the run has counted, each second, until ctx ends, and then once
// more, so that all can be taken.
func (r *Recorded) Follow(ctx context.Context) {
	for from := 0; ; {
		began := time.Now()
		from = r.read(from)
		select {
		case <-time.After(max(time.Second, recordedShare*time.Since(began))):
		case <-ctx.Done():
			r.read(from)
			r.end()
			return
		}
	}
}

// read reads the seconds of the run's own clock from one on, and returns from where it
// is to be read next.
func (r *Recorded) read(from int) (next int) {
	at := time.Since(r.start)
	for _, run := range r.choice.OwnFirst(Recordings(r.dir)) {
		if r.choice.Refuses(run) {
			continue
		}
		same := run.Path == r.run.Path
		if r.run.Path != "" && !same && !r.nearer(run) {
			continue // one after the other
		}
		since := from
		if !same {
			since = 0
		}
		rec, err := store.Ongoing(run.Path, since)
		if err == nil && rec.Run.State == kasoku.Running {
			if r.run.Path != "" && !same {
				r.end()
			}
			r.run = run
			return r.keep(rec, at)
		}
	}
	if r.run.Path == "" {
		return 0
	}
	if rec, err := store.Load(r.run.Path, from); err == nil { // else it was taken away: what was read stays
		r.keep(rec, at)
	}
	r.end()
	r.run = Ongoing{}
	return 0
}

// nearer reports whether a run is of the own project, and the one that is followed is not.
func (r *Recorded) nearer(run Ongoing) bool {
	return r.choice != nil && r.choice.isOwn(run) && !r.choice.isOwn(r.run)
}

// end lets all that was read be taken.
func (r *Recorded) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now, r.ended, r.follows = nil, append(r.ended, r.now...), false
}

// keep takes over what was read of a run, at that time.
func (r *Recorded) keep(rec *kasoku.Recording, at time.Duration) (next int) {
	shift := int(rec.Run.Started.Sub(r.start.Round(0)).Round(time.Second) / time.Second)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = rec.Seconds
	for i := range r.now {
		r.now[i].Second += shift
	}
	r.now = slices.DeleteFunc(r.now, func(s kasoku.LoadSecond) bool { return !r.choice.Takes(r.run.Project, r.run.Places, s.Second) })
	sum := map[int]uint64{}
	for i := range r.now {
		if s := &r.now[i]; s.Second < r.wanted && s.Second >= r.wanted-recordedLate {
			sum[s.Second] += answers(s)
		}
	}
	for at, n := range sum {
		if taken, ok := r.taken[at]; ok && n > taken {
			r.late, r.taken[at] = r.late+n-taken, n
		}
	}
	r.now = slices.DeleteFunc(r.now, func(s kasoku.LoadSecond) bool { return s.Second < r.wanted })
	r.settled, r.follows = int((at-recordedSettles)/time.Second), true
	return max(r.wanted-shift-recordedLate, 0)
}

// answers is how many requests ended in a second.
func answers(s *kasoku.LoadSecond) uint64 {
	t := kasoku.NewTally()
	t.Add(s)
	return t.Success + t.Failed()
}

// Late returns how many answers came after their second was taken.
func (r *Recorded) Late() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.late
}

// Take returns the seconds before that one, each once, and the second up to which they are
// complete: an earlier one than asked for while the last seconds of the run are not
// complete. It does not wait, and is safe to call while Follow runs.
func (r *Recorded) Take(before int) (out []kasoku.LoadSecond, upTo int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.follows {
		before = min(before, r.settled)
	}
	out, r.ended = r.ended, nil
	r.now = slices.DeleteFunc(r.now, func(s kasoku.LoadSecond) bool {
		if s.Second >= before {
			return false
		}
		out = append(out, s)
		return true
	})
	for i := range out {
		r.taken[out[i].Second] += answers(&out[i])
	}
	r.wanted = max(r.wanted, before)
	maps.DeleteFunc(r.taken, func(at int, _ uint64) bool { return at < r.wanted-recordedLate })
	return out, before
}
