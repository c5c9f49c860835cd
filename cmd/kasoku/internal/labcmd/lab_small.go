package labcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/labs/insertbench"
	"github.com/kasoku/kasoku/labs/isucholar"
	"github.com/kasoku/kasoku/labs/isucond"
	"github.com/kasoku/kasoku/labs/isuportal"
	"github.com/kasoku/kasoku/labs/isutrain"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/record"
)

// smallLabs are the labs of package kit.
func smallLabs() []*kit.Lab {
	return []*kit.Lab{insertbench.Lab(), isucholar.Lab(), isucond.Lab(), isuportal.Lab(), isutrain.Lab()}
}

// smallLoad is how long the load of a small lab's run takes unless another time is given.
const smallLoad = 15 * time.Second

// smallLab is a lab of package kit as a lab of the command line.
func smallLab(l *kit.Lab) lab {
	return lab{
		name: l.Name, about: l.About, defects: strings.Join(l.All(), ","), variants: namesOf(l.Variants),
		check: func(o *labFlags) error {
			if err := o.checkVariant(l); err != nil {
				return err
			}
			var own []string
			if len(l.Variants) > 0 {
				own = []string{"variant"}
			}
			if err := o.noneOfIsuumo(own...); err != nil {
				return err
			}
			if _, err := o.smallVariant(l); err != nil {
				return cli.Usagef("", "--defects: %w", err)
			}
			return cmp.Or(knownDatabase(o.database), o.checkPort(l.Name, l.Nginx != nil))
		},
		start: func(ctx context.Context, o *labFlags) (labState, func(context.Context) error, error) {
			return startSmall(ctx, l, o)
		},
		serve: func(ctx context.Context, e *cli.Env, o *serveFlags) error {
			d, err := l.Parse(o.defects)
			if err != nil {
				return cli.Usagef("", "--defects: %w", err)
			}
			c := kit.Config{
				Listen: o.listen, DSN: e.Getenv("KASOKU_LAB_DSN"), Defects: d, Pool: o.pool, Shed: o.shed,
				Capacity: o.capacity, Files: o.files,
				Beside: e.Getenv("KASOKU_LAB_BESIDE"), Duration: o.duration,
				Log: e.Stderr, Out: e.Stdout, Ready: o.accepts,
			}
			if o.neighbour && l.Neighbour.Run != nil {
				return l.Neighbour.Run(ctx, c)
			}
			if o.beside && l.Beside != nil {
				return l.Beside(ctx, c)
			}
			return l.Serve(ctx, c)
		},
		next: func(e *cli.Env, _ *labState) string {
			return fmt.Sprintf("next  %s lab down %s; %s lab run %s starts it by itself\n", e.Name, l.Name, e.Name,
				l.Name)
		},
		record: func(ctx context.Context, o *labRecord) (*record.Result, error) { return recordSmall(ctx, l, o) },
	}
}

// namesOf lists variants, each with what it is about.
func namesOf(all []kit.Variant) string {
	var names []string
	for _, v := range all {
		names = append(names, v.Name)
	}
	return strings.Join(names, ",")
}

// checkVariant refuses a variant that the lab does not have, or one beside defects.
func (o *labFlags) checkVariant(l *kit.Lab) error {
	if !o.set["variant"] || len(l.Variants) == 0 {
		return nil
	}
	if o.set["defects"] {
		return cli.Usagef("", "--variant names a set of defects: leave out --defects")
	}
	if _, err := l.Variant(o.variant); err != nil {
		return cli.Usagef("", "--variant: %w", err)
	}
	return nil
}

// noneOfIsuumo refuses flags that are isuumo's alone; variants are of some small labs, too.
func (o *labFlags) noneOfIsuumo(but ...string) error {
	for _, name := range []string{"variant", "size", "data", "emit", "seed"} {
		if o.set[name] && !slices.Contains(but, name) {
			return cli.Usagef("", "--%s is for isuumo", name)
		}
	}
	return nil
}

// smallVariant is what was asked for: a variant, or defects, all of them without a word.
func (o *labFlags) smallVariant(l *kit.Lab) (kit.Variant, error) {
	switch {
	case o.set["variant"]:
		return l.Variant(o.variant)
	case !o.set["defects"]:
		return kit.Variant{Defects: l.All()}, nil
	}
	d, err := l.Parse(o.defects)
	return kit.Variant{Defects: d}, err
}

func startSmall(ctx context.Context, l *kit.Lab, o *labFlags) (labState, func(context.Context) error, error) {
	if l.Program {
		return labState{}, nil, cli.WithHint(fmt.Errorf("%s is a program, not a service", l.Name),
			"`kasoku lab run "+l.Name+"` runs it")
	}
	s, err := upSmall(ctx, l, o, o.listen)
	if err != nil {
		return labState{}, nil, err
	}
	out := labState{
		AppPid: s.AppPid(), DBPid: s.DB.Pid(), URL: s.URL(), AppURL: s.AppURL(), DSN: s.DSN,
		AccessLog: s.AccessLog, ErrorLog: s.ErrorLog, AppLog: s.AppLog, Defects: s.Defects.String(),
	}
	if s.Nginx != nil {
		out.NginxPid = s.Nginx.Pid()
	}
	return out, s.Down, nil
}

func upSmall(ctx context.Context, l *kit.Lab, o *labFlags, listen string) (*kit.Stack, error) {
	v, err := o.smallVariant(l)
	if err != nil {
		return nil, err
	}
	ko := kit.Options{Dir: o.dir, Database: o.database, Defects: v.Defects, Program: o.self,
		Listen: listen, WebPort: o.http, Twin: v.Twin, Memory: v.Memory, Keep: o.keep, Pool: v.Pool, Shed: v.Shed,
		Hosts: v.Hosts, Capacity: v.Capacity}
	if o.bench || l.Load.Targets == nil && !l.Program {
		ko.Bench = benchCommand(o.self, l.Name)
	}
	return kit.Up(ctx, l, ko)
}

// A labRecord is what one recorded run of a lab is made with.
type labRecord struct {
	flags    *labFlags // its dir is empty before and removed after
	duration time.Duration
	options  record.Options // path, label, version, progress
}

// recordSmall starts the lab, makes one recorded run and stops it.
func recordSmall(ctx context.Context, l *kit.Lab, o *labRecord) (res *record.Result, err error) {
	s, err := upSmall(ctx, l, o.flags, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Down(context.WithoutCancel(ctx))) }()
	lo, err := s.RecordOptions(o.options, o.duration)
	if err != nil {
		return nil, err
	}
	return record.Record(ctx, lo)
}

// runLab makes recorded runs of a lab that has no benchmark of its own.
func (f *labRunFlags) runLab(parent context.Context, e *cli.Env, l lab) (err error) {
	if err := f.checkLab(l); err != nil {
		return err
	}
	ctx, hard, stop := cli.Interruptible(parent)
	defer stop()
	r := &labRuns{e: e, f: f, hard: hard, progress: e.Progress()}
	if r.self, err = os.Executable(); err != nil {
		return err
	}
	free, err := r.lock(l.name)
	if err != nil {
		return err
	}
	defer free()
	o := record.Options{Rules: rules.All(), Hard: hard}
	f.lab.bench = true
	failed := 0
	for n := range f.times {
		o.Run.Label, o.Run.Version = "defects", cli.VersionString()
		if f.lab.set["variant"] {
			o.Run.Label = f.lab.variant
		}
		if o.Path, err = cli.PlaceRun(&o.Run, "", f.out.Dir, e.Now()); err != nil {
			return err
		}
		if f.times > 1 {
			o.Run.Group, o.Run.Repeat = cmp.Or(o.Run.Group, o.Run.ID), n+1
		}
		res, err := r.oneOf(ctx, l, &labRecord{flags: &f.lab, duration: f.duration, options: o})
		r.progress.Clear()
		if res == nil {
			return err
		}
		if err := errors.Join(err, f.out.Print(e, e.ShowRun(res.Recording, res.Path))); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return cli.Stopped("stopped before the end: " + context.Cause(ctx).Error())
		}
		if is, _ := cli.HasFailed(res.Recording); is && (contests[l.name] != nil || l.name == goldrushName) {
			failed++
		}
	}
	return judgeRuns(failed, f.times)
}

// oneOf makes one run of a lab in a directory that is empty before and removed after.
func (r *labRuns) oneOf(ctx context.Context, l lab, o *labRecord) (res *record.Result, err error) {
	r.progress.Work(l.name, 0, "starts")
	if err := os.RemoveAll(r.work); err != nil {
		return nil, err
	}
	if err := private.State.MkdirAll(r.work); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.work)) }()
	o.flags.dir, o.flags.self, o.flags.keep = r.work, r.self, labDir(r.e, l.name+"-keep")
	o.options.OnProgress = func(now record.Progress) { cli.ShowProgress(r.progress, now, o.duration) }
	return l.record(ctx, o)
}

// checkLab refuses flags that do not go together.
func (f *labRunFlags) checkLab(l lab) error {
	switch {
	case f.times < 1:
		return cli.Usagef("", "-n %d: want 1 or more", f.times)
	case f.compare || f.compat || f.off:
		return cli.Usagef("", "--compare-variants, --compat and --observers-off are for isuumo")
	}
	if !f.lab.set["duration"] {
		f.duration = max(smallLoad, leastLoad(l.name))
	}
	if err := checkLoadTime(f.duration); err != nil {
		return err
	}
	if err := f.out.Check(); err != nil {
		return err
	}
	return l.check(&f.lab)
}
