package graphite

import (
	"fmt"
	"strings"

	"github.com/kasoku/kasoku/internal/unit"
)

// A Tally adds up what servers reported of themselves, relays left out. The zero value is
// empty.
type Tally struct {
	sums   map[Count]float64
	cached map[string]float64 // points in the cache of each server, by its last reading
	peak   float64
	ofGo   bool
}

// Add adds a reading.
func (t *Tally) Add(r Reading) {
	if r.IsRelay() {
		return
	}
	if t.sums == nil {
		t.sums, t.cached = map[Count]float64{}, map[string]float64{}
	}
	t.ofGo = t.ofGo || r.ofGo
	if r.Count == CountCached {
		t.cached[r.Server] = r.Value
		t.peak = max(t.peak, t.Cached())
	}
	t.sums[r.Count] += r.Value
}

// Sum is what all readings of a count come to, and whether there was any. It has no meaning
// for [CountCached].
func (t *Tally) Sum(c Count) (v float64, ok bool) {
	v, ok = t.sums[c]
	return v, ok
}

// Cached is how many points wait to be written, as last reported, and PeakCached the most
// that were.
func (t *Tally) Cached() (v float64) {
	for _, n := range t.cached {
		v += n
	}
	return v
}

// PeakCached returns the most points that waited at once.
func (t *Tally) PeakCached() float64 { return t.peak }

// Silent reports whether no server has reported anything of itself.
func (t *Tally) Silent() bool { return len(t.sums) == 0 }

// A Limit is what keeps a server from writing what it is sent, and what to change.
type Limit struct {
	Code       string // creates, updates, cache
	Text, Hint string
}

// CreatesHint is what to change where a carbon-cache does not create series.
const CreatesHint = "`MAX_CREATES_PER_MINUTE = inf` in section [cache] of carbon.conf, and a restart"

// The other settings that limit a server as shipped, in either program's words.
const (
	goCreatesHint = "`max-creates-per-second = 0` in section [whisper] of go-carbon.conf, and a reload"
	updatesHint   = "`MAX_UPDATES_PER_SECOND = inf` in section [cache] of carbon.conf, and a restart; the disk " +
		"is the limit then"
	goUpdatesHint = "`max-updates-per-second = 0` in section [whisper] of go-carbon.conf, and a reload"
	cacheHint     = "a larger MAX_CACHE_SIZE in section [cache] of carbon.conf, or a faster disk"
	goCacheHint   = "a larger max-size in section [cache] of go-carbon.conf, or a faster disk"
)

// Limits are those that the readings show, the most harmful first.
func (t *Tally) Limits() (out []Limit) {
	program, creates, updates, cache := "carbon", CreatesHint, updatesHint, cacheHint
	if t.ofGo {
		program, creates, updates, cache = "go-carbon", goCreatesHint, goUpdatesHint, goCacheHint
	}
	if n := t.sums[CountDropped]; n > 0 {
		made := t.sums[CountCreated]
		did := "threw away" // carbon/writer.py; go-carbon only with hard-max-creates-per-second
		if t.ofGo {
			did = "put off or threw away"
		}
		out = append(out, Limit{"creates", fmt.Sprintf("%s created %s series and %s the points of others %s times: "+
			"its limit of new series is reached", program, unit.Count(int64(made)), did, unit.Count(int64(n))),
			creates})
	}
	if n := t.sums[CountOverflow]; n > 0 {
		out = append(out, Limit{"cache", fmt.Sprintf("%s had no room in its cache for %s points, or stopped to read",
			program, unit.Count(int64(n))), cache})
	}
	received, committed := t.sums[CountReceived], t.sums[CountCommitted]
	if waits := t.Cached(); waits > 0 && received > 2*committed && waits > received/4 {
		out = append(out, Limit{"updates", fmt.Sprintf("%s received %s points and wrote %s of them, with %s "+
			"writes; %s wait in its memory",
			program, unit.Count(int64(received)), unit.Count(int64(committed)), unit.Count(int64(t.sums[CountUpdates])),
			unit.Count(int64(waits))), updates})
	}
	return out
}

// isGo reports whether a metric has a name that only go-carbon gives.
func isGo(name string) bool {
	return strings.HasPrefix(name, "persister.") || strings.HasSuffix(name, "."+MetricsReceived)
}
