package showcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/compare/part"
	"github.com/kasoku/kasoku/report/comparison"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/recording"
	"github.com/kasoku/kasoku/store"
	"github.com/spf13/cobra"
)

// compareFlags are the flags of compare.
type compareFlags struct {
	out      cli.Output
	opts     compare.Options
	price    string
	currency string
	failOn   string
}

// NewCompare returns the command compare, which compares two runs or two groups.
func NewCompare(e *cli.Env) *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare [BEFORE] AFTER",
		Short: "Compare two runs, or two groups: what moved, by how much, how sure",
		Long: `Compare two runs or two groups of runs. BEFORE and AFTER are files, ids, labels,
groups, or several of them with commas. A label whose newest run is one of a
group means the whole group. A run that was made with --base, or by autopilot,
is compared with its base when it is named alone.

With several runs a side each figure is taken once a run; medians are compared
and judged by the Mann-Whitney test, which needs 4 runs a side at the least.

With one run a side the intervals come from a block bootstrap over the seconds
within each run. They say how steady each run was, not how two runs of the same
thing would differ; so there is no test of significance. When the directory has
a group of the same project and load, its runs show that difference.

The verdict rests on one row: the score; without one success at the step where
it broke, else p99 there; else the throughput. With --fail-on worse the exit code
is 1 when that row got worse. It is 1, too, when all runs of both sides failed, or
none scored anything: nothing can be compared then.

RUN@12s-31s are seconds of a run, from 12 s on until 31 s after its begin, or times of
day: endpoints, statements and messages of two stretches, of one run or two, a second
and with percentiles of these seconds. There is no verdict then.`,
		Example: `  kasoku compare before after
  kasoku compare demo/before.kasoku demo/after.kasoku --html compare.html
  kasoku compare a1,a2,a3,a4 b1,b2,b3,b4
  kasoku compare x86 arm --price before=0.096,after=0.077 --currency USD
  kasoku compare before after --fail-on worse
  kasoku compare 3-idx-01
  kasoku compare before@12s-31s before@40s-60s`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.WhileReading(cmd.Context(), func(context.Context) error { return f.run(e, args) })
		},
	}
	f.out.Register(cmd)
	fl := cmd.Flags()
	fl.Float64Var(&f.opts.Step, "step", 0, "compare only the step with this asked `RATE`")
	fl.StringVar(&f.price, "price", "",
		"what the machines cost an hour: `PRICE`, or before=PRICE,after=PRICE; default what the runs say")
	fl.StringVar(&f.currency, "currency", "", "`NAME` of the currency of --price")
	fl.StringVar(&f.failOn, "fail-on", "", "exit 1 when the verdict is `WORD`: worse")
	_ = cmd.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions([]string{"worse"},
		cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (f *compareFlags) run(e *cli.Env, args []string) error {
	if err := f.out.Check(); err != nil {
		return err
	}
	if f.failOn != "" && f.failOn != "worse" {
		return cli.Usagef("", "--fail-on %q: want worse", f.failOn)
	}
	prices, err := f.prices()
	if err != nil {
		return err
	}
	if names, parts := f.stretches(args); parts[0] != nil || parts[1] != nil {
		return f.compareParts(e, names, parts)
	}
	if args, err = f.withBase(args); err != nil {
		return err
	}
	sides, err := f.sides(e, args)
	if err != nil {
		return err
	}
	for i, p := range prices {
		for _, r := range sides[i] {
			if p != nil {
				r.Run.Price = *p
			}
		}
	}
	if len(sides[0]) == 1 && len(sides[1]) == 1 {
		f.opts.Unchanged = cli.UnchangedRuns(f.dirs(), sides[0][0], sides[1][0])
	}
	c, err := compare.Compare(sides[0], sides[1], f.opts)
	if err != nil {
		return cli.Usage(err, cli.HintOf(err))
	}
	o := e.ReportOptions("")
	o.Commands = []string{"kasoku compare " + args[0] + " " + args[1]}
	if err := f.out.Print(e, cli.Printer{
		Doc:  comparison.Compare(c, o),
		JSON: func(w io.Writer) error { return encode.ComparisonJSON(w, c) },
	}); err != nil {
		return err
	}
	if why := c.Incomparable(); why != "" {
		return cli.Bad("nothing can be compared: " + why)
	}
	if f.failOn != "" && c.Outcome == compare.Worse {
		if c.After.Failed != "" {
			return cli.Bad("every run of " + c.After.Name() + " failed: " + c.After.Failed)
		}
		b, a := c.Primary().Print()
		return cli.Bad(fmt.Sprintf("%s got worse: %s → %s; %s", c.Primary().Name, b, a, c.Label))
	}
	return nil
}

// stretches takes the arguments apart into runs and the seconds of them that are meant.
func (f *compareFlags) stretches(args []string) (names []string, parts [2]*stretchFlags) {
	for i, arg := range args {
		name, seconds := stretchOf(f.out.Dir, arg)
		names = append(names, name)
		parts[i] = seconds
	}
	return names, parts
}

// compareParts compares seconds of runs, of one run or of two: counts and percentiles, without a test.
func (f *compareFlags) compareParts(e *cli.Env, names []string, seconds [2]*stretchFlags) error {
	if len(names) != 2 {
		return cli.Usagef("`kasoku compare RUN@12s-31s RUN@40s-60s`",
			"seconds of a run are compared with others: name both")
	}
	if f.failOn != "" || f.price != "" || f.opts.Step != 0 {
		return cli.Usagef("leave out --fail-on, --price and --step, or the seconds",
			"seconds of a run have no verdict: they are no runs of their own")
	}
	var parts [2]*part.Part
	var files [2]string
	for i, name := range names {
		path, err := cli.FindRun(f.out.Dir, name)
		if err != nil {
			return err
		}
		files[i] = path
		rec, err := openPath(e, path)
		if err != nil {
			return err
		}
		if i == 1 && files[0] == path {
			rec = parts[0].Of // one run, not two of one name
		}
		if seconds[i] == nil {
			seconds[i] = &stretchFlags{}
		}
		if parts[i], err = seconds[i].part(rec, e.ReportOptions(path)); err != nil {
			return err
		}
	}
	o := e.ReportOptions("")
	return f.out.Print(e, cli.Printer{
		Doc:  recording.ShowParts(parts[0], parts[1], o),
		JSON: func(w io.Writer) error { return encode.PartsJSON(w, parts[0], parts[1], o) },
	})
}

// withBase puts the base of a try before it, where the try alone is named: the group that
// it is of, as at the end of the try itself.
func (f *compareFlags) withBase(args []string) ([]string, error) {
	if len(args) != 1 {
		return args, nil
	}
	paths, err := findRuns(f.out.Dir, args[0])
	if err != nil {
		return nil, err
	}
	base := store.Describe(paths[0]).Base
	if base == "" {
		return nil, cli.Usagef("`kasoku compare BEFORE AFTER`",
			"%q is no try: with what it is to be compared is not in it", args[0])
	}
	if paths, err = findRuns(f.out.Dir, base); err != nil {
		return nil, err
	}
	return []string{cmp.Or(store.Describe(paths[0]).Group, base), args[0]}, nil
}

// sides reads the runs of both sides. A run may stand on one side only, unless it
// is compared with itself.
func (f *compareFlags) sides(e *cli.Env, args []string) (sides [2][]*kasoku.Recording, err error) {
	seen := map[string]int{}
	for i, name := range args {
		paths, err := findRuns(f.out.Dir, name)
		if err != nil {
			return sides, err
		}
		for _, path := range paths {
			if side, ok := seen[path]; ok && (side == i || len(paths) > 1) {
				return sides, cli.Usagef(twiceHint(f.out.Dir, args, path), "run %q is named twice", filepath.Base(path))
			}
			seen[path] = i
			rec, err := openPath(e, path)
			if err != nil {
				return sides, err
			}
			sides[i] = append(sides[i], rec)
		}
	}
	return sides, nil
}

// twiceHint describes which name stands for a group that the run is of; empty when none
// does.
func twiceHint(dir string, args []string, path string) string {
	for name := range strings.SplitSeq(strings.Join(args, ","), ",") {
		name = strings.TrimSpace(name)
		if paths, err := findGroup(dir, name); err == nil && len(paths) > 1 && slices.Contains(paths, path) {
			if i := slices.IndexFunc(paths,
				func(p string) bool { return filepath.Base(p) == name+store.Extension }); i >= 0 {
				path = paths[i] // a group has the id of its first run, which is meant
			}
			return fmt.Sprintf("%q is a group and means all its %d runs; name one run by its file: %s", name,
				len(paths), path)
		}
	}
	return ""
}

// openPath reads a run and completes what a comparison looks at.
func openPath(e *cli.Env, path string) (*kasoku.Recording, error) {
	rec, err := e.OpenPath(path)
	if err != nil {
		return nil, err
	}
	cli.Complete(rec)
	return rec, nil
}

// dirs are where runs are looked for.
func (f *compareFlags) dirs() []string { return cli.RunDirs(f.out.Dir) }

// findRuns returns the files of the runs that a name means: of each of several
// names with commas, of a group all.
func findRuns(dir, names string) ([]string, error) {
	var out []string
	for name := range strings.SplitSeq(names, ",") {
		paths, err := findGroup(dir, strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		out = append(out, paths...)
	}
	return out, nil
}

func findGroup(dir, name string) ([]string, error) {
	if name != store.Latest {
		for _, d := range cli.RunDirs(dir) {
			switch paths, err := store.ResolveAll(d, name); {
			case err == nil:
				return paths, nil
			case !errors.Is(err, store.ErrNotFound):
				return nil, err
			}
		}
	}
	path, err := cli.FindRun(dir, name)
	if err != nil {
		return nil, err
	}
	return []string{path}, nil
}
