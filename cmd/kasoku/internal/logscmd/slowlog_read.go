package logscmd

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/report/logfile"
	"github.com/spf13/cobra"
)

// slowRead are the flags that say how logs of statements are read.
type slowRead struct {
	kind           string
	by             string
	since, until   string
	match          string
	user, db, host string
	slower         string
	zone           string
	workers        int

	location *time.Location // --location; nil without
	options  slowlog.Options
}

// slowBy are the values of --by.
var slowBy = []string{"tag", "user", "db", "host", "tables"}

// slowKinds are the values of --kind.
var slowKinds = []string{"auto", "slow", "general", "raw"}

func (f *slowRead) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.kind, "kind", "auto", "of the log: `KIND` is auto, slow, general, or raw for plain statements")
	fl.StringVar(&f.by, "by", "",
		"what makes a row instead of the statement: `KEY` is user, db, host or tables; tag is the statement with its tag")
	fl.StringVar(&f.since, "since", "", "only statements that started at `TIME` or later")
	fl.StringVar(&f.until, "until", "", "only statements that started before `TIME`")
	fl.StringVar(&f.match, "match", "",
		"only statements whose text matches the regexp `RE`; (?i) in front ignores case")
	fl.StringVar(&f.user, "user", "", "only statements of this `USER`")
	fl.StringVar(&f.db, "schema", "", "only statements with this default `DATABASE`")
	cli.KeepOld(fl, "db", "schema")
	fl.StringVar(&f.host, "host", "", "only statements from this `HOST`")
	fl.StringVar(&f.slower, "slower", "", "only statements that took `TIME` or longer, such as 10ms")
	fl.StringVar(&f.zone, "location", "",
		"time `ZONE` such as Asia/Tokyo, of times that are shown and of logs that do not report theirs; default UTC")
	fl.IntVar(&f.workers, "workers", 0, "read with `N` threads; default one for each CPU")
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions(slowBy, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(slowKinds, cobra.ShellCompDirectiveNoFileComp))
}

// check makes the flags ready for use.
func (f *slowRead) check(e *cli.Env) error {
	o := slowlog.Options{Workers: f.workers}
	if f.workers < 0 {
		return cli.Usagef("", "--workers %d: want 0 or more", f.workers)
	}
	kind := slices.Index(slowKinds, f.kind)
	if kind < 0 {
		return cli.Usagef("", "--kind %q: want %s", f.kind, strings.Join(slowKinds, ", "))
	}
	o.Kind = []slowlog.Kind{slowlog.Auto, slowlog.Slow, slowlog.General, slowlog.Raw}[kind]
	switch f.by {
	case "":
	case "tag":
		o.Split = slowlog.SplitAll
	case "user":
		o.By = slowlog.ByUser
	case "db":
		o.By = slowlog.BySchema
	case "host":
		o.By = slowlog.ByHost
	case "tables", "table":
		o.By = slowlog.ByTables
	default:
		return cli.Usagef("", "--by %q: want %s", f.by, strings.Join(slowBy, ", "))
	}
	zone := time.UTC
	if f.zone != "" {
		var err error
		if zone, err = time.LoadLocation(f.zone); err != nil {
			return cli.Usagef("a name of the time zone database, such as Asia/Tokyo", "--location %q: %v", f.zone, err)
		}
		f.location = zone
	}
	o.Location = zone
	for _, m := range []struct {
		name, value string
		to          *time.Time
	}{{"--since", f.since, &o.Since}, {"--until", f.until, &o.Until}} {
		if m.value == "" {
			continue
		}
		at, err := parseMoment(m.value, e.Now(), zone)
		if err != nil {
			return cli.Usagef(cli.HintOf(err), "%s: %v", m.name, err)
		}
		*m.to = at
	}
	if !o.Until.IsZero() && !o.Since.Before(o.Until) {
		return cli.Usagef("", "--until %s is not after --since %s", f.until, f.since)
	}
	f.options = o
	return f.checkWhere()
}

// checkWhere makes a filter of the flags that leave statements out.
func (f *slowRead) checkWhere() error {
	var all []func(*slowlog.Event) bool
	if f.match != "" {
		re, err := regexp.Compile(f.match)
		if err != nil {
			return cli.Usagef("", "--match %q: %v", f.match, err)
		}
		all = append(all, func(e *slowlog.Event) bool { return re.Match(e.Statement) })
	}
	if f.user != "" {
		all = append(all, func(e *slowlog.Event) bool { return string(e.User) == f.user })
	}
	if f.db != "" {
		all = append(all, func(e *slowlog.Event) bool { return string(e.Schema) == f.db })
	}
	if f.host != "" {
		all = append(all, func(e *slowlog.Event) bool { return string(e.Host) == f.host })
	}
	if f.slower != "" {
		d, err := unit.ParseDuration(f.slower)
		if err != nil {
			return cli.Usagef("", "--slower: %v", err)
		}
		all = append(all, func(e *slowlog.Event) bool { return e.QueryTime >= d })
	}
	if len(all) > 0 {
		f.options.Where = func(e *slowlog.Event) bool {
			return !slices.ContainsFunc(all, func(keep func(*slowlog.Event) bool) bool { return !keep(e) })
		}
	}
	return nil
}

// collect reads logs into what is reported of them. With an error there can be a log
// all the same: what was read before.
func (f *slowRead) collect(ctx context.Context, e *cli.Env, in []lines.Input, p *reading) (*logfile.SlowLog, error) {
	t, windows, err := slowlog.CollectEach(ctx, in, f.options, p.progress)
	p.Clear()
	log := f.slowLog(t, windows)
	if ctx.Err() != nil {
		log.Stopped = "Stopped by " + context.Cause(ctx).Error() + ": " + p.far() + " were read."
		return log, nil
	}
	return log, err
}

// slowLog is a table as it is reported.
func (f *slowRead) slowLog(t *slowlog.Table, windows []kasoku.LogWindow) *logfile.SlowLog {
	return &logfile.SlowLog{
		Classes: t.Classes(), By: f.rows(), Transactions: t.Transactions(), Saves: t.Saves(),
		Connections: t.Connections(), Statements: t.Statements(), Admin: t.Admin(),
		Logs: windows, Started: time.Unix(0, 0).UTC(), Zone: f.location,
	}
}

// rows describes what a row is; "" is a statement.
func (f *slowRead) rows() string {
	switch f.by {
	case "tag":
		return ""
	case "table":
		return "tables"
	}
	return f.by
}
