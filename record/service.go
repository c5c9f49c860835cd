package record

import (
	"context"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/observe/nginx"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/topology/find"
	"github.com/kasoku/kasoku/topology/members"
)

// When the service is looked at. A look at 500 processes with 5,000 sockets takes up to 170 ms
// of CPU on a busy host (BenchmarkFind): 0.03 % of a core, each ten minutes.
const (
	firstLook  = 1500 * time.Millisecond // the load's connections are open by then
	leaderLook = time.Second             // leaders and their children: some reads of /proc a member
	restartGap = 5 * time.Second         // between looks for a member whose leader has gone
	nextLook   = 10 * time.Minute
	lookWithin = 3 * time.Second
	seldomLook = 64 // of the looks at a leader's children one sees again what the others were
)

// A serviceWatch finds the members of the service while the load runs, and keeps them up
// over restarts.
type serviceWatch struct {
	*recorder
	config *configuration
	procs  *process.Source    // adds up what each member starts; nil without one
	stop   context.CancelFunc // nil before it began
	done   chan struct{}      // closed when nothing is under way any more

	mu    sync.Mutex // guards ask, asked, found, err
	ask   find.Ask
	found kasoku.Service
	apart map[int]int // children of leaders that are no workers, and for how many looks
	turn  int         // of keepUp: which threads of leaders are asked next
	asked bool        // a place was added to ask
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
	a := find.Ask{Logs: slices.Concat(o.accessLogs(), o.MoreLogs.Error), Loaded: true}
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
	dst = append(append(dst, os.Getpid()), w.o.PIDs...)
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
			if w.takeAsked() || last.IsZero() { // the load was short
				w.look(context.WithoutCancel(ctx))
			}
			return
		case <-t.C:
		}
		gone := w.keepUp()
		if w.takeAsked() || last.IsZero() || time.Since(last) >= nextLook || gone && time.Since(last) >= restartGap {
			w.lookWhole(ctx)
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
	apart := map[int]int{}
	for i := range w.found.Members {
		m := &w.found.Members[i]
		leader := m.Leader()
		start, ok := command.StartOf(leader.PID)
		if leader.PID == 0 || !ok || leader.Start != 0 && start != leader.Start {
			gone = true
			continue
		}
		w.addTree(leader.PID)
		w.addWorkers(m, leader.PID, apart)
	}
	w.apart = apart
	w.turn++
	return gone
}

// addTree has all that a leader starts added up.
func (w *serviceWatch) addTree(leader int) {
	if w.procs != nil {
		w.procs.AddTree(leader)
	}
}

// addWorkers adds the children of a leader that run its program, and takes note of those
// that do not: a leader can have hundreds, and looking at one costs more than all else here.
// A child may become a worker by exec, so it is looked at again, ever more seldom.
func (w *serviceWatch) addWorkers(m *kasoku.Member, leader int, apart map[int]int) {
	dir := "/proc/" + strconv.Itoa(leader)
	for _, pid := range command.ThreadChildren(leader, w.turn) {
		if len(m.Processes) >= mostProcesses || m.Has(pid) {
			continue
		}
		looks := w.apart[pid]
		if looks&(looks-1) != 0 && looks%seldomLook != 0 {
			apart[pid] = looks + 1
			continue
		}
		own, err1 := os.Readlink(dir + "/exe")
		its, err2 := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
		if start, ok := command.StartOf(pid); ok && err1 == nil && err2 == nil && own == its {
			m.Processes = append(m.Processes, kasoku.MemberProcess{PID: pid, Start: start})
		} else if err1 == nil && err2 == nil {
			apart[pid] = looks + 1
		}
	}
}

// lookWhole looks once, and again when the end of the load cut that off: a host that is
// busy takes its time to answer.
func (w *serviceWatch) lookWhole(ctx context.Context) {
	w.look(ctx)
	if ctx.Err() != nil {
		w.look(context.WithoutCancel(ctx))
	}
}

// look looks once.
func (w *serviceWatch) look(ctx context.Context) {
	w.mu.Lock()
	ask := w.ask
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	seen, err := find.Look(ctx, ask)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err = err; err == nil {
		w.found = members.Follow(w.found, seen.Service, time.Since(w.start))
		w.config.foreign = seen.Foreign
		for i := range w.found.Members {
			for _, p := range w.found.Members[i].Processes {
				if p.Leader && p.Ended == 0 {
					w.addTree(p.PID)
				}
			}
		}
		w.err = w.config.takeMembers(ctx, &w.found)
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
	w.found.Unknown = append(w.found.Unknown, w.config.unkept()...)
	if err := w.store.SaveService(&w.found); err != nil {
		w.warn(kasoku.Warning{Code: "service-unknown",
			Text: "the members of the service could not be stored: " + err.Error()})
	}
}
