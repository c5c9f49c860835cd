package fleet

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/http/httpguts"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/engine"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/load/vegeta"
)

// Version is that of the questions and answers. Hosts of another one are refused.
const Version = 1

// A Greeting is what a host says of itself.
type Greeting struct {
	Version int
	Program string // kasoku's version
	Cores   int    // that the generator may use
	Boot    string // another one in each life of the agent
	Allowed []string
}

// An Order asks a host to send its share of a load.
type Order struct {
	Run      string        // names the load, in all questions about it
	Share    load.Share    // of the requests
	Start    time.Duration // Clock: offset 0 of the schedule
	Schedule vegeta.ScheduleOptions
	Targets  []byte      // in Vegeta's JSON format, with places
	Header   http.Header // of all targets

	NoVariables bool
	MaxWorkers  uint64 // of the whole; 0: the default of each machine
	HTTP        HTTP
	Engine      string
	Pacing      load.Pacing
	Pipeline    int
	SeqHeader   string
	Name        string
}

// HTTP are the options of [nethttp.Options] that a host takes from another: those that
// name no file and no other destination. Redirects are never followed, as they would lead
// to a host that no one allowed.
type HTTP struct {
	Timeout                     time.Duration
	Connections, MaxConnections int
	NoKeepAlive, NoHTTP2, H2C   bool
	Insecure, Tickets, Chunked  bool
	MaxBody                     int64
}

// Attack returns the options of the attack that the order describes.
func (o *Order) Attack() vegeta.AttackOptions {
	h := o.HTTP
	return vegeta.AttackOptions{
		ScheduleOptions: o.Schedule, Name: o.Name, Format: vegeta.JSONTargets, Header: o.Header,
		NoVariables: o.NoVariables, MaxWorkers: o.MaxWorkers, Share: o.Share, Encoding: vegeta.Gob,
		Engine: engine.Options{Engine: o.Engine, Pacing: o.Pacing, Pipeline: o.Pipeline, HTTP: nethttp.Options{
			Timeout: h.Timeout, Connections: h.Connections, MaxConnections: h.MaxConnections,
			NoKeepAlive: h.NoKeepAlive, NoHTTP2: h.NoHTTP2, H2C: h.H2C, Chunked: h.Chunked, MaxBody: h.MaxBody,
			TLS:       nethttp.TLS{Insecure: h.Insecure, Tickets: h.Tickets},
			Redirects: nethttp.NoFollow, SeqHeader: o.SeqHeader,
		}},
	}
}

// NewOrder returns the order for an attack, without share, start and targets. It refuses
// what a host would not take from another.
func NewOrder(run string, a *vegeta.AttackOptions) (Order, error) {
	h := &a.Engine.HTTP
	d := &h.Dial
	for _, x := range []struct {
		given bool
		what  string
	}{
		{a.Lazy, "-lazy: targets are shared out before the load"},
		{a.Table != "", "--csv: a host takes no table from another"},
		{a.Output != "", "-output: single results stay on the hosts, and only counts come"},
		{h.KeepAnswers, "--keep-answers: only counts come"},
		{h.TLS.CertFile != "" || h.TLS.KeyFile != "" || len(h.TLS.RootFiles) > 0, "-cert, -key and -root-certs: a host reads no file for another"},
		{d.UnixSocket != "" || d.LocalAddr != "" || len(d.ConnectTo) > 0 || len(d.Resolvers) > 0,
			"-unix-socket, -laddr, -connect-to and -resolvers: where a host connects to is its own word"},
		{len(h.ProxyHeader) > 0, "-proxy-header: a proxy is the host's own word"},
	} {
		if x.given {
			return Order{}, errors.New("--from does not go with " + x.what)
		}
	}
	return Order{
		Run: run, Schedule: a.ScheduleOptions, Header: a.Header, NoVariables: a.NoVariables, MaxWorkers: a.MaxWorkers,
		HTTP: HTTP{Timeout: h.Timeout, Connections: h.Connections, MaxConnections: h.MaxConnections,
			NoKeepAlive: h.NoKeepAlive, NoHTTP2: h.NoHTTP2, H2C: h.H2C, Insecure: h.TLS.Insecure,
			Tickets: h.TLS.Tickets, Chunked: h.Chunked, MaxBody: h.MaxBody},
		Engine: a.Engine.Engine, Pacing: a.Engine.Pacing, Pipeline: a.Engine.Pipeline,
		SeqHeader: h.SeqHeader, Name: a.Name,
	}, nil
}

// A Limit is what the owner of a host lets others ask of it. The zero value lets nothing.
type Limit struct {
	Load    []*url.URL // targets begin so: scheme, host, port, and the path's beginning
	PerSec  float64    // most requests per second of this host; 0: no limit
	Record  bool       // this host is recorded
	Config  string     // the kasoku.toml that says what of it; empty: the host and its processes
	Logs    []string   // patterns of the logs that are read
	allowed []string
}

// ParseLimit reads what is allowed, such as load=http://10.0.0.5:8080/api, record,
// record=/home/isucon/kasoku.toml and logs=/var/log/nginx/*.log.
func ParseLimit(allow []string) (Limit, error) {
	var l Limit
	for _, a := range allow {
		if kind, path, named := strings.Cut(a, "="); kind == Record {
			if l.Record || named && (!filepath.IsAbs(path) || strings.ContainsFunc(path, unicode.IsControl)) {
				return Limit{},
					fmt.Errorf("bad permission %q: want record, or record=FILE with the absolute path of a "+
						"kasoku.toml of that host, once", clip(a))
			}
			l.Record, l.Config, l.allowed = true, path, append(l.allowed, a)
			continue
		}
		if pattern, ok := strings.CutPrefix(a, Logs+"="); ok {
			if err := parseLogs(pattern); err != nil {
				return Limit{}, fmt.Errorf("bad permission %q: %w", clip(a), err)
			}
			l.Logs, l.allowed = append(l.Logs, pattern), append(l.allowed, a)
			continue
		}
		text, ok := strings.CutPrefix(a, "load=")
		if !ok {
			return Limit{},
				fmt.Errorf("bad permission %q: want load=URL, such as load=http://10.0.0.5:8080/, record=FILE or "+
					"logs=PATTERN", clip(a))
		}
		u, err := parseTarget(text)
		if err != nil {
			return Limit{}, fmt.Errorf("bad permission %q: %w", clip(a), err)
		}
		l.Load, l.allowed = append(l.Load, u), append(l.allowed, a)
	}
	return l, nil
}

// Allowed returns what is allowed, as it was given.
func (l *Limit) Allowed() []string { return slices.Clone(l.allowed) }

// Hosts are those that may be loaded, for [load.Permit].
func (l *Limit) Hosts() (out []string) {
	for _, u := range l.Load {
		out = append(out, u.Hostname())
	}
	return out
}

func parseTarget(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("bad URL")
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", u.User != nil:
		return nil, errors.New("want http:// or https://, a host, and no user")
	}
	return u, nil
}

// leaving are the texts by which a path leaves what it begins with: dots, and what some servers
// read as a dot or a slash.
var leaving = []string{"/..", "%2e", "%2f", `\`, "%5c"}

// permits reports whether a URL, which may have places in its path and query, begins as
// one that is allowed. Dots in a path would leave what is allowed, so they are refused.
func (l *Limit) permits(text string) bool {
	fixed, _, hasPlaces := strings.Cut(text, "{{")
	u, err := parseTarget(fixed)
	if err != nil || hasPlaces && !strings.HasPrefix(fixed[len(u.Scheme)+3:], u.Host+"/") {
		return false
	}
	lower := strings.ToLower(text)
	if slices.ContainsFunc(leaving, func(s string) bool { return strings.Contains(lower, s) }) {
		return false
	}
	path := u.EscapedPath()
	inPath := hasPlaces && !strings.Contains(fixed, "?") // a place that follows a path's beginning goes on with it
	if !inPath {
		path += "/"
	}
	upTo, _, _ := strings.Cut(text, "?")
	picks := hasPlaces && strings.Contains(upTo, "pick") // the one place whose values may be dots
	return slices.ContainsFunc(l.Load, func(a *url.URL) bool {
		below := strings.TrimSuffix(a.EscapedPath(), "/") + "/"
		return a.Scheme == u.Scheme && strings.EqualFold(a.Hostname(), u.Hostname()) && portOf(a) == portOf(u) &&
			strings.HasPrefix(path, below) && (!picks || below == "/")
	})
}

// spoils reports whether a header would end its own line, or a name its value: what comes after
// it could be a request of its own, to anywhere.
func (o *Order) spoils() bool {
	for name, values := range o.Header {
		if !httpguts.ValidHeaderFieldName(name) || !allValid(values) {
			return true
		}
	}
	return o.SeqHeader != "" && !httpguts.ValidHeaderFieldName(o.SeqHeader) || !allValid([]string{o.Name})
}

func allValid(values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return !httpguts.ValidHeaderFieldValue(v) })
}

// setsHost reports whether headers name another host than the URL, as those of a target and of all may.
func setsHost(headers ...http.Header) bool {
	return slices.ContainsFunc(headers, func(h http.Header) bool {
		for name := range h {
			if strings.EqualFold(name, "Host") {
				return true
			}
		}
		return false
	})
}

func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// A RefusedError reports an order that a host does not carry out.
type RefusedError struct{ Reason, Fix string }

// Busy is the reason why a host that sends one load does not begin another.
const Busy = "another load is under way here"

// Error returns the reason.
func (e *RefusedError) Error() string { return "refused: " + e.Reason }

// Hint returns what the owner of the host can do.
func (e *RefusedError) Hint() string { return e.Fix }

const (
	maxTargetsOfOrder = 10_000
	maxLead           = time.Minute // that a start may lie ahead
)

// Check returns a [*RefusedError] when the host, whose clock shows now, does not carry the
// order out: a target that it does not allow, too high a rate, a start that is past.
func (o *Order) Check(l *Limit, now time.Duration) error {
	if !isRun(o.Run) {
		return &RefusedError{Reason: "the run has no name"}
	}
	if err := o.Share.Validate(); err != nil {
		return &RefusedError{Reason: err.Error()}
	}
	if o.Start <= now || o.Start > now+maxLead {
		return &RefusedError{Reason: "the start is past, or more than " + maxLead.String() + " ahead"}
	}
	if o.spoils() {
		return &RefusedError{Reason: "a header holds a control character"}
	}
	a := o.Attack()
	if err := a.Validate(); err != nil {
		return &RefusedError{Reason: err.Error()}
	}
	plan, err := a.PlanOf(o.Targets)
	if err != nil {
		return &RefusedError{Reason: err.Error()}
	}
	if len(plan.Targets) > maxTargetsOfOrder {
		return &RefusedError{Reason: fmt.Sprintf("%d targets: at most %d", len(plan.Targets), maxTargetsOfOrder)}
	}
	for i := range plan.Targets {
		if setsHost(o.Header, plan.Targets[i].Header) {
			return &RefusedError{Reason: "a Host header would name another host than the one that is allowed"}
		}
		if u := plan.Targets[i].URL; !l.permits(u) {
			return &RefusedError{Reason: fmt.Sprintf("load of %s is not allowed here", clip(load.WithoutPassword(u))),
				Fix: "on that host: kasoku agent --allow load=" + origin(u) + "/"}
		}
	}
	return l.checkRate(plan.Schedule, o.Share)
}

func (l *Limit) checkRate(schedule load.Schedule, s load.Share) error {
	if l.PerSec == 0 {
		return nil
	}
	if _, closed := schedule.(*load.ClosedLoop); closed {
		return &RefusedError{Reason: "a closed loop has no rate, and --max-rate bounds it"}
	}
	for _, st := range schedule.Steps() {
		if most := max(st.PerSec, st.PerSecTo) / float64(max(s.Of, 1)); most > l.PerSec {
			return &RefusedError{Reason: fmt.Sprintf("%.6g requests per second are more than the %.6g of --max-rate", most, l.PerSec)}
		}
	}
	return nil
}

func origin(text string) string {
	fixed, _, _ := strings.Cut(text, "{{")
	u, err := parseTarget(fixed)
	if err != nil {
		return "URL"
	}
	return u.Scheme + "://" + net.JoinHostPort(u.Hostname(), portOf(u))
}

// An Ack is the answer to an order, or to a stop.
type Ack struct {
	Error string `json:",omitempty"` // empty: it is carried out
	Fix   string `json:",omitempty"`
}
