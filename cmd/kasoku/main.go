// Command kasoku shows why a web service is slow and proves that the fix made
// it faster. Start with `kasoku --help`; docs/ has a page for each part.
package main

import (
	"os"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
)

func main() { os.Exit(run(cli.NewEnv())) }
