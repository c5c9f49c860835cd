package recordcmd

import (
	"context"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/report/terminal"
)

// Once makes one run of a kasoku.toml for a command that has its own say on standard output:
// what a benchmark prints goes to standard error. The base is the id of the run that it is a
// try upon, the earlier ones are those that it repeats.
func Once(ctx context.Context, e *cli.Env, c *config.Config, hard context.Context, label, base string, earlier []*kasoku.Recording) (*kasoku.Recording, error) {
	f := &runFlags{label: label, base: base, times: len(earlier) + 2} // each may be repeated
	s := &series{e: e, f: f, dir: c.Runs, progress: e.Progress()}
	s.team = team{hosts: c.Fleet.Record, say: s.progress.Say}
	s.options = func() (record.Options, error) {
		o, err := f.options(e, c, hard)
		o.Stdout = terminal.Raw(e.Stderr)
		return o, err
	}
	var err error
	if s.o, err = s.options(); err != nil {
		return nil, err
	}
	if len(earlier) > 0 {
		s.groups = []*runGroup{{id: earlier[0].Run.Group, observers: s.o.Observers, runs: earlier}}
	}
	res, err := s.one(ctx, s.o.Observers)
	s.progress.Clear()
	if res == nil {
		return nil, err
	}
	return res.Recording, err
}
