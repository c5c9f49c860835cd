package attackcmd

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/load/vegeta"
)

// NewReport returns the command report, which prints attack results as Vegeta does.
func NewReport(e *cli.Env) *cobra.Command {
	var o vegeta.ReportOptions
	cmd := &cobra.Command{
		Use:         "report [FILE…]",
		Short:       "Report on attack results, as Vegeta prints them",
		Annotations: map[string]string{"vegeta": "flags"},
		Long:        "Report on results that attack or vegeta wrote: gob, json or csv, found by themselves.\nWithout FILE it reads standard input.",
		Example: `  kasoku report results.gob
  kasoku report -type json results.gob
  kasoku report -type 'hist[0,1ms,10ms,100ms]' results.gob`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Validate(); err != nil {
				return cli.Usage(err, cli.HintOf(err))
			}
			ctx, stop := e.ReadingInterruptible(cmd.Context())
			defer stop()
			o.Files, o.Stdin, o.Stdout, o.Clear = args, e.Stdin, e.Stdout, e.StdoutTTY
			err := vegeta.Report(ctx, o)
			if err != nil && cli.HintOf(err) == "" && strings.Contains(err.Error(), "bad result") {
				return cli.WithHint(err, "results are what `kasoku attack -output FILE` writes; a log is read by `kasoku accesslog`")
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Type, "type", "text", "`TYPE`: text, json, hist[b0,b1,…] or hdrplot")
	f.StringVar(&o.Buckets, "buckets", "", "bounds of hist and json, such as `[0,1ms,10ms]`")
	f.DurationVar(&o.Every, "every", time.Duration(0), "print what there is so often")
	f.StringVar(&o.Output, "output", "stdout", "`FILE`")
	return cmd
}
