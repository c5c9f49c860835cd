// Package nginx is the source "nginx": what an nginx server counts of its
// connections and requests, from its page stub_status.
//
// The one idea: seven numbers a second, over one kept connection, under the names
// that the page gives them. The page counts its own requests too: one for each tick.
//
// A server that does not answer, and a page that is none, cost a gap with the
// reason. Counters start at zero when the server's master is restarted; a reload
// keeps them.
//
// # Units and clock
//
// accepts, handled and requests are counters since the server started; active,
// reading, writing and waiting are connections at the moment.
//
// Source: nginx, ngx_http_stub_status_module.
package nginx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/onehost"
)

// Name is the name of the source.
const Name = "nginx"

const (
	answerLimit = 2 * time.Second // an overloaded server is slow to accept
	mostBytes   = 4 << 10         // of the page, which has 100
)

// A Status is what the page reports.
type Status struct {
	Active                    uint64 // connections, those that wait included
	Accepts, Handled          uint64 // connections since the server started
	Requests                  uint64 // since the server started
	Reading, Writing, Waiting uint64 // connections
}

// A Source reads one page. It is not safe for concurrent use.
type Source struct {
	url    string
	client *http.Client
}

// New returns a source for the page at a URL. It connects at the first Collect.
func New(page string) (*Source, error) {
	if err := Check(page); err != nil {
		return nil, err
	}
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: answerLimit}).DialContext,
		MaxIdleConnsPerHost: 1, DisableCompression: true,
	}
	return &Source{url: page, client: onehost.NewClient(transport, answerLimit)}, nil
}

// Check reports what is wrong with the URL of a page.
func Check(page string) error {
	u, err := url.Parse(page)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%q: want a URL that begins with http://", page)
	}
	return nil
}

// Name returns "nginx".
func (s *Source) Name() string { return Name }

// Collect reads the page. It fails when there is no answer, or another one.
func (s *Source) Collect(ctx context.Context, f *kasoku.Frame) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return fmt.Errorf("nginx: %w", err)
	}
	req.Header.Set("User-Agent", "kasoku")
	resp, err := s.client.Do(req)
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err // without the URL, which the reader knows
		}
		return fmt.Errorf("nginx does not answer: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostBytes))
	if err != nil {
		return fmt.Errorf("nginx's status page: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("nginx's status page: %s", resp.Status)
	}
	st, err := Parse(text)
	if err != nil {
		return fmt.Errorf("nginx's status page: %w", err)
	}
	f.Counter(Accepts, "", "count", float64(st.Accepts))
	f.Counter(Handled, "", "count", float64(st.Handled))
	f.Counter(Requests, "", "count", float64(st.Requests))
	f.Gauge(Active, "", "count", float64(st.Active))
	f.Gauge(Reading, "", "count", float64(st.Reading))
	f.Gauge(Writing, "", "count", float64(st.Writing))
	f.Gauge(Waiting, "", "count", float64(st.Waiting))
	return nil
}

// Close gives the connection up.
func (s *Source) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

// Parse reads the page:
//
//	Active connections: 291
//	server accepts handled requests
//	 16630948 16630948 31070465
//	Reading: 6 Writing: 179 Waiting: 106
func Parse(page []byte) (Status, error) {
	var st Status
	words := bytes.Fields(page)
	form := []struct {
		word string
		to   *uint64
	}{
		{"Active", nil}, {"connections:", &st.Active},
		{"server", nil}, {Accepts, nil}, {Handled, nil}, {Requests, &st.Accepts}, {"", &st.Handled},
		{"", &st.Requests},
		{"Reading:", &st.Reading}, {"Writing:", &st.Writing}, {"Waiting:", &st.Waiting},
	}
	for _, want := range form {
		if want.word != "" {
			if len(words) == 0 || string(words[0]) != want.word {
				return Status{}, fmt.Errorf("want %q, not what stub_status prints: %q", want.word,
					bytes.Join(words[:min(len(words), 3)], []byte(" ")))
			}
			words = words[1:]
		}
		if want.to == nil {
			continue
		}
		if len(words) == 0 {
			return Status{}, io.ErrUnexpectedEOF
		}
		n, err := strconv.ParseUint(string(words[0]), 10, 64)
		if err != nil {
			return Status{}, fmt.Errorf("want a number, not %q", words[0])
		}
		*want.to, words = n, words[1:]
	}
	return st, nil
}
