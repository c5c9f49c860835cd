package record

import (
	"context"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/topology/find"
	"github.com/kasoku/kasoku/topology/members"
)

// When the service is looked at. A look at 500 processes takes some 60 ms of CPU.
const (
	firstLook  = 1500 * time.Millisecond // the load's connections are open by then
	leaderLook = time.Second             // leaders and their children: some reads of /proc a member
	restartGap = 5 * time.Second         // between looks for a member whose leader has gone
	nextLook   = 2 * time.Minute
	lookWithin = 3 * time.Second
)

// A serviceWatch finds the members of the service while the load runs, and keeps them up
// over restarts.
type serviceWatch struct {
	*recorder
	stop context.CancelFunc // nil before it began
	done chan struct{}      // closed when nothing is under way any more

	mu    sync.Mutex // guards ask, found, err
	ask   find.Ask
	found kasoku.Service
	err   error
	bug   error // of the watch, which ended with it; read once done is closed
}

// begin begins to look for members. Without observers nothing is looked for.
func (w *serviceWatch) begin(ctx context.Context) {
	if w.o.Observers == kasoku.ObserversOff {
		return
	}
	w.ask, w.done = askService(w.o), make(chan struct{})
	ctx, w.stop = context.WithCancel(ctx)
	go func() {
		defer close(w.done) // out here: a panic at the part's very start must not leave end waiting
		w.bug = contain.Run(membersPart, func() { w.watch(ctx) })
	}()
}

// membersPart names the look for members where it fails.
var membersPart = contain.Part{Kind: contain.Goroutine, Name: "members of the service"}

// askService is what the options say of the service.
func askService(o Options) find.Ask {
	a := find.Ask{Logs: o.accessLogs(), Loaded: true}
	if o.Load != nil {
		for _, t := range o.Load.Targets {
			a.URLs = append(a.URLs, t.URL)
		}
	}
	for _, word := range o.Command {
		if strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "https://") {
			a.URLs = append(a.URLs, word)
		}
	}
	if network, address := mysqlflags.Address(o.MySQL); o.MySQL != "" && address != "" {
		a.Databases = append(a.Databases, members.Place{Network: network, Address: address})
	}
	return a
}

// addLoad takes note of a process that makes the load.
func (w *serviceWatch) addLoad(pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ask.Load = append(w.ask.Load, pid)
}

// watch looks when the load has begun, now and then, and when a leader has gone.
func (w *serviceWatch) watch(ctx context.Context) {
	wait, last := firstLook, time.Time{}
	for {
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			if last.IsZero() { // the load was short
				w.look(context.WithoutCancel(ctx))
			}
			return
		case <-t.C:
		}
		gone := w.keepUp()
		if last.IsZero() || time.Since(last) >= nextLook || gone && time.Since(last) >= restartGap {
			w.look(ctx)
			last = time.Now()
		}
		wait = leaderLook
	}
}

// mostProcesses bounds those of a member: one that forks for each request has no use for
// all of them.
const mostProcesses = 512

// keepUp adds the workers that leaders have started since, and reports whether a leader
// is not there any more.
func (w *serviceWatch) keepUp() (gone bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.found.Members {
		m := &w.found.Members[i]
		leader := m.Leader()
		start, ok := command.StartOf(leader.PID)
		if leader.PID == 0 || !ok || leader.Start != 0 && start != leader.Start {
			gone = true
			continue
		}
		addWorkers(m, leader.PID)
	}
	return gone
}

// addWorkers adds the children of a leader that run its program.
//
// Source: proc_tid_children(5).
func addWorkers(m *kasoku.Member, leader int) {
	dir := "/proc/" + strconv.Itoa(leader)
	text, err := os.ReadFile(dir + "/task/" + strconv.Itoa(leader) + "/children")
	if err != nil {
		return
	}
	for word := range strings.FieldsSeq(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil || m.Has(pid) || len(m.Processes) >= mostProcesses {
			continue
		}
		own, err1 := os.Readlink(dir + "/exe")
		its, err2 := os.Readlink("/proc/" + word + "/exe")
		if start, ok := command.StartOf(pid); ok && err1 == nil && err2 == nil && own == its {
			m.Processes = append(m.Processes, kasoku.MemberProcess{PID: pid, Start: start})
		}
	}
}

// look looks once.
func (w *serviceWatch) look(ctx context.Context) {
	w.mu.Lock()
	ask := w.ask
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	now, err := find.Find(ctx, ask)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err = err; err == nil {
		w.found = members.Follow(w.found, now, time.Since(w.start))
	}
}

// end ends the looking and stores what was found. After a bug nothing is stored: workers
// that started since would pass for neighbours of the service.
func (w *serviceWatch) end() {
	if w.stop == nil {
		return
	}
	w.stop()
	<-w.done
	if lost, ok := kasoku.LostPart(w.bug); ok {
		w.warn(lost)
		return
	}
	if w.err != nil {
		w.warn(kasoku.Warning{Code: "service-unknown",
			Text: "which processes are the service's is not known: " + w.err.Error()})
	}
	if err := w.store.SaveService(&w.found); err != nil {
		w.warn(kasoku.Warning{Code: "service-unknown",
			Text: "the members of the service could not be stored: " + err.Error()})
	}
}
