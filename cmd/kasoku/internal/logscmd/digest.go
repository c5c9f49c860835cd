package logscmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/compat/slowquery2tsv"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/statements"
	"github.com/spf13/cobra"
)

// digestFlags are the flags of digest.
type digestFlags struct {
	as       asPeer
	out      cli.Output
	database cli.DatabaseFlags
	over     time.Duration
	since    string
	sort     string
}

// NewDigest returns the command digest, which reads the statement digests of a server.
func NewDigest(e *cli.Env) *cobra.Command {
	f := digestFlags{as: asPeer{peers: []peer{{"slowquery2tsv", slowquery2tsv.Run}}}}
	cmd := &cobra.Command{
		Use:   "digest [BEFORE AFTER]",
		Short: "Read a server's own statement digests, whole or between two moments",
		Long: `Read the statement digests of performance_schema: what each class of statements
took since the server began to count, or with --for, --snapshot or two snapshots
what it took between two moments. What -o json prints is a snapshot.

It works where no slow log can be read, with MariaDB and MySQL. MariaDB switches
performance_schema off by default; then this says how to switch it on, and
` + "`kasoku slowlog`" + ` reads the slow log instead. Nothing is changed on the server,
which is that of --dsn or --defaults-file, else that of kasoku.toml.

With --as slowquery2tsv everything after it is the command line of that program.
Exit code 1 when no statement was counted.`,
		Example: `  kasoku digest --dsn 'root@unix(/run/mysqld/mysqld.sock)/'
  kasoku digest --defaults-file ~/.my.cnf --for 30s --sort examined
  kasoku digest --dsn 'app:secret@tcp(127.0.0.1:3306)/' -o json > before.json
  kasoku digest --dsn 'app:secret@tcp(127.0.0.1:3306)/' --snapshot before.json
  kasoku digest before.json after.json -o md
  kasoku digest --as slowquery2tsv -u root -h 127.0.0.1 > digest.tsv`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.as.asked(cmd) {
				return f.as.run(cmd, e, args)
			}
			return f.run(cmd.Context(), e, args)
		},
	}
	f.as.register(cmd)
	f.out.RegisterLog(cmd)
	f.out.RegisterLimit(cmd, "classes")
	f.database.Register(cmd.Flags(), "`DSN` of the server: user:password@tcp(host:port)/")
	fl := cmd.Flags()
	fl.DurationVar(&f.over, "for", 0, "wait `DURATION` and report what was added; Ctrl-C ends it early")
	fl.StringVar(&f.since, "snapshot", "", "report what was added since the snapshot in `FILE`, made with -o json")
	cli.KeepOld(fl, "since", "snapshot")
	fl.StringVar(&f.sort, "sort", "total", "by `COLUMN`: "+strings.Join(statements.DigestColumns, ", "))
	return cmd
}

func (f *digestFlags) run(ctx context.Context, e *cli.Env, args []string) error {
	if err := f.out.Check(); err != nil {
		return err
	}
	dsn, err := f.database.DSN(e)
	if err != nil {
		return err
	}
	switch {
	case !slices.Contains(statements.DigestColumns, f.sort):
		return cli.Usagef("", "--sort %q: want %s", f.sort, strings.Join(statements.DigestColumns, ", "))
	case f.over < 0:
		return cli.Usagef("", "--for %s: want 0 or more", f.over)
	case f.over > 0 && f.since != "":
		return cli.Usagef("", "--for and --snapshot both name a beginning: give one")
	case len(args) != 0 && len(args) != 2:
		return cli.Usagef("two snapshots, or none and --dsn", "%d arguments", len(args))
	case len(args) == 2 && (dsn != "" || f.since != "" || f.over > 0):
		return cli.Usagef("", "two snapshots report all: no server is asked")
	}
	var d *statements.Digests
	at := e.Now()
	if len(args) == 2 {
		d, at, err = compareSnapshots(args[0], args[1])
	} else {
		if dsn, err = f.database.Server(e); err == nil && dsn == "" {
			err = cli.Usagef("--dsn 'user:password@tcp(127.0.0.1:3306)/', --defaults-file ~/.my.cnf, or a kasoku.toml with "+
				"[mysql], as `kasoku init` writes", "no server to ask")
		}
		if err == nil {
			d, err = f.ask(ctx, e, dsn)
		}
	}
	if err != nil {
		return err
	}
	err = f.out.Print(e, cli.Printer{
		Doc:  statements.Digested(d, f.sort, f.out.Rows(f.out.Format), e.ReportOptions("")),
		JSON: func(w io.Writer) error { return encode.DigestsJSON(w, d, f.sort, at) },
	})
	if err == nil && len(d.Classes) == 0 {
		err = cli.Bad("no statement was counted")
	}
	return err
}

// ask reads the digests of a server.
func (f *digestFlags) ask(parent context.Context, e *cli.Env, dsn string) (*statements.Digests, error) {
	var before *mysql.Digests
	var began time.Time
	if f.since != "" {
		var err error
		if before, _, began, err = readSnapshot(f.since); err != nil {
			return nil, err
		}
	}
	db, err := mysqlflags.OpenBounded(dsn)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	r, err := mysql.New(parent, db)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	d := &statements.Digests{Server: fmt.Sprintf("%s %s", r.Flavor(), r.Version().Text)}
	if f.over > 0 {
		began = e.Now()
		if before, err = mysql.NewSummaries(r).Digests(parent); err != nil {
			return nil, err
		}
		if d.Stopped, err = pauseFor(parent, f.over); err != nil {
			return nil, err
		}
	}
	ctx := parent
	if d.Stopped != "" { // the server may be silent now
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(parent, cli.LastWords)
		defer cancel()
	}
	now, err := mysql.NewSummaries(r).Digests(ctx)
	if err != nil {
		return nil, err
	}
	d.Digests = *now
	if len(now.Classes) == 0 {
		addContained(d, "why nothing was counted", func() { d.Notes = append(d.Notes, explainUncounted(parent, r)...) })
	}
	if before != nil {
		addContained(d, "since", func() { addSince(d, before, now, e.Now().Sub(began)) })
	}
	addContained(d, "notes", func() { d.Notes = append(d.Notes, digestNotes(d, r.Flavor())...) })
	return d, nil
}

// addContained adds one thing to digests. A panic is a note; what was read stands.
func addContained(d *statements.Digests, what string, add func()) {
	if bug := contain.Run(contain.Part{Kind: contain.Step, Name: "digests: " + what}, add); bug != nil {
		d.Notes = append(d.Notes, report.Note{Sign: "!", Tone: report.Mark, Text: "This part is lost. " + bug.Error()})
	}
}

// pauseFor waits, at most until Ctrl-C, and says so then.
func pauseFor(parent context.Context, d time.Duration) (stopped string, err error) {
	ctx, _, stop := cli.Interruptible(parent)
	defer stop()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return "", nil
	case <-ctx.Done():
		return "Stopped early by " + context.Cause(ctx).Error() + ".", parent.Err()
	}
}

// compareSnapshots compares two snapshots.
func compareSnapshots(first, second string) (*statements.Digests, time.Time, error) {
	before, _, began, err := readSnapshot(first)
	if err != nil {
		return nil, began, err
	}
	after, server, ended, err := readSnapshot(second)
	if err != nil {
		return nil, ended, err
	}
	if ended.Before(began) {
		return nil, ended, cli.Usagef("name the earlier one first", "%s was made before %s", second, first)
	}
	d := &statements.Digests{Server: server}
	addSince(d, before, after, ended.Sub(began))
	return d, ended, nil
}

// addSince makes d what was added between two snapshots.
func addSince(d *statements.Digests, before, after *mysql.Digests, over time.Duration) {
	added, restarted := after.Since(before)
	d.Digests, d.Over = *added, max(over, 1)
	if restarted {
		d.Over = 0
		d.Notes = append(d.Notes, report.Note{Sign: "!", Tone: report.Mark,
			Text: "the server began to count anew in between: this is what it counted since then, and what came before " +
				"is missing"})
	}
}

// readSnapshot reads what -o json wrote.
func readSnapshot(path string) (*mysql.Digests, string, time.Time, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, "", time.Time{}, err
	}
	defer f.Close()
	d, server, at, err := encode.ReadDigests(f)
	if err != nil {
		return nil, "", at, cli.Usage(fmt.Errorf("%s: %w", path, err),
			"make a snapshot with `kasoku digest --dsn … -o json > "+path+"`")
	}
	return d, server, at, nil
}

// explainUncounted describes why a server that could count statements has counted none.
func explainUncounted(ctx context.Context, r *mysql.Reader) []report.Note {
	on, err := r.EnabledConsumers(ctx)
	if err != nil || slices.Contains(on, "statements_digest") {
		return nil
	}
	return []report.Note{{Sign: "!", Tone: report.Mark, Text: "the consumer statements_digest is off",
		Hint: "`UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME IN ('global_instrumentation', " +
			"'statements_digest')`; or read the slow log: `kasoku slowlog`"}}
}

// digestNotes describes what the digests do not hold.
func digestNotes(d *statements.Digests, flavor mysql.Flavor) []report.Note {
	var out []report.Note
	if flavor == mysql.MariaDB {
		out = append(out, report.Note{Sign: "·",
			Text: "MariaDB counts no statement that a driver runs as a prepared one, and keeps no sample"})
	}
	if d.Lost > 0 {
		out = append(out, report.Note{Sign: "!", Tone: report.Mark,
			Text: fmt.Sprintf("%d statements are in no class: the server keeps no more digests", d.Lost),
			Hint: "raise performance_schema_digests_size in its option file"})
	}
	return out
}
