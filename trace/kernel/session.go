package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/trace"
)

const (
	ringBytes   = 8 << 20
	mostConns   = 16 << 10
	mostSyncs   = 4 << 10
	mostStarts  = 4 << 10 // the oldest go
	mostMembers = 4 << 10
	mostDrained = 200_000
	drainWithin = 200 * time.Millisecond
	mostSockets = 8 << 10 // of one process, that are followed from the beginning
)

// A Member is a process that is watched.
type Member struct {
	PID    int
	Goid   int  // offset of a goroutine's number in its runtime.g; 0 where it is no Go program
	Parent int  // and of its parent's
	Start  int  // and of where it began
	Syncs  bool // what it writes to disks is watched
	Silent bool // its traffic is not
}

// Lacks counts what a session could not see.
type Lacks struct {
	Lost    uint64 // events for which there was no room
	Unread  uint64 // buffers that could not be read
	Unknown uint64 // connections beyond those that are followed
	Uring   uint64 // calls of io_uring, whose reads and writes are not seen
}

// A Session is what runs in the kernel, from Open to Close. It is gone when the process is,
// however that ends. It is not safe for concurrent use.
type Session struct {
	Calls    bool  // every system call of the host is slower meanwhile
	NoStarts error // why programs that members start are not seen; nil when they are

	maps     sharedMaps
	programs []*ebpf.Program // kept, as the links: what is not reachable is closed by its finalizer
	links    []link.Link
	detached time.Duration // when the first was let go, on CLOCK_MONOTONIC; 0 before
	reader   *ringbuf.Reader
	record   ringbuf.Record
	first    [firstMembers]int
	// firstValue is what the programs have of them.
	firstValue [firstAll]byte
	unknown    uint64 // connections for which there was no room when a member was added
}

// Open loads the programs and attaches them. They report nothing before a member is added. anyWay says
// that where sockets do not show what they do every system call of the host may be watched, which
// slows each of them; else that is [ErrNoSockets].
func Open(anyWay bool) (*Session, error) {
	on, err := archOf(runtime.GOARCH)
	if err != nil {
		return nil, err
	}
	s := &Session{}
	if err := s.open(on, anyWay); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// open attaches to sockets where the kernel shows what they do, else to every system call of the host. All
// programs are loaded at the same time.
func (s *Session) open(on *arch, anyWay bool) error {
	types, err := readKernelTypes()
	if err != nil && !anyWay {
		return fmt.Errorf("%w: %w", ErrNoSockets, err)
	}
	if err := s.create(); err != nil {
		return err
	}
	sockets, disks := load(ofSockets(on, &s.maps), types), load(ofDisks(on, &s.maps, registered()), types)
	starts := s.loadStarts(on, types)
	err = errors.Join(s.attach(sockets), s.attach(disks))
	switch {
	case err == nil:
	case !anyWay:
		err = errors.Join(types.showSockets(), err)
	default:
		if closeErr := errors.Join(s.letGo(), s.unload()); closeErr != nil {
			err = errors.Join(closeErr, err)
		} else if callsErr := s.calls(on); callsErr != nil {
			err = errors.Join(callsErr, err)
		} else {
			err = nil
		}
	}
	s.NoStarts = s.attach(starts)
	return err
}

// create makes the maps and what reads them.
func (s *Session) create() (err error) {
	if err := s.maps.create(); err != nil {
		return err
	}
	if s.reader, err = ringbuf.NewReader(s.maps.ring); err != nil {
		return fmt.Errorf("read the ring buffer: %w", err)
	}
	return nil
}

// registered returns which of the filesystems that can be watched the kernel has.
func registered() (out []string) {
	text, err := os.ReadFile("/proc/filesystems")
	for _, name := range filesystems {
		if err != nil || slices.Contains(strings.Fields(string(text)), name) {
			out = append(out, name)
		}
	}
	return out
}

// calls attaches what watches every system call of the host.
func (s *Session) calls(on *arch) error {
	s.Calls = true
	return s.attach(load(ofCalls(on, &s.maps), nil))
}

// loadStarts loads what watches which programs members start.
func (s *Session) loadStarts(on *arch, types *kernelTypes) loading {
	f, err := types.startFields()
	if err != nil {
		return loading{wait: func() ([]*ebpf.Program, error) { return nil, err }}
	}
	return load(ofStarts(on, &s.maps, f), types)
}

// attach lets programs run at their points.
func (s *Session) attach(l loading) error {
	programs, err := l.wait()
	if err != nil {
		return err
	}
	s.programs = append(s.programs, programs...)
	for i, p := range l.points {
		var attached link.Link
		if p.typed {
			attached, err = link.AttachTracing(link.TracingOptions{Program: programs[i]})
		} else {
			attached, err = link.AttachRawTracepoint(link.RawTracepointOptions{Name: p.name, Program: programs[i]})
		}
		if p.optional && errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("attach to %s: %w", p.name, err)
		}
		s.links = append(s.links, attached)
	}
	return nil
}

// unload frees the programs.
func (s *Session) unload() error {
	var errs []error
	for _, p := range s.programs {
		errs = append(errs, p.Close())
	}
	s.programs = nil
	return errors.Join(errs...)
}

// create makes the maps.
func (m *sharedMaps) create() error {
	for _, x := range []struct {
		to   **ebpf.Map
		spec ebpf.MapSpec
	}{
		{&m.members, ebpf.MapSpec{Name: "kasoku_members", Type: ebpf.Hash, KeySize: 4, ValueSize: memberSize,
			MaxEntries: mostMembers}},
		{&m.first, ebpf.MapSpec{Name: "kasoku_first", Type: ebpf.Array, KeySize: 4, ValueSize: firstAll,
			MaxEntries: 1}},
		{&m.conns, ebpf.MapSpec{Name: "kasoku_conns", Type: ebpf.Hash, KeySize: 8, ValueSize: connSize,
			MaxEntries: mostConns}},
		{&m.syncs, ebpf.MapSpec{Name: "kasoku_syncs", Type: ebpf.Hash, KeySize: 8, ValueSize: 8,
			MaxEntries: mostSyncs}},
		{&m.starts, ebpf.MapSpec{Name: "kasoku_starts", Type: ebpf.LRUHash, KeySize: 4, ValueSize: 8,
			MaxEntries: mostStarts}},
		{&m.scratch, ebpf.MapSpec{Name: "kasoku_scratch", Type: ebpf.PerCPUArray, KeySize: 4,
			ValueSize: scratchSize, MaxEntries: 1}},
		{&m.ring, ebpf.MapSpec{Name: "kasoku_ring", Type: ebpf.RingBuf, MaxEntries: ringBytes}},
		{&m.stats, ebpf.MapSpec{Name: "kasoku_stats", Type: ebpf.Array, KeySize: 4, ValueSize: 8,
			MaxEntries: statCount}},
	} {
		made, err := ebpf.NewMap(&x.spec)
		if err != nil {
			return fmt.Errorf("make the map %s: %w", x.spec.Name, err)
		}
		*x.to = made
	}
	return nil
}

// Add watches a process, with the connections that it has.
func (s *Session) Add(m Member) error {
	if m.Goid != 0 && (m.Start != m.Parent+startAfter || m.Parent < m.Goid || m.Parent > m.Goid+mostParentAfter) {
		return fmt.Errorf("watch process %d: its goroutines are laid out otherwise than those that are known", m.PID)
	}
	flags := uint32(watchTraffic)
	if m.Silent {
		flags = 0
	}
	if m.Syncs {
		flags |= watchSyncs
	}
	watch := func() error {
		value := [3]uint32{flags, uint32(m.Goid), uint32(m.Parent)}
		if err := s.maps.members.Put(uint32(m.PID), value); err != nil {
			return fmt.Errorf("watch process %d: %w", m.PID, err)
		}
		return s.saveFirst(m.PID, value)
	}
	follow := func() error {
		if m.Silent {
			return nil
		}
		if err := s.follow(m.PID); err != nil {
			return errors.Join(err, s.Remove(m.PID))
		}
		return nil
	}
	// At sockets a connection that is not known is a new one; at calls it is none that is followed.
	if s.Calls {
		watch, follow = follow, watch
	}
	if err := follow(); err != nil {
		return err
	}
	return watch()
}

// follow keeps the connections that a process has.
func (s *Session) follow(pid int) error {
	fds := sockets(pid)
	for i, fd := range fds {
		err := s.maps.conns.Update(uint64(pid)<<32|uint64(fd), [connSize]byte{}, ebpf.UpdateNoExist)
		switch {
		case err == nil, errors.Is(err, ebpf.ErrKeyExist):
		case errors.Is(err, unix.E2BIG):
			s.unknown += uint64(len(fds) - i)
			return nil
		default:
			return fmt.Errorf("follow connection %d of process %d: %w", fd, pid, err)
		}
	}
	return nil
}

// Remove ends the watching of a process.
func (s *Session) Remove(pid int) error {
	if err := s.maps.members.Delete(uint32(pid)); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
		return fmt.Errorf("end the watching of process %d: %w", pid, err)
	}
	return s.saveFirst(pid, [3]uint32{})
}

// saveFirst puts a member into the array of the first ones where there is room, or takes it out when it
// has no flags.
func (s *Session) saveFirst(pid int, member [3]uint32) error {
	at := slices.Index(s.first[:], pid)
	switch {
	case member[0] == 0 && at < 0:
		return nil
	case member[0] == 0:
		s.first[at] = 0
	case at < 0:
		at = slices.Index(s.first[:], 0)
	}
	value := s.firstValue
	if at < 0 {
		value[firstMembers*firstSize] = 1
	} else {
		place := value[at*firstSize:]
		for i, n := range append([]uint32{uint32(pid)}, member[:]...) {
			binary.NativeEndian.PutUint32(place[4*i:], n)
		}
		if member[0] == 0 {
			clear(place[:firstSize])
		} else {
			s.first[at] = pid
		}
	}
	s.firstValue = value
	if err := s.maps.first.Put(uint32(0), value[:]); err != nil {
		return fmt.Errorf("watch process %d: %w", pid, err)
	}
	return nil
}

// sockets returns the descriptors of a process that are sockets.
func sockets(pid int) (out []int) {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	f, err := os.Open(dir)
	if err != nil {
		return nil // it has ended
	}
	defer f.Close()
	for len(out) < mostSockets {
		names, err := f.Readdirnames(256)
		for _, name := range names {
			to, err := os.Readlink(dir + "/" + name)
			if fd, convErr := strconv.Atoi(name); err == nil && convErr == nil && strings.HasPrefix(to, "socket:") {
				out = append(out, fd)
			}
		}
		if err != nil {
			break
		}
	}
	return out
}

// Drain calls each with the events that there are, and returns how many. It does not wait, and
// ends after many, for a hostile process makes them faster than they are read. Events since [Session.Detach]
// are none: one point after another is let go, and a thread whose answer is not seen any more looks like one
// with two requests.
func (s *Session) Drain(each func(*trace.Event)) (n int, err error) {
	s.reader.SetDeadline(time.Unix(1, 0)) // in the past: what is there, is read
	var e trace.Event
	until := time.Now().Add(drainWithin)
	for n < mostDrained {
		if n%256 == 255 && time.Now().After(until) {
			return n, nil
		}
		err := s.reader.ReadInto(&s.record)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return n, nil
		case err != nil:
			return n, fmt.Errorf("read the ring buffer: %w", err)
		}
		n++
		if parseEvent(s.record.RawSample, &e) && (s.detached == 0 || e.At < s.detached) {
			each(&e)
		}
	}
	return n, nil
}

// Lacks returns what was not seen so far.
func (s *Session) Lacks() (Lacks, error) {
	var n [statCount]uint64
	for i := range n {
		if err := s.maps.stats.Lookup(uint32(i), &n[i]); err != nil {
			return Lacks{}, fmt.Errorf("read the statistics: %w", err)
		}
	}
	return Lacks{Lost: n[statLost], Unread: n[statUnread], Unknown: n[statUnknown] + s.unknown,
		Uring: n[statUring]}, nil
}

// Detach ends the watching; what was reported before can still be read.
func (s *Session) Detach() error {
	if s.detached == 0 {
		s.detached = trace.Now()
	}
	return s.letGo()
}

// letGo ends the attachments.
func (s *Session) letGo() error {
	var errs []error
	for _, l := range s.links {
		errs = append(errs, l.Close())
	}
	s.links = nil
	return errors.Join(errs...)
}

// Close detaches the programs and frees all that they used.
func (s *Session) Close() error {
	errs := []error{s.Detach(), s.unload()}
	if s.reader != nil {
		errs = append(errs, s.reader.Close())
	}
	for _, m := range []*ebpf.Map{s.maps.members, s.maps.first, s.maps.conns, s.maps.syncs, s.maps.starts,
		s.maps.scratch,
		s.maps.ring, s.maps.stats} {
		if m != nil {
			errs = append(errs, m.Close())
		}
	}
	return errors.Join(errs...)
}
