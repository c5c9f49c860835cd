package profile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/kasoku/kasoku"
)

// mostKept is how large a profile may be, compressed, to be kept whole.
const mostKept = 1 << 20

// Options configure what is taken of one program.
type Options struct {
	Address string // of net/http/pprof: http://127.0.0.1:6060/debug/pprof/
	Host    string // that the profiles are named after
	// CPU is for how long CPU time is sampled, in slices one after the other. Slices
	// are for a load whose end is not known: those that are complete are kept.
	CPU []time.Duration
	// Over cuts the CPU profile short when it is closed: the load has ended. What was
	// complete is kept. Nil never is.
	Over <-chan struct{}
	// Now is the run's clock.
	Now func() time.Duration
}

// A Taken is what came of it. Warnings say what is missing.
type Taken struct {
	Profiles []kasoku.Profile
	Warnings []kasoku.Warning
}

// Whole returns slices for a load whose end is known: one, of whole seconds, at most
// as long as limit. None when less than a second remains.
func Whole(remaining, limit time.Duration) []time.Duration {
	d := min(remaining, limit).Truncate(time.Second)
	if d < time.Second {
		return nil
	}
	return []time.Duration{d}
}

// Unknown returns slices, ten seconds in all, for a load whose end is not known.
func Unknown() []time.Duration {
	return []time.Duration{2 * time.Second, 3 * time.Second, 5 * time.Second}
}

// sums are the profiles that the runtime adds up since the program's start.
var sums = []kasoku.ProfileKind{kasoku.ProfileAllocs, kasoku.ProfileMutex, kasoku.ProfileBlock}

// paths are the names under which net/http/pprof serves the kinds.
var paths = map[kasoku.ProfileKind]string{
	kasoku.ProfileAllocs: "heap", kasoku.ProfileMutex: "mutex", kasoku.ProfileBlock: "block",
	kasoku.ProfileGoroutine: "goroutine",
}

// Take takes profiles of a program: the sums, CPU, the sums again, goroutines. It
// asks one thing at a time, so that the CPU profile holds nothing of the others.
func Take(all context.Context, o Options) Taken {
	t := &taking{o: o, end: all}
	ctx, stop := context.WithCancel(all)
	defer stop()
	if o.Over != nil {
		go func() {
			select {
			case <-o.Over:
				stop()
			case <-ctx.Done():
			}
		}()
	}
	s, err := newServer(o.Address)
	if err != nil {
		t.fail(kasoku.ProfileCPU, err)
		return t.Taken
	}
	defer s.close()
	t.server = s
	before := map[kasoku.ProfileKind]*pprof.Profile{}
	for _, k := range sums {
		if before[k], err = s.get(ctx, paths[k], 0); err != nil {
			if ctx.Err() != nil {
				err = errEnded
			}
			t.fail(k, err)
			if !answered(err) {
				return t.Taken // the others would say the same
			}
		}
	}
	t.from = o.Now()
	t.takeCPU(ctx)
	t.to = o.Now()
	for _, k := range sums {
		if before[k] != nil {
			t.takeGrown(k, before[k])
		}
	}
	if p, err := s.get(t.end, paths[kasoku.ProfileGoroutine], 0); err != nil {
		t.fail(kasoku.ProfileGoroutine, err)
	} else {
		t.keep(kasoku.ProfileGoroutine, p, "")
	}
	order := kasoku.ProfileKinds()
	slices.SortStableFunc(t.Profiles, func(a, b kasoku.Profile) int {
		return cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind))
	})
	name := ""
	for _, p := range t.Profiles {
		name = cmp.Or(name, p.Program)
	}
	for i := range t.Profiles {
		t.Profiles[i].Program = name
	}
	return t.Taken
}

// answered reports whether the program answered at all.
func answered(err error) bool {
	var bad *badAnswer
	return errors.As(err, &bad)
}

// errEnded means that there was no time.
var errEnded = errors.New("the load ended before")

// A taking is what is under way.
type taking struct {
	Taken
	o        Options
	end      context.Context // of what follows the CPU profile
	server   *server
	from, to time.Duration
}

// sliceLimit is how long a slice is, in seconds, for a program whose server cuts longer
// answers off.
const sliceLimit = 2

func (t *taking) takeCPU(ctx context.Context) {
	var seconds []int
	all := 0
	for _, d := range t.o.CPU {
		seconds = append(seconds, int(d/time.Second))
		all += int(d / time.Second)
	}
	if all == 0 {
		return
	}
	p, err := t.server.cpu(ctx, seconds)
	var r *refusal
	if errors.As(err, &r) && strings.Contains(r.text, "WriteTimeout") {
		// Its server cuts long answers off: many short ones say the same.
		p, err = t.server.cpu(ctx, slices.Repeat([]int{sliceLimit}, max(all/sliceLimit, 1)))
	}
	t.to = t.o.Now()
	switch {
	case err != nil && ctx.Err() != nil:
		t.fail(kasoku.ProfileCPU, errEnded)
	case err != nil:
		t.fail(kasoku.ProfileCPU, err)
	default:
		t.keep(kasoku.ProfileCPU, p, "")
	}
}

// takeGrown keeps what a sum gained, and of memory what is in use.
func (t *taking) takeGrown(kind kasoku.ProfileKind, before *pprof.Profile) {
	after, err := t.server.get(t.end, paths[kind], 0)
	if err != nil {
		t.fail(kind, err)
		return
	}
	if kind == kasoku.ProfileAllocs {
		t.keep(kasoku.ProfileHeap, only(after, "inuse"), "")
		before, after = only(before, "alloc"), only(after, "alloc")
	}
	d, err := grown(before, after)
	if err != nil {
		t.fail(kind, err)
		return
	}
	note := ""
	if len(after.Sample) == 0 {
		note = off(kind)
	}
	t.keep(kind, d, note)
}

// off says of a kind that has nothing since the program's start what would switch it on.
func off(kind kasoku.ProfileKind) string {
	switch kind {
	case kasoku.ProfileMutex:
		return "nothing was sampled since the program's start: it samples waits for locks only with `runtime.SetMutexProfileFraction(100)` in its main function"
	case kasoku.ProfileBlock:
		return "nothing was sampled since the program's start: it samples waits for channels and locks only with `runtime.SetBlockProfileRate(10_000)` in its main function (one sample for each 10 µs of waiting)"
	}
	return ""
}

// keep adds a profile.
func (t *taking) keep(kind kasoku.ProfileKind, p *pprof.Profile, note string) {
	out, err := packed(kind, withoutOwn(p))
	if err != nil {
		t.fail(kind, err)
		return
	}
	out.Host, out.Address, out.Note = t.o.Host, t.server.shown(), cmp.Or(note, out.Note)
	out.Interval = kasoku.Interval{From: t.from, To: t.to}
	t.Profiles = append(t.Profiles, out)
}

// packed adds a profile up, and packs its stacks when they are not too many.
func packed(kind kasoku.ProfileKind, p *pprof.Profile) (kasoku.Profile, error) {
	value := valueOf(p, kind)
	all, total := functions(p, kind, value)
	out := kasoku.Profile{
		Program: program(p), Kind: kind, Unit: p.SampleType[value].Unit, Total: total, Stacks: len(p.Sample),
		Functions: foremost(all),
	}
	p.DefaultSampleType = p.SampleType[value].Type
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return out, fmt.Errorf("pack: %w", err)
	}
	if b.Len() > mostKept {
		out.Note = fmt.Sprintf("its stacks take %d kB compressed, more than the %d kB that a run keeps; the functions are complete", b.Len()>>10, mostKept>>10)
		return out, nil
	}
	out.Data = b.Bytes()
	return out, nil
}

func (t *taking) fail(kind kasoku.ProfileKind, err error) {
	address := text(t.o.Address)
	if t.server != nil {
		address = t.server.shown()
	}
	what := Title(kind)
	if !answered(err) && len(t.Profiles) == 0 && kind == sums[0] {
		what = "profiles"
	}
	t.Warnings = append(t.Warnings, kasoku.Warning{
		Code: "profile", Text: fmt.Sprintf("no %s of %s: %s", what, address, text(err.Error())), Hint: hint(err, kind),
	})
}

// Title names a kind in words.
func Title(kind kasoku.ProfileKind) string {
	switch kind {
	case kasoku.ProfileCPU:
		return "CPU profile"
	case kasoku.ProfileWaiting:
		return "profile of waits"
	case kasoku.ProfileAllocs:
		return "allocation profile"
	case kasoku.ProfileHeap:
		return "heap profile"
	case kasoku.ProfileMutex:
		return "mutex profile"
	case kasoku.ProfileBlock:
		return "block profile"
	case kasoku.ProfileGoroutine:
		return "goroutine profile"
	}
	return "profile"
}
