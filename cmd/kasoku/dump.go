package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// newDump refuses what Vegeta refuses, and says what took its place.
func newDump(*env) *cobra.Command {
	return &cobra.Command{
		Use:                "dump",
		Short:              "Refused, as vegeta's: encode took its place",
		Example:            "  kasoku encode -to json results.gob",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return asUsage(errors.New("vegeta dump has been deprecated and succeeded by the vegeta encode command"),
				"`kasoku encode -to json results.gob`")

		},
	}
}
