// Package onehost makes HTTP clients that ask the host which they are given and no other.
//
// The one idea: a service that is measured may answer what it likes, and a redirect or
// $HTTP_PROXY would have kasoku ask a host that no one named. An answer that leads
// elsewhere is an answer.
package onehost

import (
	"net/http"
	"time"
)

// NewClient returns a client with a transport of its own, which goes through no proxy and
// shares no connections, and a limit for each answer; 0: none.
func NewClient(transport *http.Transport, limit time.Duration) *http.Client {
	transport.Proxy = nil
	return &http.Client{Transport: transport, Timeout: limit,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
