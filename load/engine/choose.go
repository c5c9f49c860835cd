package engine

import (
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strings"

	"github.com/kasoku/kasoku/load"
)

// choose returns the name of the engine for a plan, and why it is that one.
func (e *Engine) choose(p *load.Plan) (name, why string, err error) {
	unfit := e.unfit(p)
	switch e.opts.Engine {
	case Auto, "":
		name, why = EpollHTTP, "all targets are cleartext HTTP/1.1"
		if unfit != "" {
			name, why = NetHTTP, unfit
		}
	case NetHTTP:
		name, why = NetHTTP, "asked for"
	case EpollHTTP:
		if unfit != "" {
			return "", "", &ChoiceError{EpollHTTP, unfit}
		}
		name, why = EpollHTTP, "asked for"
	default:
		return "", "", fmt.Errorf("bad engine %q: want %s, %s or %s", e.opts.Engine, Auto, EpollHTTP, NetHTTP)
	}
	if name == NetHTTP && e.opts.Pipeline > 1 {
		return "", "", fmt.Errorf("pipelining needs the engine %s, and this load has %s: %s", EpollHTTP, NetHTTP, why)
	}
	return name, why, nil
}

// unfit returns the first reason why epollhttp cannot send the plan, in words;
// empty when it can.
func (e *Engine) unfit(p *load.Plan) string {
	h := &e.opts.HTTP
	switch {
	case runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64":
		return "epollhttp needs Linux on amd64 or arm64"
	case p.Stream != nil:
		return "targets are read while the load runs"
	case h.H2C:
		return "HTTP/2 without TLS was asked for"
	case h.Dial.UnixSocket != "":
		return "the target is a Unix socket"
	case h.KeepAnswers:
		return "answers are kept"
	case h.Dial.DNSTTL != 0:
		return "names are to be looked up again during the load"
	}
	for i := range p.Targets {
		if why := e.unfitTarget(&p.Targets[i]); why != "" {
			return fmt.Sprintf("target %d %s", i+1, why)
		}
	}
	return ""
}

func (e *Engine) unfitTarget(t *load.Target) string {
	// Scheme and host have no places, so what follows them is no matter here.
	scheme, rest, _ := strings.Cut(t.URL, "://")
	host, _, _ := strings.Cut(rest, "/")
	u, err := url.Parse(scheme + "://" + host)
	switch {
	case !strings.EqualFold(scheme, "http"):
		return "is " + strings.ToLower(scheme)
	case err != nil:
		return "has a URL that cannot be read"
	case t.Method == http.MethodConnect:
		return "asks for a tunnel with CONNECT"
	}
	if proxy, err := e.proxy(&http.Request{URL: u}); err == nil && proxy != nil {
		return "goes through the proxy " + proxy.Redacted()
	}
	return ""
}
