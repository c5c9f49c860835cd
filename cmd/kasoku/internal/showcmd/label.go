package showcmd

import (
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/store"
)

// NewLabel returns the command label, which changes the label of a run.
func NewLabel(e *cli.Env) *cobra.Command {
	var o cli.Output
	cmd := &cobra.Command{
		Use:   "label RUN NAME",
		Short: "Change the label of a run",
		Long: `Change the label of a run, of a group all its runs. An empty NAME removes it. The
id and the file's name stay as they are.`,
		Example: "  kasoku label latest before\n  kasoku label 20261120-140211 baseline",
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			label := args[1]
			if label == store.Latest {
				return cli.Usagef("latest means the newest finished run", "label %q: the name is taken", label)
			}
			if strings.ContainsFunc(label, unicode.IsControl) || strings.ContainsAny(label, ",/") {
				return cli.Usagef("", "label %q: want one line without commas and slashes", label)
			}
			return editRuns(e, o.Dir, args[0], func(ed *store.Editor, i store.Info) (string, error) {
				return fromTo("label", i.Label, label), ed.SetLabel(label)
			})
		},
	}
	o.RegisterDir(cmd)
	return cmd
}
