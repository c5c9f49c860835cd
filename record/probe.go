package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/diagnose/probe"
	"github.com/kasoku/kasoku/diagnose/recycle"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/vegeta"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/record/callers"
	"github.com/kasoku/kasoku/store"
)

const (
	// probeWithin bounds how long endpoints are asked at the end of a run.
	probeWithin = 2 * time.Minute
	// mostSampled is how many lines of an access log are looked at for requests.
	mostSampled = 200_000
)

// A Probe lets a run ask each endpoint alone when it is over.
type Probe struct {
	Requests int           // to each; 0: as probe does
	Base     string        // URL before the paths of access logs
	Allow    []string      // endpoints that are asked though they are neither GET nor HEAD
	Targets  []load.Target // what is asked; none: the load's own targets, and what access logs hold
	Permit   load.Permit
}

// ProbeBase returns the base URL of the endpoints in access logs: the configured one, else
// scheme and host of the load's first target.
func ProbeBase(c *config.Config) string {
	if c.Probe.Base != "" || len(c.Load.Targets) == 0 {
		return c.Probe.Base
	}
	_, at, _ := strings.Cut(c.Load.Targets[0], " ")
	u, err := url.Parse(strings.TrimSpace(at))
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// configureProbe reports what of [probe] is done.
func (o *Options) configureProbe(c *config.Config) error {
	if !c.Probe.Allow || o.MySQL == "" {
		return nil
	}
	p := &Probe{Requests: c.Probe.Requests, Base: ProbeBase(c), Allow: c.Probe.AllowPost, Permit: load.Permit{Hosts: c.Load.Allow}}
	if name := c.Probe.TargetsFile; name != "" {
		f, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("probe.targets_file: %w", err)
		}
		defer f.Close()
		if p.Targets, err = vegeta.ReadTargets(f, vegeta.TargetOptions{Name: name, Dir: filepath.Dir(name)}); err != nil {
			return err
		}
	}
	o.Probe = p
	return nil
}

// probe asks the endpoints of the run alone, and puts what it counted in place of
// what was only likely. What goes wrong costs the probe, not the run.
func (j *joining) probe() error {
	p := j.o.Probe
	if p == nil || j.db == nil || j.o.Observers == kasoku.ObserversOff {
		return nil
	}
	ctx, cancel := context.WithTimeout(cmp.Or(j.o.Hard, context.Background()), probeWithin)
	defer cancel()
	endpoints, err := j.probed(p)
	if err != nil || len(endpoints) == 0 {
		j.warn(notProbed(err))
		return nil
	}
	path, err := filepath.Abs(j.o.Path)
	if err != nil {
		return err
	}
	o := probe.Options{DSN: j.o.MySQL, Host: j.host(), Endpoints: endpoints, Requests: p.Requests, Permit: p.Permit,
		Progress: func(done, all int, endpoint string) {
			j.progress(Progress{Phase: PhaseAnalyse, Text: fmt.Sprintf("probe %d of %d: %s", done+1, all, endpoint)})
		}}
	if j.o.RecycleConnections {
		r := j.o.recycling(nil)
		o.Recycle = &r
	}
	if g := j.o.Guard; g != nil {
		o.Guard = guard.Options{Dir: g.Dir, DefaultsFile: g.DefaultsFile, Run: path}
	}
	res, err := probe.Run(ctx, o)
	if err != nil {
		j.warn(notProbed(err))
	}
	if errors.As(err, new(*recycle.BrokenError)) {
		return err
	}
	if res == nil {
		return nil
	}
	for _, w := range res.Warnings {
		w.Code = "probe-" + w.Code
		j.warn(w)
	}
	known := func(id string) bool {
		return slices.ContainsFunc(j.logs.queries, func(q kasoku.Query) bool { return q.ID == id })
	}
	res.Callers = slices.DeleteFunc(res.Callers, func(c kasoku.Caller) bool { return !known(c.QueryID) })
	j.callers = callers.Surest(append(res.Callers, j.callers...))
	return store.Save(j.store, j.callers)
}

func notProbed(err error) kasoku.Warning {
	w := kasoku.Warning{Code: "not-probed", Text: "the endpoints were not asked alone: no request to any of " +
		"them is known", Hint: "kasoku.toml: base = 'http://127.0.0.1:8080' in [probe] says where those of the access log are"}
	if err != nil {
		w.Text, w.Hint = "not all endpoints were asked alone: "+err.Error(), hint(err)
	}
	return w
}

// probed returns what is asked.
func (j *joining) probed(p *Probe) ([]probe.Endpoint, error) {
	choose := probe.Selection{Base: p.Base, Allow: p.Allow, Endpoints: j.logs.endpoints}
	targets := p.Targets
	if len(targets) == 0 && j.o.Load != nil {
		targets = j.o.Load.Targets
	}
	endpoints, _, err := probe.FromTargets(targets, choose)
	if err != nil || len(p.Targets) > 0 || p.Base == "" {
		return endpoints, err
	}
	sampler := probe.NewSampler()
	for _, l := range j.logs.files {
		if l.kind != "accesslog" {
			continue
		}
		w, err := lines.Since(l.mark)
		if err != nil {
			return endpoints, err
		}
		_ = sampler.Read(w, mostSampled) // what could be read is there
		if err := w.Close(); err != nil {
			return endpoints, err
		}
	}
	more, _ := probe.FromRecording(&kasoku.Recording{Endpoints: j.logs.endpoints}, sampler.Samples(), choose)
	for _, e := range more {
		if !slices.ContainsFunc(endpoints, func(have probe.Endpoint) bool { return have.String() == e.String() }) {
			endpoints = append(endpoints, e)
		}
	}
	return endpoints, nil
}
