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
	dir   string
	start time.Time
	path  string // of the run that is followed, empty without one; of Follow alone

	mu      sync.Mutex
	follows bool                // there is a run
	wanted  int                 // seconds before it were taken
	settled int                 // seconds before it may be taken
	now     []kasoku.LoadSecond // of the run that is followed, not taken yet
	ended   []kasoku.LoadSecond // of those before it
	told    map[int]uint64      // answers that were taken, by second
	late    uint64              // answers that came after their second was taken
}

// NewRecorded looks for the runs that [Recordings] finds with dir. Seconds are those
// since start.
func NewRecorded(dir string, start time.Time) *Recorded {
	return &Recorded{dir: dir, start: start, told: map[int]uint64{}}
}

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
	for _, path := range Recordings(r.dir) {
		if r.path != "" && path != r.path {
			continue // one after the other
		}
		rec, err := store.Ongoing(path, from)
		if err == nil && rec.Run.State == kasoku.Running {
			r.path = path
			return r.keep(rec, at)
		}
	}
	if r.path == "" {
		return 0
	}
	if rec, err := store.Load(r.path, from); err == nil { // else it was taken away: what was read stays
		r.keep(rec, at)
	}
	r.end()
	r.path = ""
	return 0
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
	sum := map[int]uint64{}
	for i := range r.now {
		if s := &r.now[i]; s.Second < r.wanted && s.Second >= r.wanted-recordedLate {
			sum[s.Second] += answers(s)
		}
	}
	for at, n := range sum {
		if told, ok := r.told[at]; ok && n > told {
			r.late, r.told[at] = r.late+n-told, n
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

// Take returns the seconds before that one, each once, and up to which it knows them: not
// as far as asked for while a run goes on whose last seconds are not complete. It does
// not wait, and may be called while Follow runs.
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
		r.told[out[i].Second] += answers(&out[i])
	}
	r.wanted = max(r.wanted, before)
	maps.DeleteFunc(r.told, func(at int, _ uint64) bool { return at < r.wanted-recordedLate })
	return out, before
}
