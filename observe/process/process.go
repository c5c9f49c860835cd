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
	"os"
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

// Options say what to watch. The zero value watches the top ten of this machine.
type Options struct {
	Proc string // mount point of procfs, default /proc
	PIDs []int  // processes that are always watched; they must be there
	Top  int    // how many others, by CPU; 0 means DefaultTop, less than 0 none

	NoGroups  bool // no sums by unit, container and executable
	NoThreads bool // no threads of the busiest processes
}

// A Source reads processes. Only Add and Watched may be called while Collect runs.
type Source struct {
	root     string
	top      int
	fdSizes  bool // the size of /proc/PID/fd is the number of descriptors, since Linux 6.2
	pageSize float64
	keptMax  int
	dir      *procfile.Dir

	pids        []uint64            // as listed at this tick
	procs       map[uint64]*process // by number
	live        []*process          // in the order of pids
	tick        uint64              // number of the present listing
	kept        int                 // files of processes that are held open
	watched     []*process          // named and top ones at this tick
	before      []*process          // at the tick before
	best        []*process          // scratch of choose
	watchedEver uint64              // processes that were watched at some tick
	buf         []byte              // of the file being read
	tids        []uint64            // of the process being read
	fileStat    unix.Stat_t         // of the directory being counted

	noGroups, noThreads bool

	ended    map[uint64]ended // what was seen of processes that went, by parent
	went     []departed       // at this tick
	balance  balance
	groups   [kinds]groups
	users    map[uint32]*user
	busiest  [hotProcesses]*process
	hotNamed int       // threads that have series
	last     time.Time // of the tick before
	elapsed  time.Duration

	hotNamedEver int // threads that have or had series

	named    map[uint64]bool // numbers that were asked for and have not gone; true when seen
	events   []kasoku.Event
	warnings []kasoku.Warning
	warned   map[string]bool

	mu    sync.Mutex // guards the following fields
	asks  []uint64   // process numbers given to Add since the last tick
	shown []int      // of the processes watched at the last tick
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
	s := &Source{
		root:     o.Proc,
		top:      max(o.Top, 0),
		fdSizes:  fdSizes(o.Proc),
		pageSize: float64(os.Getpagesize()),
		keptMax:  keptMax(),
		dir:      dir,
		procs:    map[uint64]*process{},
		buf:      make([]byte, bufBytes),
		named:    map[uint64]bool{},
		ended:    map[uint64]ended{},
		users:    map[uint32]*user{},
		noGroups: o.NoGroups, noThreads: o.NoThreads,
		warned: map[string]bool{},
	}
	for kind := range s.groups {
		s.groups[kind].by = map[string]*group{}
	}
	s.balance.open(o.Proc)
	for _, pid := range o.PIDs {
		s.Add(pid)
	}
	return s, nil
}

// keptMax gives the short files a quarter of the descriptors, and the long ones as
// many again: a load generator in the same process needs the others.
func keptMax() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return maxKept / 4
	}
	return int(min(limit.Cur/4, maxKept))
}

// Name returns "process".
func (s *Source) Name() string { return Name }

// Add adds a process to those that are always watched. It may be called while
// Collect runs. A process that is not there gives an event at the next tick.
func (s *Source) Add(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asks = append(s.asks, uint64(max(pid, 0)))
	s.shown = append(s.shown, max(pid, 0))
}

// Collect lists the processes, reads the short file of each, and the long ones
// of those that are watched. It fails only when /proc cannot be listed.
func (s *Source) Collect(_ context.Context, f *kasoku.Frame) error {
	s.takeAsks()
	s.tick++
	now := time.Now()
	s.elapsed, s.last = now.Sub(s.last), now
	pids, err := s.dir.AppendNumbers(s.pids[:0])
	if err != nil {
		return err
	}
	s.pids, s.live = pids, s.live[:0]
	for _, pid := range pids {
		s.update(pid)
	}
	s.sweep()
	s.attribute(f)
	s.sumUp(f)
	f.Gauge(Count, "", "count", float64(len(s.live)))
	s.choose()
	s.chooseHot()
	for _, p := range s.watched {
		s.emit(p, f)
	}
	s.show()
	return nil
}

// show makes known which processes are watched.
func (s *Source) show() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = s.shown[:0]
	for _, p := range s.watched {
		s.shown = append(s.shown, int(p.pid))
	}
}

// Watched appends the processes that were watched at the last tick: those that
// were named, and the top ones by CPU. It may be called while Collect runs.
func (s *Source) Watched(dst []int) []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(dst, s.shown...)
}

// takeAsks moves what was given to Add to the named processes.
func (s *Source) takeAsks() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, pid := range s.asks {
		p := s.procs[pid]
		s.named[pid] = p != nil
		if p != nil {
			p.named = true
		}
	}
	s.asks = s.asks[:0]
}

func (s *Source) exited(text string) {
	s.events = append(s.events, kasoku.Event{Kind: "exit", Text: text})
}

// Events returns what happened since the last call. It must not be called while
// Collect runs.
func (s *Source) Events() []kasoku.Event {
	out := s.events
	s.events = nil
	return out
}

// Warnings returns what could not be read, once for each kind. It must not be
// called while Collect runs.
func (s *Source) Warnings() []kasoku.Warning { return s.warnings }

// Close closes all files.
func (s *Source) Close() error {
	for _, p := range s.procs {
		s.release(p)
	}
	clear(s.procs)
	return errors.Join(s.balance.close(), s.dir.Close())
}
