package record

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/observe/nginx"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/topology"
	"github.com/kasoku/kasoku/topology/find"
	"github.com/kasoku/kasoku/topology/members"
	"github.com/kasoku/kasoku/topology/scan"
)

// When the service is looked at. A look at 500 processes with 5,000 sockets takes up to 170 ms
// of CPU on a busy host (BenchmarkFind): 0.03 % of a core, each ten minutes.
const (
	firstLook  = 1500 * time.Millisecond // the load's connections are open by then
	leaderLook = 2 * time.Second         // leaders and their children: some reads of /proc a member
	restartGap = 5 * time.Second         // between looks for a member whose leader has gone, and after one that failed
	nextLook   = 10 * time.Minute
	lookWithin = 3 * time.Second  // where somebody waits for it
	loadWithin = 10 * time.Second // while the load runs: of a busy host kasoku gets a small part
)

// A serviceWatch finds the members of the service while the load runs, and keeps them up
// over restarts.
type serviceWatch struct {
	*recorder
	config *configuration
	procs  *process.Source    // adds up what each member starts; nil without one
	stop   context.CancelFunc // nil before it began
	done   chan struct{}      // closed when nothing is under way any more

	mu      sync.Mutex // guards ask, asked, found, err
	ask     find.Ask
	found   kasoku.Service
	workers scan.Workers
	asked   bool // a place was added to ask
	// shared are members whose leaders lead other programs too, by id: where they listen.
	shared map[string][]uint32
	seen   *find.Seen // the last look; the watch's alone
	err    error
	bug    error // of the watch, which ended with it; read once done is closed
}

// begin begins to look for members; own are kasoku's other processes. Without observers nothing
// is looked for.
func (w *serviceWatch) begin(ctx context.Context, own ...int) {
	if w.o.Observers == kasoku.ObserversOff {
		return
	}
	w.ask, w.done = askService(w.o), make(chan struct{})
	w.ask.Own = own
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
	a := find.Ask{Logs: slices.Concat(o.accessLogs(), o.MoreLogs.Error), Loaded: true, Own: o.own, Held: map[kasoku.Listener]int{}}
	for _, t := range o.Servers {
		if page, ok := t.(*nginx.Table); ok {
			a.Asked = append(a.Asked, page.Status)
		}
	}
	if o.Load != nil {
		for _, t := range o.Load.Targets {
			a.URLs = append(a.URLs, find.Target(t.URL, t.Header))
		}
	}
	a.URLs = append(a.URLs, find.Targets(o.Command)...)
	if network, address := mysqlflags.Address(o.MySQL); o.MySQL != "" && address != "" {
		a.Databases = append(a.Databases, members.Place{Network: network, Address: address})
	}
	o.Service.Ask(&a)
	return a
}

// Places returns where the load goes, as far as the options say.
func Places(o Options) []string {
	a := askService(o)
	return slices.Concat(a.URLs, a.User)
}

// named reports whether anything was said of the service: only its control groups and
// listeners are then sampled, from the first look on.
func (w *serviceWatch) named() bool {
	if w == nil {
		return false
	}
	a := askService(w.o)
	return len(a.URLs)+len(a.Logs)+len(a.Databases)+len(a.User)+len(a.PIDs)+len(a.Units) > 0
}

// appendPIDs appends the processes of the members, kasoku, and those that the user named.
func (w *serviceWatch) appendPIDs(dst []int) []int {
	dst = append(append(append(dst, os.Getpid()), w.o.PIDs...), w.o.Watched...)
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.found.Members {
		for _, p := range w.found.Members[i].Processes {
			if p.Ended == 0 {
				dst = append(dst, p.PID)
			}
		}
	}
	return dst
}

// listens reports whether a member listens at an address.
func (w *serviceWatch) listens(network, address string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.found.Members {
		if slices.Contains(w.found.Members[i].Listeners, kasoku.Listener{Network: network, Address: address}) {
			return true
		}
	}
	return false
}

// ServiceNow returns the service that a kasoku.toml is about, as it is seen without load.
// What it says of a load that cannot be made is left out.
func ServiceNow(ctx context.Context, c *config.Config) (kasoku.Service, error) {
	o, err := Configured(c, Options{})
	if err != nil {
		if o, err = ConfiguredWatch(c, Options{}); err != nil {
			return kasoku.Service{}, err
		}
	}
	ask := askService(o)
	ask.Loaded = false
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	return find.Find(ctx, ask)
}

// known returns the service as it is known by now.
func (w *serviceWatch) known() *kasoku.Service {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.found
	s.Members = slices.Clone(s.Members)
	for i := range s.Members {
		s.Members[i].Processes = slices.Clone(s.Members[i].Processes)
	}
	return &s
}

// addLoad takes note of a process that makes the load.
func (w *serviceWatch) addLoad(pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ask.Load = append(w.ask.Load, pid)
}

// addPlaces takes note of where the load says that its requests go. What is new is looked for
// with the next look, which is then soon.
func (w *serviceWatch) addPlaces(places []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range places {
		if !slices.Contains(w.ask.URLs, p) {
			w.ask.URLs, w.asked = append(w.ask.URLs, p), true
		}
	}
}

// takeAsked reports whether a place was added since the last look.
func (w *serviceWatch) takeAsked() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := w.asked
	w.asked = false
	return asked
}

// watch looks when the load has begun, now and then, and when a leader has gone.
func (w *serviceWatch) watch(ctx context.Context) {
	wait, last := firstLook, time.Time{}
	for {
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			if w.takeAsked() || w.seen == nil { // the load was short, or no look was in time
				w.look(context.WithoutCancel(ctx), lookWithin)
			}
			return
		case <-t.C:
		}
		if gone := w.keepUp(); w.takeAsked() || last.IsZero() || w.due(time.Since(last), gone) {
			w.lookWhole(ctx)
			last = time.Now()
		} else {
			w.lookAgain(ctx)
		}
		wait = leaderLook
	}
}

// due reports whether all of the service is to be looked at so long after the last time: after
// a while, and soon when a leader has gone or no look was in time, as on a busy host.
func (w *serviceWatch) due(since time.Duration, gone bool) bool {
	return since >= nextLook || (gone || w.seen == nil) && since >= restartGap
}

// mostProcesses bounds those of a member: one that forks for each request has no use for
// all of them.
const mostProcesses = 512

// keepUp adds the workers that leaders have started since, and reports whether a leader
// is not there any more.
func (w *serviceWatch) keepUp() (gone bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.workers.Begin()
	for i := range w.found.Members {
		m := &w.found.Members[i]
		leader := m.Leader()
		start, ok := command.StartOf(leader.PID)
		if leader.PID == 0 || !ok || leader.Start != 0 && start != leader.Start {
			gone = true
			continue
		}
		for _, p := range w.workers.Of(leader.PID, w.shared[m.ID], m.Has) {
			if len(m.Processes) < mostProcesses {
				m.Processes = append(m.Processes, kasoku.MemberProcess{PID: p.PID, Start: p.Start})
			}
		}
		w.addTrees(m)
	}
	return gone
}

// addTrees has all that a member's leaders start added up; of a leader that leads others too,
// what the member's own workers start.
func (w *serviceWatch) addTrees(m *kasoku.Member) {
	if w.procs == nil {
		return
	}
	_, shared := w.shared[m.ID]
	for _, p := range m.Processes {
		if p.Ended == 0 && p.Leader != shared {
			w.procs.AddTree(p.PID)
		}
	}
}

// lookWhole looks once, and again when the end of the load cut that off: a host that is
// busy takes its time to answer.
func (w *serviceWatch) lookWhole(ctx context.Context) {
	w.look(ctx, loadWithin)
	if ctx.Err() != nil {
		w.look(context.WithoutCancel(ctx), lookWithin)
	}
}

// look looks once, for so long at most.
func (w *serviceWatch) look(ctx context.Context, within time.Duration) {
	w.mu.Lock()
	ask := w.ask
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	seen, err := find.Look(ctx, ask)
	if err == nil && w.db != nil {
		w.db.tenants.Ask(ctx, w.db.reader, &seen.Result, w.o.MySQL, ask.Own...)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err = err; err == nil {
		w.seen, w.err = seen, w.take(ctx, seen, members.Follow(w.found, seen.Service, time.Since(w.start)))
	}
}

// lookAgain looks again at members that were not seen to call others, and at whose sessions the
// database has: one that connects anew for each request, as PHP does, is seldom seen to, where
// requests are few.
func (w *serviceWatch) lookAgain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	if w.db != nil {
		w.db.tenants.Again(ctx, w.db.reader)
	}
	if w.seen == nil || !w.seen.Again(ctx) { // without the lock, for which the samples wait
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() == nil {
		w.err = w.take(ctx, w.seen, members.Join(w.found, w.seen.Service))
	}
}

// take takes over what a look showed, and the service as it is known with it.
func (w *serviceWatch) take(ctx context.Context, seen *find.Seen, found kasoku.Service) error {
	w.found = found
	w.config.foreign, w.shared = seen.Foreign, seen.Shared
	for i := range w.found.Members {
		w.addTrees(&w.found.Members[i])
	}
	return w.config.takeMembers(ctx, &w.found)
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
	if m, at, ok := topology.Reached(&w.found); ok && w.o.MySQL == "" {
		dsn := "'USER@" + at + "/'"
		w.warn(kasoku.Warning{Code: "database-unasked",
			Text: m.ID + " was not asked: of its statements, counters and settings nothing is known, and the rules about them are blind",
			Hint: "`--mysql " + dsn + "`, with a password better an option file by `--defaults-file`, or dsn = " + dsn +
				" in [mysql] of kasoku.toml; `kasoku doctor` with the same says which rights are missing"})
	}
	w.mu.Lock() // the samples ask who is known
	w.found.Unknown = append(w.found.Unknown, w.config.unkept()...)
	w.mu.Unlock()
	if err := w.store.SaveService(&w.found); err != nil {
		w.warn(kasoku.Warning{Code: "service-unknown",
			Text: "the members of the service could not be stored: " + err.Error()})
	}
}
