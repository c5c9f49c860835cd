package webserver

import (
	"errors"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
)

const (
	// FewWebRequests is the least number of requests that a rule about the web
	// server says anything of: of fewer, single ones make a share.
	FewWebRequests = 100
	// passedOn of an endpoint's requests must reach the upstream server for its answers
	// to be that server's.
	passedOn = 0.9
)

// ErrNoSizes reports why answers cannot be compared by their sizes.
var ErrNoSizes = errors.New("the access log does not report when requests came and the sizes of their answers, or the run is of an older kasoku")

var errNoUpstream = errors.New("the access log does not report which requests were passed on; nginx's log_format wants $upstream_response_time")

// FrontEndpoints returns the endpoints of the front log, how many requests they had
// and how many were passed on. The error says why that is not known.
func FrontEndpoints(c *diagnose.Case) (endpoints []kasoku.Endpoint, requests, passed uint64, err error) {
	_, endpoints = c.FrontLog()
	for i := range endpoints {
		requests += endpoints[i].Count
		passed += endpoints[i].UpstreamCount
	}
	switch {
	case requests == 0:
		return nil, 0, 0, errors.New(c.Lines().NoLog("accesslog"))
	case passed == 0:
		return nil, 0, 0, errNoUpstream
	}
	return endpoints, requests, passed, nil
}

// IsPassed reports whether the upstream server gives the endpoint's answers.
func IsPassed(e *kasoku.Endpoint) bool {
	return e.Count > 0 && float64(e.UpstreamCount) >= passedOn*float64(e.Count)
}

// SavedTime is the impact of time that requests would not take.
func SavedTime(c *diagnose.Case, d time.Duration, estimate bool) kasoku.Impact {
	return kasoku.Impact{Share: c.Statements().ShareOf(d), Of: "of request time", Estimate: estimate}
}

// RequestCount is the evidence of an endpoint's requests.
func RequestCount(c *diagnose.Case, e *kasoku.Endpoint) kasoku.Evidence {
	return kasoku.Evidence{
		Source: "access", Text: "requests " + EndpointName(e),
		Note:  "mean " + unit.Duration(e.Total/time.Duration(max(e.Count, 1))),
		Value: unit.Count(e.Count), Number: float64(e.Count), Strong: true, Interval: c.Whole(),
	}
}

// Directive is the evidence of a line of the captured configuration.
func Directive(text, note string) kasoku.Evidence {
	return kasoku.Evidence{Source: "nginx", Text: text, Note: note, Strong: true}
}

// Ratio divides, 0 by 0 is 0.
func Ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// EndpointName is an endpoint as people write it.
func EndpointName(e *kasoku.Endpoint) string { return e.Method + " " + e.Route }

// IsStatic reports whether the endpoint is a file that the upstream server gives, the
// same each time.
func IsStatic(e *kasoku.Endpoint) bool { return e.IsStatic() && IsPassed(e) }
