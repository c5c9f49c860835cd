package gather

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/coordinate"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/private"
)

// HostLogs are logs of one host.
type HostLogs struct {
	Host  string
	Paths []string // or patterns
}

// LogOptions are which logs to have read, where they lie.
type LogOptions struct {
	Hosts    []HostLogs
	Kind     string
	Options  json.RawMessage // how logs of the kind are read
	Dir      string          // private, for the tables
	Hard     context.Context // its end gives up what has not come
	Patience time.Duration   // how long a host may be silent before it counts as gone; 0: that of a load
	Still    time.Duration   // how long it may say that it reads, and read nothing more; 0: DefaultAnalysis

	// Begin is called once all hosts have found their logs, with the zone of the first host's
	// first one, nil when it is not known; it returns what was not known before.
	Begin func(zone *fleet.LogZone) (any, error)
	// Progress is called with how many stored bytes were read of how many, never twice at a time.
	Progress func(done, total int64)
	Note     func(text string) // called with what becomes of a host, in words for people; may be nil
}

// ReadLogs is what came of one host's logs.
type ReadLogs struct {
	Host string
	Path string // of the file with its parts, see package logs; empty: it did not come
	Lost string // why not
	Last fleet.LogsAnswer
}

const (
	// logsEnd is how long a host may take for what it has read, once it is asked to end.
	logsEnd = 15 * time.Second
	// soon is when a host is asked again first: small logs are read by then.
	soon = 20 * time.Millisecond
	// stillNoted is the part of [LogOptions.Still] after which a host that reads nothing more is named.
	stillNoted = 20
)

// A logReading has hosts read their logs.
type logReading struct {
	bus   coordinate.Bus
	opts  LogOptions
	run   string
	hosts []*logHost
	done  sync.WaitGroup
	hard  context.Context
	over  context.CancelFunc // gives up
	slots chan struct{}

	mu     sync.Mutex
	begin  json.RawMessage // empty: not yet
	stop   time.Time       // when they were asked to end; zero: not yet
	forget bool            // nothing of it is wanted
}

// A logHost is one of them. What it says is not believed.
type logHost struct {
	*logReading
	HostLogs
	now   chan struct{} // ask at once
	ready chan struct{} // closed when it has found its logs
	ended chan struct{} // closed when nothing more comes of it, and read is set
	read  ReadLogs

	far   fleet.LogsAnswer // how far it is; mu
	moved time.Time        // when it was further than before; of the goroutine that follows it
	still bool             // that it reads nothing more was noted; the same
}

// Logs has hosts read their logs, each its own, and fetches what they made of them. An error
// says that nothing was read: a host is not there, or refuses, or does not find a log. When ctx
// is cancelled they end, and what they have read comes.
func Logs(ctx context.Context, b coordinate.Bus, o LogOptions) ([]ReadLogs, error) {
	if o.Patience == 0 {
		o.Patience = coordinate.DefaultPatience
	}
	if o.Still == 0 {
		o.Still = DefaultAnalysis
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never fails
	g := &logReading{bus: b, opts: o, run: hex.EncodeToString(random[:]), slots: make(chan struct{}, atOnce)}
	g.hard, g.over = context.WithCancel(o.Hard)
	defer g.over()
	for _, h := range o.Hosts {
		g.hosts = append(g.hosts, &logHost{logReading: g, HostLogs: h, now: make(chan struct{}, 1),
			ready: make(chan struct{}), ended: make(chan struct{}), read: ReadLogs{Host: h.Host}, moved: time.Now()})
	}
	if err := g.greet(ctx); err != nil {
		return nil, err
	}
	for _, h := range g.hosts {
		g.done.Go(func() { h.end(contain.Do(readPart, func() error { h.follow(); return nil })) })
	}
	err := g.start(ctx)
	if err != nil {
		g.halt(true)
		g.done.Wait()
		return nil, err
	}
	all := make(chan struct{})
	contain.Go(readPart, func() { g.done.Wait(); close(all) })
	select {
	case <-all:
	case <-ctx.Done():
		g.halt(false)
		<-all
	}
	out := make([]ReadLogs, len(g.hosts))
	for i, h := range g.hosts {
		out[i] = h.read
	}
	return out, nil
}

var readPart = contain.Part{Kind: contain.Step, Name: "reading"}

// greet asks all hosts whether they are there, and speak as this one does.
func (g *logReading) greet(ctx context.Context) error {
	errs := make([]error, len(g.hosts))
	var all sync.WaitGroup
	for i, h := range g.hosts {
		all.Go(func() {
			errs[i] = contain.Do(readPart, func() error {
				_, _, err := coordinate.Greet(ctx, g.bus, h.Host)
				return err
			})
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// start waits until all hosts have found their logs, and has them read.
func (g *logReading) start(ctx context.Context) error {
	for _, h := range g.hosts {
		select {
		case <-h.ready:
		case <-h.ended:
			h.mu.Lock()
			fix := h.far.Fix
			h.mu.Unlock()
			return &coordinate.RefusedError{Host: h.Host, Reason: h.read.Lost, Fix: fleet.Clean(fix)}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	g.mu.Lock()
	zone := g.hosts[0].far.Zone
	g.mu.Unlock()
	begin, err := g.opts.Begin(zone)
	if err != nil {
		return err
	}
	b, err := json.Marshal(begin)
	if err != nil {
		return fmt.Errorf("word to begin: %w", err)
	}
	g.mu.Lock()
	g.begin = b
	g.mu.Unlock()
	g.nudge()
	return nil
}

// halt has the hosts end; with forget nothing of it is wanted.
func (g *logReading) halt(forget bool) {
	g.mu.Lock()
	g.stop, g.forget = time.Now(), forget
	g.mu.Unlock()
	g.nudge()
}

func (g *logReading) nudge() {
	for _, h := range g.hosts {
		select {
		case h.now <- struct{}{}:
		default:
		}
	}
}

// end notes that nothing more comes of it. The error is a bug of following it.
func (h *logHost) end(err error) {
	if err != nil {
		h.read.Path = ""
		h.lose(err)
	}
	close(h.ended)
}

func (h *logHost) ask() (a fleet.LogsAnswer, err error) {
	h.mu.Lock()
	q := fleet.LogsQuestion{Run: h.run, Kind: h.opts.Kind, Paths: h.Paths, Options: h.opts.Options, Begin: h.begin,
		Stop: !h.stop.IsZero(), Forget: h.forget}
	h.mu.Unlock()
	return a, h.askFor(fleet.Logs, q, &a)
}

func (h *logHost) askFor(verb string, question, answer any) error {
	ctx, cancel := context.WithTimeout(h.hard, askTime)
	defer cancel()
	return h.bus.Ask(ctx, h.Host, verb, question, answer)
}

// follow asks until its tables have come, or nothing will.
func (h *logHost) follow() {
	heard, silent := time.Now(), false
	wait := soon
	for {
		a, err := h.ask()
		switch {
		case h.hard.Err() != nil:
			h.lose(errors.New("what it read was not waited for"))
			return
		case err == nil:
			if silent {
				h.opts.Note(h.Host + " answers again")
			}
			heard, silent = time.Now(), false
			over, err := h.take(&a)
			if err != nil {
				h.lose(err)
			}
			if over || err != nil {
				return
			}
		case time.Since(heard) > h.opts.Patience:
			h.lose(fmt.Errorf("no answer for %s: %w", h.opts.Patience, err))
			return
		case !silent && time.Since(heard) > askTime:
			silent = true
			h.opts.Note(h.Host + " does not answer: " + fleet.Clean(err.Error()))
		}
		select {
		case <-time.After(wait):
			wait = min(wait*2, pollEvery)
		case <-h.now:
			wait = soon
		case <-h.hard.Done():
		}
	}
}

// lose notes why nothing comes of it.
func (h *logHost) lose(err error) { h.read.Lost = fleet.Clean(err.Error()) }

// take looks at an answer, and reports whether nothing more is to come.
func (h *logHost) take(a *fleet.LogsAnswer) (over bool, err error) {
	a.Total = min(max(a.Total, 0), maxLogBytes)
	a.Done = min(max(a.Done, 0), a.Total)
	a.Kept = min(max(a.Kept, 0), a.Done)
	h.mu.Lock()
	before := h.far
	h.far = *a
	begun, stop, forget := len(h.begin) > 0, h.stop, h.forget
	if begun && h.opts.Progress != nil {
		h.progress()
	}
	h.mu.Unlock()
	switch {
	case forget: // it has heard so
		return true, nil
	case a.State == fleet.Failed:
		return false, errors.New(a.Error)
	case a.State == fleet.Ready:
		closeOnce(h.ready)
	case a.State == fleet.Over && begun:
		h.read.Last = *a
		return true, h.fetch(a)
	case a.State == fleet.Over:
		return false, errors.New("it ended before it was asked to begin")
	}
	if !stop.IsZero() && time.Since(stop) > logsEnd {
		return false, errors.New("it does not end")
	}
	// One that is ready waits for the others.
	if a.State != before.State || a.Done > before.Done || a.State == fleet.Ready && !begun {
		h.moved = time.Now()
		return false, nil
	}
	return false, h.stands(a)
}

// stands looks at how long a host has read nothing more, which is an error in the end: it may say that it reads for
// as long as it likes.
func (h *logHost) stands(a *fleet.LogsAnswer) error {
	since := time.Since(h.moved)
	switch {
	case since > h.opts.Still:
		return fmt.Errorf("it says that it is %s, and has read nothing more for %s", fleet.Clean(a.State), h.opts.Still)
	case since > h.opts.Still/stillNoted && !h.still:
		h.still = true
		h.opts.Note(fmt.Sprintf("%s has read nothing more for %s; it is given up after %s", h.Host,
			since.Round(time.Second), h.opts.Still))
	}
	return nil
}

// maxLogBytes bounds what a host says of the size of its logs.
const maxLogBytes = 1 << 50

// progress adds up how far all are. The caller holds mu.
func (g *logReading) progress() {
	var done, total int64
	for _, h := range g.hosts {
		done, total = done+h.far.Done, total+h.far.Total
	}
	g.opts.Progress(done, total)
}

// fetch gets the tables.
func (h *logHost) fetch(a *fleet.LogsAnswer) error {
	if a.Size < 0 || a.Size > fleet.MaxPart {
		return fmt.Errorf("tables of %d bytes: at most %d are taken", a.Size, fleet.MaxPart)
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-h.hard.Done():
		return errors.New("its tables were not waited for")
	}
	path := filepath.Join(h.opts.Dir, h.Host+".tables") // its name is one word
	f, err := private.State.CreateNew(path)
	if err != nil {
		return err
	}
	err = pieces(f, &handed{h.hard, h.opts.Patience, h.run, "what it read", a.Size, a.Sum, h.askFor})
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	h.read.Path = path
	var last fleet.LogsAnswer // it is removed there later, if this does not come
	_ = h.askFor(fleet.Logs, fleet.LogsQuestion{Run: h.run, Kind: h.opts.Kind, Paths: h.Paths, Options: h.opts.Options,
		Stop: true, Forget: true}, &last)
	return nil
}
