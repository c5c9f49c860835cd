package initcmd

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/onehost"
)

// wakeLimit bounds the one request that init sends.
const wakeLimit = 5 * time.Second

// wake sends one GET to the URL that the user gave, and says so: what the service calls meanwhile stays
// connected where it keeps its connections. It reports whether there was an answer.
func wake(e *cli.Env, ctx context.Context, address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	fmt.Fprintf(e.Stderr, "%s: no connection to a database is open: one GET of %s, to see which it asks\n", e.Name, u.Redacted())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false
	}
	req.Header.Set("User-Agent", "kasoku init")
	transport := &http.Transport{DisableKeepAlives: true}
	res, err := onehost.NewClient(transport, wakeLimit).Do(req)
	if err != nil {
		fmt.Fprintf(e.Stderr, "%s: it was not answered; name the database with --mysql\n", e.Name)
		return false
	}
	_, err = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20))
	return res.Body.Close() == nil && err == nil
}
