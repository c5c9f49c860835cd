package stacks

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"time"

	"github.com/cilium/ebpf/ringbuf"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/trace"
	"github.com/kasoku/kasoku/trace/symbols"
)

// Options configure a profile.
type Options struct {
	PIDs []int         // of the processes; those that they start meanwhile count too
	For  time.Duration // how long
	// Waits asks for what they wait for, CPU for their CPU time.
	Waits, CPU bool
	// Over ends it early when it is closed; what was seen until then counts. Nil never is.
	Over <-chan struct{}
}

// A Sample is a stack and what was spent there.
type Sample struct {
	PID   int
	Stack []symbols.Frame // innermost first; the kernel's functions among them
	Count int64           // samples of CPU time; times that it waited
	Time  time.Duration
	Wait  Wait // of a wait
}

// A Wait is what a thread, or a goroutine, waits for.
type Wait struct {
	Reason Reason
	On     string // "mariadbd :3306", empty when unknown
}

// A Queue is how long threads could have run while others did.
type Queue struct {
	Time   time.Duration
	Times  int64
	Forced int64 // of those, times that a thread was interrupted for another
	// Routines is how long goroutines could have run and had no thread.
	Routines time.Duration
}

// A Profile is what processes did over a stretch of time.
type Profile struct {
	Began     time.Time
	Length    time.Duration
	Attached  time.Duration // how long it took to attach
	Processes []Process
	CPU       []Sample
	Waits     []Sample
	Queues    map[int]Queue // by process
	Modules   map[string]symbols.Module
	Notes     []string // what limits it
}

// A Process is one that was watched.
type Process struct {
	PID      int
	Root     int // the one of those asked for that it is, or descends from
	Name     string
	Language string // "go", "python" … as its program shows; empty when unknown
	Program  string // path of its program
}

// The bounds of what is kept here.
const (
	mostKept  = 50_000  // places
	mostWords = 2 << 20 // addresses in all of their stacks
	// mostAtOnce is how many records are read in one go: those that write are not to keep
	// the reader for ever.
	mostAtOnce = 100_000
)

// Take watches processes and returns what they did. When ctx ends it returns what it has
// until then. It fails with a [*Refusal] where the kernel does not let it.
func Take(ctx context.Context, o Options) (*Profile, error) {
	if len(o.PIDs) == 0 {
		return nil, errors.New("no process to watch")
	}
	begin := time.Now()
	a, err := attach(o.PIDs, o.CPU, o.Waits)
	if err != nil {
		return nil, err
	}
	defer a.close()
	t := newTaking(a, o)
	defer func() { _ = t.table.Close() }()
	t.out.Attached = time.Since(begin)
	t.began = trace.Now()
	t.out.Began = time.Now()
	for _, pid := range o.PIDs {
		t.see(pid)
	}
	routines := contain.Go(routinesPart, func() { t.routines.sample(t.stop) })
	t.sampling = true
	t.watch(ctx)
	t.out.Length = trace.Now() - t.began
	a.detach()
	close(t.stop)
	<-routines
	t.read(time.Now())
	t.finish()
	return &t.out, nil
}

// routinesPart names the sampling of goroutines where it fails.
var routinesPart = contain.Part{Kind: contain.Goroutine, Name: "sampling of goroutines"}

// A place is a stack of a process, and how often it was seen.
type place struct {
	record
	count int64
}

// A placeKey identifies the stack of a sample.
type placeKey struct {
	pid  int
	hash uint64
}

// A taking is one that is under way.
type taking struct {
	*attached
	o         Options
	out       Profile
	table     *symbols.Table
	began     time.Duration
	seed      maphash.Seed
	samples   map[placeKey]*place
	waits     map[waitKey]*place
	words     int
	dropped   int64 // samples without room for their stack
	seen      map[int]bool
	children  time.Time // when they were looked for
	roots     map[int]int
	ends      *ends
	still     still
	stillness []Sample
	sums      map[waitKey]waitSum
	routines  *routines
	sampling  bool // goroutines are; no process is added to them any more
	stop      chan struct{}
}

func newTaking(a *attached, o Options) *taking {
	t := &taking{
		attached: a, o: o, table: symbols.NewTable(), seed: maphash.MakeSeed(), samples: map[placeKey]*place{},
		waits: map[waitKey]*place{}, seen: map[int]bool{}, children: time.Now(), roots: map[int]int{}, ends: newEnds(), stop: make(chan struct{}),
	}
	t.out.Queues = map[int]Queue{}
	t.routines = newRoutines()
	return t
}

// see takes note of a process when it is first seen.
func (t *taking) see(pid int) {
	if t.seen[pid] || len(t.seen) >= mostTargets {
		return
	}
	t.seen[pid] = true
	p, version := describe(pid)
	p.Root = t.rootOf(pid)
	t.out.Processes = append(t.out.Processes, p)
	if err := t.table.See(pid); err != nil {
		return // it has ended; its addresses stay numbers
	}
	if t.o.Waits {
		if !t.sampling {
			t.still.begin(pid)
		}
		if p.Language == "go" && !t.sampling {
			t.routines.add(pid, version)
		}
	}
}

// watch reads what the programs write until the time is over.
func (t *taking) watch(ctx context.Context) {
	end := time.Now().Add(t.o.For)
	for time.Now().Before(end) && ctx.Err() == nil {
		next := time.Now().Add(pollEvery)
		if next.After(end) {
			next = end
		}
		pause := time.NewTimer(time.Until(next))
		select {
		case <-pause.C:
		case <-ctx.Done():
		case <-t.o.Over:
			end = time.Now()
		}
		pause.Stop()
		t.read(time.Now())
		if time.Since(t.children) >= time.Second {
			t.children = time.Now()
			t.adopt()
		}
	}
}

// adopt watches processes that those watched have started.
func (t *taking) adopt() {
	for pid, parent := range childrenOf(t.seen) {
		if len(t.seen) < mostTargets && t.attached.watch(pid) == nil {
			t.roots[pid] = t.rootOf(parent)
			t.see(pid)
		}
	}
}

// rootOf returns which of the processes that were asked for one descends from.
func (t *taking) rootOf(pid int) int {
	if root, ok := t.roots[pid]; ok {
		return root
	}
	return pid
}

// read takes all records that are there.
func (t *taking) read(now time.Time) {
	var r ringbuf.Record
	t.reader.SetDeadline(now) // records are written without waking the reader
	for range mostAtOnce {
		if err := t.reader.ReadInto(&r); err != nil {
			return // no more, or closed
		}
		rec, err := parseRecord(r.RawSample)
		if err != nil {
			continue
		}
		t.see(rec.pid)
		if rec.kind == kindCPU {
			t.addSample(rec)
			continue
		}
		key := waitKey{rec.hash, uint32(rec.pid), rec.fd}
		if t.waits[key] == nil && t.room(&rec) {
			t.waits[key] = &place{record: rec}
			t.ends.look(rec.pid, rec.fd)
		}
	}
}

// addSample counts a sample of CPU time.
func (t *taking) addSample(rec record) {
	var h maphash.Hash
	h.SetSeed(t.seed)
	for _, list := range [][]uint64{rec.kernel, rec.user, {rec.ret}} {
		for _, w := range list {
			maphash.WriteComparable(&h, w)
		}
		h.WriteByte(0)
	}
	key := placeKey{rec.pid, h.Sum64()}
	p := t.samples[key]
	if p == nil {
		if !t.room(&rec) {
			t.dropped++
			rec.kernel, rec.user = nil, nil
			key = placeKey{pid: rec.pid}
			if p = t.samples[key]; p == nil {
				p = &place{record: rec}
				t.samples[key] = p
			}
		} else {
			p = &place{record: rec}
			t.samples[key] = p
		}
	}
	p.count++
}

// room reports whether there is room for a stack, and takes it.
func (t *taking) room(r *record) bool {
	n := len(r.kernel) + len(r.user)
	if len(t.samples)+len(t.waits) >= mostKept || t.words+n > mostWords {
		return false
	}
	t.words += n
	r.kernel, r.user = slices.Clip(r.kernel), slices.Clip(r.user)
	return true
}
