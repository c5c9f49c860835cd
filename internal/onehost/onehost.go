// Package onehost makes HTTP clients that ask the host which they are given and no other.
//
// The one idea: a service that is measured may answer what it likes, and a redirect or
// $HTTP_PROXY would have kasoku ask a host that no one named. An answer that leads to
// another host or port is an answer; one to another path is followed, as that of a server
// which wants a slash at the end.
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
		CheckRedirect: stayThere}
}

// mostSteps is how many redirects are followed.
const mostSteps = 3

// stayThere ends the way where it would lead elsewhere.
func stayThere(next *http.Request, asked []*http.Request) error {
	first := asked[0].URL
	if len(asked) > mostSteps || next.URL.Scheme != first.Scheme || next.URL.Host != first.Host {
		return http.ErrUseLastResponse
	}
	return nil
}
