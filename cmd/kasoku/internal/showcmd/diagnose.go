package showcmd

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/store"
)

// NewDiagnose returns the command diagnose, which names the causes that a run shows.
func NewDiagnose(e *cli.Env) *cobra.Command {
	var o cli.Output
	var whyNot, baseline string
	var failOn bool
	cmd := &cobra.Command{
		Use:   "diagnose [RUN]",
		Short: "Name the causes: evidence, cause, fix, risk, expected gain",
		Long: `Name the causes. RUN is a file, an id, a label or latest (the default).

The rules look at the file afresh, so that a newer kasoku finds more in an old
run. Runs of the same group are looked at beside it. Exit code 1 with
--fail-on-findings when there is a finding.`,
		Example: `  kasoku diagnose
  kasoku diagnose before.kasoku
  kasoku diagnose before --why-not DRV-01
  kasoku diagnose after --baseline before -o json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := o.Check(); err != nil {
				return err
			}
			rec, path, err := cli.OpenNamed(e, o.Dir, args)
			if err != nil {
				return err
			}
			c := diagnose.NewCase(rec, nil)
			c.Repeats = repeatsOf(rec, path)
			if baseline != "" {
				base, basePath, err := cli.OpenRun(e, o.Dir, baseline)
				if err != nil {
					return err
				}
				c.Baseline, c.Baselines = base, repeatsOf(base, basePath)
			}
			cli.RediagnoseCase(rec, c)
			if whyNot != "" {
				return explainSilence(e, rec.Diagnosis, strings.ToUpper(whyNot))
			}
			if err := o.Print(e, e.ShowRun(rec, path, report.SectionFindings)); err != nil {
				return err
			}
			if n := countProblems(rec.Diagnosis); failOn && n > 0 {
				return cli.Bad(fmt.Sprintf("%d findings", n))
			}
			return nil
		},
	}
	o.Register(cmd)
	cmd.Flags().StringVar(&whyNot, "why-not", "", "say why the rule `ID` did not speak")
	cmd.Flags().StringVar(&baseline, "baseline", "", "the `RUN` before the change, for rules that judge a change")
	cmd.Flags().BoolVar(&failOn, "fail-on-findings", false, "exit 1 when there is a finding")
	return cmd
}

// repeatsOf reads the other finished runs of a run's group, which lie beside it.
// Those that cannot be read are left out.
func repeatsOf(rec *kasoku.Recording, path string) []*kasoku.Recording {
	runs, err := store.List(filepath.Dir(path))
	if err != nil || rec.Run.Group == "" {
		return nil
	}
	var out []*kasoku.Recording
	for _, r := range slices.Backward(runs) {
		if r.Err != nil || r.Group != rec.Run.Group || r.ID == rec.Run.ID || r.State != kasoku.Finished {
			continue
		}
		if other, err := store.Open(r.Path); err == nil {
			out = append(out, other)
		}
	}
	return out
}

func countProblems(d *kasoku.Diagnosis) (n int) {
	for _, f := range d.Findings {
		if f.Severity == kasoku.Problem {
			n++
		}
	}
	return n
}

// explainSilence prints why a rule said nothing, or that it did speak.
func explainSilence(e *cli.Env, d *kasoku.Diagnosis, id string) error {
	for i, f := range d.Findings {
		if f.ID == id {
			fmt.Fprintf(e.Stdout, "%s spoke: finding %d, %s\n", id, i+1, f.Title)
			return nil
		}
	}
	for _, s := range d.Silences {
		if s.ID == id {
			fmt.Fprintf(e.Stdout, "%s: %s\n", id, s.Reason)
			return nil
		}
	}
	return cli.Usagef(rulesLike(id), "no rule %q", id)
}

// rulesLike returns where ids of rules are listed, with those of the same family.
func rulesLike(id string) string {
	family, _, _ := strings.Cut(id, "-")
	var near []string
	for _, r := range rules.All() {
		if strings.HasPrefix(r.ID(), family+"-") {
			near = append(near, r.ID())
		}
	}
	if len(near) == 0 {
		return "`kasoku rules` lists them"
	}
	return "there are " + strings.Join(near, ", ") + "; `kasoku rules` lists all"
}

// NewRules returns the command rules, which lists the rules of diagnosis.
func NewRules(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "rules [ID]",
		Short:   "List the rules of diagnosis: evidence, cause, fix, when silent",
		Example: "  kasoku rules\n  kasoku rules POOL-01",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			found := false
			for _, r := range rules.All() {
				if len(args) == 1 && !strings.EqualFold(args[0], r.ID()) {
					continue
				}
				found = true
				printRule(e, r, len(args) == 1)
			}
			if !found {
				return cli.Usagef(rulesLike(strings.ToUpper(args[0])), "no rule %q", args[0])
			}
			return nil
		},
	}
}

func printRule(e *cli.Env, r diagnose.Rule, whole bool) {
	fmt.Fprintf(e.Stdout, "%-8s %s\n", r.ID(), r.Doc().Line())
	if whole {
		fmt.Fprintf(e.Stdout, "\n%s", r.Doc())
	}
}
