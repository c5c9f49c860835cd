// Package window watches the processes of a service for a while: it loads the programs, reads
// what they report some times a second, and gives what they saw.
package window

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/trace"
	"github.com/kasoku/kasoku/trace/goversion"
	"github.com/kasoku/kasoku/trace/kernel"
	"github.com/kasoku/kasoku/trace/tie"
)

// every is how often the events are read: the kernel wakes no one up for them.
const every = 50 * time.Millisecond

// What is watched is over before its time when so many statements or requests were seen, which are
// enough to count by, in so long a time.
const (
	enough      = 50_000
	enoughAfter = 3 * time.Second
)

// A Target is a process that is watched.
type Target struct {
	PID    int
	Start  uint64 // clock ticks since boot; 0 when unknown
	Member string // that it is of, for people
	Silent bool   // only what it writes to disks is watched: a database
}

// Targets are the processes of a service that are watched: those of applications, and of databases
// for what they write to disks. Without an application there are none.
func Targets(s *kasoku.Service) (out []Target) {
	applications := 0
	for _, role := range []kasoku.MemberRole{kasoku.RoleApplication, kasoku.RoleDatabase} {
		for _, m := range s.Of(role) {
			for _, p := range m.Processes {
				if p.Ended != 0 {
					continue
				}
				out = append(out, Target{PID: p.PID, Start: p.Start, Member: m.ID, Silent: role == kasoku.RoleDatabase})
				if role == kasoku.RoleApplication {
					applications++
				}
			}
		}
	}
	if applications == 0 {
		return nil
	}
	return out
}

// A Window is a stretch of time in which a service is watched.
type Window struct {
	session *kernel.Session
	tier    *tie.Tier
	members map[int]string
	starts  map[int]uint64 // of the processes that are watched, in clock ticks since boot
	notes   []string
	attach  time.Duration
	began   time.Time

	// More returns for how much longer is watched, asked once when the time is over that was asked for; nil: no longer.
	More      func(statements uint64) time.Duration
	databases bool         // what they write to disks is watched
	lacks     kernel.Lacks // when it was read last
	lost      bool         // events, in the reading before
}

// Seen is what a window saw.
type Seen struct {
	*trace.Result
	Began, Ended time.Time // with monotonic reading
	Attach       time.Duration
	CPU          time.Duration // of this process, of which another part may have used some
	Events       uint64
	Lost         uint64   // events for which there was no room
	Blind        string   // why what was tied cannot be believed; empty when it can
	Notes        []string // what was not covered
	Members      map[int]string
}

// Open begins to watch processes. One that cannot be watched is a note, all of them an error. anyWay
// says that each system call of the host may be slower for that.
func Open(ctx context.Context, targets []Target, anyWay bool) (*Window, error) {
	began := time.Now()
	if err := sameNamespace(); err != nil {
		return nil, explained(err)
	}
	s, err := kernel.Open(anyWay)
	if err != nil {
		return nil, explained(err)
	}
	w := &Window{session: s, tier: tie.New(), members: map[int]string{}, starts: map[int]uint64{}}
	w.tier.Members = w.members
	w.attach = time.Since(began)
	watched := 0
	for _, t := range targets {
		err := w.add(ctx, t)
		if err != nil {
			w.notes = append(w.notes, fmt.Sprintf("%s (pid %d) is not traced: %v", t.Member, t.PID, err))
		} else if !t.Silent {
			watched++
		}
	}
	w.began = time.Now()
	if watched == 0 {
		err := errors.New("no process of an application can be traced")
		if len(w.notes) > 0 {
			err = errors.New(w.notes[0])
		}
		return nil, errors.Join(err, s.Close())
	}
	return w, nil
}

// errGone is the error for a process that has ended, whose number another one may have now.
var errGone = errors.New("it has ended")

// add watches a process.
func (w *Window) add(ctx context.Context, t Target) error {
	start, lives := command.StartOf(t.PID)
	if !lives || t.Start != 0 && t.Start != start {
		return errGone
	}
	m := kernel.Member{PID: t.PID, Syncs: true, Silent: t.Silent}
	if !t.Silent {
		_, o, err := goversion.OfProcess(ctx, t.PID)
		switch {
		case errors.Is(err, goversion.ErrOther):
		case err != nil:
			return err
		default:
			m.Goid, m.Parent, m.Start = o.Goid, o.Parent, o.Start
		}
	}
	if err := w.session.Add(m); err != nil {
		return err
	}
	w.databases = w.databases || t.Silent
	if now, lives := command.StartOf(t.PID); !lives || now != start { // what was looked at may be another one
		return errors.Join(errGone, w.session.Remove(t.PID))
	}
	w.members[t.PID], w.starts[t.PID] = t.Member, start
	return nil
}

// dropEnded ends the watching of processes that have ended: their numbers may become those of others.
func (w *Window) dropEnded() error {
	for pid, start := range w.starts {
		if now, lives := command.StartOf(pid); lives && now == start {
			continue
		}
		delete(w.starts, pid)
		if err := w.session.Remove(pid); err != nil {
			return err
		}
	}
	return nil
}

// Each has every statement reported, with its first comment; see [tie.Tier]. For tests.
func (w *Window) Each(f func(r *trace.Request, comment string)) { w.tier.Each = f }

// Watch watches for a time, until enough was seen, or until the context ends. It closes the window.
func (w *Window) Watch(ctx context.Context, length time.Duration) (*Seen, error) {
	closed := false
	defer func() {
		if !closed {
			_ = w.session.Close() // it panics
		}
	}()
	seen := &Seen{Attach: w.attach, Began: w.began, Members: w.members}
	cpu := cpuTime()
	end := time.NewTimer(length)
	defer end.Stop()
	tick := time.NewTicker(every)
	defer tick.Stop()
	var err error
	for over := false; !over && err == nil; {
		select {
		case <-end.C:
			longer := time.Duration(0)
			if w.More != nil {
				statements, _ := w.tier.Seen()
				longer, w.More = w.More(statements), nil
			}
			over = longer <= 0
			end.Reset(longer)
		case <-ctx.Done():
			over = true
		case <-tick.C:
			_, most := w.tier.Seen()
			over = time.Since(w.began) >= enoughAfter && most >= enough
		}
		if over {
			seen.Ended = time.Now()
			err = w.session.Detach()
		}
		err = errors.Join(err, w.dropEnded(), w.read(seen))
		w.tier.Files(fileOf)
	}
	seen.CPU = cpuTime() - cpu
	lacks, lackErr := w.session.Lacks()
	closed = true
	err = errors.Join(err, lackErr, w.session.Close())
	if err != nil {
		return nil, err
	}
	if lacks.Uring > 0 {
		seen.Blind = "an application uses io_uring: what is read and written by it is not seen"
	}
	seen.Result, seen.Lost, seen.Notes = w.tier.Result(), lacks.Lost, append(w.notes, notesOf(lacks)...)
	if err := w.session.NoStarts; err != nil {
		seen.Notes = append(seen.Notes, "which programs requests start is not seen: "+err.Error())
	}
	if !w.session.Calls && w.databases && len(seen.Syncs) == 0 {
		seen.Notes = append(seen.Notes,
			"no file was written to a disk, or it is on another filesystem than ext4 and f2fs")
	}
	return seen, nil
}

// read takes the events that there are. Those among which, or shortly after which, some are missing
// tie nothing: the ring buffer holds more than one reading's.
func (w *Window) read(seen *Seen) error {
	was := w.lost
	grown, err := w.lacking()
	w.tier.Gap(was || grown)
	n, readErr := w.session.Drain(w.tier.Add)
	seen.Events += uint64(n)
	later, laterErr := w.lacking()
	if w.lost = grown || later; later {
		w.tier.Gap(true)
	}
	return errors.Join(err, readErr, laterErr)
}

// lacking reports whether events were lost since it was called last.
func (w *Window) lacking() (bool, error) {
	now, err := w.session.Lacks()
	grown := now.Lost != w.lacks.Lost || now.Unread != w.lacks.Unread
	w.lacks = now
	return grown, err
}

// Take watches processes for a time; anyWay is as of [Open], more as of [Window.More].
func Take(ctx context.Context, targets []Target, length time.Duration, anyWay bool,
	more func(statements uint64) time.Duration) (*Seen, error) {
	w, err := Open(ctx, targets, anyWay)
	if err != nil {
		return nil, err
	}
	w.More = more
	return w.Watch(ctx, length)
}

// Close ends a window that was not watched.
func (w *Window) Close() error { return w.session.Close() }

// notesOf puts into words what was not seen.
func notesOf(l kernel.Lacks) (notes []string) {
	add := func(n uint64, format string) {
		if n > 0 {
			notes = append(notes, fmt.Sprintf(format, n))
		}
	}
	add(l.Unread, "%d buffers could not be read")
	add(l.Unknown, "%d connections were more than can be followed")
	return notes
}

// errNamespace is the error where the kernel numbers processes otherwise.
var errNamespace = errors.New("kasoku runs in a container's namespace of processes: the kernel has other numbers for them")

// sameNamespace reports an error where the kernel numbers processes otherwise than this
// process sees them.
func sameNamespace() error {
	const initial = "pid:[4026531836]" // PROC_PID_INIT_INO
	at, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return fmt.Errorf("namespace of processes: %w", err)
	}
	if at != initial {
		return errNamespace
	}
	return nil
}

// fileOf returns the name of an open file of a process.
func fileOf(pid, fd int) string {
	name, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/" + strconv.Itoa(fd))
	if err != nil {
		return ""
	}
	return filepath.Clean(name)
}

// cpuTime returns what this process has used.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
