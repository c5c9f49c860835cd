package showcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/store"
)

// NewShow returns the command show, which prints a run.
func NewShow(e *cli.Env) *cobra.Command {
	var o cli.Output
	var texts textFlags
	var profiles profileFlags
	cmd := &cobra.Command{
		Use:   "show [RUN]",
		Short: "Show a run: findings, timeline, endpoints, queries, plans, advice, messages",
		Long:  "Show a run. RUN is a file, an id, a label or latest (the default).",
		Example: `  kasoku show
  kasoku show before --html report.html
  kasoku show before --configs
  kasoku show before --config-text /etc/nginx/nginx.conf
  kasoku show before --profile cpu > cpu.pb.gz
  kasoku show demo/before.kasoku -o json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.WhileReading(cmd.Context(), func(context.Context) error {
				if err := o.Check(); err != nil {
					return err
				}
				if err := profiles.check(); err != nil {
					return err
				}
				rec, path, err := cli.OpenNamed(e, o.Dir, args)
				if err != nil {
					return err
				}
				if profiles.asked() {
					return profiles.write(e, rec)
				}
				if texts.asked() || rec.Run.Load == store.Checkpoint {
					return texts.show(e, &o, rec, path)
				}
				if rec.Diagnosis == nil {
					cli.Rediagnose(rec, nil)
				}
				return o.Print(e, e.ShowRun(rec, path))
			})
		},
	}
	o.Register(cmd)
	texts.register(cmd.Flags())
	profiles.register(cmd)
	return cmd
}
