package logscmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/compat/ptquerydigest"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/logfile"
	"github.com/spf13/cobra"
)

// slowFlags are the flags of slowlog.
type slowFlags struct {
	as      asPeer
	read    slowRead
	out     cli.Output
	sort    string
	reverse bool
	id      string
	mask    bool
	seconds bool
	verbose bool
	hub     string // directory of the hub that asks hosts; empty: the user's
}

// NewSlowLog returns the command slowlog, which reads slow logs.
func NewSlowLog(e *cli.Env) *cobra.Command {
	f := slowFlags{as: asPeer{peers: []peer{{"pt-query-digest", ptquerydigest.Run}}}}
	cmd := &cobra.Command{
		Use:   "slowlog [FILE… | HOST:PATH…]",
		Short: "Read slow logs: which statement takes the time",
		Long: `Read slow query logs of MySQL, MariaDB and Percona Server, general query logs or
plain statements into a table of statements that are alike, those that took most
time first. Without FILE, and for -, it reads standard input; gzip and zstd are
unpacked, and a quoted pattern names several files. HOST:PATH names logs of a host of
the fleet, which reads them itself and sends tables. What is followed from statement to
statement, such as a transaction, ends with a log.

Statements are alike when only their values differ. Their ids are those of
pt-query-digest. COMMIT and ROLLBACK are distinguished by the /* tag */ after them,
with --by tag all other statements too. Transactions are put together from the
connections' statements. What stands out is reported below: the same statement again
and again, rows of them on one connection, many rows examined for few that are sent.

Times for --since and --until are 2026-11-20T14:02:11+09:00, "2026-11-20 14:02:11",
or 14:02 and 14:02:11 of today, of yesterday when that is still to come; a
duration such as 10m is so long before now. They are compared with the time at
which a statement started.

With --as NAME everything after it is the command line of that program, and its
output comes out. Exit code 1 when there is no statement to report.`,
		Example: `  kasoku slowlog /var/log/mysql/slow.log
  kasoku slowlog slow.log.*.gz --since 14:00 --sort p99
  kasoku slowlog slow.log --by tag -n 40
  kasoku slowlog slow.log --id 0x59A74D08D407B5ED --mask
  kasoku slowlog slow.log --schema shop --slower 10ms -o html > slow.html
  kasoku slowlog db1:/var/log/mysql/slow.log db2:/var/log/mysql/slow.log
  kasoku slowlog diff before.log after.log
  kasoku slowlog --as pt-query-digest --limit 5 slow.log`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.as.asked(cmd) {
				return f.as.run(cmd, e, args)
			}
			return f.run(cmd.Context(), e, args)
		},
	}
	f.register(cmd)
	cmd.AddCommand(newSlowDiff(e))
	return cmd
}

func (f *slowFlags) register(cmd *cobra.Command) {
	f.as.register(cmd)
	f.read.register(cmd)
	f.out.RegisterLog(cmd)
	f.out.RegisterLimit(cmd, "statements")
	registerHub(cmd, &f.hub)
	fl := cmd.Flags()
	fl.StringVar(&f.sort, "sort", "", "by `COLUMN`, the most first: "+strings.Join(logfile.SlowColumns(),
		", ")+"; default total")
	fl.StringVar(&f.sort, "order-by", "", "the same as --sort")
	_ = fl.MarkHidden("order-by")
	fl.BoolVarP(&f.reverse, "reverse", "r", false, "the least first")
	fl.StringVar(&f.id, "id", "",
		"report all of the statement with this `ID`: as shown, 32 digits, or the last 16 as older pt-query-digests have it")
	fl.BoolVar(&f.mask, "mask", false, "hide the values in statements that are quoted")
	fl.BoolVar(&f.seconds, "seconds", false, "report the calls of each second; with -o tsv, csv or json")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "say on stderr how fast it was read")
	_ = cmd.RegisterFlagCompletionFunc("sort", cobra.FixedCompletions(logfile.SlowColumns(),
		cobra.ShellCompDirectiveNoFileComp))
}

func (f *slowFlags) run(parent context.Context, e *cli.Env, args []string) error {
	o, err := f.options(e)
	if err != nil {
		return err
	}
	hosts, err := hostsOf(args)
	if err != nil {
		return err
	}
	if len(hosts) > 0 {
		p := startReading(e, nil)
		p.name = unit.Counted(uint64(len(hosts)), "host", "hosts")
		log, err := f.read.collectHosts(parent, e, f.hub, hosts, p)
		return f.finish(e, p, log, o, err)
	}
	in, err := e.LogInputs(args)
	if err != nil {
		return err
	}
	ctx, stop := e.ReadingInterruptible(parent)
	defer stop()
	p := startReading(e, in)
	log, err := f.read.collect(ctx, e, in, p)
	return f.finish(e, p, log, o, err)
}

// finish prints what was read, and is how the command ends.
func (f *slowFlags) finish(e *cli.Env, p *reading, log *logfile.SlowLog, o logfile.SlowOptions, err error) error {
	if log == nil {
		return err
	}
	if cost := p.cost(); f.verbose || e.StderrTTY {
		defer fmt.Fprintln(e.Stderr, cost)
	}
	if f.id != "" {
		return f.one(e, log, o, err)
	}
	if err := f.print(e, log, o); err != nil {
		return err
	}
	return slowVerdict(log, err)
}

// options checks everything that can be checked before a log is read.
func (f *slowFlags) options(e *cli.Env) (logfile.SlowOptions, error) {
	o := logfile.SlowOptions{Options: e.ReportOptions(""), Sort: f.sort, Reverse: f.reverse}
	if err := f.out.Check(); err != nil {
		return o, err
	}
	if err := f.read.check(e); err != nil {
		return o, err
	}
	o.Location = f.read.location
	o.Machine, o.Limit = f.out.Machine(), f.out.Rows(f.out.Format)
	switch {
	case f.seconds && !o.Machine && f.out.Format != "json":
		return o, cli.Usagef("pages have them as a chart", "--seconds goes with -o tsv, csv or json")
	case f.id != "" && f.read.by != "" && f.read.by != "tag":
		return o, cli.Usagef("", "--id names a statement, which rows --by %s are not", f.read.by)
	}
	if err := logfile.CheckSlow(o); err != nil {
		return o, cli.Usagef("", "--sort: %v", err)
	}
	return o, nil
}

// print writes what was read. Formats that hold one table have the statements, or
// their seconds.
func (f *slowFlags) print(e *cli.Env, log *logfile.SlowLog, o logfile.SlowOptions) error {
	build, table := logfile.Slow, "queries"
	if f.seconds && o.Machine {
		build, table = logfile.SlowSeconds, "seconds"
	}
	doc, err := build(log, o)
	if err != nil {
		return err
	}
	if o.Machine {
		doc = logfile.AccessTable(doc, table)
	}
	return f.out.Print(e, cli.Printer{Doc: doc, JSON: f.json(log, o)})
}

func (f *slowFlags) json(log *logfile.SlowLog, o logfile.SlowOptions) func(io.Writer) error {
	return func(w io.Writer) error {
		return encode.SlowLogJSON(w, log, o, encode.SlowLogShown{Seconds: f.seconds, Masked: f.mask})
	}
}

// one reports the statements with the id that is asked for.
func (f *slowFlags) one(e *cli.Env, log *logfile.SlowLog, o logfile.SlowOptions, readErr error) error {
	var found []*slowlog.Class
	for i := range log.Classes {
		if sameID(log.Classes[i].ID, f.id) {
			found = append(found, &log.Classes[i])
		}
	}
	if len(found) == 0 {
		if err := slowVerdict(log, readErr); err != nil {
			return err
		}
		return cli.Bad(fmt.Sprintf("no statement with the id %s", f.id))
	}
	if ids := idsOf(found); len(ids) > 1 {
		return cli.Usagef("give more of its digits", "--id %s: %s all start so", f.id, strings.Join(ids, ", "))
	}
	some := *log
	some.Classes, some.Of = nil, log
	for _, c := range found {
		some.Classes = append(some.Classes, *c)
	}
	// A page is one document, so that of an id with several tags is their table.
	tags := len(found) > 1
	if f.out.Format == "json" || o.Machine || f.out.Format == "html" && tags {
		if err := f.print(e, &some, o); err != nil {
			return err
		}
		return slowVerdict(log, readErr)
	}
	out := cli.Printer{}
	if f.out.HTML != "" && tags {
		page, err := logfile.Slow(&some, o)
		if err != nil {
			return err
		}
		out.Page = page
	}
	for _, c := range found {
		out.Doc = logfile.SlowClass(log, c, f.mask, o)
		if err := f.out.Print(e, out); err != nil {
			return err
		}
		f.out.HTML = "" // that of the first has all
	}
	return slowVerdict(log, readErr)
}

// sameID reports whether an id is the one that is asked for: whole, its last 16
// digits, or its start, each with or without 0x.
func sameID(id, asked string) bool {
	asked = strings.ToUpper(strings.TrimSpace(asked))
	asked = strings.TrimPrefix(asked, "0X")
	switch {
	case id == "" || asked == "":
		return false
	case len(asked) == 16 && strings.HasSuffix(id, asked):
		return true
	}
	return len(asked) >= 4 && strings.HasPrefix(id, asked)
}

func idsOf(classes []*slowlog.Class) []string {
	var out []string
	for _, c := range classes {
		if !slices.Contains(out, c.ID) {
			out = append(out, c.ID)
		}
	}
	return out
}

// slowVerdict is how the command ends once all is printed.
func slowVerdict(log *logfile.SlowLog, err error) error {
	switch {
	case log.Stopped != "":
		return stoppedEarly(log.Stopped)
	case err != nil:
		return err
	case len(log.Classes) == 0:
		return cli.BadHint("no statement", "the slow log is the file that SELECT @@slow_query_log_file names, where "+
			"slow_query_log is ON; access logs are read by `kasoku accesslog`")
	}
	return nil
}
