package labcmd

import (
	"context"
	"maps"
	"slices"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/labs/contest"
	isucholar "github.com/kasoku/kasoku/labs/isucholar/bench"
	isucond "github.com/kasoku/kasoku/labs/isucond/bench"
	isuportal "github.com/kasoku/kasoku/labs/isuportal/bench"
	isutrain "github.com/kasoku/kasoku/labs/isutrain/bench"
	"github.com/kasoku/kasoku/load/scenario"
)

// contests are the benchmarks of the small labs that have one.
var contests = map[string]func(context.Context, *contest.Options) (*scenario.Result, error){
	"isucholar": isucholar.Run,
	"isucond":   isucond.Run,
	"isuportal": isuportal.Run,
	"isutrain":  isutrain.Run,
}

// benchCommand is the command line of a lab's benchmark, to which its target and its time are
// added; nil: it has none.
func benchCommand(self, name string) []string {
	if contests[name] == nil {
		return nil
	}
	return []string{self, "lab", "bench", name}
}

// contest reads the flags for the benchmark of a small lab.
func (f *labBenchFlags) contest(e *cli.Env, name string) (*benchmark, error) {
	for _, of := range slices.Sorted(maps.Keys(f.rows.set)) {
		if !slices.Contains([]string{"target", "duration", "load-seed", "allow"}, of) {
			return nil, cli.Usagef("", "--%s is for isuumo", of)
		}
	}
	o := &contest.Options{Target: f.target, Duration: f.duration, Seed: f.loadSeed}
	o.Permit.Hosts = f.allow
	if o.Target == "" {
		s, ok := runningLab(e, name)
		if !ok {
			return nil, notRunning(name)
		}
		o.Target = s.URL
	}
	return &benchmark{o.Target, o.Permit, func(ctx context.Context, onProgress func(scenario.Progress),
		sink scenario.Sink,
	) (*scenario.Result, any, error) {
		o.OnProgress, o.Sink = onProgress, sink
		res, err := contests[name](ctx, o)
		return res, res, err
	}}, checkTarget(o.Target, f.duration)
}
