package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
)

func newVersion(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  kasoku version",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(e.Stdout, "kasoku %s (%s, %s/%s)\n", cli.VersionString(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
