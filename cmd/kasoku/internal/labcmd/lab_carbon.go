package labcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/labs/carbon"
	"github.com/kasoku/kasoku/labs/writeup"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/record"
)

// carbonLab is the lab of a time-series database.
func carbonLab() lab {
	return lab{
		name: carbon.Name, about: "a time-series database whose settings decide what is written",
		defects: strings.Join(carbon.IDs(), ","), variants: strings.Join(carbon.VariantNames(), ","),
		check: (*labFlags).checkCarbon, start: startCarbon, next: nextCarbon, record: recordCarbon,
		serve: func(context.Context, *cli.Env, *serveFlags) error {
			return cli.Usagef("`kasoku lab up carbon` starts it", "carbon is a program of its own")
		},
	}
}

// checkCarbon refuses what the lab does not have.
func (o *labFlags) checkCarbon() error {
	for _, name := range []string{"size", "data", "emit", "db", "http", "seed", "listen"} {
		if o.set[name] {
			return cli.Usagef("", "--%s: carbon has no rows, no database and no nginx", name)
		}
	}
	if o.set["variant"] && o.set["defects"] {
		return cli.Usagef("", "--defects are of a server without other limits: leave out --variant")
	}
	_, err := o.carbonVariant()
	return err
}

// carbonVariant is what was asked for; as shipped without a word.
func (o *labFlags) carbonVariant() (v carbon.Variant, err error) {
	switch {
	case o.set["defects"]:
		if v, err = carbon.Seeded(o.defects); err != nil {
			return v, cli.Usagef("", "--defects: %w", err)
		}
	case o.set["variant"]:
		if v, err = carbon.Named(o.variant); err != nil {
			return v, cli.Usagef("", "--variant: %w", err)
		}
	default:
		return carbon.Named(carbon.Initial)
	}
	return v, nil
}

func startCarbon(ctx context.Context, o *labFlags) (labState, func(context.Context) error, error) {
	v, err := o.carbonVariant()
	if err != nil {
		return labState{}, nil, err
	}
	s, err := carbon.Up(ctx, v, o.dir)
	if err != nil {
		return labState{}, nil, err
	}
	has := s.Variant.Describe()
	if s.Imitated != "" {
		has += "; a slow disk, imitated by " + s.Imitated
	}
	return labState{AppPid: s.PIDs()[0], URL: s.Address(), AppLog: s.Log(), Variant: v.Name, Defects: has}, s.Down, nil
}

func nextCarbon(e *cli.Env, s *labState) string {
	v, err := carbon.Named(s.Variant)
	if ids, ok := strings.CutPrefix(s.Variant, "defects "); ok {
		v, err = carbon.Seeded(ids)
	}
	if err != nil { // of another version of kasoku
		v = carbon.Variant{}
	}
	return fmt.Sprintf("next  %s %s\n", e.Name, strings.Join(v.Load(s.URL, time.Minute), " "))
}

// recordCarbon starts the servers, sends points under a recording and stops them.
func recordCarbon(ctx context.Context, o *labRecord) (res *record.Result, err error) {
	if o.duration < carbon.Least {
		return nil, cli.Usagef("", "--duration %s: want %s or more: carbon reports of itself every %s",
			unit.Exact(o.duration), unit.Exact(carbon.Least), unit.Exact(carbon.ReportEvery))
	}
	v, err := o.flags.carbonVariant()
	if err != nil {
		return nil, err
	}
	s, err := carbon.Up(ctx, v, o.flags.dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Down(context.WithoutCancel(ctx))) }()
	lo := o.options
	v = s.Variant
	lo.Run.Project, lo.Run.Note = carbon.Name, v.Name+": "+v.Describe()
	lo.Run.Load = fmt.Sprintf("%s series, a point each %s, for %s", unit.Count(carbon.Series),
		unit.Exact(cmp.Or(v.Every, carbon.Interval)), unit.Exact(o.duration))
	lo.Settings = append(slices.Clone(lo.Settings), kasoku.Setting{Scope: "app", Name: "variant", Value: v.Name})
	lo.PIDs, lo.Servers = s.PIDs(), []observe.Table{s.Table()}
	if s.Imitated != "" {
		lo.Run.Note += "; a slow disk, imitated by " + s.Imitated
		lo.Settings = append(lo.Settings,
			kasoku.Setting{Scope: "app", Name: "slow disk, imitated by", Value: s.Imitated})
	}
	lo.Command = append([]string{o.flags.self}, v.Load(s.Address(), o.duration)...)
	lo.Stdout, lo.Stderr = io.Discard, io.Discard
	if where, err := freeVars(); err == nil {
		lo.Command, lo.Expvar = append(lo.Command, "--vars", where), []string{"http://" + where + "/debug/vars"}
	}
	return record.Record(ctx, lo)
}

// carbonStory is that of the time-series database. Without go-carbon it has a step less.
func carbonStory() writtenUp {
	s := carbon.Story()
	if _, err := command.LookPath(carbon.GoCarbon); err != nil {
		s.Steps = slices.DeleteFunc(s.Steps, func(st writeup.Step) bool { return st.Name == carbon.GoCarbon })
	}
	run := func(ctx context.Context, r *labRuns, o *labRecord, step string) (*labRunResult, error) {
		o.flags.set["variant"], o.flags.variant = true, step
		return resultOf(r.oneOf(ctx, carbonLab(), o))
	}
	return writtenUp{s, 40 * time.Second, run, func(r *labRunResult) []float64 { return carbon.Figures(r.rec) }}
}
