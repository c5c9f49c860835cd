package showcmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/report"
)

// partFlags say which parts of a run are shown.
type partFlags struct {
	brief    bool
	sections []string
}

func (f *partFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVar(&f.brief, "brief", false, "as a run ends: the verdict, and findings in few lines")
	fl.StringSliceVar(&f.sections, "section", nil, "only these `SECTIONS`, such as findings,queries; a wrong one lists all")
	fl.Lookup("section").DefValue = "" // not []
	// It fails only for a flag that is not there.
	_ = cmd.RegisterFlagCompletionFunc("section", cobra.FixedCompletions(sectionNames, cobra.ShellCompDirectiveNoFileComp))
}

// sectionNames are those that most runs have, for shells.
var sectionNames = []string{report.SectionFindings, report.SectionTimeline, report.SectionSteps, report.SectionEndpoints,
	report.SectionQueries, "callers", "plans", report.SectionMessages, "advice", "machine", report.SectionConfig,
	report.SectionWarnings, report.SectionCost}

// limit returns the run as it is to be printed.
func (f *partFlags) limit(e *cli.Env, o *cli.Output, rec *kasoku.Recording, path string) (cli.Printer, error) {
	p := e.ShowRun(rec, path)
	p.Brief, p.Long = f.brief, !f.brief
	if len(f.sections) == 0 {
		return p, nil
	}
	if f.brief {
		return p, cli.Usagef("", "--brief and --section both say what is shown: give one")
	}
	if err := f.check(o, p.Doc); err != nil {
		return p, err
	}
	p = e.ShowRun(rec, path, f.sections...)
	p.Long = true
	return p, nil
}

// check refuses sections that a document does not have, and those of JSON.
func (f *partFlags) check(o *cli.Output, d *report.Document) error {
	if len(f.sections) > 0 && o.Format == "json" {
		return cli.Usagef("`jq .queries` takes a part of it", "--section is of text: JSON is whole")
	}
	var has []string
	for i := range d.Sections {
		has = append(has, d.Sections[i].ID)
	}
	for _, name := range f.sections {
		if !slices.Contains(has, name) {
			return cli.Usagef("it has "+strings.Join(has, ", "), "the run has no section %q", name)
		}
	}
	return nil
}
