package agent

import (
	"cmp"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/scenario"
	"golang.org/x/net/http/httpguts"
)

// Defaults of [Options].
const (
	DefaultTimeout  = time.Second       // isucandar's
	DefaultMaxConns = 16                // a browser has 6; users of a benchmark also ask for a list's rows at once
	DefaultMaxBody  = 64 << 20          // bytes
	DefaultMaxCache = 4 << 20           // bytes; a hundred users are 400 MB then, at worst
	DefaultAgent    = "kasoku-scenario" // User-Agent
)

// Options configure who a user is and what its client does. BaseURL is needed; zero
// values of the rest are useful.
type Options struct {
	BaseURL   string      // "http://127.0.0.1:8080"; user and password go out as basic authentication
	UserAgent string      // empty: DefaultAgent
	Header    http.Header // sent with each request that does not set the same name

	// Timeout is how long a request may take, from the call to the last byte of the
	// answer. 0 means DefaultTimeout, below 0 none. A deadline of the context counts
	// too.
	Timeout time.Duration

	NoCookies     bool // cookies are neither kept nor sent
	NoCache       bool // nothing is remembered, each request is sent as it is
	NoCompression bool // compressed answers are not asked for; what is compressed all the same stays so
	NoKeepAlive   bool // a connection for each request
	OtherOrigins  bool // what a page refers to at other hosts is fetched too, as far as they may be dialled

	MaxConns int   // connections to the base URL's host at once, a request beyond waits; 0 means DefaultMaxConns
	MaxBody  int64 // bytes of a body, decoded or not; a longer one is an error; 0 means DefaultMaxBody
	MaxCache int64 // bytes that are remembered; 0 means DefaultMaxCache

	Permit   load.Permit    // which addresses may be dialled, in addition to loopback and private ones
	Resolver *load.Resolver // instead of the system's names under Permit
	TLS      *tls.Config    // of https; nil: the system's authorities

	// Record is called once for each request that was sent or could not be, unless
	// its context was cancelled: from the goroutine that made it, before Do returns.
	// nil: requests are not counted.
	Record func(scenario.Record)
}

// Validate reports options that make no sense.
func (o Options) Validate() error {
	if _, err := parseBase(o.BaseURL); err != nil {
		return err
	}
	switch {
	case o.MaxConns < 0:
		return fmt.Errorf("bad number of connections %d", o.MaxConns)
	case o.MaxBody < 0:
		return fmt.Errorf("bad limit on a body %d", o.MaxBody)
	case o.MaxCache < 0:
		return fmt.Errorf("bad limit on what is remembered %d", o.MaxCache)
	case !httpguts.ValidHeaderFieldValue(o.UserAgent):
		return fmt.Errorf("bad user agent %q", o.UserAgent)
	}
	return load.CheckHeader(o.Header)
}

// parseBase reads a base URL.
func parseBase(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, errors.New("bad base URL " + load.WithoutPassword(fmt.Sprintf("%q", s)))
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("bad base URL %q: want http or https", u.Redacted())
	case u.Hostname() == "":
		return nil, fmt.Errorf("bad base URL %q: no host", u.Redacted())
	}
	return u, nil
}

// fields returns the fields that each request has, but for Host.
func (o *Options) fields(user *url.Userinfo) []field {
	h := http.Header{"User-Agent": {o.UserAgent}}
	if !o.NoCompression {
		h["Accept-Encoding"] = []string{acceptEncoding}
	}
	if o.NoKeepAlive {
		h["Connection"] = []string{"close"}
	}
	if user != nil {
		password, _ := user.Password()
		h["Authorization"] = []string{"Basic " + base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+
			password))}
	}
	for name, values := range o.Header {
		if name = http.CanonicalHeaderKey(name); !leftOut(name) {
			h[name] = values
		}
	}
	var out []field
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, v := range h[name] {
			out = append(out, field{name, v, name + ": " + v + "\r\n"})
		}
	}
	return out
}

// filled returns the options with defaults in place of zeros. Timeout is then 0
// when there is none.
func (o Options) filled() Options {
	o.UserAgent = cmp.Or(o.UserAgent, DefaultAgent)
	o.Timeout = max(cmp.Or(o.Timeout, DefaultTimeout), 0)
	o.MaxConns = cmp.Or(o.MaxConns, DefaultMaxConns)
	o.MaxBody = cmp.Or(o.MaxBody, DefaultMaxBody)
	o.MaxCache = cmp.Or(o.MaxCache, DefaultMaxCache)
	return o
}
