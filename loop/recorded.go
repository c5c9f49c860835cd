package loop

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/runstore"
)

const (
	// recordedShare is the part of the time that reading the run of another process may
	// take: 1/recordedShare.
	recordedShare = 50
	// recordedSettles is how long after its end what was counted in a second is told: by
	// then it is in the file, and slow answers with it.
	recordedSettles = 2 * time.Second
)

// Recorded follows the load of a run that is recorded on this host meanwhile, for who
// tells it on.
type Recorded struct {
	dir   string
	start time.Time
	path  string // of the run that is followed, empty without one; of Follow alone

	mu      sync.Mutex
	wanted  int                 // seconds before it were taken
	settled int                 // seconds before it may be taken
	now     []kasoku.LoadSecond // of the run that is followed, not taken yet
	ended   []kasoku.LoadSecond // of those before it
}

// NewRecorded looks for the runs that [Recordings] finds with dir. Seconds are those
// since start.
func NewRecorded(dir string, start time.Time) *Recorded {
	return &Recorded{dir: dir, start: start}
}

// Follow reads what the run has counted, each second, until ctx ends, and then once
// more.
func (r *Recorded) Follow(ctx context.Context) {
	for from := 0; ; {
		began := time.Now()
		from = r.read(from)
		select {
		case <-time.After(max(time.Second, recordedShare*time.Since(began))):
		case <-ctx.Done():
			r.read(from)
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
		rec, err := runstore.Ongoing(path, from)
		if err == nil && rec.Run.State == kasoku.Running {
			r.path = path
			return r.keep(rec, at, false)
		}
	}
	if r.path == "" {
		return 0
	}
	if rec, err := runstore.Load(r.path, from); err == nil { // else it was taken away: what was read stays
		r.keep(rec, at, true)
	}
	r.path = ""
	return 0
}

// keep takes over what was read of a run, at that time.
func (r *Recorded) keep(rec *kasoku.Recording, at time.Duration, over bool) (next int) {
	shift := int(rec.Run.Started.Sub(r.start.Round(0)).Round(time.Second) / time.Second)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = rec.Seconds
	for i := range r.now {
		r.now[i].Second += shift
	}
	r.now = slices.DeleteFunc(r.now, func(s kasoku.LoadSecond) bool { return s.Second < r.wanted })
	r.settled = int((at - recordedSettles) / time.Second)
	if over {
		r.now, r.ended = nil, append(r.ended, r.now...)
	}
	return max(r.wanted-shift, 0)
}

// Take returns the seconds before that one which are complete, each once; all when it is
// below 0. It does not wait, and may be called while Follow runs.
func (r *Recorded) Take(before int) (out []kasoku.LoadSecond) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out, r.ended = r.ended, nil
	r.now = slices.DeleteFunc(r.now, func(s kasoku.LoadSecond) bool {
		if before >= 0 && s.Second >= min(before, r.settled) {
			return false
		}
		out = append(out, s)
		return true
	})
	if before = min(before, r.settled); before > r.wanted {
		r.wanted = before
	}
	return out
}
