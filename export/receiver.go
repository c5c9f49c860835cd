package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/onehost"
)

// writeWithin bounds one request.
const writeWithin = 30 * time.Second

// mostPoints is how many values one request holds: servers refuse bodies of some megabytes, and
// a value takes 20 bytes of Prometheus' form, 60 of JSON.
const mostPoints = 10_000

// inRequests adds the series of a run to a request, and has it sent whenever it holds mostPoints values and at the
// end. add returns how many values the request holds; send begins a new one. It returns how many values were taken.
func inRequests(rec *kasoku.Recording, only Selection, add func([]Value) int, send func() error) (sent int, err error) {
	held := 0
	for _, s := range SeriesOf(rec) {
		if !only.Takes(s.Key.Source, s.Key.Name) {
			continue
		}
		for values := range slices.Chunk(appendSeries(nil, &s, Raw), mostPoints) {
			if held = add(values); held < mostPoints {
				continue
			}
			if err := send(); err != nil {
				return sent, err
			}
			sent, held = sent+held, 0
		}
	}
	if held == 0 {
		return sent, nil
	}
	if err := send(); err != nil {
		return sent, err
	}
	return sent + held, nil
}

// A receiver is a server that values are posted to.
type receiver struct {
	address *url.URL
	client  *http.Client
	at      string // where such a server takes values, for one that knows no such path
}

// newReceiver returns the server at a URL, whose user and password are those of basic authentication; such as
// is one that would do, at the hint for an answer of 404.
func newReceiver(address, such, at string) (*receiver, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("the address is no URL such as " + such)
	}
	client := onehost.NewClient(&http.Transport{}, writeWithin)
	// A POST that is sent on becomes a GET, which brings no values and may be answered well.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &receiver{address: u, client: client, at: at}, nil
}

// A Refusal is an answer of a server that did not take values.
type Refusal struct {
	Status string
	Text   string // of the answer, its first line
	at     string // where such a server takes values, for an answer of 404
}

// Error returns the status and what the server says.
func (r *Refusal) Error() string { return strings.TrimSuffix(r.Status+": "+r.Text, ": ") }

// Hint returns what to do about it.
func (r *Refusal) Hint() string {
	switch {
	case strings.Contains(r.Text, "out of order"):
		return "the server has it already, or newer values of the same run"
	case strings.Contains(r.Text, "out of bounds") || strings.Contains(r.Text, "too old"):
		return "the run is older than what the server takes: out_of_order_time_window in Prometheus' storage.tsdb, or " +
			"`kasoku export --to openmetrics` and promtool"
	case strings.HasPrefix(r.Status, "3"):
		return "the address leads to another, to which nothing is sent: does it ask for a login, or lack https or a path?"
	case strings.HasPrefix(r.Status, "404"):
		return r.at
	}
	return ""
}

// post sends a body with headers, and returns the beginning of the answer. What is not answered by 2xx is a
// [Refusal]. Errors name the address without what may be secret of it: password and query.
func (r *receiver) post(ctx context.Context, body []byte, header http.Header) (answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.address.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	bare := *r.address
	bare.RawQuery, bare.Fragment = "", ""
	req.Header = header
	req.Header.Set("User-Agent", "kasoku")
	res, err := r.client.Do(req)
	if err != nil {
		if full := new(url.Error); errors.As(err, &full) { // which has the query
			err = full.Err
		}
		return nil, fmt.Errorf("send to %s: %w", bare.Redacted(), err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, 1<<12))
	if res.StatusCode/100 != 2 {
		line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
		line = line[:min(len(line), 1<<10)]
		return nil, fmt.Errorf("send to %s: %w", bare.Redacted(), &Refusal{Status: res.Status, Text: line, at: r.at})
	}
	return text, nil
}
