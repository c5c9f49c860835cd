package watchcmd

import (
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/localhttp"
)

// tokenEnv names the environment variable with the token of the page.
const tokenEnv = "KASOKU_METRICS_TOKEN"

// access describes who may read the page. One that others than the users of this host reach
// needs a token, unless it is open in so many words.
func (f *exportFlags) access(e *cli.Env) (localhttp.Access, error) {
	token := e.Getenv(tokenEnv)
	if f.token != "" {
		var err error
		if token, err = cli.ReadToken(f.token); err != nil {
			return localhttp.Access{}, err
		}
	}
	if err := cli.CheckToken(token); err != nil {
		return localhttp.Access{}, err
	}
	switch {
	case f.open && token != "":
		return localhttp.Access{}, cli.Usagef("", "--open and a token: give one")
	case token == "" && !f.open && !localhttp.IsLoopback(f.listen):
		return localhttp.Access{},
			cli.Usagef("--token-file FILE or $"+tokenEnv+" names a token, which Prometheus sends "+
				"by `authorization: credentials_file`; --open shows the page to all",
				"--listen %q is reached by others, and the page has no token", f.listen)
	}
	return localhttp.Access{Token: token}, nil
}
