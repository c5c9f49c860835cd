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
	var parts partFlags
	cmd := &cobra.Command{
		Use:   "show [RUN]",
		Short: "Show a run: findings, timeline, endpoints, queries, plans, advice, messages",
		Long: `Show a run. RUN is a file, an id, a label or latest (the default).

On a terminal it goes through $PAGER, else less, where it is longer than the screen;
--no-pager, $NO_PAGER or PAGER=cat prints all at once.`,
		Example: `  kasoku show
  kasoku show before --html report.html
  kasoku show --brief
  kasoku show before --section endpoints,queries
  kasoku show before --configs
  kasoku show before --config-text /etc/nginx/nginx.conf
  kasoku show before --profile cpu > cpu.pb.gz
  kasoku show demo/before.kasoku -o json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var paged func() error // a pager has the terminal, and Ctrl-C, for itself
			err := e.WhileReading(cmd.Context(), func(context.Context) error {
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
				p, err := parts.limit(e, &o, rec, path)
				if err != nil {
					return err
				}
				if p.Long && o.Pages(e) {
					paged = func() error { return o.Print(e, p) }
					return nil
				}
				return o.Print(e, p)
			})
			if err != nil || paged == nil {
				return err
			}
			return paged()
		},
	}
	o.Register(cmd)
	o.RegisterPager(cmd)
	parts.register(cmd)
	texts.register(cmd.Flags())
	profiles.register(cmd)
	return cmd
}
