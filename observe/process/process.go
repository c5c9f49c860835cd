// Package process is the source "process": what single processes do, read from
// /proc/PID.
//
// The one idea: one short read for every process, to know who uses the CPU, and
// the long ones only for those that matter: processes that were named, and the
// top few by CPU time since the tick before. The short file of each process is
// kept open, and that of one that sleeps all the time is read at one tick of three,
// so that 300 processes cost well under a millisecond a tick, and so that a process
// number that was given to another process cannot be mistaken for the old one.
//
// A process that comes or goes is normal and is no error. A named process that
// goes is an event. The instance of a series is "PID NAME".
//
// # Series
//
// Of a watched process:
//
//	cpu.user, cpu.system               counters, s
//	cpu.children                       counter, s: of children that were waited for
//	cpu.exited                         counter, s: of those among them that no tick saw
//	tree.cpu                           counter, s: of a leader and all that it starts
//	faults.major                       counter, page faults that waited for a disk
//	rss, threads                       gauges
//	fds, fds_limit                     gauges, open files and their limit
//	tasks_user, tasks_limit            gauges, threads of the user and their limit
//	size, size_limit                   gauges, address space, where it is limited
//	io.read_bytes, .write_bytes, .write_calls, switch.voluntary, .forced   counters
//
// Of the threads of the three busiest, "PID/TID NAME", once they took a fifth of a
// core: thread.cpu and thread.wait, counters in s: how long they ran, and waited for
// a core. Of all processes, summed up by executable, systemd unit and container:
//
//	exe.cpu, unit.cpu, container.cpu   counters, s, with children that ended unseen
//	exe.rss, exe.processes, exe.threads and so on   gauges; shared memory counts in each
//
// Of all together: count, and cpu.unattributed, a counter: what the host's CPU did
// and no process is known for.
//
// # Units and clock
//
// CPU times are seconds since the process began, with a resolution of 0.01 s;
// sizes are bytes. Context switches count from the moment in which the process
// was first watched. All counters are raw.
//
// # What is not done
//
// A process that begins and ends between two ticks is not seen. Its CPU time is in
// cpu.exited of its parent, when that waited for it, and else in cpu.unattributed; the
// source cgroup has it in the usage of its group. One that a single tick sees has no
// series of its own, and the more there were the longer it takes: a host that starts
// thousands of programs would fill the file with them. Of processes of other users,
// unless as root, I/O is missing; a warning says so.
//
// Sources: proc(5); the kernel's Documentation/filesystems/proc.rst, 1.1 and 3.
package process

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/procfile"
)

// Name is the name of the source. The other two are parts of it that can be switched
// off by themselves: the sums by executable, unit and container, and the busy threads.
const (
	Name        = "process"
	GroupsName  = "groups"
	ThreadsName = "threads"
)

// The defaults of Options.
const (
	// DefaultTop is enough for a stack of proxy, application, database and
	// cache with some workers each.
	DefaultTop = 10
	// maxKept bounds the files that are kept open, one per process. More
	// processes than that are opened at each tick, at twice the cost.
	maxKept = 1024
	// bufBytes holds any file of a process that is read in one call; the longest,
	// /proc/PID/status, is about 1.5 KiB.
	bufBytes = 1 << 14
)

// Options configure what to watch. The zero value watches the top ten of this machine.
type Options struct {
	Proc string // mount point of procfs, default /proc
	PIDs []int  // processes that are always watched; they must be there
	Top  int    // how many others, by CPU; 0 means DefaultTop, less than 0 none

	NoGroups  bool // no sums by unit, container and executable
	NoThreads bool // no threads of the busiest processes
}

// A Source reads processes. Only Add and Watched may be called while Collect runs.
type Source struct {
	r       *reader
	table   table
	watched watchlist
	threads busyThreads
	trees   trees
	balance balance
	shared  shared
}

// New opens procfs. It fails when there is none, or when a process of o.PIDs is
// not there.
func New(o Options) (*Source, error) {
	if o.Proc == "" {
		o.Proc = "/proc"
	}
	if o.Top == 0 {
		o.Top = DefaultTop
	}
	for _, pid := range o.PIDs {
		if pid <= 0 || unix.Access(filepath.Join(o.Proc, strconv.Itoa(pid), "stat"), unix.F_OK) != nil {
			return nil, fmt.Errorf("watch process %d: no such process", pid)
		}
	}
	dir, err := procfile.OpenDir(o.Proc)
	if err != nil {
		return nil, err
	}
	r := newReader(o.Proc)
	s := &Source{
		r: r,
		table: table{r: r, dir: dir, places: newPlaces(r, o.NoGroups), families: families{ended: map[uint64]ended{}},
			procs: map[uint64]*process{}, named: map[uint64]bool{}},
		watched: watchlist{r: r, top: max(o.Top, 0)},
		threads: busyThreads{r: r, off: o.NoThreads},
	}
	s.balance.open(o.Proc)
	for _, pid := range o.PIDs {
		s.Add(pid)
	}
	return s, nil
}

// Name returns "process".
func (s *Source) Name() string { return Name }

// Add adds a process to those that are always watched. It may be called while
// Collect runs. A process that is not there gives an event at the next tick.
func (s *Source) Add(pid int) { s.shared.add(pid, false) }

// AddTree adds the sum of a process and all that it and its descendants start, from the
// first tick on; of the nearest process above that was asked for, where several were. It
// may be called while Collect runs, and again: a tree that is there stays as it is.
func (s *Source) AddTree(pid int) { s.shared.add(pid, true) }

// Watched appends the processes that were watched at the last tick: those that
// were named, and the top ones by CPU. It may be called while Collect runs.
func (s *Source) Watched(dst []int) []int { return s.shared.watched(dst) }

// Collect lists the processes, reads the short file of each, and the long ones
// of those that are watched. It fails only when /proc cannot be listed.
func (s *Source) Collect(_ context.Context, f *kasoku.Frame) error {
	s.shared.takeAsks(&s.table, &s.trees)
	s.threads.begin(time.Now())
	t := &s.table
	if err := t.list(); err != nil {
		return err
	}
	s.balance.advance(t.families.attribute(t.live, t.tick), s.r.buf)
	s.balance.emit(f)
	s.trees.sumUp(t)
	s.trees.emit(s.r, f)
	t.places.sumUp(t.live, f)
	f.Gauge(Count, "", "count", float64(len(t.live)))
	s.watched.choose(t.live, t.tick)
	s.threads.choose(s.watched.now, t.tick)
	for _, p := range s.watched.now {
		p.emit(s.r, f)
	}
	s.shared.show(s.watched.now)
	return nil
}

// shared is what other goroutines ask for and see.
type shared struct {
	mu    sync.Mutex // guards the following fields
	asks  []uint64   // process numbers given to Add since the last tick
	roots []uint64   // and to AddTree
	shown []int      // of the processes watched at the last tick
}

func (s *shared) add(pid int, tree bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if tree {
		s.roots = append(s.roots, uint64(max(pid, 0)))
		return
	}
	s.asks = append(s.asks, uint64(max(pid, 0)))
	s.shown = append(s.shown, max(pid, 0))
}

// takeAsks makes what was asked for the table's named processes and the trees.
func (s *shared) takeAsks(t *table, trees *trees) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, pid := range s.asks {
		t.name(pid)
	}
	s.asks = s.asks[:0]
	if t.tick == 0 {
		return // nothing was listed yet
	}
	for _, pid := range s.roots {
		trees.grow(t, pid)
	}
	s.roots = s.roots[:0]
}

// show makes known which processes are watched.
func (s *shared) show(watched []*process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = s.shown[:0]
	for _, p := range watched {
		s.shown = append(s.shown, int(p.pid))
	}
}

func (s *shared) watched(dst []int) []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(dst, s.shown...)
}

// Events returns what happened since the last call. It must not be called while
// Collect runs.
func (s *Source) Events() []kasoku.Event {
	out := s.table.events
	s.table.events = nil
	return out
}

// Warnings returns what could not be read, once for each kind. It must not be
// called while Collect runs.
func (s *Source) Warnings() []kasoku.Warning { return s.r.missing.warnings }

// Close closes all files.
func (s *Source) Close() error {
	return errors.Join(s.balance.close(), s.table.close())
}
