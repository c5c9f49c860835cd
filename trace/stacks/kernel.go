package stacks

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/unit"
)

// The sizes of what is kept in the kernel, some 8 MB in all: elements are allocated at once,
// so that a program that starts 100,000 threads takes no more.
const (
	mostTargets = 4096    // processes
	mostPlaces  = 16_384  // different stacks that wait
	mostThreads = 16_384  // threads that wait at a time
	ringBytes   = 4 << 20 // 3,000 records of deep stacks; read each pollEvery
	rate        = 99      // samples a second: no multiple of what programs do each 10 ms
	pollEvery   = 100 * time.Millisecond
)

// An attached is what is loaded into the kernel. All of it are descriptors of this process,
// which the kernel closes with it, however it ends.
type attached struct {
	maps
	programs []*ebpf.Program // kept reachable: the finalizer of one closes it
	links    []link.Link
	clocks   []int // descriptors of perf events, one for each processor
	reader   *ringbuf.Reader
}

// maps are the tables that the programs share with this process.
type maps struct {
	targets, places, threads, counters *ebpf.Map
	ring, sampleRoom, switchRoom       *ebpf.Map
	labels                             int // that were made
}

// A Refusal is why the kernel does not let programs in, with what would grant it.
type Refusal struct {
	What string
	Err  error
}

// Error returns "WHAT: CAUSE".
func (r *Refusal) Error() string { return r.What + ": " + r.Err.Error() }

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Err }

// Hint returns what to do about it.
func (r *Refusal) Hint() string {
	switch {
	case errors.Is(r.Err, unix.EPERM) || errors.Is(r.Err, unix.EACCES):
		return "run it as root, or grant what is needed: sudo setcap " +
			"cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search+ep kasoku (a container also needs the pid namespace of its host)"
	case errors.Is(r.Err, ebpf.ErrNotSupported) || errors.Is(r.Err, unix.EINVAL) || errors.Is(r.Err, unix.ENOSYS):
		return "a kernel of 5.15 or newer with CONFIG_BPF_SYSCALL, CONFIG_PERF_EVENTS and CONFIG_DEBUG_INFO_BTF is needed"
	}
	return ""
}

// attach loads and attaches the programs. With waits, those of the scheduler too. CPU time is
// sampled when samples is set.
func attach(pids []int, samples, waits bool) (_ *attached, err error) {
	a := &attached{}
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	if err := a.makeMaps(); err != nil {
		return nil, &Refusal{"make tables in the kernel", err}
	}
	for _, pid := range pids {
		if err := a.watch(pid); err != nil {
			return nil, err
		}
	}
	if a.reader, err = ringbuf.NewReader(a.ring); err != nil {
		return nil, &Refusal{"read from the kernel", err}
	}
	if waits {
		if err := a.attachScheduler(); err != nil {
			return nil, err
		}
	}
	if samples {
		if err := a.attachClocks(); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (a *attached) makeMaps() error {
	for _, m := range []struct {
		to         **ebpf.Map
		name       string
		kind       ebpf.MapType
		key, value uint32
		entries    uint32
	}{
		{&a.targets, "ks_targets", ebpf.Hash, 4, 4, mostTargets},
		{&a.places, "ks_places", ebpf.Hash, 16, 32, mostPlaces},
		{&a.threads, "ks_threads", ebpf.Hash, 8, 40, mostThreads},
		{&a.counters, "ks_counters", ebpf.Array, 4, 8, counters},
		{&a.ring, "ks_ring", ebpf.RingBuf, 0, 0, ringBytes},
		{&a.sampleRoom, "ks_sample", ebpf.PerCPUArray, 4, recordRoom, 1},
		{&a.switchRoom, "ks_switch", ebpf.PerCPUArray, 4, recordRoom, 1},
	} {
		made, err := ebpf.NewMap(&ebpf.MapSpec{Name: m.name, Type: m.kind, KeySize: m.key, ValueSize: m.value, MaxEntries: m.entries})
		if err != nil {
			return err
		}
		*m.to = made
	}
	return nil
}

// watch adds a process to those that are watched.
func (a *attached) watch(pid int) error {
	if err := a.targets.Put(uint32(pid), uint32(1)); err != nil {
		return &Refusal{"watch pid " + strconv.Itoa(pid), err}
	}
	// What finds no room of its own is added up there.
	err := a.places.Update(waitKey{PID: uint32(pid)}, waitSum{}, ebpf.UpdateNoExist)
	if err != nil && !errors.Is(err, ebpf.ErrKeyExist) {
		return &Refusal{"watch pid " + strconv.Itoa(pid), err}
	}
	return nil
}

func (a *attached) load(name string, kind ebpf.ProgramType, text asm.Instructions) (*ebpf.Program, error) {
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: name, Type: kind, Instructions: text, License: "GPL"})
	if err != nil {
		return nil, &Refusal{"load the program " + name, err}
	}
	a.programs = append(a.programs, p)
	return p, nil
}

func (a *attached) attachScheduler() error {
	for _, p := range []struct {
		at   string
		text asm.Instructions
	}{
		{"sched_process_free", a.freeThread()}, {"sched_wakeup", a.wakeThread()}, {"sched_switch", a.switchThreads()},
	} {
		program, err := a.load("ks_"+strings.TrimPrefix(p.at, "sched_"), ebpf.RawTracepoint, p.text)
		if err != nil {
			return err
		}
		l, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: p.at, Program: program})
		if err != nil {
			return &Refusal{"attach to " + p.at, err}
		}
		a.links = append(a.links, l)
	}
	return nil
}

// attachClocks samples what runs on each processor.
func (a *attached) attachClocks() error {
	program, err := a.load("ks_sample", ebpf.PerfEvent, a.sampleCPU())
	if err != nil {
		return err
	}
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return fmt.Errorf("processors of this host: %w", err)
	}
	for _, cpu := range unit.ParseCores(string(text)) {
		fd, err := unix.PerfEventOpen(&unix.PerfEventAttr{
			Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Size: unix.PERF_ATTR_SIZE_VER0,
			Sample: rate, Bits: unix.PerfBitFreq | unix.PerfBitDisabled,
		}, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			return &Refusal{"sample CPU time: perf_event_open", err}
		}
		a.clocks = append(a.clocks, fd)
		if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, program.FD()); err != nil {
			return &Refusal{"sample CPU time: attach to a perf event", err}
		}
	}
	for _, fd := range a.clocks {
		if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_ENABLE, 0); err != nil {
			return &Refusal{"sample CPU time: start the clock", err}
		}
	}
	return nil
}

// detach takes the programs out of the kernel; what they have written can still be read.
func (a *attached) detach() {
	for _, l := range a.links {
		_ = l.Close() // the kernel ends it with the descriptor
	}
	for _, fd := range a.clocks {
		_ = unix.Close(fd)
	}
	for _, p := range a.programs {
		_ = p.Close()
	}
	a.links, a.clocks, a.programs = nil, nil, nil
}

// close lets go of everything.
func (a *attached) close() {
	a.detach()
	if a.reader != nil {
		_ = a.reader.Close()
	}
	for _, m := range []*ebpf.Map{a.targets, a.places, a.threads, a.counters, a.ring, a.sampleRoom, a.switchRoom} {
		if m != nil {
			_ = m.Close()
		}
	}
}

// counted returns the counters of the programs.
func (a *attached) counted() (out [counters]uint64) {
	for i := range out {
		_ = a.counters.Lookup(uint32(i), &out[i]) // 0 when it cannot be read
	}
	return out
}
