package initcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/onehost"
)

// wakeLimit bounds a GET that init sends, and all of those that follow the first together.
const wakeLimit = 5 * time.Second

// wake sends one GET to the URL that the user gave, and says so: what the service calls meanwhile stays
// connected where it keeps its connections. Where none stayed open and the answer was good, more are
// sent while look is called. Without an answer the service is as it was.
func wake(e *cli.Env, ctx context.Context, address string, was kasoku.Service, look looker) (kasoku.Service, error) {
	u, err := url.Parse(address)
	if err != nil {
		return was, nil
	}
	fmt.Fprintf(e.Stderr, "%s: no connection to a database is open: one GET of %s, to see which it asks\n", e.Name,
		u.Redacted())
	err = get(ctx, address)
	var bad *badAnswer
	if err != nil && !errors.As(err, &bad) {
		fmt.Fprintf(e.Stderr, "%s: it was not answered; name the database with --mysql\n", e.Name)
		return was, nil
	}
	s, err := look(ctx)
	switch {
	case err != nil || len(s.Of(kasoku.RoleDatabase)) > 0:
		return s, err
	case bad != nil:
		fmt.Fprintf(e.Stderr, "%s: the answer was %v: no more are sent; name a URL that it serves, or the database "+
			"with --mysql\n", e.Name, bad)
		return s, nil
	}
	// A program that opens a connection for each request has it open during one alone.
	return findAwake(e, ctx, address, look)
}

// A looker finds the service anew.
type looker func(context.Context) (kasoku.Service, error)

// A badAnswer is an answer that is an error of who asks or of who answers: 401, 429, 503.
type badAnswer struct{ status int }

// Error returns the status, as the standard writes it.
func (b *badAnswer) Error() string {
	return strings.TrimSpace(strconv.Itoa(b.status) + " " + http.StatusText(b.status))
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
	if res.StatusCode >= http.StatusBadRequest {
		err = &badAnswer{res.StatusCode}
	}
	return errors.Join(err, res.Body.Close())
}

// What is sent and looked at where no connection stayed open after the first GET: a look takes
// some 50 ms, in which a connection that is there for half of the time is seen by most.
const (
	awakeLooks = 4
	awakeGets  = 50
)

// findAwake looks at the service while GETs of the URL are sent one after another, and says so.
// After a bad answer no more are sent.
func findAwake(e *cli.Env, ctx context.Context, address string, look looker) (s kasoku.Service, err error) {
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
		if s, err = look(ctx); err != nil || len(s.Of(kasoku.RoleDatabase)) > 0 {
			return s, err
		}
	}
	return s, nil
}
