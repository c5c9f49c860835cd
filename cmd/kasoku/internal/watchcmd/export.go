package watchcmd

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/export"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/wire/graphite"
)

// exportForms are the values of --to.
var exportForms = []string{"csv", "json", "parquet", "openmetrics", "prometheus", "remote-write", "otlp", "graphite", "mackerel"}

// flushWithin is how long the last values may take at the end.
const flushWithin = 10 * time.Second

// Of a run: how many points wait for Carbon, few enough that it is seen when no one
// takes them; how long one write of them, and what is under way at the end, may take.
const (
	runBuffer      = 2000
	runWriteWithin = 20 * time.Second
	runFlushWithin = 30 * time.Second
)

// exportFlags are the flags of export as they were typed.
type exportFlags struct {
	to   string
	live bool
	out  string
	raw  bool
	only []string
	dir  string

	watch  watchFlags // of what is live
	runs   string     // directory in which runs are recorded meanwhile
	place  string     // directory of the project whose load is handed on
	places []string   // where that goes

	address  string
	protocol string
	prefix   string
	server   cli.CarbonServerFlags
	listen   string
	token    string // file with the page's token
	open     bool   // the page needs none
	push     string // URL of remote write
	mackerel mackerelFlags
}

// NewExport returns the command export, which hands a run to other tools.
func NewExport(e *cli.Env) *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export [RUN] --to FORM",
		Short: "Hand a run, or what is measured now, to Graphite, Prometheus, Mackerel or a table",
		Long: `Hand all series of a run, or with --live what is sampled now, every second, to:

  csv, json     a table: time, host, source, entity, metric, value, unit
  parquet       of a run: a directory --out for DuckDB, ClickHouse and others, with
                requests.parquet, statements.parquet, series.parquet
  openmetrics   text with times, for promtool tsdb create-blocks-from openmetrics
  prometheus    a page /metrics that Prometheus scrapes, until Ctrl-C
  remote-write  of a run: sent to Prometheus, Mimir, VictoriaMetrics … at --push
  otlp          of a run: OpenTelemetry's metrics, by HTTP as JSON, sent to --push
  graphite      Carbon: lines or pickled lists over TCP, lines over UDP
  mackerel      metrics of hosts, and with --service those of the load and, of a run,
                annotations for its phases and findings; key in MACKEREL_APIKEY

Counters are reported as rates; --raw reports them as they were read, as prometheus,
remote-write, otlp and openmetrics always do. What is live is what kasoku.toml names; without one, what runs
here; and the load beside it, of a kasoku attack or a run that is recorded. A server that is slow or gone never
holds up the sampling: what does not fit is dropped and counted. Carbon is asked what became
of what it was sent, where it answers (--query) or its files are at hand (--storage). Ctrl-C
hands on what is left and ends.`,
		Example: `  kasoku export before --to csv -o before.csv
  kasoku export before --to parquet --out before-tables
  kasoku export latest --to graphite --address carbon.example.com:2003
  kasoku export latest --to graphite --storage /var/lib/graphite/whisper
  kasoku export --live --to prometheus
  kasoku export before --to remote-write --push http://127.0.0.1:9090/api/v1/write
  kasoku export before --to otlp --push http://127.0.0.1:4318/v1/metrics
  kasoku export --live --to graphite --protocol pickle --only host,mysql.Threads_*
  MACKEREL_APIKEY=… kasoku export latest --to mackerel --service shop`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(args); err != nil {
				return err
			}
			if f.live {
				return f.exportLive(cmd.Context(), e)
			}
			return f.exportRun(cmd.Context(), e, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.to, "to", "", "`FORM`: "+strings.Join(exportForms, ", "))
	fl.BoolVar(&f.live, "live", false, "what is sampled now instead of a run")
	fl.StringVar(&f.out, "out", "", "csv, json, openmetrics: `FILE`, which must not exist; default standard output; parquet: a directory")
	cli.KeepOldShort(fl, "o", "out")
	fl.BoolVar(&f.raw, "raw", false, "csv, json, parquet, graphite: counters as they were read, with _total after their names")
	fl.StringSliceVar(&f.only, "only", nil, "`SOURCE` or SOURCE.METRIC, …, with * and ?; default all, for "+
		"mackerel some that show most")
	fl.StringVar(&f.dir, "dir", "", "`DIRECTORY` of run files; default runs, and the working directory")
	fl.StringVar(&f.address, "address", "127.0.0.1", "graphite: `HOST[:PORT]` of Carbon; default port 2003, of "+
		"pickle 2004")
	fl.StringVar(&f.protocol, "protocol", string(graphite.Line), "graphite: line, pickle or udp")
	fl.StringVar(&f.prefix, "prefix", "kasoku", "graphite: what stands before all paths; may be empty")
	f.server.Register(fl, "graphite: ")
	fl.StringVar(&f.listen, "listen", "127.0.0.1:9798", "prometheus: `ADDRESS` of the page; one that others reach "+
		"needs a token, or --open")
	fl.StringVar(&f.token, "token-file", "", "prometheus: `FILE` with the token that a scrape has to send; "+
		"default $"+tokenEnv)
	fl.BoolVar(&f.open, "open", false, "prometheus: let everybody read the page who reaches it")
	fl.StringVar(&f.push, "push", "", "remote-write, otlp: `URL` to send to; user:password@ is basic authentication; "+
		"default $"+pushEnv)
	f.mackerel.register(fl)
	f.watch.database.Register(fl, "live: `DSN` of the database: user:password@tcp(host:port)/database")
	fl.StringVar(&f.watch.config, "config", "", "live: `FILE` instead of the kasoku.toml here or above")
	fl.DurationVar(&f.watch.loop.Interval, "interval", 0, "live: between samples; default 1s, or that of kasoku.toml")
	fl.DurationVar(&f.watch.length, "for", 0, "live: end after so long; default at Ctrl-C")
	return cmd
}

// check refuses what does not go together.
func (f *exportFlags) check(args []string) error {
	text := f.to == "csv" || f.to == "json" || f.to == "openmetrics"
	badPattern := export.Selection(f.only).Validate()
	if (f.open || f.token != "") && f.to != "prometheus" {
		return cli.Usagef("", "--open and --token-file are for --to prometheus")
	}
	if f.mackerel.all && (f.to != "mackerel" || len(f.only) > 0) {
		return cli.Usagef("", "--all is for --to mackerel, without --only")
	}
	switch {
	case f.to == "":
		return cli.Usagef("--to "+strings.Join(exportForms, ", --to "), "--to says in which form, or to whom")
	case !slices.Contains(exportForms, f.to):
		return cli.Usagef("", "--to %q: want %s", f.to, strings.Join(exportForms, ", "))
	case f.live && len(args) > 0:
		return cli.Usagef("", "--live is what is sampled now, %q is a run: give one", args[0])
	case f.push != "" && f.to != "remote-write" && f.to != "otlp":
		return cli.Usagef("", "--push is for --to remote-write and --to otlp")
	case f.live && (f.to == "remote-write" || f.to == "otlp"):
		return cli.Usagef("`--to prometheus` shows a page that Prometheus or an agent scrapes",
			"%s sends a whole run", f.to)
	case f.live && f.to == "openmetrics":
		return cli.Usagef("`--to prometheus` shows a page of that form", "openmetrics is the text of a whole run")
	case f.out != "" && !text && f.to != "parquet":
		return cli.Usagef("", "-o is for csv, json, openmetrics and parquet")
	case f.to == "parquet" && (f.live || f.out == ""):
		return cli.Usagef("--out names a directory, which must not exist", "--to parquet writes three files of a run")
	case f.raw && f.to == "mackerel":
		return cli.Usagef("", "mackerel keeps rates, --raw is for counters as they were read")
	case !slices.Contains(graphite.Protocols(), graphite.Protocol(f.protocol)):
		return cli.Usagef("", "--protocol %q: want line, pickle or udp", f.protocol)
	case badPattern != nil:
		return cli.Usagef("", "--only: %w", badPattern)
	}
	return f.watch.checkLive()
}

// checkLive is check for who does not scroll.
func (f *watchFlags) checkLive() error {
	f.keep = time.Minute
	return f.check()
}

// form describes what becomes of counters.
func (f *exportFlags) form() export.Form {
	if f.raw || f.to == "prometheus" {
		return export.Raw
	}
	return export.Rates
}

// carbonAddress is --address with a port.
func (f *exportFlags) carbonAddress() string {
	if _, _, err := net.SplitHostPort(f.address); err == nil {
		return f.address
	}
	return net.JoinHostPort(strings.Trim(f.address, "[]"), graphite.Protocol(f.protocol).Port())
}

// carbon is the output to Graphite. One that cannot be reached is an error, or a warning where
// what it does not take is dropped.
func (f *exportFlags) carbon(ctx context.Context, e *cli.Env, start time.Time, drop bool) (*export.Carbon, error) {
	o := graphite.Options{Address: f.carbonAddress(), Protocol: graphite.Protocol(f.protocol)}
	switch err := graphite.Reach(ctx, o); {
	case err != nil && !drop:
		return nil, fmt.Errorf("graphite: %w", err)
	case err != nil: // it may come back
		e.Caution("graphite: "+err.Error()+"; it is tried again and again, and what it misses is counted", cli.HintOf(err))
	}
	if !drop {
		o.Buffer, o.Timeout = runBuffer, runWriteWithin
	}
	return export.NewCarbon(export.CarbonOptions{Options: o, Prefix: f.prefix, Start: start, Drop: drop})
}

// create returns where text goes, and what ends it.
func (f *exportFlags) create(e *cli.Env) (*bufio.Writer, func() error, error) {
	if f.out == "" {
		w := bufio.NewWriterSize(e.Stdout, 1<<16)
		return w, w.Flush, nil
	}
	file, err := private.Output.CreateNew(f.out)
	if errors.Is(err, os.ErrExist) {
		return nil, nil, cli.Usagef("choose another name, or remove it", "file %q exists", f.out)
	}
	if err != nil {
		return nil, nil, err
	}
	w := bufio.NewWriterSize(file, 1<<16)
	return w, func() error { return errors.Join(w.Flush(), file.Close()) }, nil
}

// exportRun exports a run file.
func (f *exportFlags) exportRun(parent context.Context, e *cli.Env, args []string) error {
	var rec *kasoku.Recording
	err := e.WhileReading(parent, func(context.Context) (err error) { rec, _, err = cli.OpenNamed(e, f.dir, args); return err })
	if err != nil {
		return err
	}
	keys := export.KeysOf(rec)
	if none := export.Selection(f.only).Unmatched(keys); len(none) > 0 {
		return noSeries("the run has no such series", none, keys)
	}
	ctx, _, stop := cli.Interruptible(parent)
	defer stop()
	switch f.to {
	case "graphite":
		return f.runToCarbon(ctx, e, rec)
	case "mackerel":
		return f.runToMackerel(ctx, e, rec)
	case "prometheus":
		return f.serveRun(ctx, e, rec)
	case "remote-write", "otlp":
		return f.pushRun(ctx, e, rec)
	case "parquet":
		return f.runToParquet(ctx, rec)
	}
	w, end, err := f.create(e)
	if err != nil {
		return err
	}
	if f.to == "openmetrics" {
		err = export.OpenMetrics(w, rec, f.only)
	} else {
		out := f.table(w, rec.Run.Started)
		err = export.Recording(ctx, rec, f.form(), f.only, out)
		err = errors.Join(err, out.Close(ctx))
	}
	return errors.Join(err, end())
}

// runToParquet writes the files of --to parquet.
func (f *exportFlags) runToParquet(ctx context.Context, rec *kasoku.Recording) error {
	if _, err := os.Lstat(f.out); err == nil {
		return cli.Usagef("choose another name, or remove it", "directory %q exists", f.out)
	}
	if err := private.Output.MkdirAll(f.out); err != nil {
		return err
	}
	return export.Parquet(ctx, f.out, rec, f.form(), f.only)
}

// noSeries refuses patterns that take none of the series, and lists what may have been
// meant.
func noSeries(why string, patterns []string, keys []kasoku.Key) error {
	near := export.Near(patterns[0], keys)
	return cli.Usagef("there is "+strings.Join(near, ", ")+"; `kasoku export --to csv` without --only has all series: "+
		"their source and metric", "--only %q: %s", strings.Join(patterns, ","), why)
}

// table is the output of --to csv and json.
func (f *exportFlags) table(w io.Writer, start time.Time) export.Output {
	if f.to == "json" {
		return export.NewJSON(w, start)
	}
	return export.NewCSV(w, start)
}

func (f *exportFlags) runToCarbon(ctx context.Context, e *cli.Env, rec *kasoku.Recording) error {
	out, err := f.carbon(ctx, e, rec.Run.Started, false)
	if err != nil {
		return err
	}
	watch, err := f.watchCarbon(ctx, e, out)
	if err != nil {
		return err
	}
	err = export.Recording(ctx, rec, f.form(), f.only, out)
	within := flushWithin
	if out.Stats().Connections > 0 {
		within = runFlushWithin
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)() // a signal ends the wait for a server that does not answer
	if err != nil {
		cancel() // nor for one that did not take it so far
	}
	closed := out.Close(last)
	fmt.Fprintln(e.Stderr, terminal.Clean(carbonSummary(out.Stats(), f.carbonAddress())))
	kept := watch.end(ctx, true)
	switch {
	case ctx.Err() != nil:
		return cli.Stopped("stopped: not all of the run was sent")
	case err != nil:
		return err
	case closed != nil:
		return closed
	}
	return kept
}

// carbonSummary describes what went to Carbon.
func carbonSummary(s graphite.Stats, address string) string {
	text := fmt.Sprintf("sent  %s points to %s", unit.Count(s.Sent), address)
	if s.Dropped > 0 {
		text += fmt.Sprintf(", %s dropped", unit.Count(s.Dropped))
	}
	if s.Failures > 0 {
		text += fmt.Sprintf("; %s failures, the last: %s", unit.Count(s.Failures), s.LastError)
	}
	return text
}

// pushEnv names the variable for who keeps a password out of command lines.
const pushEnv = "KASOKU_PUSH"

// pushRun sends a run by remote write or OTLP.
func (f *exportFlags) pushRun(ctx context.Context, e *cli.Env, rec *kasoku.Recording) error {
	address := cmp.Or(f.push, e.Getenv(pushEnv))
	if address == "" {
		where := "Prometheus takes it at http://HOST:9090/api/v1/write, with --web.enable-remote-write-receiver"
		if f.to == "otlp" {
			where = "a collector takes it at http://HOST:4318/v1/metrics"
		}
		return cli.Usagef(where, "--to %s: --push URL says where to", f.to)
	}
	out, err := f.pusher(address)
	if err != nil {
		return cli.Usagef("", "--push: %w", err)
	}
	sent, err := out.Run(ctx, rec, f.only)
	fmt.Fprintf(e.Stderr, "sent  %s values\n", unit.Count(sent))
	if ctx.Err() != nil {
		return cli.Stopped("stopped: not all of the run was sent")
	}
	return err
}

// A pusher sends a run, and says how many values were taken.
type pusher interface {
	Run(ctx context.Context, rec *kasoku.Recording, only export.Selection) (sent int, err error)
}

// pusher returns who sends to an address.
func (f *exportFlags) pusher(address string) (pusher, error) {
	if f.to == "otlp" {
		return export.NewOTLP(address)
	}
	return export.NewRemoteWrite(address)
}

// serveRun shows a run as one page until Ctrl-C.
func (f *exportFlags) serveRun(ctx context.Context, e *cli.Env, rec *kasoku.Recording) error {
	page, err := export.NewRunPage(rec, f.only)
	if err != nil {
		return err
	}
	return f.serve(ctx, e, page, func(ctx context.Context) error {
		<-ctx.Done()
		return nil
	})
}
