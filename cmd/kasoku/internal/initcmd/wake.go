package initcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/onehost"
	"github.com/kasoku/kasoku/topology/find"
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
	if err := get(ctx, address); err != nil {
		fmt.Fprintf(e.Stderr, "%s: it was not answered; name the database with --mysql\n", e.Name)
		return false
	}
	return true
}

// get sends one GET, and reads what is answered up to a bound.
func get(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "kasoku init")
	res, err := onehost.NewClient(&http.Transport{DisableKeepAlives: true}, wakeLimit).Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20))
	return errors.Join(err, res.Body.Close())
}

// What is sent and looked at where no connection stayed open after the first GET: a look takes
// some 50 ms, in which a connection that is there for half of the time is seen by most.
const (
	awakeLooks = 4
	awakeGets  = 50
)

// findAwake looks at the service while GETs of the URL are sent one after another, and says so.
func findAwake(e *cli.Env, ctx context.Context, ask find.Ask, address string) (s kasoku.Service, err error) {
	fmt.Fprintf(e.Stderr, "%s: none stayed open: at most %d more, one after another, to look meanwhile\n", e.Name,
		awakeGets)
	sending, stop := context.WithTimeout(ctx, wakeLimit)
	defer stop()
	var sent sync.WaitGroup
	sent.Go(func() {
		for range awakeGets {
			if get(sending, address) != nil {
				return
			}
		}
	})
	defer sent.Wait()
	defer stop()
	for range awakeLooks {
		if s, err = find.Find(ctx, ask); err != nil || len(s.Of(kasoku.RoleDatabase)) > 0 {
			return s, err
		}
	}
	return s, nil
}
