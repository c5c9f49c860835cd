package initcmd

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/unit"
)

// NewConfig returns the command config, which checks a kasoku.toml and prints its schema.
func NewConfig(e *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check a kasoku.toml, or print its JSON Schema for editors",
		Example: `  kasoku config check
  kasoku config schema > kasoku.schema.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConfigCheck(e), newConfigSchema(e))
	return cmd
}

func newConfigCheck(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "check [FILE]",
		Short: "Say everything that is wrong with a kasoku.toml",
		Long: `Read a kasoku.toml, that of the working directory or one above it, and say everything that
is wrong with it, by line. Nothing is run and no other file is looked at: ` + "`kasoku doctor`" + ` says
what of it cannot be done here.

Exit code 1 when something is wrong, 3 when the file cannot be read.`,
		Example: `  kasoku config check
  kasoku config check shop/kasoku.toml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path := ""
			if len(args) > 0 {
				path = args[0]
			} else if found, ok := config.Find("."); ok {
				path = found
			}
			if path == "" {
				return cli.Usagef("`"+e.Name+" init` writes one", "no %s here or in a directory above", config.Name)
			}
			return checkConfig(e, path)
		},
	}
}

func checkConfig(e *cli.Env, path string) error {
	mistakes, err := config.Check(path)
	if err != nil {
		return cli.UsageIf(errors.Is(err, fs.ErrNotExist), err)
	}
	for _, m := range mistakes {
		fmt.Fprintln(e.Stdout, m.Error())
		if h := m.Hint(); h != "" {
			fmt.Fprintln(e.Stdout, "  hint: "+h)
		}
	}
	if len(mistakes) > 0 {
		return cli.Bad(unit.Counted(len(mistakes), "mistake", "mistakes") + " in " + path)
	}
	fmt.Fprintln(e.Stdout, path+": no mistake")
	return nil
}

func newConfigSchema(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of kasoku.toml, by which editors complete and check it",
		Long: `Print the JSON Schema of kasoku.toml. Editors with Taplo (Even Better TOML in VS Code, Helix,
Neovim, Zed) take it by the first line of the file:

  #:schema ./kasoku.schema.json`,
		Example: `  kasoku config schema > kasoku.schema.json`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := e.Stdout.Write(config.Schema())
			return err
		},
	}
}
