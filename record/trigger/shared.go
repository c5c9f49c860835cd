package trigger

import (
	"slices"
	"time"

	"github.com/kasoku/kasoku/logs/lines"
)

const (
	// lead is how long before the awaited request the run begins; blindLead where
	// the log has no request times, so that it is not known when the request began.
	// An initialize takes up to half a minute.
	lead      = 3 * time.Second
	blindLead = 30 * time.Second
)

// A Start is the beginning of a run that waited for a request.
type Start struct {
	At   time.Time // offset 0, with monotonic reading
	Seen *Seen     // the request; nil: another host's recording has it
	Host string    // that saw it; empty: this one
}

// Decide returns the beginning for a request that was seen: a moment before it, as far back as
// samples are kept, a whole number of intervals after from, since when all is watched.
func Decide(r Seen, from, now time.Time, interval time.Duration) Start {
	before := lead
	if r.Blind {
		before = blindLead
	}
	cut := max(r.Began.Sub(from)-before, now.Sub(from)-Longest, 0) / interval * interval
	return Start{At: from.Add(cut), Seen: &r}
}

// Cut returns how long after from, at a tick, the beginning is: the nearest one that is kept.
func (s *Start) Cut(from, now time.Time, interval time.Duration) time.Duration {
	kept := now.Sub(from) - Longest
	return max(s.At.Sub(from)+interval/2, kept, 0) / interval * interval
}

// A Shared is a run of several recordings, each of its host. The request that begins it may be
// seen at any of them, and one decides for all when it begins; requests end when they do
// everywhere. One goroutine calls its functions; each may be nil.
type Shared struct {
	Watching func(logs int)                // all is watched, so many access logs among it
	Seen     func(Seen)                    // this host saw the request
	Begin    func() (*Start, error)        // what was decided; nil: nothing yet
	Begun    func(at time.Time)            // the beginning that was taken
	Grown    func(own int64) (int64, bool) // from what this host's access logs grew by: what all did; not known: false
}

// Look reports what this host saw, and returns the beginning once it is decided.
func (s *Shared) Look(found *Seen) (*Start, error) {
	if found != nil && s.Seen != nil {
		s.Seen(*found)
	}
	if s.Begin == nil {
		return nil, nil
	}
	return s.Begin()
}

// Marks are where some logs ended, second by second, while a run waits.
type Marks struct{ all []marked }

type marked struct {
	at    time.Duration
	marks []lines.Mark
}

// Due reports whether they are to be looked at again.
func (m *Marks) Due(now time.Duration) bool {
	return len(m.all) == 0 || now-m.all[len(m.all)-1].at >= time.Second
}

// Add adds where the logs end now.
func (m *Marks) Add(now time.Duration, ends []lines.Mark) {
	m.all = append(m.all, marked{now, ends})
	if len(m.all) > int(Longest/time.Second) {
		m.all = slices.Delete(m.all, 0, 1)
	}
}

// At returns where they ended at a moment, or before: the earliest that is known, if need be.
func (m *Marks) At(cut time.Duration) []lines.Mark {
	at := m.all[0].marks
	for _, x := range m.all[1:] {
		if x.at > cut {
			break
		}
		at = x.marks
	}
	return at
}
