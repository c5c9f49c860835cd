package attackcmd

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
)

// NewDump refuses what Vegeta refuses, and says what took its place.
func NewDump(*cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:                "dump",
		Short:              "Refused, as vegeta's: encode took its place",
		Example:            "  kasoku encode -to json results.gob",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return cli.Usage(errors.New("vegeta dump has been deprecated and succeeded by the vegeta encode command"),
				"`kasoku encode -to json results.gob`")

		},
	}
}
