// Package mackerel posts metrics of hosts and services, definitions and annotations of
// graphs, to Mackerel's API, and finds hosts there.
//
// The one idea is a [Client] that asks again by itself: when the network failed, the
// service is busy (429, Retry-After) or broken (5xx), a request is repeated with a
// growing wait. That is safe, since a value with the same name and time overwrites the
// one before; only an annotation may come to be there twice. What the service refuses
// is an [Error] that says what to do.
//
// Mackerel keeps one value a minute and metric, and silently forgets what is older
// than [MaxAge]. Times are whole seconds since 1970. The key is sent in a header, over
// TLS or to this machine only, and is never part of an error or of a printed client.
//
// Source: mackerel.io/api-docs: host-metrics (with graph definitions),
// service-metrics, graph-annotations, hosts.
package mackerel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// DefaultBase is where the API is.
const DefaultBase = "https://api.mackerelio.com/"

// MaxAge is how old a value may be; an older one is answered with success and not
// kept.
const MaxAge = 24 * time.Hour

const (
	// perPost is how many values go into one request. The API names no limit; one is
	// there for the length of a body.
	perPost = 500

	maxAnswer = 4 << 20 // bytes of an answer that are read

	defaultAttempts = 6
	defaultTimeout  = 30 * time.Second // of one request
	firstWait       = time.Second      // before the second attempt
	longestWait     = time.Minute      // the service counts requests by the minute
)

// Options configure how to reach the API.
type Options struct {
	Key       string        // needed
	Base      string        // URL of the API; empty: DefaultBase
	Attempts  int           // for each request; 0: 6, which is up to half a minute of waits
	FirstWait time.Duration // before the second attempt, then doubled; 0: 1 s
	Timeout   time.Duration // of one request; 0: 30 s
	UserAgent string        // empty: kasoku
}

// A Client talks to the API. It may be used by several goroutines.
type Client struct {
	o    Options
	base *url.URL
	http *http.Client
}

// New returns a client; it asks nothing yet.
func New(o Options) (*Client, error) {
	if o.Key == "" {
		return nil, errors.New("mackerel: no API key")
	}
	if strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("mackerel: the API key holds a character that no key has")
	}
	if o.Base == "" {
		o.Base = DefaultBase
	}
	base, err := url.Parse(o.Base)
	if err != nil || base.Host == "" {
		return nil, fmt.Errorf("mackerel: API URL %q: want https://host/", o.Base)
	}
	if base.Scheme != "https" && !(base.Scheme == "http" && isLoopback(base.Hostname())) {
		return nil, fmt.Errorf("mackerel: API URL %q: the key goes over https only, or to this machine",
			base.Redacted())
	}
	if o.Attempts <= 0 {
		o.Attempts = defaultAttempts
	}
	if o.FirstWait <= 0 {
		o.FirstWait = firstWait
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.UserAgent == "" {
		o.UserAgent = "kasoku"
	}
	return &Client{o: o, base: base, http: &http.Client{
		Timeout: o.Timeout,
		// A redirect would take the key along to wherever it leads.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// String names the API and not the key.
func (c *Client) String() string { return "mackerel client of " + c.base.Redacted() }

// GoString is String, so that no %#v shows the key.
func (c *Client) GoString() string { return c.String() }

// An Error is an answer that is no success.
type Error struct {
	Status  int
	Request string // POST /api/v0/tsdb
	Message string // of the service, bounded; may be empty
}

// Error names the request and what was answered.
func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %d %s", e.Request, e.Status, http.StatusText(e.Status))
	if e.Message != "" {
		s += fmt.Sprintf(" (%q)", e.Message)
	}
	return s
}

// Hint returns what to do.
func (e *Error) Hint() string {
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "is the API key of this organization, may it write, and is this address permitted?"
	case http.StatusNotFound:
		return "is there a service, role or host of that name?"
	case http.StatusTooManyRequests:
		return "too many requests a minute; does something else post with the same key?"
	}
	return ""
}

// again reports whether the request may succeed when it is repeated.
func (e *Error) again() bool { return e.Status == http.StatusTooManyRequests || e.Status >= 500 }

// do sends a request, several times where that helps, and decodes the answer into out
// unless that is nil.
func (c *Client) do(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
	}
	wait := c.o.FirstWait
	for attempt := 1; ; attempt++ {
		asked, err := c.once(ctx, method, path, body, out)
		var answer *Error
		if err == nil || errors.As(err, &answer) && !answer.again() || errors.Is(err, errAnswer) ||
			attempt == c.o.Attempts {
			return err
		}
		timer := time.NewTimer(max(wait, asked))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
		wait = min(2*wait, longestWait)
	}
}

// errAnswer means that an answer was a success and makes no sense; asking again would
// do what was asked twice.
var errAnswer = errors.New("the answer makes no sense")

// once sends a request once; asked is how long the service wants one to wait.
func (c *Client) once(ctx context.Context, method, path string, body []byte, out any) (asked time.Duration, err error) {
	name := method + " " + strings.SplitN(path, "?", 2)[0]
	at, err := c.base.Parse(strings.TrimSuffix(c.base.Path, "/") + path)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	req, err := http.NewRequestWithContext(ctx, method, at.String(), bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	req.Header.Set("X-Api-Key", c.o.Key)
	req.Header.Set("User-Agent", c.o.UserAgent)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, errors.Unwrap(err)) // without the URL
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch {
	case resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusCreated:
		return retryAfter(resp.Header.Get("Retry-After")), &Error{Status: resp.StatusCode, Request: name,
			Message: messageOf(text)}
	case err != nil:
		return 0, fmt.Errorf("%s: read the answer: %w", name, err)
	case out == nil:
		return 0, nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return 0, fmt.Errorf("%s: %w: %w", name, errAnswer, err)
	}
	return 0, nil
}

// retryAfter reads the header, seconds only, and no more than the longest wait.
func retryAfter(s string) time.Duration {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return min(time.Duration(min(n, 3600))*time.Second, longestWait)
}

// maxMessage is how many bytes of an error are printed.
const maxMessage = 200

// messageOf finds what an answer says of an error: {"error":{"message":…}} or
// {"error":…}, else the text itself.
func messageOf(text []byte) string {
	var long struct {
		Error struct{ Message string }
	}
	var short struct{ Error string }
	s := strings.TrimSpace(string(text))
	switch {
	case json.Unmarshal(text, &long) == nil && long.Error.Message != "":
		s = long.Error.Message
	case json.Unmarshal(text, &short) == nil && short.Error != "":
		s = short.Error
	}
	return cutText(s, maxMessage, "…")
}
