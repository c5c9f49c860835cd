package load

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
)

// A Recorder is a [Sink] that counts hits by second, step and target. It is
// safe for concurrent use, also while the load runs.
//
// A hit belongs to the second in which it was due, so a second can gain hits as
// long as one of its requests is under way. The recorder does not wait for that:
// [Recorder.Take] gives away what was counted since it was last called, and who
// stores it adds it up. So the memory that a recorder takes depends on the steps
// and targets of a load, not on its length.
//
// Hits are counted in an open page of cells, under a lock that is held for no
// longer than one batch. Whoever asks for figures changes that page for an empty
// one and adds it to the totals, which have a lock of their own; engines do not
// wait for it.
type Recorder struct {
	mu   sync.Mutex // of the page that hits go to
	open page

	settling sync.Mutex // guards all below; taken before mu
	empty    []*slot    // for the next page
	total    uint64
	failed   uint64
	steps    map[int]*kasoku.Tally            // by Step.Number
	targets  []*kasoku.Tally                  // by place; nil before its first hit
	recent   []recentSecond                   // the newest, in order
	keep     bool                             // the seconds, for Take
	seconds  map[secondKey]*kasoku.LoadSecond // not taken yet
}

type secondKey struct {
	second, step, place int
}

// A recentSecond is one second of all targets, for progress.
type recentSecond struct {
	second int
	tally  *kasoku.Tally
}

// maxRecent is how many recent seconds are kept whole: the one that is under way,
// the one before it, which may not be settled, and the one before that.
const maxRecent = 3

// settledAfter is how long a second is over before progress reports it: engines hand
// their hits over in batches, and its last requests take their time.
const settledAfter = 100 * time.Millisecond

var _ Sink = (*Recorder)(nil)

// NewRecorder returns a recorder for a load that starts at offset on the run's
// clock. It keeps totals only; see [Recorder.KeepSeconds].
func NewRecorder(p Plan, offset time.Duration) *Recorder {
	return &Recorder{
		open:  page{offset: offset, names: newNames(p), errors: newMessages(p)},
		steps: map[int]*kasoku.Tally{}, seconds: map[secondKey]*kasoku.LoadSecond{},
	}
}

// KeepSeconds keeps what each second counts until it is taken with Take. It is
// called before the load begins; what was counted before is in no second.
func (r *Recorder) KeepSeconds() {
	r.settling.Lock()
	defer r.settling.Unlock()
	r.keep = true
}

// Hits implements [Sink].
func (r *Recorder) Hits(hits []Hit) {
	if r.count(hits) {
		r.settleNow() // no call has asked for a while
	}
}

func (r *Recorder) settleNow() {
	r.settling.Lock()
	defer r.settling.Unlock()
	r.settle()
}

func (r *Recorder) count(hits []Hit) (full bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range hits {
		r.open.count(&hits[i], r.open.names.of(&hits[i]))
	}
	return len(r.open.slots) > maxSlots
}

// Named counts one hit under a name of its own, whatever the plan's targets are: for
// callers that know a request's name only when they send it. Names are as bounded as
// those of a plan. It does not keep h.
func (r *Recorder) Named(name string, h *Hit) {
	if r.countNamed(name, h) {
		r.settleNow()
	}
}

func (r *Recorder) countNamed(name string, h *Hit) (full bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open.count(h, r.open.names.add(name))
	return len(r.open.slots) > maxSlots
}

// settle adds the open page to the totals. The caller holds settling.
func (r *Recorder) settle() {
	r.mu.Lock()
	old := r.open.turn(r.empty)
	r.mu.Unlock()
	for _, s := range old.slots {
		for place, c := range s.cells {
			if c != nil && c.asked > 0 {
				r.add(c.second(s, old.names[place], old.messages), place)
				c.reset()
			}
		}
	}
	r.empty = append(old.slots, old.unused...)
	r.empty = r.empty[:min(len(r.empty), keptSlots)]
}

// add adds the part of a second that was counted since the last one to all that
// is kept. It does not keep the part.
func (r *Recorder) add(part *kasoku.LoadSecond, place int) {
	step := r.steps[part.Step]
	if step == nil {
		step = kasoku.NewTally()
		r.steps[part.Step] = step
	}
	for len(r.targets) <= place {
		r.targets = append(r.targets, nil)
	}
	if r.targets[place] == nil {
		r.targets[place] = kasoku.NewTally()
	}
	before := step.Failed()
	step.Add(part)
	r.targets[place].Add(part)
	r.total += part.Asked
	r.failed += step.Failed() - before
	if t := r.recently(part.Second); t != nil {
		t.Add(part)
	}
	if !r.keep {
		return
	}
	key := secondKey{part.Second, part.Step, place}
	if r.seconds[key] == nil {
		r.seconds[key] = &kasoku.LoadSecond{Second: part.Second, Step: part.Step, Target: part.Target}
	}
	r.seconds[key].Add(part)
}

// recently returns the tally of a second, nil of one that is long over.
func (r *Recorder) recently(second int) *kasoku.Tally {
	i, found := slices.BinarySearchFunc(r.recent, second, func(a recentSecond,
		second int) int {
		return cmp.Compare(a.second, second)
	})
	if found {
		return r.recent[i].tally
	}
	t := kasoku.NewTally()
	switch {
	case len(r.recent) < maxRecent:
		r.recent = slices.Insert(r.recent, i, recentSecond{second, t})
	case i == 0:
		return nil
	default:
		r.recent = slices.Delete(slices.Insert(r.recent, i, recentSecond{second, t}), 0, 1)
	}
	return t
}

// Take returns what was counted since it was called last, sorted by second, step
// and target, and forgets it: the same second comes again when more of its
// requests have ended, with those alone. [kasoku.LoadSecond.Add] adds them up.
// Without [Recorder.KeepSeconds] there is nothing to take.
func (r *Recorder) Take() []kasoku.LoadSecond {
	taken := r.takeSeconds()
	out := make([]kasoku.LoadSecond, 0, len(taken))
	for _, s := range taken {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b kasoku.LoadSecond) int {
		return cmp.Or(cmp.Compare(a.Second, b.Second), cmp.Compare(a.Step, b.Step), cmp.Compare(a.Target, b.Target))
	})
	return out
}

func (r *Recorder) takeSeconds() map[secondKey]*kasoku.LoadSecond {
	r.settling.Lock()
	defer r.settling.Unlock()
	r.settle()
	taken := r.seconds
	r.seconds = make(map[secondKey]*kasoku.LoadSecond, len(taken))
	return taken
}

// AddSeconds adds what another recorder of the same plan has given away by Take, such as
// one on another machine that sends a share of the load. Seconds count from the start of
// the load here, too. It keeps none of it.
func (r *Recorder) AddSeconds(parts []kasoku.LoadSecond) {
	r.settling.Lock()
	defer r.settling.Unlock()
	for i := range parts {
		r.mu.Lock()
		place := r.open.names.add(parts[i].Target)
		r.mu.Unlock()
		r.add(&parts[i], place)
	}
}

// Tally returns the sum over one step; step 0 means all steps.
func (r *Recorder) Tally(step int) *kasoku.Tally {
	r.settling.Lock()
	defer r.settling.Unlock()
	r.settle()
	t := kasoku.NewTally()
	for n, s := range r.steps {
		if step == 0 || n == step {
			t.Merge(s)
		}
	}
	return t
}

// A TargetTally is the sum over one target.
type TargetTally struct {
	Name  string
	Tally *kasoku.Tally
}

// Targets returns the sums over each target that had a hit, in the order of the
// plan. Targets of one name are one; what is beyond the first 100 names has one
// name together.
func (r *Recorder) Targets() []TargetTally {
	r.settling.Lock()
	defer r.settling.Unlock()
	r.settle()
	r.mu.Lock()
	names := r.open.names.list
	r.mu.Unlock()
	var out []TargetTally
	for place, t := range r.targets {
		if t != nil {
			all := kasoku.NewTally()
			all.Merge(t)
			out = append(out, TargetTally{names[place], all})
		}
	}
	return out
}

// Live is where a load stands, for showing progress.
type Live struct {
	Total, Failed uint64        // hits so far
	Second        int           // of the run's clock: the last second that has been over for a moment; -1: none
	LastSecond    *kasoku.Tally // of that second, all targets; more may be answered yet
}

// Live returns where the load stands at now, an offset on the run's clock.
func (r *Recorder) Live(now time.Duration) Live {
	r.settling.Lock()
	defer r.settling.Unlock()
	r.settle()
	l := Live{Total: r.total, Failed: r.failed, Second: -1, LastSecond: kasoku.NewTally()}
	second := int((now-settledAfter)/time.Second) - 1
	if second < int(r.open.offset/time.Second) {
		return l
	}
	l.Second = second
	for _, s := range r.recent {
		if s.second == second {
			l.LastSecond.Merge(s.tally)
		}
	}
	return l
}
