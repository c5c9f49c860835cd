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
	var stretch stretchFlags
	cmd := &cobra.Command{
		Use:   "show [RUN]",
		Short: "Show a run: findings, timeline, endpoints, queries, plans, advice, messages",
		Long: `Show a run. RUN is a file, an id, a label or latest (the default).

On a terminal it goes through $PAGER, else less, where it is longer than the screen;
--no-pager, $NO_PAGER or PAGER=cat prints all at once.

With --from or --to it shows what happened in these seconds alone: endpoints, statements,
messages and charts, added up from what the run keeps by the second. Findings and score
are of the whole run, and not shown then.`,
		Example: `  kasoku show
  kasoku show before --html report.html
  kasoku show --brief
  kasoku show before --section endpoints,queries
  kasoku show before --from 12s --to 31s
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
				show := func() (cli.Printer, error) { return parts.limit(e, &o, rec, path) }
				if stretch.asked() {
					show = func() (cli.Printer, error) { return stretch.cut(e, &o, &parts, rec, path) }
				} else if rec.Diagnosis == nil {
					cli.Rediagnose(rec, nil)
				}
				p, err := show()
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
	stretch.register(cmd)
	texts.register(cmd.Flags())
	profiles.register(cmd)
	return cmd
}
