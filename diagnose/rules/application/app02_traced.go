package application

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
	"github.com/kasoku/kasoku/internal/unit"
)

// Thresholds of what a trace shows: so many requests that started a program, or so many starts of one.
const (
	fewTracedStarts  = 5
	manyTracedStarts = 20
)

// tracedStarts are the programs that the requests of one endpoint start, as a trace shows it.
type tracedStarts struct {
	trace    *kasoku.Trace
	of       *kasoku.TracedEndpoint
	programs []kasoku.TracedProgram // the most starts first
	starts   uint64
	few      bool // requests
}

// startsOf returns those of the endpoint whose requests start most; nil where no trace shows enough of them.
func startsOf(c *diagnose.Case) (most *tracedStarts) {
	for i := range c.Traces {
		t := &c.Traces[i]
		for k := range t.Endpoints {
			x := tracedStarts{trace: t, of: &t.Endpoints[k], programs: slices.Clone(t.Endpoints[k].Programs)}
			with := uint64(0)
			for _, p := range x.programs {
				x.starts, with = x.starts+p.Starts, max(with, p.With)
			}
			seconds := max(t.Interval.Len().Seconds(), 0.001)
			x.few = with < fewTracedStarts
			if (!x.few || x.starts >= manyTracedStarts) && x.perRequest() >= forksOfEndpoint &&
				float64(x.starts)/seconds >= forksPerSecond &&
				(most == nil || x.starts > most.starts) {
				most = &x
			}
		}
	}
	if most != nil {
		slices.SortStableFunc(most.programs, func(a, b kasoku.TracedProgram) int {
			return cmp.Compare(b.Starts, a.Starts)
		})
	}
	return most
}

func (s *tracedStarts) perRequest() float64 {
	return webserver.Ratio(float64(s.starts), float64(s.of.Requests))
}

// endpoint returns the endpoint of the access log that it is; one that the log does not have has what was
// traced, and is not logged.
func (s *tracedStarts) endpoint(c *diagnose.Case) (e *kasoku.Endpoint, logged bool) {
	_, endpoints := c.FrontLog()
	i := slices.IndexFunc(endpoints, func(e kasoku.Endpoint) bool {
		return e.Method == s.of.Method && e.Route == s.of.Route
	})
	if i < 0 {
		return &kasoku.Endpoint{Method: s.of.Method, Route: s.of.Route, Count: s.of.Requests, Total: s.of.Time}, false
	}
	return &endpoints[i], true
}

// cost estimates what the starts cost in all requests of the endpoint.
func (s *tracedStarts) cost(e *kasoku.Endpoint) time.Duration {
	return time.Duration(s.perRequest() * float64(e.Count) * float64(forkCost))
}

func (s *tracedStarts) cause() string {
	return fmt.Sprintf("A request of %s %s starts %s programs. One that is run for a file costs about a millisecond "+
		"of CPU beside its work.", s.of.Method, s.of.Route, unit.Sig3(s.perRequest()))
}

// mostNamed programs are quoted.
const mostNamed = 4

// evidence quotes the programs.
func (s *tracedStarts) evidence() kasoku.Evidence {
	var parts []string
	for i, p := range s.programs {
		if i == mostNamed {
			parts = append(parts, fmt.Sprintf("%d more", len(s.programs)-i))
			break
		}
		parts = append(parts, p.Name+" "+unit.Sig3(webserver.Ratio(float64(p.Starts), float64(s.of.Requests))))
	}
	return kasoku.Evidence{
		Source: "trace", Text: "programs that a request of " + s.of.Method + " " + s.of.Route + " starts",
		Note: strings.Join(parts, ", ") + "; " +
			unit.Counted(s.of.Requests, "request was", "requests were") + " traced",
		Value: unit.Sig3(s.perRequest()), Number: s.perRequest(), Strong: true, Interval: s.trace.Interval,
	}
}

// What programs that have a fix of their own do.
var (
	copies   = []string{"cp", "ln", "mv", "install"}
	archives = []string{"zip", "tar", "gzip", "pigz", "unzip"}
	hashes   = []string{"openssl", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum"}
	shells   = []string{"sh", "bash", "dash", "ash", "zsh"}
)

// fix is what to do instead of the programs.
func (s *tracedStarts) fix(c *diagnose.Case) kasoku.Fix {
	has := func(of []string) bool {
		return slices.ContainsFunc(s.programs, func(p kasoku.TracedProgram) bool { return slices.Contains(of, p.Name) })
	}
	var f kasoku.Fix
	switch {
	case has(hashes):
		f = language.Pick(c, ownHash)
		f.Note = strings.TrimSpace(f.Note + " " + sameHash)
	case has(copies), has(archives):
		f = language.Pick(c, inProcess)
	default:
		f.Note = "A library of the language, one process that stays and is asked through a pipe or a socket, or a job " +
			"after the answer where the request does not need what it makes."
	}
	var names []string
	for _, p := range s.programs {
		if !slices.Contains(shells, p.Name) && len(names) < mostNamed {
			names = append(names, p.Name)
		}
	}
	switch {
	case len(names) == 0: // what a shell does itself
		f.Text = "Do in the process what " + s.programs[0].Name + " does"
	case has(shells):
		f.Text = "Do in the process what " + strings.Join(names, ", ") + " does, and start no shell for it"
	default:
		f.Text = "Do in the process what " + strings.Join(names, ", ") + " does"
	}
	return f
}
