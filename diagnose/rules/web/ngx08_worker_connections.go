package web

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/nginx"
)

// WorkerConnections is the rule NGX-08.
type WorkerConnections struct{}

// Thresholds of NGX-08.
const (
	connectionsFull     = 0.9
	standardConnections = 512 // ngx_event_module's default
	wantedConnections   = 4096
)

// ID returns NGX-08.
func (WorkerConnections) ID() string { return "NGX-08" }

// Doc describes the rule.
func (WorkerConnections) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds an nginx whose workers run out of connections.`,
		Evidence: `nginx's error log says "worker_connections are not enough", or its active connections
			come to 90 % of worker_connections of all workers; each request that is passed on needs two.`,
		Cause:  `a worker at its limit closes what a client opens, or answers 500.`,
		Fix:    `raise worker_connections, and worker_rlimit_nofile with it.`,
		Silent: `below the threshold; blind when neither nginx's error log nor its status page was read.`,
	}
}

// Check looks for workers at their limit.
func (r WorkerConnections) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	whole := *c
	whole.Focus = diagnose.Focus{Interval: c.Whole()}
	said := whole.Lines().SaidBy(kasoku.MessageNginx, func(m *kasoku.Message) bool {
		return wording.ContainsFold(m.Sample,
			"worker_connections are not enough")
	})
	active, activeErr := whole.Counters().Gauge(kasoku.Key{Source: nginx.Name, Name: nginx.Active})
	limit, confErr := connectionLimit(c)
	if len(said) == 0 {
		levelErr := webserver.CheckLogLevel(c, "error")
		if activeErr != nil || confErr != nil {
			if levelErr != nil {
				return nil, diagnose.Blind(r.ID(), errors.Join(levelErr, activeErr))
			}
			return nil, diagnose.Quiet(r.ID(), 0, "nginx's error log says nothing of worker_connections")
		}
		used := active.Max / limit
		if used < connectionsFull {
			return nil, diagnose.Quiet(r.ID(), used/connectionsFull,
				"%s of %s connections were active at most; the threshold is %s", diagnose.Whole(active.Max),
				diagnose.Whole(limit), unit.Percent(connectionsFull))
		}
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "directive", Name: "worker_connections"},
		Title:  "nginx's workers run out of connections",
		Clause: "nginx's workers run out of connections", Severity: kasoku.Problem,
		Impact: kasoku.Impact{Of: evidence.OfRequests(c)},
		Expect: "no such line in nginx's error log",
		Verify: "repeat the load: active connections stay below half of the limit", Interval: c.Focus.Interval,
	}
	var lines uint64
	for i, m := range said {
		lines += m.Count
		if i == 0 {
			e := c.Quote().Quoted(m, true)
			e.Source = "error.log"
			f.Evidence = append(f.Evidence, e)
		}
	}
	if n, err := whole.Requests(c.Whole()); err == nil {
		f.Impact.Share = min(webserver.Ratio(float64(lines), float64(n.Count)), 1)
	}
	if activeErr == nil {
		f.Evidence = append(f.Evidence, kasoku.Evidence{
			Source: "nginx", Text: "active connections, most", Note: "of " + diagnose.Whole(limit),
			Value: diagnose.Whole(active.Max), Number: active.Max,
			Strong: confErr == nil && active.Max >= connectionsFull*limit, Series: []kasoku.Key{active.Key},
			Interval: c.Whole(),
		})
	}
	f.Cause = "A worker of nginx holds at most worker_connections, clients and the upstream servers together."
	wanted := float64(wantedConnections)
	if confErr == nil {
		f.Cause += fmt.Sprintf(" All workers together hold %s.", diagnose.Whole(limit))
		f.Evidence = append(f.Evidence, webserver.Directive("worker_connections of all workers", diagnose.Whole(limit)))
		wanted = max(wanted, math.Pow(2, math.Ceil(math.Log2(2*limit))))
	}
	f.Confidence = diagnose.Confidence(diagnose.Signal{Holds: len(said) > 0,
		Lacks: "nginx's error log does not say so"}, blindSignal(activeErr == nil &&
		active.Max >= connectionsFull*limit, activeErr))
	f.Fixes = []kasoku.Fix{webserver.Fix("Raise worker_connections, and the open files that a worker may have",
		"Each takes some hundred bytes.", kasoku.RiskNone,
		webserver.Edit("events", fmt.Sprintf("worker_connections %.0f;", wanted)),
		webserver.Edit("", fmt.Sprintf("worker_rlimit_nofile %.0f;", 2*wanted)))}
	return []kasoku.Finding{f}, nil
}

// blindSignal is a signal that an error keeps from being looked at.
func blindSignal(holds bool, err error) diagnose.Signal {
	s := diagnose.Signal{Holds: holds, Lacks: "a sample a second did not show it"}
	if err != nil {
		s.Blind = err.Error()
	}
	return s
}

// connectionLimit returns how many connections all workers may hold.
func connectionLimit(c *diagnose.Case) (float64, error) {
	w, err := webserver.ConfigOf(c.Recording)
	if err != nil {
		return 0, err
	}
	each, workers := w.Number("worker_connections"), 1
	if each == 0 {
		each = standardConnections
	}
	for _, d := range w.In(-1, "worker_processes") {
		if n := w.Number("worker_processes"); n > 0 {
			workers = n
		} else if len(d.Words) > 1 && strings.EqualFold(d.Words[1], "auto") && len(c.Run.Hosts) > 0 {
			workers = max(c.Run.Hosts[0].Cores, 1)
		}
	}
	return float64(each * workers), nil
}
