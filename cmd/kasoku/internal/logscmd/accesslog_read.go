package logscmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/compat/kataribe"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/routes"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/logfile"
)

// accessRead are the flags that say how access logs are read.
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
	slowestSet   bool // --slowest was given

	location *time.Location // --location; nil without
	options  accesslog.Options
	logs     []accessformat.NginxLog // of --nginx-conf
	mapped   *routes.Options         // what makes a route; of the host that asks, where that is another one
}

func (f *accessRead) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.format, "format", "", "of the lines: `SPEC` is a name such as ltsv, an nginx log_format, an "+
		"Apache LogFormat, a goaccess format or a regexp with named groups")
	fl.StringVar(&f.nginxConf, "nginx-conf", "", "take the format from the nginx configuration `FILE`")
	fl.StringVar(&f.nginxLog, "log-name", "", "with --nginx-conf: the access_log or log_format `NAME`; default that of "+
		"the log's path")
	cli.KeepOld(fl, "log", "log-name")
	fl.StringSliceVar(&f.by, "by", []string{"method", "route"}, "what makes a row: `KEYS` such as route,status or "+
		"host, or keys of the log itself")
	fl.StringVar(&f.where, "where", "", "only requests for which `EXPR` holds: 'status >= 500 and route == \"/api/trend\"'")
	fl.StringVar(&f.since, "since", "", "only requests logged at `TIME` or later")
	fl.StringVar(&f.until, "until", "", "only requests logged before `TIME`")
	fl.StringArrayVarP(&f.match, "match", "m", nil, "requests whose path matches `PATTERN` are one route; "+
		"NAME=PATTERN names it; the first that matches counts")
	fl.StringVar(&f.kataribe, "kataribe-toml", "", "take the bundles and replaces of kataribe's configuration `FILE`")
	fl.StringArrayVar(&f.routes, "routes", nil, "take the routes of a Go source directory or an OpenAPI file: `DIR|FILE`")
	fl.StringSliceVar(&f.keepQuery, "keep-query", nil, "keep these `KEYS` of query strings, or all; KEY= or all= without values")
	fl.StringVar(&f.bots, "bots", "include", "requests of user agents that say they are bots: `MODE` is include, "+
		"exclude or only")
	fl.StringVar(&f.zone, "location", "", "time `ZONE` such as Asia/Tokyo or UTC, of times that are shown and of "+
		"those without an offset; default the log's own")
	fl.IntVar(&f.workers, "workers", 0, "read with `N` threads; default one for each CPU")
	_ = cmd.RegisterFlagCompletionFunc("bots", cobra.FixedCompletions([]string{"include", "exclude", "only"},
		cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(accessformat.FormatNames(),
		cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions(accesslog.Keys(), cobra.ShellCompDirectiveNoFileComp))
}

// check makes the flags ready for use, as far as that can be done before a log is
// seen.
func (f *accessRead) check(e *cli.Env) error {
	f.options = accesslog.Options{By: f.by, Slowest: f.slowest, Workers: f.workers}
	for _, step := range []func() error{f.checkZone, f.checkFormat, f.checkRoutes, f.checkRows} {
		if err := step(); err != nil {
			return err
		}
	}
	_, _, err := f.times(e, time.Local) // whether they can be read does not depend on the zone
	return err
}

func (f *accessRead) checkZone() error {
	if f.zone == "" {
		return nil
	}
	var err error
	if f.location, err = time.LoadLocation(f.zone); err != nil {
		return cli.Usagef("a name of the time zone database, such as Asia/Tokyo", "--location %q: %v", f.zone, err)
	}
	f.options.Location = f.location
	return nil
}

func (f *accessRead) checkFormat() error {
	var err error
	switch {
	case f.format != "" && f.nginxConf != "":
		return cli.Usagef("", "--format and --nginx-conf both name the format: want one")
	case f.nginxLog != "" && f.nginxConf == "":
		return cli.Usagef("", "--log-name goes with --nginx-conf")
	case f.format != "":
		if f.options.Format, err = accessformat.ParseFormat(f.format); err != nil {
			return cli.Usage(fmt.Errorf("--format: %w", err), cli.HintOf(err))
		}
	case f.nginxConf != "":
		if f.logs, err = accessformat.FormatsFromNginxConf(f.nginxConf); len(f.logs) == 0 {
			return err
		}
	}
	if f.nginxLog == "" {
		return nil
	}
	i := slices.IndexFunc(f.logs, func(l accessformat.NginxLog) bool {
		return l.Name == f.nginxLog || l.Path == f.nginxLog
	})
	if i < 0 {
		return cli.Usagef(f.logNames(), "--log-name %q: %s has none such", f.nginxLog, f.nginxConf)
	}
	f.options.Format = f.logs[i].Format
	return nil
}

// logNames lists the access logs of the nginx configuration.
func (f *accessRead) logNames() string {
	var out []string
	for _, l := range f.logs {
		out = append(out, strings.TrimSpace(l.Path+" "+l.Name))
	}
	return "there are " + strings.Join(out, ", ")
}

func (f *accessRead) checkRoutes() error {
	if f.mapped == nil {
		o, err := f.routeOptions()
		if err != nil {
			return err
		}
		f.mapped = &o
	}
	var err error
	if f.options.Routes, err = routes.NewRules(*f.mapped); err != nil {
		return cli.Usage(err, cmp.Or(cli.HintOf(err), "a pattern is a regular expression: -m '^/users/[0-9]+$', in quotes"))
	}
	return nil
}

// routeOptions reads what makes a route.
func (f *accessRead) routeOptions() (routes.Options, error) {
	o := routes.Options{Patterns: f.match, Keep: f.keepQuery}
	switch {
	case slices.Contains(f.keepQuery, "all"):
		o.Keep = []string{"*"}
	case slices.Contains(f.keepQuery, "all="):
		o.Keep = []string{"*="}
	}
	if f.kataribe != "" {
		var err error
		if o.Bundles, o.Replaces, err = kataribe.Routes(f.kataribe); err != nil {
			return o, err
		}
	}
	for _, path := range f.routes {
		list, err := routes.Load(path)
		if err != nil {
			return o, err
		}
		o.Routes = append(o.Routes, list...)
	}
	return o, nil
}

func (f *accessRead) checkRows() error {
	var err error
	if f.where != "" {
		if f.options.Where, err = accesslog.CompileFilter(f.where); err != nil {
			return cli.Usagef("", "--where: %v", err)
		}
	}
	if f.options.Bots, err = botMode(f.bots); err != nil {
		return err
	}
	if f.workers < 0 {
		return cli.Usagef("", "--workers %d: want 0 or more", f.workers)
	}
	if err := f.options.Validate(); err != nil {
		return cli.Usagef("", "--by: %v", err)
	}
	return nil
}

func botMode(word string) (accesslog.BotMode, error) {
	switch word {
	case "include":
		return accesslog.BotsToo, nil
	case "exclude":
		return accesslog.NoBots, nil
	case "only":
		return accesslog.BotsOnly, nil
	}
	return 0, cli.Usagef("", "--bots %q: want include, exclude or only", word)
}

// times reads --since and --until, for a log of that zone.
func (f *accessRead) times(e *cli.Env, zone *time.Location) (since, until time.Time, err error) {
	for _, m := range []struct {
		name, value string
		to          *time.Time
	}{{"--since", f.since, &since}, {"--until", f.until, &until}} {
		if m.value == "" {
			continue
		}
		if *m.to, err = parseMoment(m.value, e.Now(), zone); err != nil {
			return since, until, cli.Usagef(cli.HintOf(err), "%s: %v", m.name, err)
		}
	}
	if !until.IsZero() && !since.Before(until) {
		return since, until, cli.Usagef("", "--until %s is not after --since %s", f.until, f.since)
	}
	return since, until, nil
}

// optionsFor completes the options for logs: with their format where that can be
// determined now, and with times in their zone, which is returned.
func (f *accessRead) optionsFor(e *cli.Env, in []lines.Input) (accesslog.Options, *time.Location, error) {
	o := f.options
	if o.Format == nil && f.logs != nil {
		for i := range in {
			format, err := accessformat.FormatFor(f.logs, in[i].Path)
			if err != nil {
				return o, nil, cli.Usagef("--log-name NAME names one: "+f.logNames(), "--nginx-conf: %v", err)
			}
			if i > 0 && format.Name() != o.Format.Name() {
				return o, nil, cli.Usagef("read them one at a time", "--nginx-conf: %s and %s have different formats",
					in[0].Path, in[i].Path)
			}
			o.Format = format
		}
	}
	zone := f.location
	if zone == nil {
		zone = time.Local
		if len(in) > 0 {
			zone = logZone(&in[0], o.Format)
		}
	}
	var err error
	o.Since, o.Until, err = f.times(e, zone)
	return o, zone, err
}

// peeked is how many bytes of a log are looked at to find its zone.
const peeked = 16 << 10

// logZone is the time zone in which a log is written, the local one when that
// cannot be determined.
func logZone(in *lines.Input, format *accessformat.Format) *time.Location {
	if at, ahead, ok := stampOf(in, format); ok {
		return zoneAt(at, ahead)
	}
	return time.Local
}

// stampOf returns the first time of a log that has one, and how many seconds its zone is ahead of UTC.
func stampOf(in *lines.Input, format *accessformat.Format) (at time.Time, ahead int, ok bool) {
	sample, err := in.Peek(peeked)
	if err != nil {
		return at, 0, false // the reader of the log will report the error
	}
	if format == nil {
		if format, err = accessformat.Detect(wholeLines(sample)); err != nil {
			return at, 0, false
		}
	}
	parser := format.Parser(accessformat.ParserOptions{})
	var r accessformat.Record
	for len(sample) > 0 {
		var line []byte
		line, sample, _ = bytes.Cut(sample, []byte("\n"))
		if parser.Parse(line, &r) == "" && r.Stamped() {
			return r.Time(), int(r.Zone), true
		}
	}
	return at, 0, false
}

// wholeLines drops what follows the last newline, unless that is all.
func wholeLines(b []byte) []byte {
	if i := strings.LastIndexByte(string(b), '\n'); i >= 0 {
		return b[:i+1]
	}
	return b
}

// zoneAt is a zone so many seconds ahead of UTC; one that has a name keeps it.
func zoneAt(at time.Time, ahead int) *time.Location {
	if ahead == 0 {
		return time.UTC
	}
	if _, local := at.In(time.Local).Zone(); local == ahead {
		return time.Local
	}
	return time.FixedZone("", ahead)
}

// collect reads logs into what is reported of them. With an error there can be a log
// all the same: what was read before, or beside.
func (f *accessRead) collect(
	ctx context.Context, e *cli.Env, in []lines.Input, p *reading,
) (*logfile.AccessLog, error) {
	o, zone, err := f.optionsFor(e, in)
	if err != nil {
		return nil, err
	}
	t, windows, err := accesslog.CollectEach(ctx, in, o, p.progress)
	p.Clear()
	if t == nil && ctx.Err() == nil {
		return nil, err
	}
	if t == nil {
		t = accesslog.NewTable(o) // stopped before the first line
	}
	log := accessLog(t, zone)
	log.Logs = windows
	if ctx.Err() != nil {
		log.Stopped = "Stopped by " + context.Cause(ctx).Error() + ": " + p.far() + " were read."
		return log, nil
	}
	var unknown *accessformat.UnknownFormatError
	if t.Records() == 0 && errors.As(err, &unknown) {
		return nil, err
	}
	return log, err
}

// accessLog is a table as it is reported.
func accessLog(t *accesslog.Table, zone *time.Location) *logfile.AccessLog {
	log := &logfile.AccessLog{
		Rows: t.Rows(), By: t.By(), Slowest: t.Slowest(), Started: t.Started(), Step: t.Step(), Exact: t.Exact(), Zone: zone,
	}
	for _, text := range t.Notes() {
		log.Notes = append(log.Notes, report.Note{Sign: "·", Label: "note", Text: text})
	}
	var requests, bots uint64
	for i := range log.Rows {
		r := &log.Rows[i]
		requests += r.Count
		bots += r.Bots
		if r.Waits.Suspect {
			log.Notes = append(log.Notes, report.Note{Sign: "·", Label: "waits", Text: logfile.KeyText(log.By, r.Key) +
				" seems to wait by design: " + r.Waits.Reason + ". Its time is then no work that could be saved."})
		}
	}
	if bots > 0 && bots < requests {
		log.Notes = append(log.Notes, report.Note{Sign: "·", Label: "bots", Text: fmt.Sprintf("%s of %s requests (%s) "+
			"come from user agents that say they are bots; --bots exclude leaves them out.",
			unit.Count(bots), unit.Count(requests), unit.Percent(float64(bots)/float64(requests)))})
	}
	return log
}
