package watch

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/threadtime"
	mysqlread "github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysql/digest"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/record/handover"
	"github.com/kasoku/kasoku/store"
)

const (
	// digestsEvery is the time between two looks at the counters of statements: to
	// read them costs the server more than all else that is asked.
	digestsEvery = 5 * time.Second
	// digestsWithin bounds one look.
	digestsWithin = 4 * time.Second
	// rulesEvery is the least time between two looks of the rules, rulesWindow what
	// they look at.
	rulesEvery  = 5 * time.Second
	rulesWindow = time.Minute
	// rulesFrom is how much has to be seen before they look: a first figure of a
	// minute is worth nothing after a second.
	rulesFrom = 10 * time.Second
	// share is the part of the time that what repeats may take of a core: it waits so
	// many times as long as it took.
	share = 100
	// runShare is the same of a run that is read while it is recorded: its load is
	// wanted by the second.
	runShare = 10
)

// LiveOptions configure what is watched, and how.
type LiveOptions struct {
	Watch record.Options  // what is sampled; Interval 0 is a second
	Runs  string          // directory in which runs are looked for that other users record; empty: in none
	Dir   string          // of the project whose load is shown; empty: the working directory
	Rules []diagnose.Rule // see [OnWindow]
	Keep  time.Duration   // what can be scrolled back to; 0: DefaultKeep
	Save  func(*kasoku.Recording) (path string, err error)
}

// A Live samples into a window until it is closed.
type Live struct {
	o      LiveOptions
	window *Window
	live   *record.Live
	start  time.Time
	stop   context.CancelFunc
	done   sync.WaitGroup
	failed error // of the sampler; read after done

	leave func() error // ends listening to loads; nil: none

	run struct { // that is followed; of the goroutine that follows loads alone
		path  string
		known int // its last second of load
	}

	choice *handover.Choice // whose load is shown
	loads  sync.Mutex       // guards handed
	handed *handover.Loads  // nil without such a file

	mu       sync.Mutex // guards the fields below
	findings []kasoku.Finding
	notes    map[string]string // by what they are about
	said     []string          // notes that stay
}

// Begin opens what is to be sampled and samples it until Close.
func Begin(ctx context.Context, o LiveOptions) (*Live, error) {
	// They are asked for here, and more often: once is enough.
	o.Watch.Off = append(slices.Clone(o.Watch.Off), mysql.DigestsName)
	src, err := record.NewLive(ctx, o.Watch)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	run := o.Watch.Run
	run.Started, run.Hosts, run.Observers = start.Round(0), []kasoku.Host{src.Host}, kasoku.ObserversOn
	l := &Live{o: o, live: src, start: start, window: NewWindow(run, src.Settings, o.Keep), notes: map[string]string{}}
	if len(src.AccessLogs) > 0 {
		l.window.access = newAccess(src.AccessLogs, start, l.window.keep, l.window.Missing)
		l.window.access.host = src.Host.Name
		src.Sources = append(src.Sources, l.window.access)
	}
	// What is sampled outlives a context that ends the opening; Close ends it.
	ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	sampler := observe.New(observe.Options{Host: src.Host.Name, Interval: o.Watch.Interval, Start: start,
		Sources: src.Sources, Sink: src.Nameless(ctx, l.window)})
	l.done.Go(func() {
		l.failed = contain.Do(panel("samples"), func() error { return sampler.Run(ctx) })
		if ctx.Err() == nil { // else it was to end
			l.noteEnd(sampler.Warnings())
		}
	})
	l.choice = handover.NewChoice(o.Dir, record.Places(o.Watch), l.otherProject)
	l.listenToLoads()
	l.done.Go(l.contained("load", func() { l.followLoads(ctx) }))
	if src.HasDatabase() {
		l.done.Go(l.contained("statements", func() { l.followStatements(ctx) }))
	}
	if len(o.Rules) > 0 {
		l.done.Go(l.contained("findings", func() { l.judge(ctx) }))
	}
	return l, nil
}

// contained returns f as the function of a goroutine. A panic in it is a note on the screen.
func (l *Live) contained(name string, f func()) func() {
	return func() {
		if bug := contain.Run(panel(name), f); bug != nil {
			l.Note("this part is lost: " + bug.Error())
		}
	}
}

// noteEnd says that, and why, nothing is sampled any more.
func (l *Live) noteEnd(warnings []kasoku.Warning) {
	why := ""
	if l.failed != nil {
		why = ": " + l.failed.Error()
	}
	for _, w := range warnings {
		why += ": " + w.Text
	}
	l.Note("nothing is sampled any more" + why)
}

// panel names a part of the live view, which stands still when it panics.
func panel(name string) contain.Part { return contain.Part{Kind: contain.Panel, Name: name} }

// Close ends the sampling and lets go of everything.
func (l *Live) Close() error {
	l.stop()
	l.done.Wait()
	err := errors.Join(l.failed, l.live.Close())
	if l.leave != nil {
		err = errors.Join(err, l.leave())
	}
	return err
}

// Take returns what there is now.
func (l *Live) Take() *Data {
	d := l.window.Take()
	l.mu.Lock()
	defer l.mu.Unlock()
	d.Findings = l.findings
	d.Recorded = l.notes["runs"]
	for _, what := range []string{"findings", "load", "statements"} {
		if n := l.notes[what]; n != "" {
			d.Notes = append(d.Notes, n)
		}
	}
	if d.lateLog {
		d.Notes = append(d.Notes, "an access log comes out of a buffer of the server: rates are of when lines came")
	}
	d.Notes = append(d.Notes, l.said...)
	if i := slices.IndexFunc(d.Notes, func(n string) bool { return strings.Contains(n, contain.Phrase) }); i > 0 {
		d.Notes[0], d.Notes[i] = d.Notes[i], d.Notes[0] // the screen has one note
	}
	// The moment now is the last whole second at which everything was asked; what
	// answers late is a second late.
	d.Rec.Run.Length = max(time.Since(l.start)-settle, 0)
	return d
}

// settle is how long after a tick its second is drawn: most sources have answered
// by then.
const settle = 200 * time.Millisecond

// Mark notes a moment.
func (l *Live) Mark(at time.Duration, text string) error {
	l.window.Mark(at, text)
	return nil
}

// Save keeps what there is as a run file.
func (l *Live) Save() (string, error) {
	if l.o.Save == nil {
		return "", errors.New("no directory for runs")
	}
	l.takeLoads()
	d := l.Take()
	whole, from, _ := l.window.Minute(l.window.keep + time.Minute)
	if a := l.window.access; a != nil {
		whole.Logs = a.windows()
	}
	whole.Events = d.Rec.Events
	for i := range whole.Events {
		whole.Events[i].At = max(whole.Events[i].At-from, 0)
	}
	for _, g := range d.Rec.Gaps {
		g.Interval.From, g.Interval.To = max(g.Interval.From-from, 0), max(g.Interval.To-from, 0)
		whole.Gaps = append(whole.Gaps, g)
	}
	whole.Run.Load = "kasoku watch"
	whole.Seconds = l.window.seconds(int(from / time.Second))
	return l.o.Save(whole)
}

// Note describes what is not seen, and why.
func (l *Live) Note(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, text)
}

func (l *Live) note(what, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notes[what] = text
}

// otherProject says of the load of another project whether it is shown.
func (l *Live) otherProject(dir string, taken bool) {
	if dir == "" {
		dir = "another project"
	}
	text := "a load of " + dir + " is not shown: `kasoku watch` there shows it"
	if taken {
		text = "the load is that of " + dir
	}
	l.Note(text)
}

// listenToLoads lets `kasoku attack` find this watch.
func (l *Live) listenToLoads() {
	path, leave, err := handover.Listen()
	if err == nil {
		l.leave = leave
		l.handed, err = handover.NewLoads(path, l.start)
	}
	if err == nil {
		l.handed.Choose(l.choice)
	}
	if err != nil {
		l.note("load", "a load of `kasoku attack` is not seen: "+err.Error())
	}
}

// followLoads takes the seconds of loads that are made on this host: those that
// `kasoku attack` hands over, and those of a run that is being recorded.
func (l *Live) followLoads(ctx context.Context) {
	for rest := time.Second; wait(ctx, rest); {
		began := time.Now()
		l.takeLoads()
		l.followRun()
		rest = max(time.Second, runShare*time.Since(began))
	}
}

// takeLoads takes what was handed over since it was called last.
func (l *Live) takeLoads() {
	l.loads.Lock()
	defer l.loads.Unlock()
	if l.handed == nil {
		return
	}
	// What is broken in the file is of a load that was killed: the rest counts.
	if seconds, _ := l.handed.Take(); len(seconds) > 0 {
		l.window.AddSeconds(seconds, l.handed.Steps())
	}
}

// settles is for how many seconds what a load counted in one may still change: requests
// that take longer are given up.
const settles = 60

// followRun takes the load of the run that is being recorded here, if there is one.
func (l *Live) followRun() {
	for _, run := range l.choice.OwnFirst(handover.Recordings(l.o.Runs)) {
		if l.choice.Refuses(run) {
			continue
		}
		path, from := run.Path, 0
		if path == l.run.path {
			from = l.run.known - settles
		}
		rec, err := store.Ongoing(path, from)
		if err != nil || rec.Run.State != kasoku.Running {
			continue
		}
		if path != l.run.path {
			l.run.path, l.run.known = path, 0
		}
		l.takeRun(rec, run)
		return
	}
	l.note("runs", "")
}

func (l *Live) takeRun(rec *kasoku.Recording, run handover.Ongoing) {
	l.note("runs", cmp.Or(rec.Run.Label, rec.Run.ID))
	if len(rec.Seconds) == 0 {
		return
	}
	l.run.known = rec.Seconds[len(rec.Seconds)-1].Second
	shift := rec.Run.Started.Sub(l.start.Round(0))
	whole := int(shift.Round(time.Second) / time.Second)
	rec.Seconds = slices.DeleteFunc(rec.Seconds, func(s kasoku.LoadSecond) bool {
		return !l.choice.Takes(run.Project, run.Places, s.Second+whole)
	})
	if !l.choice.Of(run.Project) {
		return
	}
	load, steps := LoadOf(rec), rec.Steps
	for i := range steps {
		steps[i].Interval.From += shift
		steps[i].Interval.To += shift
	}
	l.window.SetLoad(load.shifted(whole), steps)
}

// followStatements asks what statements the database counted.
func (l *Live) followStatements(ctx context.Context) {
	var before *mysqlread.Digests
	var looked time.Time
	for rest := time.Duration(0); wait(ctx, rest); {
		began := time.Now()
		asked, cancel := context.WithTimeout(ctx, digestsWithin)
		now, err := l.live.Digests(asked)
		cancel()
		rest = max(digestsEvery, share*time.Since(began)/4)
		if err != nil {
			l.note("statements", "no statements: "+err.Error())
			before = nil
			continue
		}
		l.note("statements", "")
		if before != nil {
			added, _ := now.Since(before)
			l.live.Own(ctx, added)
			l.window.AddQueries(digest.Queries(added), int(time.Since(l.start)/time.Second), began.Sub(looked))
		}
		before, looked = now, began
	}
}

// judge lets the rules look at the last minute, again and again.
func (l *Live) judge(ctx context.Context) {
	rules := OnWindow(l.o.Rules)
	for rest := rulesFrom; wait(ctx, rest); {
		if l.window.Now() < rulesFrom { // its clock is that of the last sample, which may be late
			rest = time.Second
			continue
		}
		var found []kasoku.Finding
		var lost []kasoku.Silence
		took := threadtime.Of(func() { found, lost = Findings(l.window, rules) })
		l.mu.Lock()
		l.findings = found
		l.mu.Unlock()
		if len(lost) > 0 {
			l.note("findings", lost[0].ID+" could not look: "+lost[0].Reason)
		}
		rest = max(rulesEvery, share*took)
	}
}

// wait waits for a time; false when the context has ended.
func wait(ctx context.Context, long time.Duration) bool {
	t := time.NewTimer(long)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// OnWindow returns those rules that can look at a minute out of the midst: not those
// about how a run was measured, and about what differs between runs.
func OnWindow(all []diagnose.Rule) (out []diagnose.Rule) {
	for _, r := range all {
		if !strings.HasPrefix(r.ID(), "MES-") {
			out = append(out, r)
		}
	}
	return out
}

// Findings are what rules say of the last minute, on the window's clock, and which of them
// are lost to a bug of kasoku.
func Findings(w *Window, rules []diagnose.Rule) (found []kasoku.Finding, lost []kasoku.Silence) {
	rec, from, logged := w.Minute(rulesWindow)
	if rec.Run.Length < rulesFrom {
		return nil, nil
	}
	if !logged { // a part of the requests would look like few
		rec.Endpoints = nil
	}
	d := diagnose.Diagnose(diagnose.NewCase(rec, nil), rules)
	found, lost = d.Findings, slices.DeleteFunc(d.Silences, func(x kasoku.Silence) bool { return !x.Lost() })
	for i := range found {
		found[i].Interval.From += from
		found[i].Interval.To += from
	}
	return found, lost
}
