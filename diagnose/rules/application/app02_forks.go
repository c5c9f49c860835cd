package application

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/observe/sockets"
)

// Forks is the rule APP-02.
type Forks struct{}

// Thresholds of APP-02.
const (
	forksPerSecond  = 5
	forksPerRequest = 0.05
	forksOfEndpoint = 0.5
	// fewRequests of an endpoint say too little of what starts with them.
	fewRequests = 20
	// forksFollow is the correlation by the second from which requests explain starts,
	// and forksLead how much more that of the endpoint must be than the next one's:
	// under a load that only rises and falls, all endpoints go with it.
	forksFollow = 0.9
	forksLead   = 0.1
	// childCPU of what a program waited for, in cores, are programs that it starts: a
	// hundredth of a millisecond for each would be less than one costs.
	childCPU = 0.002
	// forksStretch is in what a program that starts others for requests does so each
	// time, but for one of five; waitFollow the least correlation by the second of what
	// it waits for with the requests.
	forksStretch = 3 * time.Second
	waitFollow   = 0.5
	// forkCost is an estimate of starting a small program and waiting for its end.
	forkCost = time.Millisecond
)

// ID returns APP-02.
func (Forks) ID() string { return "APP-02" }

// Doc describes the rule.
func (Forks) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds requests that start programs.`,
		Evidence: `the host starts at least 5 processes or threads a second under load and at least one
			for every twenty requests. A program that takes connections waits for them (the CPU of its
			children grows all the time, and with the requests); where no process was recorded, an endpoint's
			requests go with them by the second.`,
		Cause: `the handler runs cp, zip or a shell for each file; each costs a fork, an exec and its end,
			and copies what a hard link would share.`,
		Fix: `do it in the process: os.Link for a copy, the language's zip for zip.`,
		Silent: `below the thresholds, and when none waits, or does so without requests too: builds and
			jobs beside the service start programs as well; blind where the host's count was not recorded or
			no requests were counted.`,
	}
}

// Check sets the host's forks against the requests.
func (r Forks) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	g, err := c.Counters().Grown(kasoku.Key{Source: diagnose.Host, Name: host.Forks})
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	n, err := c.Requests(g.Interval)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	perSec, perRequest := g.By/g.Interval.Len().Seconds(), webserver.Ratio(g.By, float64(n.Count))
	if perSec < forksPerSecond || perRequest < forksPerRequest {
		return nil, diagnose.Quiet(r.ID(), min(perSec/forksPerSecond, perRequest/forksPerRequest),
			"the host started %s processes or threads a second, %s for each request; the thresholds are %d and %s",
			unit.Sig3(perSec), unit.Sig3(perRequest), forksPerSecond, unit.Plain(forksPerRequest))
	}
	parent, err := forkingProgram(c, c.RequestsBySecond(n.Source))
	e, follow := forkingEndpoint(c, g, parent)
	switch {
	case err == nil && parent.Key.Name == "":
		return nil, diagnose.Quiet(r.ID(), forksFollow,
			"the host started %s processes or threads a second, but no program that takes connections waits for them, more with more requests", unit.Sig3(perSec))
	case err != nil && e == nil:
		return nil, diagnose.Quiet(r.ID(), forksFollow,
			"the host started %s processes or threads a second; %v, and no endpoint's requests go with them",
			unit.Sig3(perSec), err)
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "process", Name: programOf(parent)}, Title: "Requests start programs",
		Severity: kasoku.Problem,
		Impact:   webserver.SavedTime(c, time.Duration(g.By)*forkCost, true),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: parent.Key.Name != "",
			Lacks: "no program of the service waits for them"},
			diagnose.Signal{Holds: e != nil,
				Lacks: "its requests do not go with the starts by the second, as under a load that does not change"},
			diagnose.Signal{Holds: perRequest >= 4*forksPerRequest,
				Lacks: "threads and other programs of the host count too"}),
		Evidence: []kasoku.Evidence{c.Quote().Counted(g, true), {
			Source: "host", Text: "processes and threads started a second",
			Note: unit.Sig3(perRequest) + " for each request", Value: unit.Sig3(perSec), Number: perSec, Strong: true,
			Series: []kasoku.Key{g.Key}, Interval: c.Focus.Interval,
		}},
		Cause: fmt.Sprintf("%s the host started %s processes or threads a second, %s for each request. A program that is run for a file costs about a millisecond of CPU beside its work.",
			wording.Capital(c.At()), unit.Sig3(perSec), unit.Sig3(perRequest)),
		Fixes: []kasoku.Fix{{
			Text: "Do in the process what the program does", Where: "the handler", Risk: kasoku.RiskAppRestart,
			Lang: "go",
			Code: "- exec.Command(\"cp\", from, to).Run()\n+ os.Link(from, to) // no copy; the file must not be changed in place",
			Note: "For archives: archive/zip with Store for what is packed already, made once and kept where the files do not change.",
		}},
		Expect: "no process is started for a request", Verify: "repeat the load: forks of the host stay near zero",
		Interval: c.Focus.Interval,
	}
	if parent.Key.Name != "" {
		x := c.Quote().Counted(parent, true)
		x.Text, x.Value = "CPU of programs that "+parent.Key.Instance+" waited for", unit.Sig3(parent.By)+" s"
		f.Evidence = append(f.Evidence, x)
	}
	if e != nil {
		f.Object, f.Title = kasoku.Object{Kind: "endpoint", Name: webserver.EndpointName(e)},
			"A handler starts programs for its requests"
		f.Evidence = append(f.Evidence, webserver.RequestCount(c, e), kasoku.Evidence{
			Source: "access", Text: "correlation of its requests with the starts, by the second",
			Value: unit.Sig3(follow), Number: follow, Interval: c.Focus.Interval,
		})
	}
	return []kasoku.Finding{f}, nil
}

// forkingProgram returns the CPU of the children that a program waited for, of the
// one that has most, leaving out databases, kasoku, who takes no connections, and who waits
// as much without requests; no name when there is none, an error when no process was
// recorded.
func forkingProgram(c *diagnose.Case, requests map[int]float64) (most diagnose.Grown, err error) {
	programs, err := c.Processes().Programs()
	if err != nil {
		return most, err
	}
	for _, p := range programs {
		if p.Role != diagnose.Other || !mayServe(c, p) {
			continue
		}
		for _, k := range p.Keys {
			k.Name = process.CPUChildren
			g, err := c.Counters().Grown(k)
			if err == nil && g.By > most.By && g.By >= childCPU*g.Interval.Len().Seconds() &&
				withRequests(c, g, requests) {
				most = g
			}
		}
	}
	return most, nil
}

// mayServe reports whether the program, or one that is not known, listens where
// connections were taken. That is not known where sockets or connections were not
// recorded, and where containers have networks of their own.
func mayServe(c *diagnose.Case, p diagnose.Program) bool {
	if c.Knows(p.Host) {
		return p.Member != ""
	}
	onHost := func(source, name string) []*kasoku.Series {
		return slices.DeleteFunc(c.FindAll(source, name), func(s *kasoku.Series) bool { return s.Key.Host != p.Host })
	}
	listeners := onHost(sockets.Name, sockets.AcceptQueue)
	if len(listeners) == 0 || len(onHost(diagnose.Process, process.ContainerCPU)) > 0 {
		return true
	}
	taken := map[string]bool{}
	for _, s := range slices.Concat(onHost(sockets.Name, sockets.TCPEstablished),
		onHost(sockets.Name, sockets.TCPTimeWait)) {
		if port, ok := strings.CutPrefix(s.Key.Instance, "at "); ok {
			taken[port] = true
		}
	}
	return slices.ContainsFunc(listeners, func(s *kasoku.Series) bool {
		address, owner, known := strings.Cut(s.Key.Instance, " ")
		own := known && strings.HasPrefix(p.Name, owner) // the kernel keeps the beginning of a name
		colon := strings.LastIndexByte(address, ':')
		if colon < 0 { // a path
			return own
		}
		return (!known || own) && (len(taken) == 0 || taken[address[colon+1:]])
	})
}

// withRequests reports whether a counter grew all through its interval, and over the
// whole run by the second as requests came: a build or a job beside the service does
// not. Under a load that never changes only the former can be seen.
func withRequests(c *diagnose.Case, g diagnose.Grown, requests map[int]float64) bool {
	s := c.Find(g.Key)
	var came, grown []float64
	grew := make([]bool, max(int(g.Interval.Len()/forksStretch), 1))
	for k := 1; k < len(s.Points); k++ {
		a, b := s.Points[k-1], s.Points[k]
		by := max(b.Value-a.Value, 0)
		if a.At >= g.Interval.From && b.At <= g.Interval.To {
			n := min(int((a.At-g.Interval.From)/forksStretch), len(grew)-1)
			grew[n] = grew[n] || by > 0
		}
		took := (b.At - a.At).Seconds()
		came = append(came, requestsBetween(func(s int) float64 { return requests[s] }, a.At, b.At)/took)
		grown = append(grown, by/took)
	}
	missed := 0
	for _, did := range grew {
		if !did {
			missed++
		}
	}
	if missed > len(grew)/5 {
		return false
	}
	unchanged := slices.Min(came) >= slices.Max(came)/2
	return unchanged || correlate(came, grown) >= waitFollow
}

// forkingEndpoint returns the endpoint whose requests by the second go best with
// the CPU of the service's children, where that is not known with what the host
// starts, and the correlation. Under a load that does not change none does.
func forkingEndpoint(c *diagnose.Case, starts, children diagnose.Grown) (best *kasoku.Endpoint, follow float64) {
	of := starts
	if children.Key.Name != "" {
		of = children
	}
	s, next := c.Find(of.Key), 0.0
	_, endpoints := diagnose.FrontLog(c.Recording)
	for i := range endpoints {
		e := &endpoints[i]
		var x, y []float64
		var requests float64
		for k := 1; k < len(s.Points); k++ {
			a, b := s.Points[k-1], s.Points[k]
			came := requestsBetween(func(s int) float64 { return float64(e.Seconds[s].Count) }, a.At, b.At)
			x, y = append(x, came), append(y, b.Value-a.Value)
			requests += came
		}
		if e.Count < fewRequests || webserver.Ratio(starts.By, requests) < forksOfEndpoint {
			continue
		}
		if v := correlate(x, y); len(x) >= evidence.EnoughSeconds && v > follow {
			best, follow, next = e, v, follow
		} else {
			next = max(next, v)
		}
	}
	if follow < forksFollow || follow-next < forksLead {
		return nil, 0
	}
	return best, follow
}

// programOf is the name of the program that a figure of a process is of.
func programOf(g diagnose.Grown) string {
	_, name, _ := strings.Cut(g.Key.Instance, " ")
	return name
}

// requestsBetween returns how many requests came between two offsets, of each second
// its part.
func requestsBetween(inSecond func(second int) float64, from, to time.Duration) float64 {
	var n float64
	for s := int(from / time.Second); time.Duration(s)*time.Second < to; s++ {
		in := min(to, time.Duration(s+1)*time.Second) - max(from, time.Duration(s)*time.Second)
		n += in.Seconds() * inSecond(s)
	}
	return n
}

// correlate returns Pearson's coefficient, 0 where one of them does not change.
func correlate(x, y []float64) float64 {
	n := float64(len(x))
	var mx, my, xx, yy, xy float64
	for i := range x {
		mx, my = mx+x[i]/n, my+y[i]/n
	}
	for i := range x {
		xx += (x[i] - mx) * (x[i] - mx)
		yy += (y[i] - my) * (y[i] - my)
		xy += (x[i] - mx) * (y[i] - my)
	}
	if xx*yy <= 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}
