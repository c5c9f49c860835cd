package logscmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/compat/alp"
	"github.com/kasoku/kasoku/compat/kataribe"
	"github.com/kasoku/kasoku/fleet/gather"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/logfile"
	"github.com/spf13/cobra"
)

// accessFlags are the flags of accesslog.
type accessFlags struct {
	as      asPeer
	read    accessRead
	out     cli.Output
	columns []string
	ps      []float64
	sort    string
	reverse bool
	seconds bool
	follow  bool
	verbose bool
	hub     string // directory of the hub that asks hosts; empty: the user's
}

// NewAccessLog returns the command accesslog, which reads access logs.
func NewAccessLog(e *cli.Env) *cobra.Command {
	f := accessFlags{as: asPeer{peers: accessPeers()}}
	cmd := &cobra.Command{
		Use:   "accesslog [FILE… | HOST:PATH…]",
		Short: "Read access logs: which endpoint takes the time",
		Long: `Read access logs of nginx, Apache, H2O, Varnish, Envoy, Caddy, Traefik, Rack and
others into a table of endpoints, those that took most time first. Without FILE,
and for -, it reads standard input; gzip and zstd are unpacked, and a quoted
pattern names several files.

Formats and routes are found by themselves: ids in paths become :id, query
strings go. Every line is accounted for: those that are not understood are
counted and shown.

HOST:PATH names logs, or a quoted pattern, of a host of the fleet, which reads them
itself and sends tables: the result is that of one reading of all of them.

Times for --since and --until are 2026-11-20T14:02:11+09:00, "2026-11-20 14:02:11",
or 14:02 and 14:02:11 of today, of yesterday when that is still to come; a
duration such as 10m is so long before now. They are compared with the time at
which a request was logged.

With --as NAME everything after it is the command line of that program, and its
output comes out. Exit code 1 when there is no request to report.`,
		Example: `  kasoku accesslog /var/log/nginx/access.log
  zcat access.log.*.gz | kasoku accesslog --since 14:00 --sort p99
  kasoku accesslog access.log --where 'status >= 500 and route startsWith "/api"' --by route,status
  kasoku accesslog access.log -m '^/api/trend' --columns route,count,total,p99.9 -o md
  kasoku accesslog 'logs/*.log' --nginx-conf /etc/nginx/nginx.conf -o html > log.html
  kasoku accesslog access.log --follow
  kasoku accesslog web1:'/var/log/nginx/*.gz' web2:'/var/log/nginx/*.gz'
  kasoku accesslog diff before.log after.log
  kasoku accesslog --as kataribe -f kataribe.toml < access.log`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.as.asked(cmd) {
				return f.as.run(cmd, e, args)
			}
			f.read.slowestSet = cmd.Flags().Changed("slowest")
			return f.run(cmd.Context(), e, args)
		},
	}
	f.register(cmd)
	cmd.AddCommand(newAccessDiff(e))
	return cmd
}

// accessPeers are the programs that --as names.
func accessPeers() []peer { return []peer{{"kataribe", kataribe.Run}, {"alp", alp.Run}} }

func (f *accessFlags) register(cmd *cobra.Command) {
	f.as.register(cmd)
	f.read.register(cmd)
	f.out.RegisterLog(cmd)
	f.out.RegisterLimit(cmd, "endpoints")
	registerHub(cmd, &f.hub)
	fl := cmd.Flags()
	fl.StringVar(&f.sort, "sort", "", "by `COLUMN`, the most first; default total")
	fl.BoolVarP(&f.reverse, "reverse", "r", false, "the least first")
	fl.StringSliceVar(&f.columns, "columns", nil, "only these `COLUMNS`, with commas between; a wrong name lists all")
	fl.Float64SliceVar(&f.ps, "percentiles", nil, "`LIST` such as 50,90,99.9")
	fl.IntVar(&f.read.slowest, "slowest", 10, "show the `N` slowest requests")
	fl.BoolVar(&f.seconds, "seconds", false, "report the requests of each second; with -o tsv, csv or json")
	fl.BoolVarP(&f.follow, "follow", "f", false, "go on reading as the log grows; a table each second")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "say on stderr how fast it was read")
	_ = cmd.RegisterFlagCompletionFunc("sort", cobra.FixedCompletions([]string{"requests", "total", "mean", "p99",
		"max", "5xx", "bytes"}, cobra.ShellCompDirectiveNoFileComp))
}

func (f *accessFlags) run(parent context.Context, e *cli.Env, args []string) error {
	o, err := f.options(e)
	if err != nil {
		return err
	}
	hosts, err := hostsOf(args)
	if err != nil {
		return err
	}
	if len(hosts) > 0 {
		return f.runHosts(parent, e, hosts, o)
	}
	in, err := e.LogInputs(args)
	if err != nil {
		return err
	}
	ctx, stop := e.ReadingInterruptible(parent)
	defer stop()
	if f.follow {
		return f.followAll(ctx, e, in, o)
	}
	p := startReading(e, in)
	log, err := f.read.collect(ctx, e, in, p)
	return f.finish(e, p, log, o, err)
}

// runHosts is run of logs of hosts.
func (f *accessFlags) runHosts(ctx context.Context, e *cli.Env, hosts []gather.HostLogs, o logfile.AccessOptions) error {
	if f.follow {
		return cli.Usagef("kasoku watch, or --follow there", "--follow does not go with logs of hosts")
	}
	if err := f.read.checkHosts(); err != nil {
		return err
	}
	p := startReading(e, nil)
	p.name = unit.Counted(uint64(len(hosts)), "host", "hosts")
	log, err := f.read.collectHosts(ctx, e, f.hub, hosts, p)
	return f.finish(e, p, log, o, err)
}

// finish prints what was read, and is how the command ends.
func (f *accessFlags) finish(e *cli.Env, p *reading, log *logfile.AccessLog, o logfile.AccessOptions, err error) error {
	if log == nil {
		return explainUnread(e, err)
	}
	cost := p.cost()
	if err := f.print(e, log, o); err != nil {
		return err
	}
	if f.verbose || e.StderrTTY {
		fmt.Fprintln(e.Stderr, cost)
	}
	return judgeRead(e, log, err)
}

// options checks everything that can be checked before a log is read.
func (f *accessFlags) options(e *cli.Env) (logfile.AccessOptions, error) {
	o := logfile.AccessOptions{
		Options: e.ReportOptions(""), Columns: f.columns, Percentiles: f.ps, Sort: f.sort, Reverse: f.reverse,
	}
	if err := f.out.Check(); err != nil {
		return o, err
	}
	if err := f.read.check(e); err != nil {
		return o, err
	}
	o.Location = f.read.location
	o.Machine, o.Limit = f.out.Machine(), f.out.Rows(f.out.Format)
	switch {
	case f.read.slowest < 0:
		return o, cli.Usagef("", "--slowest %d: want 0 or more", f.read.slowest)
	case f.seconds && !o.Machine && f.out.Format != "json":
		return o, cli.Usagef("tables have them as a strip, pages as a chart", "--seconds goes with -o tsv, csv or json")
	case f.seconds && o.Machine && f.read.slowestSet:
		return o, cli.Usagef("run it twice", "-o %s holds one table: --seconds and --slowest are two", f.out.Format)
	}
	if err := logfile.CheckAccess(f.read.by, o); err != nil {
		return o, cli.Usage(err, cli.HintOf(err))
	}
	return o, nil
}

// print writes what was read. Formats that hold one table have the endpoints, or
// what was asked for; a page beside them has everything.
func (f *accessFlags) print(e *cli.Env, log *logfile.AccessLog, o logfile.AccessOptions) error {
	out := cli.Printer{JSON: func(w io.Writer) error { return encode.AccessLogJSON(w, log, o, f.seconds) }}
	var err error
	if out.Doc, err = f.document(log, o); err != nil {
		return err
	}
	if f.out.HTML != "" {
		page := o
		page.Machine, page.Limit = false, f.out.Rows("html")
		if out.Page, err = logfile.Access(log, page); err != nil {
			return err
		}
	}
	return f.out.Print(e, out)
}

// document is what stdout gets.
func (f *accessFlags) document(log *logfile.AccessLog, o logfile.AccessOptions) (*report.Document, error) {
	build, table := logfile.Access, "endpoints"
	switch {
	case !o.Machine:
		return logfile.Access(log, o)
	case f.seconds:
		build, table = logfile.AccessSeconds, "seconds"
	case f.read.slowestSet && f.read.slowest > 0:
		table = "slowest"
	}
	doc, err := build(log, o)
	if err != nil {
		return nil, err
	}
	return logfile.AccessTable(doc, table), nil
}

// judgeRead is how the command ends once all is printed.
func judgeRead(e *cli.Env, log *logfile.AccessLog, err error) error {
	switch {
	case log.Stopped != "":
		return stoppedEarly(log.Stopped)
	case err != nil:
		return explainUnread(e, err)
	case len(log.Rows) == 0:
		return cli.BadHint("no request", "it may have been rotated: a quoted pattern such as 'access.log*' reads all of "+
			"them; --since, --until, --where and --bots leave requests out")
	}
	return nil
}

// explainUnread reports what could not be read: exit 1 where the lines were read but none
// was understood, 3 where they could not be read.
func explainUnread(e *cli.Env, err error) error {
	var unknown *accessformat.UnknownFormatError
	if errors.As(err, &unknown) {
		e.Complain(err)
		return cli.Bad("no line was understood")
	}
	return err
}
