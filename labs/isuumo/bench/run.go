package bench

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku/labs/isuumo/bench/internal/truth"
	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/scenario"
)

// A run is one run of the benchmark: the only scenario of package scenario that there
// is.
type run struct {
	o          *Options
	chairs     *truth.Chairs
	estates    *truth.Estates
	chairRows  *shelf[model.Chair]
	estateRows *shelf[model.Estate]
	seen       conditions
	official   official

	start time.Time
	human atomic.Uint64 // requests of people that were answered well

	mu    sync.Mutex
	since time.Time      // when the present level began
	top   *load.Recorder // of the requests since then; nil before the load
}

var (
	_ scenario.Preparer  = (*run)(nil)
	_ scenario.Loader    = (*run)(nil)
	_ scenario.Validator = (*run)(nil)
)

func newRun(o *Options) *run {
	r := &run{o: o, chairs: o.Known.chairs.Again(), estates: o.Known.estates.Again(), start: time.Now()}
	r.chairRows, r.estateRows = chairShelf(r.chairs), estateShelf(r.estates)
	r.official = official{r.chairs, r.estates}
	return r
}

// Load has users come until the time is over.
func (r *run) Load(ctx context.Context, step *scenario.Step) error {
	step.OnLevel(ctx, func(context.Context, int) { r.rise() })
	r.people(ctx, step, crowd{"chair", rising(0, 3), (*visitor).lookForChair})
	r.people(ctx, step, crowd{"estate", rising(0, 3), (*visitor).lookForEstate})
	r.people(ctx, step, crowd{"map", rising(1, 3), (*visitor).drawOnMap})
	r.crawl(ctx, step)
	r.uploadFiles(ctx, step)
	return nil
}

// rise begins the figures of a level.
func (r *run) rise() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.since, r.top = time.Now(), load.NewRecorder(load.Plan{}, 0)
}

// recordTo returns what counts the requests of a phase.
func (r *run) recordTo(step *scenario.Step) func(scenario.Record) {
	if step.Phase() != scenario.Load {
		return step.Record
	}
	return func(rec scenario.Record) {
		step.Record(rec)
		if rec.Err == "" && rec.Code >= 200 && rec.Code < 300 && OfPeople(rec.Step) {
			r.human.Add(1)
		}
		r.mu.Lock()
		top := r.top
		if rec.Sent.Before(r.since) {
			top = nil
		}
		r.mu.Unlock()
		if top != nil {
			top.Named(rec.Step, &load.Hit{
				Step: scenario.Load.Number(), Due: rec.Sent.Sub(r.start), Sent: rec.Sent.Sub(r.start),
				Done: rec.Done.Sub(r.start),
				Code: rec.Code, BytesIn: rec.BytesIn, BytesOut: rec.BytesOut, Err: rec.Err,
			})
		}
	}
}

// figures returns what the run reports beside its result.
func (r *run) figures() Figures {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := Figures{TopLevel: []scenario.StepLatency{}, HumanRequests: r.human.Load()}
	if r.top != nil {
		f.TopLevel = scenario.Latencies(scenario.Load, r.top)
	}
	return f
}
