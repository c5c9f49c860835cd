package attackcmd

import (
	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/load/vegeta"
)

// NewPlot returns the command plot, which draws attack results as a page with a chart.
func NewPlot(e *cli.Env) *cobra.Command {
	var o vegeta.PlotOptions
	cmd := &cobra.Command{
		Use:         "plot [FILE…]",
		Short:       "Draw attack results as a page with a chart, as Vegeta does",
		Annotations: map[string]string{"vegeta": "flags"},
		Long: `Read results that attack or vegeta wrote, and write one HTML page with the latency
of each over time: for each attack what succeeded and what failed. The page needs
nothing but itself. Without FILE it reads standard input.

Results are kept in memory until the page is written, 16 bytes each.`,
		Example: `  kasoku plot results.gob > plot.html
  kasoku plot -title 'before and after' -output plot.html before.gob after.gob`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Files, o.Stdin, o.Stdout = args, e.Stdin, e.Stdout
			if err := o.Validate(); err != nil {
				return cli.Usage(err, cli.HintOf(err))
			}
			ctx, stop := e.ReadingInterruptible(cmd.Context())
			defer stop()
			return vegeta.Plot(ctx, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Title, "title", vegeta.DefaultPlotTitle, "of the page")
	f.IntVar(&o.Threshold, "threshold", vegeta.DefaultPlotThreshold, "draw at most so many points of a series, "+
		"those that look most like all; 0: all")
	f.StringVar(&o.Output, "output", "stdout", "`FILE`")
	return cmd
}
