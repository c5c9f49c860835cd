package provecmd

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/diagnose/probe"
	"github.com/kasoku/kasoku/diagnose/recycle"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/vegeta"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/statements"
	"github.com/spf13/cobra"
)

// probeFlags are those of kasoku probe.
type probeFlags struct {
	cli.Output
	database cli.DatabaseFlags
	probe.Options
	targets string
	from    string
	base    string
	allow   []string

	recycles bool
}

// NewProbe returns the command probe, which counts the statements that each endpoint runs.
func NewProbe(e *cli.Env) *cobra.Command {
	var f probeFlags
	cmd := &cobra.Command{
		Use:   "probe",
		Short: "Ask each endpoint alone, and count exactly which statements it runs",
		Long: `Ask each endpoint a dozen times, one request at a time and nothing else, and count
the statements of each request in the slow log: how many of each class, their
spread, and whether they are a loop over the rows of another one (N+1).

The endpoints are those of a file of targets, or of a run, with requests that its
access log holds. Only GET and HEAD are asked; others are named with --allow and
need --targets, since no log has their bodies. No one else should use the service
meanwhile. Statements that come while nothing is asked are distinguished.

The slow log is switched on for all statements and put back. Sessions that are open
keep the settings they began with: where the application's pool was opened before,
--recycle-connections ends its idle sessions first, so that it opens new ones: only
where its driver is known to reconnect, or mysql.reconnects in kasoku.toml says so.`,
		Example: `  kasoku probe --targets targets.txt --dsn 'root@tcp(127.0.0.1:3306)/'
  kasoku probe --from before --base-url http://127.0.0.1:8080 --recycle-connections
  kasoku probe --targets targets.txt --allow POST:/api/search -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), e) },
	}
	f.Output.Register(cmd)
	fl := cmd.Flags()
	f.database.Register(fl,
		"`DSN` of the database that the endpoints use: user:password@tcp(host:port)/; default that of kasoku.toml")
	fl.StringVar(&f.targets, "targets", "", "`FILE` of requests, in Vegeta's format")
	fl.StringVar(&f.from, "from", "", "`RUN` whose endpoints are asked")
	fl.StringVar(&f.base, "base-url", "", "`URL` before the paths of --from: http://127.0.0.1:8080")
	cli.KeepOld(fl, "base", "base-url")
	fl.IntVar(&f.Requests, "requests", probe.DefaultRequests, "to each endpoint")
	fl.DurationVar(&f.Gap, "gap", probe.DefaultGap, "after each request")
	fl.DurationVar(&f.Timeout, "timeout", probe.DefaultTimeout, "of a request")
	fl.StringArrayVar(&f.allow, "allow", nil,
		"also ask an endpoint, `METHOD:/path`, which may change data; or a host beyond this one and private networks")
	fl.BoolVar(&f.Table, "table", false, "read mysql.slow_log even where the file can be read")
	fl.BoolVar(&f.recycles, "recycle-connections", false,
		"end idle sessions of the database first, so that pools open new ones")
	return cmd
}

// validate refuses flags that make no sense together.
func (f *probeFlags) validate() error {
	if err := f.Check(); err != nil {
		return err
	}
	switch {
	case f.targets == "" && f.from == "":
		return cli.Usagef("--targets FILE, or --from RUN", "what to ask is not said")
	case f.targets != "" && f.from != "":
		return cli.Usagef("", "--targets and --from: give one")
	case f.Requests < 2 || f.Requests > 1000:
		return cli.Usagef("", "--requests %d: want 2 to 1000", f.Requests)
	case f.Gap < time.Millisecond || f.Timeout < time.Millisecond:
		return cli.Usagef("", "--gap and --timeout: want at least 1ms")
	}
	for _, a := range f.allow {
		if err := probe.CheckAllow(a); strings.ContainsAny(a, "/:") && err != nil { // else a host
			return cli.Usage(err, "such as POST:/api/search")
		}
	}
	if u, err := url.Parse(f.base); f.base != "" && (err != nil || u.Host == "" || u.Scheme != "http" &&
		u.Scheme != "https") {
		return cli.Usagef("such as http://127.0.0.1:8080", "--base-url %q is no URL", f.base)
	}
	return nil
}

func (f *probeFlags) run(parent context.Context, e *cli.Env) error {
	if err := f.validate(); err != nil {
		return err
	}
	c, err := cli.ReadConfig("")
	if err != nil {
		return err
	}
	if c == nil {
		c = &config.Config{}
	}
	if f.DSN, err = f.dsn(e, c); err != nil {
		return err
	}
	name, skipped, err := f.endpoints(e, c)
	if err != nil {
		return err
	}
	if len(f.Endpoints) == 0 {
		return cli.WithHint(load.ErrNoTargets, firstWhy(skipped))
	}
	ctx, _, stop := cli.Interruptible(parent)
	defer stop()
	f.Permit = load.Permit{Hosts: append(f.allow, c.Load.Allow...)}
	if f.recycles {
		f.Recycle = &recycle.Options{}
		if cli.IsDatabaseOf(c, f.DSN) {
			f.Recycle.Confirmed = c.MySQL.Reconnects
			f.Recycle.Service = func(ctx context.Context) (kasoku.Service, error) { return record.ServiceNow(ctx, c) }
		}
	}
	var end func(bool)
	if f.Guard, end, err = OpenJournal(e, f.DSN, cmp.Or(f.database.DefaultsFile, c.MySQL.DefaultsFile)); err != nil {
		return err
	}
	progress := e.Progress()
	f.Progress = func(done, all int, endpoint string) {
		progress.Work("probe", float64(done)/float64(all), endpoint)
	}
	res, err := probe.Run(ctx, f.Options)
	progress.Clear()
	end(err == nil)
	if res == nil {
		return cli.UsageIf(cli.IsRefused(err), err)
	}
	printErr := f.Print(e, cli.Printer{
		Doc:  statements.Probe(res, skipped, e.ReportOptions(name)),
		JSON: func(w io.Writer) error { return encode.ProbeJSON(w, res, skipped) },
	})
	if ctx.Err() != nil {
		return errors.Join(printErr, cli.Stopped("stopped before the end: "+context.Cause(ctx).Error()))
	}
	return errors.Join(err, printErr)
}

// dsn is the address of the database: of the flags, else of kasoku.toml.
func (f *probeFlags) dsn(e *cli.Env, c *config.Config) (string, error) {
	dsn, err := f.database.DSN(e)
	if err == nil && dsn == "" {
		dsn, err = e.Noted(record.DSN(c.MySQL))
	}
	if err == nil && dsn == "" {
		err = cli.Usagef("--dsn 'user:password@tcp(127.0.0.1:3306)/', or --defaults-file ~/.my.cnf",
			"no database to count in")
	}
	return dsn, err
}

// endpoints finds what is to be asked, and what of it is not; name is where from.
func (f *probeFlags) endpoints(e *cli.Env, c *config.Config) (name string, skipped []probe.Skipped, err error) {
	s := probe.Selection{Base: cmp.Or(f.base, record.ProbeBase(c)), Allow: f.allow}
	if f.targets != "" {
		file, err := os.Open(f.targets)
		if err != nil {
			return "", nil, err
		}
		defer file.Close()
		targets, err := vegeta.ReadTargets(file, vegeta.TargetOptions{Name: f.targets, Dir: filepath.Dir(f.targets)})
		if err != nil {
			return "", nil, err
		}
		f.Endpoints, skipped, err = probe.FromTargets(targets, s)
		return filepath.Base(f.targets), skipped, err
	}
	rec, path, err := cli.OpenRun(e, f.Dir, f.from)
	if err != nil {
		return "", nil, err
	}
	switch {
	case len(rec.Endpoints) == 0:
		return "", nil, cli.WithHint(errors.New("the run has no endpoints"),
			"it read no access log: name the requests with --targets")
	case s.Base == "":
		return "", nil, cli.Usagef("--base-url http://127.0.0.1:8080", "where the endpoints of the run are is not known")
	}
	f.Endpoints, skipped = probe.FromRecording(rec, logSamples(rec), s)
	return filepath.Base(path), skipped, nil
}

// mostSampled is how many lines of a log are looked at for requests.
const mostSampled = 200_000

// logSamples reads requests from the access logs of a run, as far as they are still
// there.
func logSamples(rec *kasoku.Recording) []probe.Sample {
	s := probe.NewSampler()
	for _, l := range rec.Logs {
		in := []lines.Input{{Path: l.Path, From: l.From, To: l.To}}
		if l.Kind != "accesslog" || l.Inode == 0 || in[0].Segment(0).Inode != l.Inode {
			continue
		}
		w, err := lines.Open(in, 0)
		if err != nil {
			continue
		}
		_ = s.Read(w, mostSampled) // what could be read is there
		_ = w.Close()
	}
	return s.Samples()
}

// firstWhy describes why nothing is asked.
func firstWhy(skipped []probe.Skipped) string {
	if len(skipped) == 0 {
		return "the file names no request"
	}
	return skipped[0].Endpoint + ": " + skipped[0].Why
}
