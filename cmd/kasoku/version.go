package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
)

// versionName is the command that removes nothing of earlier ones before it answers.
const versionName = "version"

func newVersion(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:     versionName,
		Short:   "Print the version",
		Example: "  kasoku version",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(e.Stdout, "kasoku %s (%s, %s/%s)\n", cli.VersionString(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
