package attackcmd

import (
	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/load/vegeta"
)

// NewEncode returns the command encode, which turns attack results into another encoding.
func NewEncode(e *cli.Env) *cobra.Command {
	var o vegeta.EncodeOptions
	var to string
	cmd := &cobra.Command{
		Use:         "encode [FILE…]",
		Short:       "Turn attack results into another encoding, as Vegeta does",
		Annotations: map[string]string{"vegeta": "flags"},
		Long: `Read results that attack or vegeta wrote, gob, json or csv, found by themselves,
and write them in another encoding. Several files are read in turn, one result of
each. Without FILE it reads standard input.`,
		Example: `  kasoku encode results.gob | jq .latency
  kasoku encode -to csv -output results.csv results.gob`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.To, o.Files, o.Stdin, o.Stdout = vegeta.Encoding(to), args, e.Stdin, e.Stdout
			if err := o.Validate(); err != nil {
				return cli.Usage(err, cli.HintOf(err))
			}
			ctx, stop := e.ReadingInterruptible(cmd.Context())
			defer stop()
			return vegeta.Encode(ctx, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&to, "to", "json", "`ENCODING`: csv, gob or json")
	f.StringVar(&o.Output, "output", "stdout", "`FILE`")
	return cmd
}
