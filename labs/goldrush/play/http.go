package play

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/onehost"
	"github.com/kasoku/kasoku/labs/goldrush"
)

// mostConnections are kept between requests.
const mostConnections = 256

// HTTPOptions are how requests are sent. The zero value is net/http with connections that are
// kept.
type HTTPOptions struct {
	OneRequest bool // makes a connection for each request
	ByHand     bool // bodies are written without package encoding/json
	Own        bool // a client of HTTP/1.1 that does next to nothing, in place of net/http's
}

// An HTTP asks a server by HTTP.
type HTTP struct {
	sender sender
	byHand bool
}

// A sender sends one request and reads its answer.
type sender interface {
	send(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error)
	close()
}

// NewHTTP returns one that asks the server at a URL without a path.
func NewHTTP(base string, o HTTPOptions) (*HTTP, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	if o.Own {
		return &HTTP{newOwnSender(u.Host, o.OneRequest), o.ByHand}, nil
	}
	t := &http.Transport{MaxIdleConns: mostConnections, MaxIdleConnsPerHost: mostConnections,
		DisableCompression: true, DisableKeepAlives: o.OneRequest}
	return &HTTP{&netSender{strings.TrimSuffix(base, "/"), onehost.NewClient(t, time.Minute)}, o.ByHand}, nil
}

// Close closes the connections that are not in use.
func (h *HTTP) Close() { h.sender.close() }

// Ask returns the answer to a request.
func (h *HTTP) Ask(ctx context.Context, r goldrush.Request) goldrush.Answer {
	method, path := r.Call.Route()
	encode := encodeBody
	if h.byHand {
		encode = encodeByHand
	}
	body, err := encode(&r)
	if err != nil {
		return goldrush.Answer{}
	}
	status, answer, err := h.sender.send(ctx, method, path, body)
	if err != nil {
		return goldrush.Answer{}
	}
	out := goldrush.Answer{Status: status}
	if decodeAnswer(r.Call, answer, &out) != nil {
		return goldrush.Answer{} // it is as good as none
	}
	return out
}

// mostAnswer is how long an answer may be.
const mostAnswer = 1 << 20

// A netSender is net/http's client.
type netSender struct {
	base   string
	client *http.Client
}

func (s *netSender) close() { s.client.CloseIdleConnections() }

func (s *netSender) send(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	return resp.StatusCode, answer, err
}

// encodeBody returns the body of a request, nil for one without.
func encodeBody(r *goldrush.Request) ([]byte, error) {
	switch r.Call {
	case goldrush.Issue:
		return json.Marshal(append([]goldrush.Coin{}, r.Coins...))
	case goldrush.Explore:
		return json.Marshal(r.Area)
	case goldrush.Dig:
		return json.Marshal(r.Hole)
	case goldrush.Cash:
		return json.Marshal(r.Treasure)
	}
	return nil, nil
}

// encodeByHand is encodeBody without package encoding/json.
func encodeByHand(r *goldrush.Request) ([]byte, error) {
	var b []byte
	field := func(before string, v int) { b = strconv.AppendInt(append(b, before...), int64(v), 10) }
	switch r.Call {
	case goldrush.Issue:
		b = append(b, '[')
		for i, c := range r.Coins {
			field(strings.Repeat(",", min(i, 1)), int(c))
		}
		return append(b, ']'), nil
	case goldrush.Explore:
		field(`{"posX":`, r.Area.PosX)
		field(`,"posY":`, r.Area.PosY)
		field(`,"sizeX":`, r.Area.SizeX)
		field(`,"sizeY":`, r.Area.SizeY)
		return append(b, '}'), nil
	case goldrush.Dig:
		field(`{"licenseID":`, r.Hole.LicenseID)
		field(`,"posX":`, r.Hole.PosX)
		field(`,"posY":`, r.Hole.PosY)
		field(`,"depth":`, r.Hole.Depth)
		return append(b, '}'), nil
	}
	return encodeBody(r) // a treasure's text may need quoting
}

// decodeAnswer reads the body of an answer whose status is known.
func decodeAnswer(c goldrush.Call, body []byte, a *goldrush.Answer) error {
	if a.Status != http.StatusOK {
		return json.Unmarshal(body, &a.Error)
	}
	switch c {
	case goldrush.Balance:
		var b struct {
			Balance int             `json:"balance"`
			Wallet  []goldrush.Coin `json:"wallet"`
		}
		err := json.Unmarshal(body, &b)
		a.Balance, a.Coins = b.Balance, b.Wallet
		return err
	case goldrush.Licenses:
		return json.Unmarshal(body, &a.Licenses)
	case goldrush.Issue:
		a.Licenses = make([]goldrush.License, 1)
		return json.Unmarshal(body, &a.Licenses[0])
	case goldrush.Explore:
		var e struct {
			Amount int `json:"amount"`
		}
		err := json.Unmarshal(body, &e)
		a.Amount = e.Amount
		return err
	case goldrush.Dig:
		var all []string
		err := json.Unmarshal(body, &all)
		if len(all) > 0 {
			a.Treasure = all[0]
		}
		return err
	case goldrush.Cash:
		return json.Unmarshal(body, &a.Coins)
	}
	return nil
}

// CPU returns what the server's /metrics show of its virtual CPU. The published server has
// no such page.
func (h *HTTP) CPU(ctx context.Context) (used [goldrush.Calls]time.Duration, ok bool) {
	status, page, err := h.sender.send(ctx, http.MethodGet, "/metrics", nil)
	if err != nil || status != http.StatusOK {
		return used, false
	}
	return parseCPU(string(page))
}

// parseCPU reads the seconds of each call from a page of metrics.
func parseCPU(page string) (used [goldrush.Calls]time.Duration, ok bool) {
	for line := range strings.Lines(page) {
		rest, is := strings.CutPrefix(line, `goldrush_cpu_seconds_total{call="`)
		name, value, cut := strings.Cut(strings.TrimSpace(rest), `"} `)
		seconds, err := strconv.ParseFloat(value, 64)
		if !is || !cut || err != nil {
			continue
		}
		for c := range goldrush.Calls {
			if c.String() == name {
				used[c], ok = time.Duration(seconds*float64(time.Second)), true
			}
		}
	}
	return used, ok
}
