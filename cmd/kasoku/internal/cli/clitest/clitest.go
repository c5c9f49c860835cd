// Package clitest makes the world that tests of commands run in: no terminal, no
// environment, a clock that stands, and outputs that are kept.
package clitest

import (
	"bytes"
	"strings"
	"time"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
)

// New returns an environment with an empty standard input, and what was written to its
// standard output and its standard error.
func New() (e *cli.Env, stdout, stderr *bytes.Buffer) {
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	return &cli.Env{
		Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr,
		Getenv: func(string) string { return "" }, Now: func() time.Time { return time.Unix(1, 0) },
	}, stdout, stderr
}
