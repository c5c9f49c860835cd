package labcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/labs/carbon"
	"github.com/kasoku/kasoku/labs/truth"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/store"
	"github.com/kasoku/kasoku/trace/window"
)

// truthFlags are the flags of lab truth.
type truthFlags struct {
	labs, only []string
	database   string
	duration   time.Duration
	size       string
	keep       string
	again      bool
	byID       bool
	against    string
	pairs      truth.Pairs // of what ran, with what is in against
	times      int
}

// newLabTruth is the harness of the labs, for those who write rules.
func newLabTruth(e *cli.Env) *cobra.Command {
	var f truthFlags
	cmd := &cobra.Command{
		Use: "truth", Hidden: true, Args: cobra.NoArgs,
		Short: "Run every lab with all defects, each alone and none, and count what the diagnosis finds",
		Example: `  kasoku lab truth --keep truth
  kasoku lab truth --keep truth --labs insertbench --only all,none
  kasoku lab truth --keep truth --again
  kasoku lab truth --keep beside --again --against truth
  kasoku lab truth --keep truth --labs isuumo --only all --times 3`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), e) },
	}
	fl := cmd.Flags()
	fl.StringSliceVar(&f.labs, "labs", nil, "these labs alone")
	fl.StringSliceVar(&f.only, "only", nil, "these variants alone: ids, all, none")
	fl.StringVar(&f.database, "db", "mariadb", "database: mariadb or mysql")
	fl.DurationVar(&f.duration, "duration", 12*time.Second, "of the load of a run")
	fl.StringVar(&f.size, "size", "small", "rows of isuumo: full or small")
	fl.StringVar(&f.keep, "keep", "truth", "`DIRECTORY` for the run files, LAB/VARIANT.kasoku")
	fl.IntVar(&f.times, "times", 1, "runs of each variant; with --against what most of them have counts")
	fl.BoolVar(&f.again, "again", false, "diagnose the run files that are there again, without runs")
	fl.BoolVar(&f.byID, "by-id", false, "also count by id")
	fl.StringVar(&f.against, "against", "", "`DIRECTORY` of other runs: also say which variants have other findings there")
	return cmd
}

// labTruths are the labs with their truth.
func labTruths() []*truth.Lab {
	out := []*truth.Lab{truth.Userapi(), truth.Isuumo()}
	for _, l := range smallLabs() {
		out = append(out, truth.Of(l))
	}
	return append(out, truth.Goldrush(), truth.Carbon())
}

func (f *truthFlags) run(parent context.Context, e *cli.Env) error {
	if err := knownDatabase(f.database); err != nil {
		return err
	}
	for _, name := range f.labs {
		if _, err := labNamed(name); err != nil {
			return err
		}
	}
	if err := f.checkOnly(); err != nil {
		return err
	}
	if f.times < 1 {
		return cli.Usagef("", "--times %d: want 1 or more", f.times)
	}
	ctx, hard, stop := cli.Interruptible(parent)
	defer stop()
	table, failed := f.judge(ctx, hard, e)
	if failed != nil && len(table) == 0 {
		return failed
	}
	if failed != nil { // what was done by then stands
		fmt.Fprintf(e.Stdout, "Not complete: %v. These are the %d runs before it.\n\n", failed, len(table))
	}
	writes := []func(io.Writer) error{table.WriteMarkdown}
	if f.byID {
		writes = append(writes, table.WriteByID)
	}
	if f.against != "" {
		writes = append(writes, f.pairs.WriteMarkdown)
	}
	for i, write := range writes {
		if i > 0 {
			fmt.Fprintln(e.Stdout)
		}
		if err := write(e.Stdout); err != nil {
			return cmp.Or(failed, err)
		}
	}
	return failed
}

// chosen returns the labs that are asked for.
func (f *truthFlags) chosen() []*truth.Lab {
	return slices.DeleteFunc(labTruths(), func(l *truth.Lab) bool { return len(f.labs) > 0 && !slices.Contains(f.labs, l.Name) })
}

// checkOnly refuses variants that none of the labs has.
func (f *truthFlags) checkOnly() error {
	var known []string
	for _, l := range f.chosen() {
		known = append(known, l.Variants()...)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, variant := range f.only {
		if !slices.Contains(known, variant) {
			return cli.Usagef("", "unknown variant %q: want %s", variant, strings.Join(known, ", "))
		}
	}
	return nil
}

// judge runs all variants that are asked for, and diagnoses them. An error ends it: the
// table is that of the runs before.
func (f *truthFlags) judge(ctx, hard context.Context, e *cli.Env) (table truth.Table, err error) {
	for _, l := range f.chosen() {
		for _, variant := range l.Variants() {
			if len(f.only) > 0 && !slices.Contains(f.only, variant) {
				continue
			}
			if !f.again {
				if err := f.record(ctx, hard, e, l.Name, variant); err != nil {
					return table, err
				}
			}
			if ctx.Err() != nil { // the run was cut short
				return table, cli.Stopped("stopped by " + context.Cause(ctx).Error())
			}
			runs, err := diagnosed(f.keep, l.Name, variant)
			if err != nil {
				return table, err
			}
			for _, d := range runs {
				table = append(table, truth.Judge(l.Case(variant), d))
				fmt.Fprintf(e.Stderr, "%s %s: %s\n", l.Name, variant, listFindings(d))
			}
			if err := f.compare(l.Case(variant), runs); err != nil {
				return table, err
			}
		}
	}
	return table, nil
}

// record makes the runs of a variant, and removes those of before.
func (f *truthFlags) record(ctx, hard context.Context, e *cli.Env, lab, variant string) error {
	old, err := runsOf(f.keep, lab, variant)
	if err != nil {
		return err
	}
	for _, path := range old {
		for _, file := range []string{path, path + "-wal", path + "-shm"} {
			if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	for n := 0; n < f.times && ctx.Err() == nil; n++ {
		if err := f.make(ctx, hard, e, lab, variant, runPath(f.keep, lab, variant, n+1)); err != nil {
			return err
		}
	}
	return nil
}

// runPath returns where the n-th run of a variant is kept, from 1.
func runPath(dir, lab, variant string, n int) string {
	if n > 1 {
		variant += "." + strconv.Itoa(n)
	}
	return filepath.Join(dir, lab, variant+store.Extension)
}

// runsOf lists the run files of a variant, as [runPath] numbers them.
func runsOf(dir, lab, variant string) (out []string, err error) {
	for n := 1; ; n++ {
		path := runPath(dir, lab, variant, n)
		switch _, err := os.Stat(path); {
		case errors.Is(err, os.ErrNotExist):
			return out, nil
		case err != nil:
			return nil, err
		}
		out = append(out, path)
	}
}

// diagnosed diagnoses the run files of a variant.
func diagnosed(dir, lab, variant string) (out []*kasoku.Diagnosis, err error) {
	paths, err := runsOf(dir, lab, variant)
	for _, path := range paths {
		rec, err := store.Open(path)
		if err != nil {
			return nil, err
		}
		out = append(out, diagnose.Diagnose(diagnose.NewCase(rec, nil), rules.All()))
	}
	return out, err
}

// compare compares the findings of a variant with those of its other runs, where there are any.
func (f *truthFlags) compare(c truth.Case, here []*kasoku.Diagnosis) error {
	if f.against == "" {
		return nil
	}
	there, err := diagnosed(f.against, c.Lab.Name, c.Variant)
	if len(here) > 0 && len(there) > 0 {
		f.pairs = append(f.pairs, truth.Compare(c, here, there))
	}
	return err
}

// listFindings lists the findings in a line.
func listFindings(d *kasoku.Diagnosis) string {
	var out []string
	for _, f := range d.Findings {
		if f.Severity == kasoku.Problem {
			out = append(out, fmt.Sprintf("%s (%s) %.0f%%", f.ID, f.Object, 100*f.Impact.Share))
		}
	}
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, ", ")
}

// make makes the run of a variant and puts it where it is kept.
func (f *truthFlags) make(ctx, hard context.Context, e *cli.Env, name, variant, path string) (err error) {
	l, err := labNamed(name)
	if err != nil {
		return err
	}
	if err := private.Output.MkdirAll(filepath.Dir(path)); err != nil {
		return err
	}
	rf := &labRunFlags{times: 1, duration: max(f.duration, leastLoad(name)), out: cli.Output{Dir: filepath.Dir(path)}}
	rf.lab = labFlags{defects: variant, database: f.database, size: f.size, set: map[string]bool{"defects": true, "size": true},
		game: publishedGame()}
	r := &labRuns{e: e, f: rf, hard: hard, progress: e.Progress(), sides: []*labSide{{name: variant}}}
	if r.self, err = os.Executable(); err != nil {
		return err
	}
	free, err := r.lock(name)
	if err != nil {
		return err
	}
	defer free()
	usual := config.Default().Trace // as kasoku run has it
	r.trace = window.Planned(usual.On, usual.For, usual.After)
	if l.record == nil {
		return r.keepOne(ctx, path)
	}
	o := record.Options{Path: path, Rules: rules.All(), Hard: hard}
	o.Trace = r.trace
	o.Run.Label, o.Run.Version = variant, cli.VersionString()
	_, err = r.oneOf(ctx, l, &labRecord{flags: &rf.lab, duration: rf.duration, options: o})
	return err
}

// leastLoad is how long the load of a lab has to be, whatever is asked for.
func leastLoad(name string) time.Duration {
	if name == carbon.Name {
		return carbon.Least
	}
	for _, l := range smallLabs() {
		if l.Name == name {
			return l.Load.Least
		}
	}
	return 0
}

// keepOne makes a run of a lab with a benchmark.
func (r *labRuns) keepOne(ctx context.Context, path string) (err error) {
	if r.data, err = r.f.lab.read(); err != nil {
		return err
	}
	res, err := r.one(ctx, r.sides[0])
	r.progress.Clear()
	if res == nil || err != nil {
		return err
	}
	return os.Rename(res.path, path)
}
