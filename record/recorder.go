package record

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/logs/phases"
	"github.com/kasoku/kasoku/record/clock"
	"github.com/kasoku/kasoku/record/mask"
	"github.com/kasoku/kasoku/record/thishost"
	"github.com/kasoku/kasoku/store"
)

// A recorder is what all parts of a run share while it is made: what the run is, its file
// and its clock, the database that it watches, and what is said of it. Each part has it.
type recorder struct {
	o     Options
	run   kasoku.Run
	start time.Time     // offset 0, with monotonic reading; moved while the run waits for its request
	store *store.Writer // nil before the run begins
	clock *clock.Clock  // nil before the run begins
	db    *database     // nil without one

	mu         sync.Mutex // guards warnings
	warnings   []kasoku.Warning
	progressMu sync.Mutex // serialises OnProgress
}

// waits reports whether the run begins with a request.
func (r *recorder) waits() bool { return r.o.On != (phases.Request{}) }

// describe fills in what the run was made with.
func (r *recorder) describe(ctx context.Context) {
	run := &r.run
	run.Started = r.start.Round(0)
	run.State = kasoku.Running
	if run.ID == "" {
		run.ID = kasoku.NewRunID(run.Started, run.Label)
	}
	if len(run.Hosts) == 0 {
		run.Hosts = []kasoku.Host{thishost.Info()}
	}
	if run.Observers == "" {
		run.Observers = kasoku.ObserversOn
	}
	if run.Revision == "" {
		run.Revision, run.Dirty = thishost.Revision(ctx)
	}
}

func (r *recorder) host() string { return r.run.Hosts[0].Name }

// untilStopped reports whether the run was to go on until it is stopped.
func (r *recorder) untilStopped() bool {
	return r.o.Load == nil && len(r.o.Command) == 0 && r.o.For == 0 && r.o.UntilIdle == 0
}

// opened lets the caller give up rights. The command, if there is one, keeps them. A
// build with CGO, which no release is, cannot do it on all threads: nothing is given up.
func (r *recorder) opened() {
	if r.o.Opened == nil {
		return
	}
	if err := r.o.Opened(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		r.warn(kasoku.Warning{Code: "not-confined", Text: "the recorder keeps rights that it does not need: " + err.Error()})
	}
}

// hurried reports whether the run is to end at once: a second signal came.
func (r *recorder) hurried() bool { return r.o.Hard != nil && r.o.Hard.Err() != nil }

// warn adds warnings to the run, without secrets.
func (r *recorder) warn(w ...kasoku.Warning) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.warnings = append(r.warnings, mask.Warnings(w)...)
}

// warnOnce adds a warning unless there is one of its code.
func (r *recorder) warnOnce(w kasoku.Warning) {
	r.mu.Lock()
	said := slices.ContainsFunc(r.warnings, func(have kasoku.Warning) bool { return have.Code == w.Code })
	r.mu.Unlock()
	if !said {
		r.warn(w)
	}
}

// forgetWarnings takes back the warnings of a code, which others take the place of.
func (r *recorder) forgetWarnings(code string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.warnings = slices.DeleteFunc(r.warnings, func(w kasoku.Warning) bool { return w.Code == code })
}

// progress reports what the run is doing.
func (r *recorder) progress(p Progress) {
	if r.o.OnProgress == nil {
		return
	}
	p.Label = r.run.Label
	r.progressMu.Lock()
	defer r.progressMu.Unlock()
	r.o.OnProgress(p)
}

// part does one part of a run's end. A panic in it is an error and a warning; the other
// parts are done.
func (r *recorder) part(name string, f func() error) error {
	err := contain.Do(contain.Part{Kind: contain.Step, Name: name}, f)
	var bug *contain.Bug
	if errors.As(err, &bug) && bug.Part.Kind == contain.Step && bug.Part.Name == name {
		w, _ := kasoku.LostPart(bug)
		r.warn(w)
	}
	return err
}
