// Package recycle ends the idle sessions of a database, so that an application's pool opens
// new ones which the slow log holds, and asks the application afterwards whether it still
// answers.
//
// The idea: a client that does not connect anew answers with errors for good. So sessions are
// ended only where its owner confirmed for the service that its driver reconnects, or where
// that is known of each program that uses the server; and only where a request can be made
// that succeeds before. It must succeed afterwards, too: else [Run] returns a [*BrokenError].
package recycle

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/mysql"
)

const (
	// askWithin bounds one request.
	askWithin = 5 * time.Second
	// mendWithin bounds how long the application may take to answer again: pools give
	// an error for each connection that was ended, one after another.
	mendWithin = 15 * time.Second
	// askEvery is the time between two requests.
	askEvery = 200 * time.Millisecond
	// enough is how many requests must succeed one after another: a worker that had no
	// session yet answers, its neighbours may not.
	enough = 3
	// mostRead bounds what is read of an answer.
	mostRead = 16 << 20
)

// Options are who is asked, and what is known of those that have sessions.
type Options struct {
	Reader    *mysql.Reader
	Within    time.Duration // how long sessions that are busy are waited for
	Confirmed bool          // its owner said that the drivers reconnect
	// Service looks for the programs that use the database, where nothing was confirmed; nil:
	// they are not known.
	Service func(context.Context) (kasoku.Service, error)
	Targets []load.Target // the first GET of them is the request
	URL     string        // is asked where no target is a GET; may be empty
	Permit  load.Permit   // hosts that may be asked beside those of private networks
}

// A RefusedError says why no session was ended.
type RefusedError struct {
	Why  string
	What string // what to do
}

func (e *RefusedError) Error() string { return "connections are not recycled: " + e.Why }

// Hint returns what would allow it.
func (e *RefusedError) Hint() string { return e.What }

// A BrokenError reports an application that no longer answers since its sessions were ended.
type BrokenError struct {
	Ended   int
	Request string // GET http://127.0.0.1/
	Last    string // "status 500"
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("the application does not answer since its idle connections were ended (%d): %s: %s", e.Ended,
		e.Request, e.Last)
}

// Hint returns how to recover.
func (e *BrokenError) Hint() string {
	return "restart the application: its driver does not reconnect; take reconnects = true out of [mysql] in " +
		"kasoku.toml, leave --recycle-connections out, and start the recording before the application"
}

// Run ends idle sessions and waits until the application answers. A [*RefusedError] means
// that nothing was done.
func Run(ctx context.Context, o Options) (r mysql.Recycled, err error) {
	_, err = Around(ctx, o, func(ctx context.Context) (_ int, err error) {
		r, err = mysql.NewClients(o.Reader).Recycle(ctx, o.Within)
		return r.Ended, err
	})
	return r, err
}

// Around is [Run] with an end of its own, which returns how many sessions it ended.
func Around(ctx context.Context, o Options, end func(context.Context) (int, error)) (ended int, err error) {
	if why := o.refused(ctx); why != "" {
		return 0, &RefusedError{why, Confirm}
	}
	a, err := newAsker(ctx, &o)
	if err != nil {
		return 0, err
	}
	defer a.client.CloseIdleConnections()
	if said := a.ask(ctx); said != "" {
		return 0, &RefusedError{a.name() + " does not succeed before it: " + said,
			"name one that does, with GET: url in [service] of kasoku.toml"}
	}
	if ended, err = end(ctx); ended == 0 {
		return 0, err
	}
	if last := a.await(context.WithoutCancel(ctx)); last != "" {
		return ended, &BrokenError{ended, a.name(), last}
	}
	return ended, err
}

// An asker makes the request.
type asker struct {
	client *http.Client
	target load.Target
}

// newAsker returns one that dials only what may be loaded and follows no redirect.
func newAsker(ctx context.Context, o *Options) (*asker, error) {
	target, ok := o.target()
	if !ok {
		return nil, &RefusedError{"no request is known by which to see that the application still answers",
			"url = 'http://127.0.0.1/' in [service] of kasoku.toml names one that reads the database"}
	}
	engine, err := nethttp.New(nethttp.Options{Permit: o.Permit, Timeout: askWithin})
	if err != nil {
		return nil, err
	}
	if err := engine.Permitted(ctx, []load.Target{target}); err != nil {
		return nil, err
	}
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		addrs, err := engine.Resolver().Next(ctx, addr)
		if err != nil {
			return nil, err
		}
		return load.DialInOrder(ctx, &net.Dialer{Timeout: askWithin}, network, addrs)
	}
	return &asker{target: target, client: &http.Client{
		Timeout:       askWithin,
		Transport:     &http.Transport{DialContext: dial, DisableCompression: true, MaxIdleConnsPerHost: 1},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// target returns the request: that of the load, else the service's URL.
func (o *Options) target() (load.Target, bool) {
	for _, t := range o.Targets {
		if t.Method == http.MethodGet {
			return t, true
		}
	}
	return load.Target{Method: http.MethodGet, URL: o.URL}, o.URL != ""
}

func (a *asker) name() string { return a.target.Method + " " + a.target.URL }

// ask makes one request, and returns what was wrong with its answer; empty of a good one.
func (a *asker) ask(ctx context.Context) string {
	req, err := (&nethttp.Options{}).Request(&a.target, 0)
	if err != nil {
		return err.Error()
	}
	req.Header.Set("Cache-Control", "no-cache") // an answer that is kept somewhere shows nothing
	resp, err := a.client.Do(req.WithContext(ctx))
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, mostRead)); err != nil {
		return err.Error()
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return fmt.Sprintf("status %d", resp.StatusCode)
	}
	return ""
}

// await asks until requests succeed, and returns what the last one that did not had; empty
// when they do.
func (a *asker) await(ctx context.Context) (last string) {
	ctx, cancel := context.WithTimeout(ctx, mendWithin)
	defer cancel()
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for good := 0; ; {
		said := a.ask(ctx)
		switch {
		case said == "":
			if good++; good == enough {
				return ""
			}
		case ctx.Err() == nil || last == "":
			good, last = 0, said
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if last == "" {
				last = "no answer within " + mendWithin.String()
			}
			return last
		}
	}
}
