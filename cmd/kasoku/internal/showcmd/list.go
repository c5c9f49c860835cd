package showcmd

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/runlist"
	"github.com/kasoku/kasoku/store"
	"github.com/spf13/cobra"
)

// listFlags are the flags of list.
type listFlags struct {
	out     cli.Output
	project string
	label   string
	limit   int
	reverse bool
}

// NewList returns the command list, which lists the runs of a directory.
func NewList(e *cli.Env) *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "list [DIRECTORY]",
		Short: "List the runs: the story of the tuning",
		Long: `List the runs as the story of the tuning: score or throughput, what was changed,
how each run did against the one before and against the best so far, and what
held it up. Runs that repeat one another are one line, with their median.

It reads from the top, the newest last.`,
		Example: "  kasoku list\n  kasoku list -n 10 --project shop\n  kasoku list -o md > tuning.md\n  kasoku list --html tuning.html",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.out.Check(); err != nil {
				return err
			}
			if f.limit < 0 {
				return cli.Usagef("", "-n %d: want 0 or more", f.limit)
			}
			all, err := f.runs(args)
			if err != nil {
				return err
			}
			o := runlist.ListOptions{Options: e.ReportOptions(""), Limit: f.limit, Reverse: f.reverse}
			if f.out.Format == "md" || f.out.HTML != "" { // they describe each step in words
				o.Changes = runlist.ChangesBetween()
			}
			return f.out.Print(e, cli.Printer{
				Doc:  runlist.List(all, o),
				JSON: func(w io.Writer) error { return encode.ListJSON(w, runlist.ListSteps(all, o)) },
			})
		},
	}
	fl := cmd.Flags()
	f.out.Register(cmd)
	fl.StringVar(&f.project, "project", "", "only runs of the project `NAME`")
	fl.StringVar(&f.label, "label", "", "only runs with the label `NAME`")
	fl.IntVarP(&f.limit, "limit", "n", 0, "only the newest `N` lines")
	fl.BoolVar(&f.reverse, "reverse", false, "the newest first")
	return cmd
}

// runs reads what is to be listed.
func (f *listFlags) runs(args []string) ([]store.Info, error) {
	dirs := cli.RunDirs(f.out.Dir)
	if len(args) == 1 {
		dirs = args
	}
	if err := cli.CheckDir(cmp.Or(slices.Concat(args, []string{f.out.Dir})...)); err != nil {
		return nil, err
	}
	var out, all []store.Info
	for _, dir := range dirs {
		infos, err := store.List(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, infos...)
		for _, i := range infos {
			if (f.project == "" || i.Project == f.project) && (f.label == "" || i.Label == f.label) {
				out = append(out, i)
			}
		}
	}
	if len(out) == 0 {
		return nil, f.unmatched(all)
	}
	return out, nil
}

// unmatched refuses a project or a label that no run has, and says which there are.
func (f *listFlags) unmatched(all []store.Info) error {
	for _, x := range []struct {
		flag, name string
		of         func(store.Info) string
	}{
		{"project", f.project, func(i store.Info) string { return i.Project }},
		{"label", f.label, func(i store.Info) string { return i.Label }},
	} {
		var names []string
		for _, i := range all {
			if n := x.of(i); n != "" && i.Err == nil {
				names = append(names, strconv.Quote(n))
			}
		}
		slices.Sort(names)
		names = slices.Compact(names)
		if x.name == "" || slices.Contains(names, strconv.Quote(x.name)) {
			continue
		}
		hint := "no run has a " + x.flag
		if len(names) > 0 {
			near := unit.Nearby(strconv.Quote(x.name), names, mostNames)
			if len(near) == 0 {
				near = names[:min(mostNames, len(names))]
			}
			hint = "there is " + strings.Join(near, ", ")
		}
		return cli.Usagef(hint, "--%s %q: no run has it", x.flag, x.name)
	}
	if f.project != "" && f.label != "" {
		return cli.Usagef("", "no run of the project %q has the label %q", f.project, f.label)
	}
	return nil
}

// mostNames bounds the names that a hint lists.
const mostNames = 5
