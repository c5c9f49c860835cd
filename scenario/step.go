package scenario

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/kasoku/kasoku/load"
)

// A Tag names a kind of success, such as "buy".
type Tag string

// A Scenario is a part of a benchmark. It is any value that has at least one of the
// methods of [Preparer], [Loader] and [Validator].
type Scenario any

// A Preparer prepares a service and verifies it. An error, returned or given to
// [Step.Fail], is the end of the run.
type Preparer interface {
	Prepare(context.Context, *Step) error
}

// A Loader makes load. It may return at once when it has started workers: the phase
// goes on until its time is over or nobody works any more. Its error counts as one
// given to [Step.Fail].
type Loader interface {
	Load(context.Context, *Step) error
}

// A Validator looks at what the load has left behind. With an error, returned or
// given to [Step.Fail], the run has not passed.
type Validator interface {
	Validate(context.Context, *Step) error
}

// A Step is one phase of a benchmark, as its scenarios see it. All methods are safe
// for concurrent use and cheap: no success or error waits for another goroutine.
type Step struct {
	Phase Phase
}

// Score counts one success.
func (s *Step) Score(tag Tag) {}

// Fail counts an error by its code, see [CodeOf], and ends the run when that code's
// limit is reached. Nil, errors of the code Canceled and what fails because the phase
// is over do not count.
func (s *Step) Fail(err error) {}

// SetLanguage says what the service is written in.
func (s *Step) SetLanguage(language string) {}

// Points returns the sum of what was scored so far, nothing deducted.
func (s *Step) Points() int64 { return 0 }

// Level returns the level of the load, from 0.
func (s *Step) Level() int { return 0 }

// OnLevel calls do for the present level and, as soon as it begins, for each one
// that comes, in order and one after the other, on a goroutine of its own.
func (s *Step) OnLevel(ctx context.Context, do func(ctx context.Context, level int)) {}

// Workers says how many users there are and what they do.
type Workers struct {
	Name string // with the number it decides on a worker's random numbers
	// Count returns how many there have to be at a level. A change of level is
	// followed at once: new ones are started; of too many those with the highest
	// numbers end with the call that they are in, and their pauses are cut short.
	Count func(level int) int
	Loops int // how often each calls Do; 0: until the phase is over

	Begin func(context.Context, *Worker) error // called once before the first Do; may be nil; with an error there is no Do
	// Do is what a worker does again and again. Its error is given to Fail.
	Do  func(context.Context, *Worker) error
	End func(*Worker) // called once after the last Do; may be nil

	// Rest is the pause after an error, so that a service that is down is not asked
	// again without end; 0: half a second, negative: none.
	Rest time.Duration
}

// A Worker is one of several users. It belongs to the goroutine that runs it.
type Worker struct {
	Name   string
	Number int        // from 0, among those of its name
	Loop   int        // how often Do was called before
	Rand   *rand.Rand // the same numbers in each run with the same seed, whatever the timing
	Data   any        // the scenario's own
}

// Sleep pauses, and returns an error of the code Canceled when the phase is over or
// the worker is to end.
func (w *Worker) Sleep(ctx context.Context, d time.Duration) error { return nil }

// Between returns a duration drawn evenly from [least, most).
func (w *Worker) Between(least, most time.Duration) time.Duration { return 0 }

// Workers starts workers and returns at once. They end with ctx or with the phase.
func (s *Step) Workers(ctx context.Context, w Workers) {}

// Jobs are done once.
type Jobs struct {
	Name  string              // with the number it decides on a worker's random numbers
	Count func(level int) int // how many are started when a level begins; nil: one at each
	Do    func(context.Context, *Worker) error
}

// Once starts jobs, those of the levels that have begun at once, those of other
// levels when they begin, and returns at once. Workers are numbered from 0 in the
// order of levels.
func (s *Step) Once(ctx context.Context, j Jobs) {}

// Arrivals are requests that come when they are due, however long answers take.
type Arrivals struct {
	Name        string // with the number it decides on a worker's random numbers
	Schedule    load.Schedule
	MaxInFlight int // at once; those that are due then wait, which their latency includes; 0: [load.MaxInFlight]
	// Do is called for each, on a goroutine of its own. Worker.Number is the number
	// of the arrival, and [Due] of the context gives its due time.
	Do func(context.Context, *Worker) error
}

// Arrive starts an open loop beside the workers and returns at once.
func (s *Step) Arrive(ctx context.Context, a Arrivals) {}

// Due returns when the work that ctx is for was due, the first time that it is asked
// about one arrival of [Step.Arrive]; later ones, and elsewhere, ok is false. A client
// asks when it sends a request, for [Record.Due]: the first request of an arrival was
// due then, whenever it is sent.
func Due(ctx context.Context) (due time.Time, ok bool) { return time.Time{}, false }

// Record keeps the times of one request.
func (s *Step) Record(r Record) {}

// Rand returns random numbers that follow from the seed, the name and the number
// alone. What it returns is not for concurrent use.
func (s *Step) Rand(name string, number int) *rand.Rand { return nil }

// A Record is one request and what came of it.
type Record struct {
	Step              string    // what it is counted as: "GET /api/chair/search"
	Due               time.Time // when it should have been sent; zero: Sent
	Sent, Done        time.Time
	Code              int // status; 0 without a complete answer
	BytesIn, BytesOut uint64
	Err               string // empty on success
}
