package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/analyze"
	"github.com/kasoku/kasoku/analyze/accesslog"
	"github.com/kasoku/kasoku/lines"
	"github.com/kasoku/kasoku/report"
)

// accessRead are the flags that say how access logs are read, and what became of
// them.
type accessRead struct {
	format       string
	nginxConf    string
	nginxLog     string
	by           []string
	where        string
	since, until string
	match        []string
	kataribe     string
	routes       []string
	keepQuery    []string
	bots         string
	zone         string
	workers      int
	slowest      int
	slowestSet   bool

	location *time.Location
	options  accesslog.Options
}

func (f *accessRead) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.format, "format", "", "of the lines: `SPEC` is combined, ltsv, json …, an nginx log_format, an Apache LogFormat, a goaccess string or a regexp with named groups")
	fl.StringVar(&f.nginxConf, "nginx-conf", "", "take the format from the nginx configuration `FILE`")
	fl.StringVar(&f.nginxLog, "log", "", "with --nginx-conf: the format of the log `NAME`, or the log_format of that name")
	fl.StringSliceVar(&f.by, "by", []string{"method", "route"}, "what makes a row: `KEYS` such as route,status or host; a wrong one lists all")
	fl.StringVar(&f.where, "where", "", "only requests for which `EXPR` holds, such as 'status >= 500 and route == \"/api/trend\"'")
	fl.StringVar(&f.since, "since", "", "only requests logged at `TIME` or later")
	fl.StringVar(&f.until, "until", "", "only requests logged before `TIME`")
	fl.StringArrayVarP(&f.match, "match", "m", nil, "requests whose path matches the regular expression `PATTERN` are one route; NAME=PATTERN names it; several, the first that matches counts")
	fl.StringVar(&f.kataribe, "kataribe-toml", "", "take the bundles and replaces of kataribe's `FILE`")
	fl.StringArrayVar(&f.routes, "routes", nil, "take the routes of a Go source `DIRECTORY` or an OpenAPI file")
	fl.StringSliceVar(&f.keepQuery, "keep-query", nil, "keep these `KEYS` of query strings, or all")
	fl.StringVar(&f.bots, "bots", "include", "include, exclude or only: requests of user agents that say they are bots")
	fl.StringVar(&f.zone, "location", "", "time `ZONE` such as Asia/Tokyo or UTC, of times without an offset and of those shown; default the local one")
	fl.IntVar(&f.workers, "workers", 0, "read with `N` threads; default as many as there are CPUs")
	_ = cmd.RegisterFlagCompletionFunc("bots", cobra.FixedCompletions([]string{"include", "exclude", "only"}, cobra.ShellCompDirectiveNoFileComp))
}

// check checks the flags and makes them ready for use.
func (f *accessRead) check(e *env) error {
	f.location = time.Local
	if f.zone != "" {
		zone, err := time.LoadLocation(f.zone)
		if err != nil {
			return usagef("a name of the time zone database, such as Asia/Tokyo", "--location %q: %v", f.zone, err)
		}
		f.location = zone
	}
	for _, m := range []struct {
		name, value string
		to          *time.Time
	}{{"--since", f.since, new(time.Time)}, {"--until", f.until, new(time.Time)}} {
		if m.value == "" {
			continue
		}
		at, err := parseMoment(m.value, e.now(), f.location)
		if err != nil {
			return usagef("", "%s: %v", m.name, err)
		}
		*m.to = at
	}
	f.options = accesslog.Options{Location: f.location, Clock: analyze.Since(epoch)}
	return nil
}

// epoch is offset 0 of what is read: logs have no beginning of their own.
var epoch = time.Unix(0, 0)

// logs reads the logs. With an error there can be a log: what was read before.
func (f *accessRead) logs(ctx context.Context, e *env, in []lines.Input) (*report.AccessLog, error) {
	w, err := lines.Open(in, 0)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	t, win, err := accesslog.Collect(w, f.options)
	if err != nil {
		return nil, err
	}
	out := &report.AccessLog{By: f.by, Started: epoch, Logs: []kasoku.LogWindow{win}}
	for _, x := range t.Endpoints() {
		out.Rows = append(out.Rows, report.AccessRow{Endpoint: x, Key: []string{x.Method, x.Route}})
	}
	return out, nil
}

// inputs are the logs that a command line names.
func (e *env) inputs(args []string) ([]lines.Input, error) {
	if len(args) == 0 && e.stdinTTY() {
		return nil, usagef("name a log, or pipe one in: kasoku accesslog access.log", "no log is named, and standard input is a terminal")
	}
	in, err := lines.Inputs(args)
	if err != nil {
		return nil, err
	}
	for i := range in {
		if in[i].Path == "-" {
			in[i].R = e.stdin
		}
	}
	return in, nil
}

func (f *accessFlags) followed(ctx context.Context, e *env, in []lines.Input, o report.AccessOptions) error {
	return fmt.Errorf("not yet")
}
