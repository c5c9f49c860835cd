package kit

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/internal/onehost"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/engine"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/observe/nginx"
	"github.com/kasoku/kasoku/observe/varnish"
	"github.com/kasoku/kasoku/prove/answers"
	"github.com/kasoku/kasoku/record"
)

// Limits of the load of a service.
const (
	timeout  = 8 * time.Second
	inFlight = 48 // at most, as of so many users who wait for their answer

	initializeWithin = 20 * time.Second // as the contest has it
)

// RecordOptions fills in what a recorded run of the lab watches, and its load for
// the duration. Path, label, rules and progress stay as they are.
func (s *Stack) RecordOptions(o record.Options, d time.Duration) (record.Options, error) {
	o.Run.Project = s.Lab.Name
	o.Run.Note = strings.TrimPrefix(o.Run.Note+"; defects "+s.Defects.String(), "; ")
	o.Settings = append(o.Settings, kasoku.Setting{Scope: "app", Name: "defects", Value: s.Defects.String()})
	for _, t := range s.Lab.Load.Contract {
		o.Settings = append(o.Settings, t.Settings()...)
	}
	o.MySQL, o.SlowLog, o.Answers = s.DSN, true, s.answers()
	o.PIDs = s.PIDs()
	o.Capture = &capture.Options{Schema: true}
	o.AccessLog = s.AccessLog
	o.MoreLogs = record.Logs{Error: existing(s.AppLog, s.ErrorLog)}
	if s.Nginx != nil {
		o.Capture.Nginx = append([]string{s.Nginx.Program}, append(s.Nginx.Args(), "-T")...)
	}
	if s.Varnish != nil {
		o.Servers = append(o.Servers, &varnish.Table{Name: s.Varnish.Dir})
		o.Capture.VCL = []string{s.Varnish.VCLFile}
	}
	if s.Lab.Pages.Expvar != "" {
		o.Expvar = []string{s.AppURL() + s.Lab.Pages.Expvar}
		if s.beside != nil { // it has a pool of its own
			o.Expvar = append(o.Expvar, "http://"+s.beside.Addr()+s.Lab.Pages.Expvar)
		}
	}
	if s.Lab.Pages.Pprof != nil && s.Lab.Pages.Pprof(s.Defects) != "" {
		o.Pprof = []string{s.AppURL() + s.Lab.Pages.Pprof(s.Defects)}
	}
	if s.Lab.Pages.Status != "" {
		o.Servers = append(o.Servers, &nginx.Table{Status: s.Nginx.URL() + s.Lab.Pages.Status})
	}
	if s.Lab.Program {
		args, err := s.programArgs(d)
		if err != nil {
			return o, err
		}
		o.Command, o.Env, o.Stdout, o.Stderr = args, s.env(), io.Discard, io.Discard
		o.Run.Load = s.Lab.Name + " for " + d.String()
		return o, nil
	}
	if len(s.o.Bench) > 0 {
		o.Command = append(slices.Clone(s.o.Bench), "--target="+s.URL(), "--duration="+d.String())
		o.Stdout, o.Stderr = io.Discard, io.Discard
		o.Run.Load = s.Lab.Name + "'s benchmark, " + d.String()
		return o, nil
	}
	return o, s.load(&o, d)
}

// answers asks for the golden answers of the lab, nil without any.
func (s *Stack) answers() func(context.Context) (kasoku.ComparedAnswers, error) {
	requests := slices.Clone(s.Lab.Load.Asked)
	if len(requests) == 0 {
		return nil
	}
	for i := range requests {
		requests[i].URL = s.URL() + requests[i].URL
	}
	return func(ctx context.Context) (kasoku.ComparedAnswers, error) {
		a := answers.Asker{}
		defer a.Close()
		return a.Twice(ctx, requests)
	}
}

// load is an open loop of one step.
func (s *Stack) load(o *record.Options, d time.Duration) error {
	targets, err := s.Lab.Load.Targets(s.URL(), s.Defects)
	if err != nil {
		return err
	}
	sender, _, err := engine.New(engine.Options{
		Engine: engine.NetHTTP, HTTP: nethttp.Options{Timeout: timeout, MaxInFlight: inFlight, Hard: o.Hard},
	}, load.Plan{Targets: targets})
	if err != nil {
		return err
	}
	o.Load = &record.Load{Targets: targets, Engine: sender, Each: d, Seed: 1, Spacing: load.Poisson,
		Next: record.Climb(s.Lab.Load.PerSec)}
	if s.Lab.Load.Initialize != "" {
		o.Load.First = func(ctx context.Context) error { return initialize(ctx, s.URL()+s.Lab.Load.Initialize) }
	}
	o.Run.Load = s.Lab.Name + "'s load, open loop"
	return nil
}

// initialize asks the service to begin anew, as a contest's benchmark does.
func initialize(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := onehost.NewClient(&http.Transport{DisableKeepAlives: true}, initializeWithin).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	return nil
}

// existing are the files that are there.
func existing(paths ...string) (out []string) {
	for _, p := range paths {
		if _, err := os.Stat(p); p != "" && err == nil {
			out = append(out, p)
		}
	}
	return out
}
