package loadtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/load"
)

// Surplus reports whether bytes follow the answer that are not part of it. net/http may
// give such a connection to the next request before it has seen them.
func (a Answer) Surplus() bool {
	return slices.Contains([]string{"short-length", "early", "no-content-length", "trailer-surplus",
		"trailer-lf-more"}, a.Name)
}

// huge are the answers that are not worth sending byte by byte.
var huge = []string{"huge-header", "flood", "long-body"}

// groups are the loads of the suite.
func (h *Hostile) groups() []group {
	whole := func(a Answer) bool { return !a.Surplus() }
	small := func(a Answer) bool { return whole(a) && !slices.Contains(huge, a.Name) }
	opts := func(change func(o *Options)) Options {
		o := Options{MaxInFlight: 1, Redirects: -1, Timeout: time.Minute}
		if change != nil {
			change(&o)
		}
		return o
	}
	one := opts(nil)
	impatient := opts(func(o *Options) { o.MaxInFlight, o.NoKeepAlive, o.Timeout = 300, true, time.Second })
	// Whether an answer counts as complete is asked, which a machine with other work
	// may read late.
	patient := impatient
	patient.Timeout = 4 * time.Second
	hasty := opts(func(o *Options) { o.MaxInFlight, o.Timeout = 8, 200*time.Millisecond })
	follows := func(n int) Options { return opts(func(o *Options) { o.Redirects = n }) }
	return []group{
		{name: "get", opts: one, targets: h.each("GET", "", whole), sameConns: true},
		{name: "post", opts: one, targets: h.each("POST", "", whole), sameConns: true},
		{name: "head", opts: one, targets: h.each("HEAD", "", small), sameConns: true},
		{name: "chunked-post", opts: opts(func(o *Options) { o.Chunked = true }), targets: h.each("POST", "", whole),
			sameConns: true},
		{name: "big-post", opts: one, targets: h.big(), sameConns: true},
		{name: "no-keep-alive", opts: opts(func(o *Options) { o.NoKeepAlive = true }),
			targets: h.each("GET", "", small), sameConns: true},
		{name: "bytewise", opts: one, targets: h.each("GET", "bytes=1", small), sameConns: true},
		{name: "surplus", opts: one, targets: h.each("GET", "", Answer.Surplus), perSec: 10, sameConns: true},
		{name: "cut", opts: one, targets: h.cut("close"), sameConns: true},
		{name: "reset", opts: one, targets: h.cut("reset"), sameConns: true},
		{name: "max-body", opts: opts(func(o *Options) { o.MaxBody = 3 }), targets: h.each("GET", "", whole)},
		{name: "no-body", opts: opts(func(o *Options) { o.MaxBody = -1 }), targets: h.each("GET", "", small)},
		{name: "follow", opts: follows(0), targets: append(h.each("GET", "", isRedirect),
			h.each("POST", "", isRedirect)...)},
		{name: "follow-2", opts: follows(2), targets: h.each("GET", "", isRedirect)},
		{name: "follow-none", opts: follows(-2), targets: h.each("GET", "", isRedirect)},
		{name: "hang", opts: patient, targets: h.hang(), rounds: 1},
		{name: "mixed", opts: opts(func(o *Options) { o.MaxInFlight = 64 }), targets: append(h.each("GET", "", small),
			h.each("POST", "", small)...), rounds: 10},
		{name: "slow", opts: opts(func(o *Options) { o.MaxInFlight = 8 }), targets: h.slow(), rounds: 1},
		{name: "too-slow", opts: hasty, targets: h.slow(), rounds: 1, excused: isLate},
		{name: "endless", opts: impatient, targets: h.paths("/endless", "/endless-chunks"), excused: isLate},
		{name: "endless-header", opts: one, targets: h.paths("/endless-header", "/endless-continue")},
		{name: "stale", opts: one, targets: h.paths("/stale")[:1], rounds: 6, sameConns: true},
		{name: "stale-reset", opts: one, targets: h.paths("/stale-reset")[:1], rounds: 6, sameConns: true},
		{name: "stale-post", opts: one, targets: h.paths("/stale", "/stale-reset", "/reset"), perSec: 50,
			sameConns: true},
		{name: "idle-close", opts: one, targets: h.paths("/idle-close")[1:], perSec: 50, excused: hasRaced},
		{name: "idle-close-race", opts: one, targets: h.paths("/idle-close")[:1], rounds: 50},
		{name: "unread", opts: one, targets: h.unread(), perSec: 50, excused: hasRaced},
		{name: "early", opts: hasty, targets: h.beforehand(), excused: hasFailed},
		{name: "unreachable", opts: one, targets: unreachableTargets(), sameConns: true},
	}
}

func isRedirect(a Answer) bool {
	return slices.ContainsFunc(redirectAnswers(), func(r Answer) bool { return r.Name == a.Name })
}

// target returns a request. One that is not GET or HEAD has a body.
func (h *Hostile) target(method, path string) load.Target {
	t := load.Target{Method: method, URL: h.URL(path)}
	if method != "GET" && method != "HEAD" {
		t.Body = []byte("body")
	}
	return t
}

func (h *Hostile) each(method, query string, want func(Answer) bool) (out []load.Target) {
	for _, a := range catalogue() {
		if !want(a) {
			continue
		}
		path := "/" + a.Name
		if query != "" {
			path += "?" + query
		}
		out = append(out, h.target(method, path))
	}
	return out
}

func (h *Hostile) paths(paths ...string) (out []load.Target) {
	for _, p := range paths {
		out = append(out, h.target("GET", p), h.target("POST", p))
	}
	return out
}

// cut are answers that end after each of their bytes.
func (h *Hostile) cut(end string) (out []load.Target) {
	for _, name := range []string{"nginx", "chunked", "chunked-length", "hints", "until-close", "folded", "upgrade"} {
		a, _ := findAnswer(name)
		for n := range len(a.Bytes) {
			out = append(out, h.target("GET", fmt.Sprintf("/%s?cut=%d&end=%s", name, n, end)))
		}
	}
	return out
}

// hang are answers after which nothing comes: whether they are done is then what
// is asked.
func (h *Hostile) hang() []load.Target {
	out := h.paths("/hang")
	for _, a := range catalogue() {
		if !slices.Contains(huge, a.Name) {
			out = append(out, h.target("GET", "/"+a.Name+"?end=hang"))
		}
	}
	for _, n := range []int{1, 17, 60, len(nginx) - 26, len(nginx) - 1} {
		out = append(out, h.target("GET", fmt.Sprintf("/nginx?cut=%d&end=hang", n)))
	}
	return out
}

// slow are answers that come bit by bit.
func (h *Hostile) slow() []load.Target {
	var out []load.Target
	for _, name := range []string{"nginx", "chunked", "until-close", "folded", "half-body"} {
		out = append(out, h.target("GET", "/"+name+"?slow=1"))
	}
	return out
}

// bigBody is more than the buffers of a connection hold.
var bigBody = []byte(strings.Repeat("0123456789", 400_000))

// big are requests that are not sent at once.
func (h *Hostile) big() []load.Target {
	var out []load.Target
	for _, path := range []string{"/ok", "/until-close", "/chunked", "/half-body", "/close"} {
		t := h.target("POST", path)
		t.Body = bigBody
		out = append(out, t)
	}
	return out
}

func (h *Hostile) unread() []load.Target {
	out := h.paths("/unread", "/unread-close", "/unread-reset")
	for i := range len(out) {
		if big := out[i]; big.Method == "POST" {
			big.Body = bigBody
			out = append(out, big)
		}
	}
	return out
}

// beforehand are requests that a server does not wait for.
func (h *Hostile) beforehand() []load.Target {
	var out []load.Target
	for _, how := range []string{"close", "reset", "banner", "answer"} {
		for _, method := range []string{"GET", "POST"} {
			t := h.target(method, "")
			t.URL = h.Early(how)
			out = append(out, t)
		}
	}
	return out
}

// unreachableTargets are URLs where nothing listens.
func unreachableTargets() []load.Target {
	return []load.Target{
		{Method: "GET", URL: "http://127.0.0.1:1/x"},
		{Method: "POST", URL: "http://me:secret@127.0.0.1:1/x", Body: []byte("body")},
		{Method: "GET", URL: "http://[::1]:1/"},
		{Method: "GET", URL: "http://no-such-host.invalid/"},
	}
}

// isLate excuses where in an answer the time was up: that depends on the machine.
func isLate(_ string, a, b outcome) bool {
	return a.Code == 0 && b.Code == 0 && strings.Contains(a.Err, "context deadline exceeded") &&
		strings.Contains(b.Err, "context deadline exceeded")
}

// hasFailed excuses a different error of a request on a connection that was broken
// before it was sent: which error there is races with the sending. An answer that came
// before the request may count.
func hasFailed(path string, a, b outcome) bool {
	return strings.HasSuffix(path, "/answer") || a.Code == 0 && b.Code == 0
}

// hasRaced excuses what is a race in net/http too: whether the answer of a server
// that does not read a request is seen before the writing of the request fails,
// and with what it fails; whether a connection that the server closes is given to
// a request that must not be sent again.
func hasRaced(path string, a, b outcome) bool {
	fair := func(o outcome) bool {
		return o.Code == 200 || o.Code == 413 || strings.HasSuffix(o.Err, "connection reset by peer") ||
			strings.HasSuffix(o.Err, "broken pipe") ||
			strings.HasSuffix(o.Err, "closed network connection") ||
			strings.HasSuffix(o.Err, "closed idle connection") || strings.HasSuffix(o.Err, ": EOF")
	}
	return path != "/unread" && fair(a) && fair(b)
}
