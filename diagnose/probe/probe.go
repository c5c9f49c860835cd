package probe

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/diagnose/recycle"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
)

// Defaults of [Options].
const (
	DefaultRequests = 12
	DefaultGap      = 20 * time.Millisecond
	DefaultTimeout  = 30 * time.Second
)

// Options configure what is asked, and through which database it is counted.
type Options struct {
	DSN   string        // of the database that the endpoints use
	Host  string        // name of its host in the callers
	Guard guard.Options // where the change of the slow log is journalled; its DSN is that above
	Keep  guard.Keep    // what became of it; nil: it is not kept

	Endpoints []Endpoint
	Requests  int           // to each endpoint, one at a time; 0: DefaultRequests
	Gap       time.Duration // after each request, for what the server logs late; 0: DefaultGap
	Timeout   time.Duration // of a request; 0: DefaultTimeout
	Permit    load.Permit   // hosts that may be asked beside those of private networks

	// Recycle ends idle sessions once the slow log is on, so that pools open new ones:
	// open sessions keep the settings they began with. nil: none is ended. The reader is the
	// probe's; without targets and URL the endpoints are asked.
	Recycle *recycle.Options

	Table    bool // read the table mysql.slow_log even where the file can be read
	Progress func(done, all int, endpoint string)
}

// A Result is what was counted.
type Result struct {
	Callers    []kasoku.Caller // surest and most frequent first, endpoint by endpoint
	Queries    []kasoku.Query  // the classes that the callers name, as far as they were seen here
	Asked      []Asked
	Background []Background // statements that came while nothing was asked
	Source     string       // of the statements: "slow log", "slow log's table"
	Requests   int
	Logged     uint64  // statements that the log held, kasoku's own not counted
	Questions  float64 // that the server counted meanwhile, kasoku's own not; NaN where it does not report it
	Unsettled  int     // requests after which statements still ran that began during them
	Length     time.Duration
	Warnings   []kasoku.Warning
}

// Asked is what became of the requests to one endpoint.
type Asked struct {
	Method, Route string
	Requests      int
	Codes         map[int]int // answers by status
	Failed        int         // requests without an answer
	Error         string      // of the first of them
	Different     int         // different requests that were sent
	Least, Most   int         // statements in one request
	Mean          float64
}

// Background is a class of statements that came while nothing was asked.
type Background struct {
	QueryID     string
	Fingerprint string
	Count       int
	PerSec      float64
}

// idleFirst is how long nothing is asked at the beginning, and idleGaps how many
// gaps between two endpoints: the time in which background jobs show.
const (
	idleFirst = 500 * time.Millisecond
	idleGaps  = 10
)

// A slot is a stretch of time with one request in it, or with none.
type slot struct {
	from     place
	length   time.Duration
	endpoint int // -1: nothing was asked
	request  int
}

// A prober is one probe while it runs.
type prober struct {
	o         Options
	db        *sql.DB
	reader    *mysql.Reader
	hold      *guard.Hold
	log       source
	client    *http.Client
	kept      *recycle.RefusedError // why no session was ended
	slots     []slot
	asked     []Asked
	unsettled int // as in Result
	began     time.Time
}

// Run asks each endpoint and counts. The slow log is as it was when it returns. When
// the context ends, what was counted until then is returned with the error.
func Run(ctx context.Context, o Options) (res *Result, err error) {
	o.Requests, o.Gap, o.Timeout = cmp.Or(o.Requests, DefaultRequests), cmp.Or(o.Gap, DefaultGap),
		cmp.Or(o.Timeout, DefaultTimeout)
	o.Guard.DSN = o.DSN
	if len(o.Endpoints) == 0 {
		return nil, load.ErrNoTargets
	}
	p := &prober{o: o}
	if p.client, err = newClient(ctx, o); err != nil {
		return nil, err
	}
	defer p.client.CloseIdleConnections()
	if err := p.open(ctx); err != nil {
		return nil, errors.Join(err, p.close(ctx))
	}
	before := p.questions(ctx)
	askErr := contain.Do(askPart, func() error { return p.all(ctx) })
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
	defer cancel()
	after := p.questions(end)
	err = contain.Do(countPart, func() (err error) { res, err = p.result(end); return err })
	if res != nil {
		res.Questions = kasoku.Growth(before, after)
		res.warn()
		if p.kept != nil {
			res.Warnings = append(res.Warnings, kasoku.Warning{Code: "not-recycled", Text: p.kept.Error(), Hint: p.kept.Hint()})
		}
		if w, lost := kasoku.LostPart(askErr); lost {
			res.Warnings = append(res.Warnings, w)
		}
	}
	return res, errors.Join(askErr, err, p.close(end))
}

// Where the asking or the counting panics, what was counted is returned, and the slow log
// is put back.
var (
	askPart     = contain.Part{Kind: contain.Step, Name: "requests of a probe"}
	requestPart = contain.Part{Kind: contain.Step, Name: "request of a probe"}
	countPart   = contain.Part{Kind: contain.Step, Name: "count of a probe"}
)

// closeWithin bounds what is asked of the server at the end.
const closeWithin = 30 * time.Second

// newClient returns a client that dials only what may be loaded and follows no
// redirect: the request to another endpoint would be counted as this one's.
func newClient(ctx context.Context, o Options) (*http.Client, error) {
	engine, err := nethttp.New(nethttp.Options{Permit: o.Permit, Timeout: o.Timeout})
	if err != nil {
		return nil, err
	}
	var all []load.Target
	for _, e := range o.Endpoints {
		all = append(all, e.Targets...)
	}
	if err := engine.Permitted(ctx, all); err != nil {
		return nil, err
	}
	if err := engine.Reach(ctx, all); err != nil {
		return nil, err
	}
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		addrs, err := engine.Resolver().Next(ctx, addr)
		if err != nil {
			return nil, err
		}
		return load.DialInOrder(ctx, &net.Dialer{Timeout: o.Timeout}, network, addrs)
	}
	return &http.Client{
		Timeout:       o.Timeout,
		Transport:     &http.Transport{DialContext: dial, DisableCompression: true, MaxIdleConnsPerHost: 1},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// open connects to the database and switches the slow log on.
func (p *prober) open(ctx context.Context) (err error) {
	if p.db, err = mysqlflags.OpenBounded(p.o.DSN); err != nil {
		return err
	}
	if p.reader, err = mysql.New(ctx, p.db); err != nil {
		return fmt.Errorf("database %s: %w", mysqlflags.Redact(p.o.DSN), err)
	}
	if p.hold, err = guard.New(ctx, p.reader, p.o.Guard); err != nil {
		return err
	}
	p.log, err = openSource(ctx, p)
	return err
}

// recycleWithin is how long sessions that are busy are waited for.
const recycleWithin = 2 * time.Second

// recycle lets pools open new sessions, which log.
func (p *prober) recycle(ctx context.Context) error {
	if p.o.Recycle == nil {
		return nil
	}
	o := *p.o.Recycle
	o.Reader, o.Within, o.Permit = p.reader, recycleWithin, p.o.Permit
	for i := range p.o.Endpoints {
		o.Targets = append(slices.Clip(o.Targets), p.o.Endpoints[i].Targets...)
	}
	_, err := recycle.Run(ctx, o)
	if errors.As(err, &p.kept) {
		return nil
	}
	return err
}

// close puts the slow log back and gives all connections up.
func (p *prober) close(ctx context.Context) error {
	var errs []error
	if p.log != nil {
		errs = append(errs, p.log.close(ctx))
	}
	if p.hold != nil {
		keep := p.o.Keep
		if keep == nil {
			keep = func(guard.Left) error { return nil }
		}
		errs = append(errs, p.hold.Release(ctx, keep))
	}
	if p.reader != nil {
		errs = append(errs, p.reader.Close())
	}
	if p.db != nil {
		errs = append(errs, p.db.Close())
	}
	return errors.Join(errs...)
}

// questions returns how many statements of others the server has counted.
func (p *prober) questions(ctx context.Context) float64 {
	var s mysql.Status
	if err := p.reader.ReadStatus(ctx, &s); err != nil {
		return nan()
	}
	return s.Issued() - float64(p.reader.Statements()) - float64(p.log.own())
}

// all asks one endpoint after another.
func (p *prober) all(ctx context.Context) error {
	p.began = time.Now()
	// Requests by which the application was seen to answer may not be in the log yet.
	if _, err := p.settle(ctx, p.began); err != nil {
		return err
	}
	if err := p.idle(ctx, idleFirst); err != nil {
		return err
	}
	for i := range p.o.Endpoints {
		e := &p.o.Endpoints[i]
		if p.o.Progress != nil {
			p.o.Progress(i, len(p.o.Endpoints), e.String())
		}
		p.asked = append(p.asked, Asked{Method: e.Method, Route: e.Route, Codes: map[int]int{},
			Different: min(len(e.Targets), p.o.Requests)})
		for n := range p.o.Requests {
			if err := p.ask(ctx, i, n); err != nil {
				return err
			}
		}
		if err := p.idle(ctx, idleGaps*p.o.Gap); err != nil {
			return err
		}
	}
	return nil
}

// idle lets time go by in which nothing is asked.
func (p *prober) idle(ctx context.Context, length time.Duration) error {
	return p.stretch(ctx, -1, 0, func() error { return waitFor(ctx, length) })
}

// stretch adds a slot around what do does.
func (p *prober) stretch(ctx context.Context, endpoint, request int, do func() error) error {
	from, err := p.log.here(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	err = do()
	p.slots = append(p.slots, slot{from, time.Since(began), endpoint, request})
	return err
}

// ask sends one request and waits for what the server logs of it.
func (p *prober) ask(ctx context.Context, endpoint, n int) error {
	e, a := &p.o.Endpoints[endpoint], &p.asked[endpoint]
	return p.stretch(ctx, endpoint, n, func() error {
		req, err := (&nethttp.Options{}).Request(&e.Targets[n%len(e.Targets)], uint64(n))
		if err != nil {
			return err
		}
		a.Requests++
		began := time.Now()
		var code int
		err = contain.Do(requestPart, func() (err error) { code, err = p.send(req.WithContext(ctx)); return err })
		switch {
		case ctx.Err() != nil:
			a.Requests--
			return ctx.Err()
		case err != nil:
			a.Failed++
			a.Error = cmp.Or(a.Error, err.Error())
		default:
			a.Codes[code]++
		}
		if err := waitFor(ctx, p.o.Gap); err != nil {
			return err
		}
		settled, err := p.settle(ctx, began)
		if !settled && err == nil {
			p.unsettled++
		}
		return err
	})
}

// settleWithin is how long the statements of a request are waited for after its answer.
const settleWithin = time.Second

// settle waits until the log holds what sessions run that began since then.
func (p *prober) settle(ctx context.Context, since time.Time) (bool, error) {
	return mysql.NewClients(p.reader).Settle(ctx, time.Since(since), settleWithin)
}

// send sends a request and reads the answer to its end.
func (p *prober) send(req *http.Request) (code int, err error) {
	resp, err := p.client.Do(req)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, errors.Join(err, resp.Body.Close())
}

// result reads the log and counts.
func (p *prober) result(ctx context.Context) (*Result, error) {
	end, err := p.log.here(ctx)
	if err != nil {
		return nil, err
	}
	length := time.Since(p.began)
	logged, err := p.log.read(ctx, p.slots, end)
	if err != nil {
		return nil, fmt.Errorf("read the slow log: %w", err)
	}
	c := newCount(p.o.Host, p.slots, logged.seen, logged.classes)
	res := &Result{Source: p.log.name(), Asked: p.asked, Unsettled: p.unsettled, Length: length,
		Logged: uint64(len(logged.seen))}
	logged.log.Path = cmp.Or(logged.log.Path, res.Source)
	if bad, ok := kasoku.DroppedLines(&logged.log); ok {
		res.Warnings = append(res.Warnings, bad)
	}
	for i := range res.Asked {
		a := &res.Asked[i]
		res.Requests += a.Requests
		a.Least, a.Most, a.Mean = c.statements(i)
		callers := c.callers(i)
		for j := range callers {
			callers[j].Method, callers[j].Route = a.Method, a.Route
		}
		res.Callers = append(res.Callers, callers...)
	}
	res.Queries, res.Background = c.classes(res.Callers), c.background()
	setShares(res.Callers)
	return res, nil
}

func waitFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
