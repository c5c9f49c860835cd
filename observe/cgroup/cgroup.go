// Package cgroup is the source "cgroup": what the control groups of the watched
// and busy processes use, and the limits that they meet, read from cgroupfs.
//
// The one idea: groups need not be named. The processes that matter are known, and
// /proc/PID/cgroup says in which groups they are; above those, only ancestors
// that limit something are read. Both versions of the interface give the same
// series, and where a host mounts both, each group gives what its controllers
// know.
//
// The instance of a series is the end of the group's path: a unit such as
// nginx.service, or a container's name with its id cut to 12 digits. "/" is the
// group at the top, which is read only when it limits something, as that of a
// container does. A second group with the same end goes by its whole path.
//
// # Series
//
//	pids.current, pids.max                      gauges
//	pids.events.max                             counter, forks and threads that were refused
//	cpu.usage, cpu.user, cpu.system             counters, seconds
//	cpu.max                                     gauge, cores
//	cpu.periods, cpu.throttled_periods          counters
//	cpu.throttled                               counter, seconds
//	memory.current, memory.max                  gauges, bytes
//	memory.high                                 gauge, bytes: beyond it the group is slowed down
//	memory.peak, .anon, .file, .kernel          gauges, bytes, every ten ticks
//	memory.events.high, .max, .oom, .oom_kill   counters
//	io.read_bytes, .write_bytes, .reads, .writes   counters, over all devices
//	psi.cpu.some, .full, psi.io …, psi.memory …    counters, seconds that some, or all, waited
//
// A limit that is not set has no sample, and neither has what a controller that
// is not there, or switched off, would know. With version 1 memory.events.max is
// memory.failcnt: how often the limit was hit; it has no pressure.
//
// # What is not done
//
// Nothing is written. A group whose processes have all become idle is read for
// half a minute more and then left. No right is needed: the files are readable
// by all.
//
// Sources: the kernel's Documentation/admin-guide/cgroup-v2.rst and
// cgroup-v1/{pids,cpuacct,memory}.rst, scheduler/sched-bwc.rst; cgroups(7),
// proc_pid_mountinfo(5).
package cgroup

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/procfile"
)

// Name is the name of the source.
const Name = "cgroup"

// How often what changes rarely is read, and how much is kept.
const (
	// rereadTicks is how often limits, and the groups of a process, are read.
	rereadTicks = 30
	// keepTicks is how long a group without a watched process is still read, so
	// that one whose process pauses has no hole.
	keepTicks = 30
	// bufBytes is more than any file of a group that is read in one call: io.stat has up
	// to some 150 bytes for each device.
	bufBytes = 1 << 16
	// slowTicks is how often files are read that cost the kernel much to make.
	slowTicks = 10
	// maxGroups bounds the groups, and so the open files, up to ten a group.
	maxGroups = 48
)

// Options configure where to read. PIDs is needed.
type Options struct {
	Proc string // mount point of procfs, default /proc
	Root string // stands before every mount point; empty but for tests

	// PIDs appends the processes whose groups are read. It is called at each tick.
	PIDs func(dst []int) []int
}

// A Source reads control groups. It is not safe for concurrent use.
type Source struct {
	o           Options
	hierarchies []hierarchy
	pids        []int
	members     map[int]*member
	groups      map[string]*group // by directory
	order       []*group          // in which they were found
	names       map[string]*group // by hierarchy's mount and instance
	tick        uint64
	buf         []byte // of the file being read
	path        []byte // of the directory being looked up
	warnings    []kasoku.Warning
	warned      bool
}

// A member is a watched process and the groups that it is in.
type member struct {
	groups []*group
	next   uint64 // tick at which they are read again
	seen   uint64 // last tick that had it
}

// New reads which hierarchies are mounted. A host without any has no series.
func New(o Options) *Source {
	if o.Proc == "" {
		o.Proc = "/proc"
	}
	s := &Source{o: o, members: map[int]*member{}, groups: map[string]*group{}, names: map[string]*group{},
		buf: make([]byte, bufBytes)}
	text, err := s.read(filepath.Join(o.Proc, "self/mountinfo"))
	if err != nil {
		s.warn(err)
	}
	s.hierarchies = parseMounts(text)
	return s
}

// Name returns "cgroup".
func (s *Source) Name() string { return Name }

// Collect reads the groups of the processes. What cannot be read is left out,
// with a warning; it never fails.
func (s *Source) Collect(_ context.Context, f *kasoku.Frame) error {
	if len(s.hierarchies) == 0 {
		return nil
	}
	s.tick++
	s.pids = s.o.PIDs(s.pids[:0])
	for _, pid := range s.pids {
		s.update(pid)
	}
	for pid, m := range s.members {
		if m.seen != s.tick {
			delete(s.members, pid)
		}
	}
	s.order = slices.DeleteFunc(s.order, func(g *group) bool {
		if !g.gone && s.tick-g.used <= keepTicks {
			return false
		}
		s.drop(g)
		return true
	})
	for _, g := range s.order {
		if s.tick >= g.next {
			g.next = s.tick + rereadTicks
			s.readLimits(g)
		}
		if g.leaf || len(g.limits) > 0 {
			s.emit(g, f)
		}
	}
	return nil
}

// update finds the groups of a process, and notes that they are in use.
func (s *Source) update(pid int) {
	m := s.members[pid]
	if m == nil {
		m = &member{}
		s.members[pid] = m
	}
	m.seen = s.tick
	if s.tick >= m.next {
		m.next = s.tick + rereadTicks
		m.groups = m.groups[:0]
		text, err := s.read(s.o.Proc + "/" + strconv.Itoa(pid) + "/cgroup")
		if err != nil {
			s.warn(err)
		}
		eachMembership(text, func(controllers, path []byte) {
			for i := range s.hierarchies {
				if h := &s.hierarchies[i]; h.holds(controllers) {
					if g := s.group(h, path); g != nil {
						g.leaf = !g.top()
						m.groups = append(m.groups, g)
					}
					return
				}
			}
		})
	}
	for _, g := range m.groups {
		for ; g != nil; g = g.parent {
			g.used = s.tick
		}
	}
}

// read reads a file whole. The text is valid until the next read.
func (s *Source) read(path string) ([]byte, error) {
	file, err := procfile.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := file.Append(s.buf[:0])
	if err == nil {
		s.buf = text[:0]
	}
	return text, errors.Join(err, file.Close())
}

// warn notes once why something is missing. That a process or a group has gone,
// or a controller is not there, is no reason.
func (s *Source) warn(err error) {
	if s.warned || errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) || errors.Is(err, unix.ENODEV) ||
		errors.Is(err, unix.EOPNOTSUPP) {
		return
	}
	s.warned = true
	s.warnings = append(s.warnings, kasoku.Warning{
		Code: "cgroup-partial", Text: "some series of control groups are missing: " + err.Error(),
		Hint: "the files belong to the kernel and are readable by all by default; see cgroups(7)",
	})
}

// Warnings returns what could not be read. It must not be called while Collect
// runs.
func (s *Source) Warnings() []kasoku.Warning { return s.warnings }

// Close closes the files.
func (s *Source) Close() error {
	for _, g := range s.order {
		g.close()
	}
	return nil
}
