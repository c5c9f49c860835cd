package stacks

import (
	"context"
	"debug/buildinfo"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/foreign"
	"github.com/kasoku/kasoku/trace/symbols"
)

// The bounds of sampling goroutines.
const (
	lookEvery    = 10 * time.Millisecond // on average: a fixed rhythm would meet that of the program
	mostRoutines = 20_000                // of a process, in one look
	mostDepth    = 128                   // functions of a stack
	topOfStack   = 8 << 10               // bytes of a stack that are read
	mostProgram  = 1 << 30               // bytes of a program that is looked at
	readAtOnce   = 512                   // descriptions in one system call
	mostBusy     = 4                     // a look may take one in so many parts of the time
)

// A goLayout is where Go's runtime keeps what is read of a goroutine, from the beginning of
// its description, runtime.g: go/src/runtime/runtime2.go of the version.
type goLayout struct {
	status, reason    int
	stack, pc, sp, bp int
	length            int // of what is read
	version           string
}

// layoutOf returns the layout of a version, "go1.26.8"; those before 1.21 are not known.
func layoutOf(version string) (l goLayout, ok bool) {
	rest, ok := strings.CutPrefix(version, "go1.")
	if !ok {
		return l, false
	}
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	minor, err := strconv.Atoi(digits)
	if err != nil || minor < 21 || minor > 26 {
		return l, false
	}
	l = goLayout{status: 144, reason: 176, sp: 56, pc: 64, bp: 96, version: version}
	switch {
	case minor <= 22:
		l.bp = 104
	case minor <= 24: // one more field before, and gobuf has ret
		l.status, l.reason, l.bp = 152, 184, 104
	}
	l.length = l.reason + 8
	return l, true
}

// States of goroutines: go/src/runtime/runtime2.go.
const (
	routineRunnable = 1
	routineWaiting  = 4
	routineScanned  = 0x1000 // is added while its stack is scanned
)

// A goProcess is a program of Go whose goroutines are sampled.
type goProcess struct {
	pid    int
	layout goLayout
	list   uint64 // address of runtime.allgs
	before map[uint64]seenRoutine
	looks  int
	cut    bool // there were more than are looked at
	err    error
}

// A seenRoutine is what the look before has seen of one.
type seenRoutine struct {
	pc, sp uint64
	place  *routinePlace
}

// A routinePlace is a stack that goroutines wait at.
type routinePlace struct {
	pid   int
	stack []uint64 // innermost first
	time  time.Duration
	count int64
}

// routines samples the goroutines of programs of Go.
type routines struct {
	processes []*goProcess
	places    map[placeKey]*routinePlace
	seed      maphash.Seed
	words     int
	queued    map[int]time.Duration // of goroutines that could run
	note      []string
}

func newRoutines() *routines {
	return &routines{places: map[placeKey]*routinePlace{}, seed: maphash.MakeSeed(), queued: map[int]time.Duration{}}
}

// isGo reports whether Go built the program of a process, and with which version.
func isGo(pid int) (version string, ok bool) {
	version, err := readProgram(pid, func(r io.ReaderAt, _ int64) (string, error) {
		info, err := buildinfo.Read(r)
		if err != nil {
			return "", fmt.Errorf("no program of Go: %w", err)
		}
		return info.GoVersion, nil
	})
	return version, err == nil
}

// readProgram reads the program of a process as data.
func readProgram[T any](pid int, read func(io.ReaderAt, int64) (T, error)) (out T, err error) {
	p, err := foreign.Hold(pid)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	return foreign.ReadExe(context.Background(), p, mostProgram, read)
}

// add takes a program of Go up, if its goroutines can be found.
func (r *routines) add(pid int, version string) {
	p := &goProcess{pid: pid, before: map[uint64]seenRoutine{}}
	fail := func(why string) {
		r.note = append(r.note, fmt.Sprintf("goroutines of pid %d are not seen: %s; its threads are", pid, why))
	}
	var ok bool
	if p.layout, ok = layoutOf(version); !ok {
		fail("it was built with " + printable(version) + ", and 1.21 to 1.26 are known")
		return
	}
	place, err := readProgram(pid, func(f io.ReaderAt, size int64) (symbols.Variable, error) {
		return symbols.FindSlice(f, size, "runtime.allgs", "runtime.allgadd")
	})
	if err != nil {
		fail("its list of them was not found")
		return
	}
	if p.list, ok = place.In(pid); !ok {
		fail("where it is loaded is not known")
		return
	}
	if err := p.readList(make([]byte, 24)); err != nil {
		if errors.Is(err, unix.EPERM) {
			fail("its memory takes CAP_SYS_PTRACE")
		}
		return
	}
	r.processes = append(r.processes, p)
}

// has reports whether the goroutines of a process were seen.
func (r *routines) has(pid int) bool {
	return slices.ContainsFunc(r.processes, func(p *goProcess) bool { return p.pid == pid && p.looks > 0 })
}

// sample looks at goroutines until stop is closed.
func (r *routines) sample(stop <-chan struct{}) {
	if len(r.processes) == 0 {
		return
	}
	last := time.Now()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-stop:
			return
		case <-pause.C:
		}
		begin := time.Now()
		for _, p := range r.processes {
			if p.err == nil {
				p.err = r.look(p, begin.Sub(last))
			}
		}
		last = begin
		took := time.Since(begin)
		pause.Reset(max(time.Duration(rand.Int64N(int64(2*lookEvery))), (mostBusy-1)*took))
	}
}

// readMemory reads of a process's memory.
func readMemory(pid int, to []byte, at uint64) error {
	if at == 0 || at>>47 != 0 {
		return unix.EFAULT
	}
	n, err := unix.ProcessVMReadv(pid, []unix.Iovec{iovec(to)}, []unix.RemoteIovec{{Base: uintptr(at), Len: len(to)}}, 0)
	switch {
	case err != nil:
		return err
	case n != len(to):
		return unix.EFAULT
	}
	return nil
}

func iovec(b []byte) unix.Iovec {
	v := unix.Iovec{Base: &b[0]}
	v.SetLen(len(b))
	return v
}

// readList reads the slice of all goroutines.
func (p *goProcess) readList(head []byte) error { return readMemory(p.pid, head, p.list) }

// look takes one look at the goroutines of a process; each stands for the time since the look
// before.
func (r *routines) look(p *goProcess, since time.Duration) error {
	var head [24]byte
	if err := p.readList(head[:]); err != nil {
		return err
	}
	le := binary.LittleEndian
	at, count := le.Uint64(head[:]), le.Uint64(head[8:])
	if count > mostRoutines {
		count, p.cut = mostRoutines, true
	}
	if count == 0 {
		return nil
	}
	raw := make([]byte, 8*count)
	if err := readMemory(p.pid, raw, at); err != nil {
		return err
	}
	now := make(map[uint64]seenRoutine, len(p.before))
	for addrs := words(raw); len(addrs) > 0; {
		n := min(len(addrs), readAtOnce)
		r.lookAt(p, addrs[:n], since, now)
		addrs = addrs[n:]
	}
	p.before = now
	p.looks++
	return nil
}

// lookAt reads the descriptions of some goroutines.
func (r *routines) lookAt(p *goProcess, addrs []uint64, since time.Duration, now map[uint64]seenRoutine) {
	room := make([]byte, len(addrs)*p.layout.length)
	var remote []unix.RemoteIovec
	for _, a := range addrs {
		remote = append(remote, unix.RemoteIovec{Base: uintptr(a), Len: p.layout.length})
	}
	n, err := unix.ProcessVMReadv(p.pid, []unix.Iovec{iovec(room)}, remote, 0)
	if err != nil {
		return
	}
	for i := range n / p.layout.length {
		d := room[i*p.layout.length:][:p.layout.length]
		switch binary.LittleEndian.Uint32(d[p.layout.status:]) &^ routineScanned {
		case routineRunnable:
			r.queued[p.pid] += since
		case routineWaiting:
			if s, ok := r.waits(p, addrs[i], d); ok {
				s.place.time += since
				s.place.count++
				now[addrs[i]] = s
			}
		}
	}
}

// waits returns where a goroutine waits; its stack is read when it was not there before.
func (r *routines) waits(p *goProcess, addr uint64, d []byte) (seenRoutine, bool) {
	le := binary.LittleEndian
	s := seenRoutine{pc: le.Uint64(d[p.layout.pc:]), sp: le.Uint64(d[p.layout.sp:])}
	if b, ok := p.before[addr]; ok && b.pc == s.pc && b.sp == s.sp {
		return b, true
	}
	top := le.Uint64(d[p.layout.stack+8:])
	if s.sp >= top || s.sp == 0 || s.sp>>47 != 0 {
		return s, false
	}
	// The description is read again after the stack: what changed meanwhile is not believed.
	part, again := make([]byte, min(top-s.sp, topOfStack)), make([]byte, len(d))
	n, err := unix.ProcessVMReadv(p.pid, []unix.Iovec{iovec(part), iovec(again)},
		[]unix.RemoteIovec{{Base: uintptr(s.sp), Len: len(part)}, {Base: uintptr(addr), Len: len(again)}}, 0)
	if err != nil || n != len(part)+len(again) || !slices.Equal(again[p.layout.sp:p.layout.bp+8], d[p.layout.sp:p.layout.bp+8]) ||
		le.Uint32(again[p.layout.status:])&^routineScanned != routineWaiting {
		return s, false
	}
	s.place = r.placeOf(p.pid, walk(part, s, le.Uint64(d[p.layout.bp:])))
	return s, s.place != nil
}

// walk follows the frame pointers of a stack, of which part begins at the stack pointer.
func walk(part []byte, s seenRoutine, frame uint64) []uint64 {
	out := []uint64{s.pc}
	for len(out) < mostDepth {
		at := frame - s.sp
		if frame < s.sp || at > uint64(len(part)) || uint64(len(part))-at < 16 {
			break
		}
		next, ret := binary.LittleEndian.Uint64(part[at:]), binary.LittleEndian.Uint64(part[at+8:])
		if ret == 0 {
			break
		}
		out = append(out, ret)
		if next <= frame {
			break
		}
		frame = next
	}
	return out
}

// placeOf returns the place of a stack, nil when there is no room for it.
func (r *routines) placeOf(pid int, stack []uint64) *routinePlace {
	var h maphash.Hash
	h.SetSeed(r.seed)
	for _, w := range stack {
		maphash.WriteComparable(&h, w)
	}
	key := placeKey{pid, h.Sum64()}
	p := r.places[key]
	if p == nil && len(r.places) < mostKept && r.words+len(stack) <= mostWords {
		r.words += len(stack)
		p = &routinePlace{pid: pid, stack: stack}
		r.places[key] = p
	}
	return p
}

// want asks for the names of all places.
func (r *routines) want(t *symbols.Table) {
	for _, p := range r.places {
		for i, a := range p.stack {
			if !t.Want(p.pid, a-1) {
				p.stack = p.stack[:i]
				break
			}
		}
	}
}

// samples returns what the goroutines waited for, but for those of the runtime itself.
func (r *routines) samples(t *symbols.Table) (out []Sample) {
	for _, p := range r.places {
		s := Sample{PID: p.pid, Count: p.count, Time: p.time}
		for _, a := range p.stack {
			frames, _ := t.Frames(p.pid, a-1)
			s.Stack = append(s.Stack, frames...)
		}
		if len(s.Stack) == 0 || s.Stack[0].Name == "runtime.systemstack_switch" {
			continue // it runs, on another stack
		}
		if s.Wait = routineWait(s.Stack); s.Wait.Reason != Idle {
			out = append(out, s)
		}
	}
	return out
}

// notes says what limits what was seen.
func (r *routines) notes() []string {
	for _, p := range r.processes {
		if p.cut {
			r.note = append(r.note, fmt.Sprintf("pid %d has more than the %d goroutines that are looked at: the others' waits are not counted", p.pid, mostRoutines))
		}
	}
	return r.note
}
