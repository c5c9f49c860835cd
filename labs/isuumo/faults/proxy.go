package faults

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/request"
)

// Options configure what a proxy stands before, and what it does. All but Pace are needed.
type Options struct {
	Target string // base URL of the service
	Data   *isuumo.Data
	Rule   Rule
	// Pace is how long each answer is held back under load, so that a short run costs
	// little.
	Pace time.Duration
}

// A Proxy passes requests on and spoils them as its rule says. It is safe for
// concurrent use.
type Proxy struct {
	o       Options
	target  *url.URL
	robot   *regexp.Regexp
	client  *http.Transport
	chairs  map[int64]*isuumo.Chair // all that a run may see
	estates map[int64]*isuumo.Estate

	ctx    context.Context // of what is passed on later than it was answered
	cancel context.CancelFunc
	late   sync.WaitGroup

	mu      sync.Mutex
	phase   Phase
	matched int // exchanges
}

// New returns a proxy. Close it when no client asks it any more.
func New(o Options) (*Proxy, error) {
	target, err := url.Parse(o.Target)
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	exact, fold := isuumo.BotPatterns()
	robot, err := regexp.Compile(strings.Join(exact, "|") + "|(?i:" + strings.Join(fold, "|") + ")")
	if err != nil {
		return nil, fmt.Errorf("proxy: patterns of crawlers: %w", err)
	}
	p := &Proxy{
		o: o, target: target, robot: robot, phase: Verifying,
		client: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true, Proxy: nil},
		chairs: map[int64]*isuumo.Chair{}, estates: map[int64]*isuumo.Estate{},
	}
	for _, rows := range append([][]isuumo.Chair{o.Data.Chairs, o.Data.VerifyChairs}, o.Data.DraftChairs...) {
		for i := range rows {
			p.chairs[rows[i].ID] = &rows[i]
		}
	}
	for _, rows := range append([][]isuumo.Estate{o.Data.Estates, o.Data.VerifyEstates}, o.Data.DraftEstates...) {
		for i := range rows {
			p.estates[rows[i].ID] = &rows[i]
		}
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p, nil
}

// Close waits for what is still passed on and closes the connections.
func (p *Proxy) Close() {
	p.late.Wait()
	p.cancel()
	p.client.CloseIdleConnections()
}

// ServeHTTP answers a request.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x, err := p.exchange(r)
	if err != nil {
		return // the client is gone
	}
	rule := &p.o.Rule
	spoiled := p.matches(x)
	if spoiled && rule.Before != nil {
		rule.Before(x)
	}
	if x.Status == 0 {
		x.pass(r.Context())
	}
	if spoiled && rule.After != nil {
		rule.After(x)
	}
	if x.Phase == Loading {
		x.Delay += p.o.Pace
	}
	x.wait(r.Context())
	x.answer(w)
}

// exchange reads a request.
func (p *Proxy) exchange(r *http.Request) (*Exchange, error) {
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	what, id := request.Route(r.Method, r.URL.Path)
	x := &Exchange{
		proxy: p, What: what, Human: !p.robot.MatchString(r.UserAgent()), Method: r.Method, Path: r.URL.Path,
		Query: r.URL.Query(), Asked: r.Header, Sent: sent,
	}
	x.ID, _ = strconv.ParseInt(id, 10, 64)
	x.Phase = p.enter(what, r.UserAgent())
	return x, nil
}

// The user agents that are no users.
const (
	initializeAgent = "isucon-initialize"
	verifyAgent     = "isucon-verify"
)

// enter returns the phase of a request.
func (p *Proxy) enter(what request.Endpoint, agent string) Phase {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case what == request.Initialize || agent == initializeAgent:
		p.phase = Verifying
	case agent != verifyAgent && p.phase == Verifying:
		p.phase = Loading
	case agent == verifyAgent && p.phase == Loading:
		p.phase = Validating
	}
	return p.phase
}

// matches reports whether the rule is about an exchange, and counts those.
func (p *Proxy) matches(x *Exchange) bool {
	r := &p.o.Rule
	who := Crawlers
	if x.Human {
		who = People
	}
	if len(r.At) > 0 && !slices.Contains(r.At, x.What) || r.When != 0 && r.When&x.Phase == 0 || r.Who != Everybody &&
		r.Who != who {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.matched++
	return p.matched > r.Skip && (r.Most == 0 || p.matched <= r.Skip+r.Most)
}

// An Exchange is a request and its answer.
type Exchange struct {
	What  request.Endpoint
	ID    int64 // of the path; 0 when it has none, or no number
	Phase Phase
	Human bool

	// The request, to be changed before it is passed on.
	Method, Path string
	Query        url.Values
	Asked        http.Header // read only
	Sent         []byte

	// The answer, to be changed before it is sent.
	Status  int
	Header  http.Header
	Body    []byte
	Delay   time.Duration // before it is sent
	Gzip    bool          // it is sent compressed
	Chunked bool          // it is sent in chunks
	Missing int           // so many bytes are announced and never come
	Hangup  bool          // the connection is closed afterwards

	proxy *Proxy
	asked url.Values // as it was before a search was widened
	begun time.Time
}

// Data returns the rows of the run.
func (x *Exchange) Data() *isuumo.Data { return x.proxy.o.Data }

// Chair returns a chair by its id.
func (x *Exchange) Chair(id int64) *isuumo.Chair { return x.proxy.chairs[id] }

// Estate returns an estate by its id.
func (x *Exchange) Estate(id int64) *isuumo.Estate { return x.proxy.estates[id] }

// pass sends the request to the service and takes its answer, which is 502 when it has
// none.
func (x *Exchange) pass(ctx context.Context) {
	if err := x.roundTrip(ctx); err != nil {
		x.Status, x.Header, x.Body = http.StatusBadGateway, http.Header{}, nil
	}
}

func (x *Exchange) roundTrip(ctx context.Context) error {
	u := *x.proxy.target
	u.Path, u.RawQuery = x.Path, x.Query.Encode()
	req, err := http.NewRequestWithContext(ctx, x.Method, u.String(), bytes.NewReader(x.Sent))
	if err != nil {
		return err
	}
	maps.Copy(req.Header, x.Asked)
	req.Header.Del("Accept-Encoding")
	res, err := x.proxy.client.RoundTrip(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	x.Status, x.Header = res.StatusCode, res.Header
	x.Body, err = io.ReadAll(res.Body)
	return err
}

// passed reports whether the answer is the service's.
func (x *Exchange) passed() bool { return x.Header != nil }

// passLater sends the request to the service some time after it was answered.
func (x *Exchange) passLater(after time.Duration) {
	later := *x
	x.proxy.late.Go(func() {
		later.Delay = after
		later.wait(later.proxy.ctx)
		later.pass(later.proxy.ctx)
	})
}

// wait holds the answer back.
func (x *Exchange) wait(ctx context.Context) {
	if x.Delay <= 0 {
		return
	}
	over := time.NewTimer(x.Delay)
	defer over.Stop()
	select {
	case <-over.C:
	case <-ctx.Done():
	}
}

// answer sends the answer.
func (x *Exchange) answer(w http.ResponseWriter) {
	h := w.Header()
	maps.Copy(h, x.Header)
	h.Del("Content-Length")
	body := x.Body
	if x.Gzip {
		h.Set("Content-Encoding", "gzip")
		body = compressBody(body)
	}
	if x.Hangup {
		h.Set("Connection", "close")
	}
	if !x.Chunked {
		h.Set("Content-Length", strconv.Itoa(len(body)+x.Missing))
	}
	w.WriteHeader(x.Status)
	for len(body) > 0 && x.Chunked {
		n := min(len(body), chunk)
		_, _ = w.Write(body[:n])
		_ = http.NewResponseController(w).Flush()
		body = body[n:]
	}
	_, _ = w.Write(body)
}

// chunk is how many bytes are sent at once in chunks.
const chunk = 1000

func compressBody(body []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(body) // a buffer takes it all
	_ = z.Close()
	return b.Bytes()
}
