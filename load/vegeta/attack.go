package vegeta

import (
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
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
)

// DefaultRate is Vegeta's.
const DefaultRate = 50

// AttackOptions are those of Vegeta's attack command. Its defaults that are
// not zero are those of [DefaultAttack].
type AttackOptions struct {
	Name       string
	Targets    string // file; empty, "stdin" and "-" are Stdin
	Format     string // of the targets: http, also when empty, or json
	Body       string // file with the body of targets that have none
	Header     http.Header
	Rate       float64       // requests per second; 0: as many as MaxWorkers let through
	Steps      []float64     // a ladder instead of Rate, one step of Duration each; not Vegeta's
	Pause      time.Duration // between the steps of a ladder
	Duration   time.Duration // 0: until stopped
	MaxWorkers uint64        // cap on requests in flight; 0: HTTP.MaxInFlight
	Output     string        // file; empty, "stdout" and "-" are Stdout
	Encoding   Encoding      // of the results; empty means Gob

	HTTP nethttp.Options

	Stdin  io.Reader
	Stdout io.Writer

	// Watch, when not nil, also gets the hits, for showing progress. It is made
	// when the plan is known.
	Watch func(load.Plan) load.Sink
}

// DefaultAttack returns the options that Vegeta has without flags.
func DefaultAttack() AttackOptions {
	return AttackOptions{Rate: DefaultRate, HTTP: nethttp.Options{SeqHeader: "X-Vegeta-Seq"}}
}

// Validate reports options that contradict each other.
func (o *AttackOptions) Validate() error {
	switch {
	case len(o.Steps) > 0 && o.Duration <= 0:
		return errors.New("a ladder needs the duration of a step")
	case len(o.Steps) == 0 && o.Rate == 0 && o.MaxWorkers == 0 && o.HTTP.MaxInFlight == 0:
		return errors.New("-rate=0 requires setting -max-workers")
	case o.Duration < 0:
		return fmt.Errorf("bad duration %s", o.Duration)
	}
	if _, err := NewEncoder(io.Discard, o.Encoding); err != nil {
		return err
	}
	return o.HTTP.Validate()
}

// An AttackResult is what an attack came to.
type AttackResult struct {
	Summary  kasoku.LoadSummary
	Tally    *kasoku.Tally
	Metrics  *Metrics // of all results, closed
	Warnings []kasoku.Warning
}

// Attack sends the requests and writes their results. When ctx is cancelled it
// sends no more, lets what is in flight end, and returns no error for it.
func Attack(ctx context.Context, o AttackOptions) (res AttackResult, err error) {
	if err := o.Validate(); err != nil {
		return res, err
	}
	plan, err := o.plan()
	if err != nil {
		return res, err
	}
	engine, err := nethttp.New(o.http())
	if err != nil {
		return res, err
	}
	out, closeOut, err := openOutput(o.Output, o.Stdout)
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, closeOut()) }()

	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	start := time.Now()
	res.Metrics = &Metrics{}
	w, err := NewWriter(out, WriterOptions{
		Encoding: o.Encoding, Attack: o.Name, Start: start, Plan: plan, Failed: stop, Metrics: res.Metrics})
	if err != nil {
		return res, err
	}
	rec := load.NewRecorder(plan, 0)
	sinks := []load.Sink{w, rec}
	if o.Watch != nil {
		sinks = append(sinks, o.Watch(plan))
	}
	res.Summary, err = engine.Run(ctx, plan, start, load.Tee(sinks...))
	err = errors.Join(err, w.Close())
	res.Metrics.Close()
	res.Tally = rec.Tally(0)
	res.Warnings = load.Warnings(res.Summary, res.Tally)
	return res, err
}

func (o *AttackOptions) http() nethttp.Options {
	h := o.HTTP
	if o.MaxWorkers > 0 {
		h.MaxInFlight = int(min(o.MaxWorkers, 1<<30))
	}
	if o.Name != "" {
		h.Header = h.Header.Clone()
		if h.Header == nil {
			h.Header = http.Header{}
		}
		h.Header["X-Vegeta-Attack"] = []string{o.Name}
	}
	return h
}

func (o *AttackOptions) plan() (p load.Plan, err error) {
	if p.Schedule, err = o.schedule(); err != nil {
		return load.Plan{}, err
	}
	if p.Targets, err = o.targets(); err != nil {
		return load.Plan{}, err
	}
	return p, nil
}

func (o *AttackOptions) schedule() (load.Schedule, error) {
	if len(o.Steps) > 0 {
		return load.Ladder(o.Steps, o.Duration, o.Pause)
	}
	if o.Rate == 0 {
		return load.Closed(o.Duration)
	}
	return load.Constant(o.Rate, o.Duration)
}

func (o *AttackOptions) targets() ([]load.Target, error) {
	to := TargetOptions{Name: "stdin", Format: o.Format, Header: o.Header}
	if o.Body != "" {
		body, err := os.ReadFile(o.Body)
		if err != nil {
			return nil, fmt.Errorf("read body: %w", err)
		}
		to.Body = body
	}
	if slices.Contains([]string{"stdin", "-", ""}, o.Targets) {
		return ReadTargets(o.Stdin, to)
	}
	f, err := os.Open(o.Targets)
	if err != nil {
		return nil, fmt.Errorf("open targets: %w", err)
	}
	defer f.Close()
	to.Name, to.Dir = o.Targets, filepath.Dir(o.Targets)
	return ReadTargets(f, to)
}
