package watchcmd

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/export"
)

// tokenEnv names the environment variable with the token of the page.
const tokenEnv = "KASOKU_METRICS_TOKEN"

// leastToken is how long a token has to be, in bytes: 16 letters at random are not found
// by trying.
const leastToken = 16

// access describes who may read the page. One that others than the users of this host reach
// needs a token, unless it is open in so many words.
func (f *exportFlags) access(e *cli.Env) (export.Access, error) {
	token := e.Getenv(tokenEnv)
	if f.token != "" {
		var err error
		if token, err = readToken(f.token); err != nil {
			return export.Access{}, fmt.Errorf("read token: %w", err)
		}
	}
	switch {
	case f.open && token != "":
		return export.Access{}, cli.Usagef("", "--open and a token: give one")
	case token != "" && len(token) < leastToken:
		return export.Access{}, cli.Usagef("`head -c 18 /dev/urandom | base64 > token` "+
			"makes one", "the token has %d bytes, fewer than %d", len(token), leastToken)
	case token == "" && !f.open && !export.IsLoopback(f.listen):
		return export.Access{}, cli.Usagef("--token-file FILE or $"+tokenEnv+" names a token, which Prometheus sends "+
			"by `authorization: credentials_file`; --open shows the page to all",
			"--listen %q is reached by others, and the page has no token", f.listen)
	}
	return export.Access{Token: token}, nil
}

// readToken returns the first line of a file.
func readToken(path string) (string, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, 4096))
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line), nil
}
