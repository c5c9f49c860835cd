package agent

import (
	"context"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/loadtest"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/load/scenario"
)

// TestSameAsNetHTTP lets agents meet the hostile server as an engine of loads
// does: code, bytes, the words of errors and the number of connections are those
// of net/http.
func TestSameAsNetHTTP(t *testing.T) {
	loadtest.Same(t, netHTTP, func(t testing.TB, o loadtest.Options) load.Engine {
		if o.Chunked || o.MaxBody != 0 || o.Redirects != nethttp.NoFollow {
			return netHTTP(t, o) // agents have no such thing
		}
		return &agents{opts: o}
	})
}

func netHTTP(t testing.TB, o loadtest.Options) load.Engine {
	e, err := nethttp.New(nethttp.Options{Timeout: o.Timeout, MaxInFlight: o.MaxInFlight, NoKeepAlive: o.NoKeepAlive,
		Chunked: o.Chunked, MaxBody: o.MaxBody, Redirects: o.Redirects})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// agents are an engine. Each worker is a user, with an agent for each host.
type agents struct{ opts loadtest.Options }

func (e *agents) Run(ctx context.Context, p load.Plan, start time.Time, sink load.Sink) (kasoku.LoadSummary, error) {
	var mu sync.Mutex
	var users []*user // guarded by mu
	d := load.Driver{MaxInFlight: e.opts.MaxInFlight, GiveUp: e.opts.Timeout, NewClient: func() load.Client {
		u := &user{opts: e.opts, plan: &p, byHost: map[string]*Agent{}}
		mu.Lock()
		users = append(users, u)
		mu.Unlock()
		return u
	}}
	sum, err := d.Run(ctx, p, start, sink)
	for _, u := range users {
		for _, a := range u.byHost {
			sum.Connections += a.Counts().Connections
			sum.Resent += a.Counts().Resent
			a.Close()
		}
	}
	return sum, err
}

// A user is a worker.
type user struct {
	opts   loadtest.Options
	plan   *load.Plan
	byHost map[string]*Agent
	rec    scenario.Record // of the last request
}

// Do implements [load.Client].
func (u *user) Do(ctx context.Context, h *load.Hit) {
	target := u.plan.Target(h)
	at, err := url.Parse(target.URL)
	if err != nil {
		h.Err = err.Error()
		return
	}
	a, err := u.agent(at)
	if err != nil {
		h.Err = err.Error()
		return
	}
	res, err := a.Do(ctx, &Request{Method: target.Method, Path: at.RequestURI(), Header: target.Header, Body: target.Body})
	h.Code, h.BytesIn, h.BytesOut, h.Err = u.rec.Code, u.rec.BytesIn, u.rec.BytesOut, u.rec.Err
	if err == nil {
		res.Release()
	}
}

func (u *user) agent(at *url.URL) (*Agent, error) {
	base := url.URL{Scheme: at.Scheme, User: at.User, Host: at.Host}
	if a := u.byHost[base.String()]; a != nil {
		return a, nil
	}
	a, err := New(Options{
		BaseURL: base.String(), Timeout: u.opts.Timeout, NoKeepAlive: u.opts.NoKeepAlive,
		NoCookies: true, NoCache: true, NoCompression: true, MaxBody: 1 << 40,
		Record: func(r scenario.Record) { u.rec = r },
	})
	if err == nil {
		u.byHost[base.String()] = a
	}
	return a, err
}
