package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/export"
)

func newCompare(e *env) *cobra.Command {
	var o output
	var opts compare.Options
	cmd := &cobra.Command{
		Use:   "compare BEFORE AFTER",
		Short: "Compare two runs: what moved, by how much, how sure",
		Long: `Compare two runs. BEFORE and AFTER are files, ids or labels.

With one run a side the intervals come from a block bootstrap over the seconds
within each run. They say how steady each run was, not how two runs of the same
thing would differ; so there is no test of significance.`,
		Example: `  kasoku compare before after
  kasoku compare demo/before.kasoku demo/after.kasoku --html compare.html`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			sides := make([][]*kasoku.Recording, 2)
			for i, name := range args {
				rec, _, err := openRun(e, o.dir, name)
				if err != nil {
					return err
				}
				if rec.Diagnosis == nil {
					rediagnose(rec, nil)
				}
				sides[i] = []*kasoku.Recording{rec}
			}
			cmp, err := compare.Compare(sides[0], sides[1], opts)
			if err != nil {
				return usageError{err, hintOf(err)}
			}
			return o.print(e, printer{
				doc:  report.Compare(cmp, e.reportOptions("")),
				json: func(w io.Writer) error { return export.ComparisonJSON(w, cmp) },
			})
		},
	}
	o.register(cmd)
	cmd.Flags().Float64Var(&opts.Step, "step", 0, "compare only the step with this asked `RATE`")
	return cmd
}
