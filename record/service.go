package record

import (
	"context"
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
	leaderLook = 5 * time.Second         // are the leaders of members alive? some stats of /proc
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
}

// begin begins to look for members. Without observers nothing is looked for.
func (w *serviceWatch) begin(ctx context.Context) {
	if w.o.Observers == kasoku.ObserversOff {
		return
	}
	w.ask, w.done = askService(w.o), make(chan struct{})
	ctx, w.stop = context.WithCancel(ctx)
	go contain.Func(contain.Part{Kind: contain.Goroutine, Name: "members of the service"}, func() {
		defer close(w.done)
		w.watch(ctx)
	})()
}

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
		if last.IsZero() || time.Since(last) >= nextLook || w.leaderGone() {
			w.look(ctx)
			last = time.Now()
		}
		wait = leaderLook
	}
}

// leaderGone reports whether a member's leader is not there any more.
func (w *serviceWatch) leaderGone() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.found.Members {
		p := w.found.Members[i].Leader()
		if start, ok := command.StartOf(p.PID); p.PID == 0 || !ok || p.Start != 0 && start != p.Start {
			return true
		}
	}
	return false
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

// end ends the looking and stores what was found.
func (w *serviceWatch) end() {
	if w.stop == nil {
		return
	}
	w.stop()
	<-w.done
	if w.err != nil {
		w.warn(kasoku.Warning{Code: "service-unknown",
			Text: "which processes are the service's is not known: " + w.err.Error()})
	}
	if err := w.store.SaveService(&w.found); err != nil {
		w.warn(kasoku.Warning{Code: "service-unknown",
			Text: "the members of the service could not be stored: " + err.Error()})
	}
}
