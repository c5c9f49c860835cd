package vegeta

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/engine"
)

// DefaultRate is Vegeta's.
const DefaultRate = 50

// AttackOptions are those of Vegeta's attack command, and some of our own. Its
// defaults that are not zero are those of [DefaultAttack].
type AttackOptions struct {
	ScheduleOptions

	Name        string
	Targets     string // file; empty, "stdin" and "-" are Stdin
	Format      string // of the targets: http, also when empty, or json
	Body        string // file with the body of targets that have none
	Header      http.Header
	Lazy        bool     // read targets while the attack runs, each for one request; it ends with them
	NoVariables bool     // {{…}} in targets stays as it is
	Table       string   // CSV file of {{csv.COLUMN}}
	MaxWorkers  uint64   // cap on requests in flight; 0: that of Engine.HTTP
	Output      string   // file; "stdout" and "-" are Stdout, as is none
	Encoding    Encoding // of the results; empty means Gob

	Engine engine.Options

	Share load.Share // of the requests, and of MaxWorkers: what this machine sends; zero: all
	Start time.Time  // offset 0 of the schedule, which may lie ahead; zero: now

	Stdin  io.Reader
	Stdout io.Writer // nil, without Output: results are not written, which saves most of what they cost

	// Watch, when not nil, is called once, right before the first request. The sink
	// that it returns, when that is not nil, gets the hits too.
	Watch func(*Running) load.Sink
}

// Running is an attack under way.
type Running struct {
	Plan     load.Plan
	Start    time.Time // offset 0 of the plan's schedule
	Recorder *load.Recorder
}

// DefaultAttack returns the options that Vegeta has without flags.
func DefaultAttack() AttackOptions {
	o := AttackOptions{ScheduleOptions: ScheduleOptions{Rate: DefaultRate}}
	o.Engine.HTTP.SeqHeader = "X-Vegeta-Seq"
	return o
}

// Validate reports options that contradict each other.
func (o *AttackOptions) Validate() error {
	if err := o.ScheduleOptions.Validate(); err != nil {
		return err
	}
	if o.Closed() && o.MaxWorkers == 0 && o.Engine.HTTP.MaxInFlight == 0 {
		return errors.New("-rate=0 requires setting -max-workers")
	}
	if _, err := NewEncoder(io.Discard, o.Encoding); err != nil {
		return err
	}
	if err := checkTargetFormat(o.Format); err != nil {
		return err
	}
	return o.Engine.HTTP.Validate()
}

// An AttackResult is what an attack came to. Recorder is nil when it did not
// begin.
type AttackResult struct {
	Running
	Summary  kasoku.LoadSummary
	Tally    *kasoku.Tally
	Warnings []kasoku.Warning
}

// Attack sends the requests and writes their results. When ctx is cancelled it
// sends no more, lets what is in flight end, and returns no error for it.
func Attack(ctx context.Context, o AttackOptions) (res AttackResult, err error) {
	if err := o.Validate(); err != nil {
		return res, err
	}
	plan, closeTargets, err := o.plan()
	if err != nil {
		return res, err
	}
	defer closeTargets()
	sender, why, err := engine.New(o.engine(), plan)
	if err != nil {
		return res, err
	}
	// Before anything is written, and before the clock runs: names are looked up here.
	if err := sender.Permitted(ctx, plan.Targets); err != nil {
		return res, err
	}
	if plan.Stream != nil {
		// The program that writes targets may need a while before the first one.
		if plan.Stream, err = beginStream(ctx, plan.Stream); err != nil {
			return res, err
		}
	}
	out, closeOut, err := o.openResults()
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, closeOut()) }()

	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	res.Running = Running{Plan: plan, Start: o.start(), Recorder: load.NewRecorder(plan, 0)}
	sinks := []load.Sink{res.Recorder}
	results, held := nothingWritten, func() time.Duration { return 0 }
	if out != nil {
		w, err := NewWriter(out, WriterOptions{Encoding: o.Encoding, Attack: o.Name, Start: res.Start, Plan: plan, Failed: stop})
		if err != nil {
			return res, err
		}
		if hard := o.Engine.HTTP.Hard; hard != nil {
			defer context.AfterFunc(hard, contain.Func(writerPart, func() { w.EndSoon(load.DefaultDrain) }))()
		}
		sinks, results, held = append(sinks, w), w.Close, w.Held
	}
	if o.Watch != nil {
		if s := o.Watch(&res.Running); s != nil {
			sinks = append(sinks, s)
		}
	}
	res.Summary, err = sender.Run(ctx, plan, res.Start, load.Tee(sinks...))
	err = errors.Join(err, results())
	res.Summary.EngineWhy = why
	res.Tally = res.Recorder.Tally(0)
	res.Warnings = append(load.Warnings(res.Summary, res.Tally), load.ResultsWarning(held())...)
	return res, err
}

func (o *AttackOptions) start() time.Time {
	if o.Start.IsZero() {
		return time.Now()
	}
	return o.Start
}

func nothingWritten() error { return nil }

// openResults returns where the results go, nil when they are not wanted.
func (o *AttackOptions) openResults() (io.Writer, func() error, error) {
	if o.Output == "" && o.Stdout == nil {
		return nil, nothingWritten, nil
	}
	return openOutput(o.Output, o.Stdout)
}

func (o *AttackOptions) engine() engine.Options {
	e := o.Engine
	if o.MaxWorkers > 0 {
		e.HTTP.MaxInFlight = max(o.Share.Users(int(min(o.MaxWorkers, 1<<30))), 1)
	}
	if o.Name != "" {
		e.HTTP.Header = e.HTTP.Header.Clone()
		if e.HTTP.Header == nil {
			e.HTTP.Header = http.Header{}
		}
		e.HTTP.Header["X-Vegeta-Attack"] = []string{o.Name}
	}
	return e
}

// plan reads the targets. What it returns closes the file that a stream reads.
func (o *AttackOptions) plan() (p load.Plan, done func(), err error) {
	if p.Schedule, err = o.Schedule(); err != nil {
		return load.Plan{}, nil, err
	}
	to, err := o.targetOptions()
	if err != nil {
		return load.Plan{}, nil, err
	}
	p.Share = o.Share
	r, done := o.Stdin, func() {}
	if !slices.Contains([]string{"stdin", "-", ""}, o.Targets) {
		f, err := os.Open(o.Targets)
		if err != nil {
			return load.Plan{}, nil, fmt.Errorf("open targets: %w", err)
		}
		r, done = f, func() { f.Close() }
		to.Name, to.Dir = o.Targets, filepath.Dir(o.Targets)
	}
	if o.Lazy {
		p.Stream = NewTargetStream(r, to)
		return p, done, nil
	}
	defer done()
	p.Targets, err = ReadTargets(r, to)
	return p, func() {}, err
}

// PlanOf returns the plan of targets in the options' format, with what else the options say
// of it.
func (o *AttackOptions) PlanOf(targets []byte) (load.Plan, error) {
	own := *o
	own.Stdin, own.Targets, own.Lazy = bytes.NewReader(targets), "", false
	p, _, err := own.plan()
	return p, err
}

// ReadPlan reads the targets that the options name, and returns them also in the JSON
// format, with their places and without what Header adds, for [AttackOptions.PlanOf] on
// another machine. Lazy options are an error.
func (o *AttackOptions) ReadPlan() (p load.Plan, targets []byte, err error) {
	if o.Lazy {
		return p, nil, errors.New("targets that are read as the attack goes on are no plan")
	}
	own := *o
	own.Header = nil
	p, done, err := own.plan()
	if err != nil {
		return p, nil, err
	}
	done()
	if targets, err = encodeTargets(p.Targets); err != nil {
		return p, nil, err
	}
	own = *o
	own.Format = JSONTargets
	p, err = own.PlanOf(targets)
	return p, targets, err
}

func (o *AttackOptions) targetOptions() (TargetOptions, error) {
	to := TargetOptions{Name: "stdin", Format: o.Format, Header: o.Header, NoVariables: o.NoVariables, Seed: o.Seed}
	if o.Body != "" {
		body, err := os.ReadFile(o.Body)
		if err != nil {
			return to, fmt.Errorf("read body: %w", err)
		}
		to.Body = body
	}
	if o.Table == "" {
		return to, nil
	}
	f, err := os.Open(o.Table)
	if err != nil {
		return to, fmt.Errorf("open table: %w", err)
	}
	defer f.Close()
	to.Table, err = load.ReadTable(f, o.Table)
	return to, err
}

// A begunStream is a stream whose first target has come.
type begunStream struct {
	load.Stream
	first *load.Target // nil: it was given
	err   error        // instead of first
}

// beginStream waits for the first target of a stream, so that a load's clock does not run
// before. A stream that has none says so when it is asked.
func beginStream(ctx context.Context, s load.Stream) (load.Stream, error) {
	come := make(chan *begunStream, 1)
	go func() { // ends with the read, which nothing can interrupt
		b := &begunStream{Stream: s}
		b.err = contain.Do(contain.Part{Kind: contain.Engine, Name: "targets"}, func() (err error) { b.first, err = s.Next(); return err })
		come <- b
	}()
	select {
	case b := <-come:
		return b, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Next implements [load.Stream].
func (b *begunStream) Next() (*load.Target, error) {
	first, err := b.first, b.err
	if first == nil && err == nil {
		return b.Stream.Next()
	}
	b.first, b.err = nil, nil
	return first, err
}
