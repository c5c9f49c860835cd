package provecmd

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/diagnose/indexcheck"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysql/explain"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/statements"
	"github.com/kasoku/kasoku/store"
	"github.com/spf13/cobra"
)

// explainFlags are what explain is asked.
type explainFlags struct {
	cli.Output
	database cli.DatabaseFlags
	explain.Options
	log    string
	noSave bool
	check  bool

	kept []kasoku.Query // as the run has them
}

// NewExplain returns the command explain, which shows how a server runs statements.
func NewExplain(e *cli.Env) *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain [RUN|LOG]",
		Short: "Show how the server runs the statements that took the most time",
		Long: `Show how the server runs the statements that took the most time, and the indexes
of their tables.

Each is the slowest statement of its class, as it was sent: of a slow log, or of a
run that kept them (record --keep-statements). A run that did not takes them from
the log that is named by --log. The plans go into the run, without the values of
the statements. The server is that of --dsn or --defaults-file, else that of
kasoku.toml.

--check-indexes starts a private server of the same version, found where root alone may
write, copies 20,000 rows or 4 MB of a table at most to it, and asks it whether it would
use the indexes that the findings propose: "checked: 1,715 → 21 rows". Those that it
would not use are proposed no more. The copy lies in a directory that only you may
enter, and goes with the command.

Nothing is run unless --analyze asks for it. What is asked is asked within a
read-only transaction with a time limit; a statement that writes is explained as
the SELECT that finds the same rows.`,
		Example: `  kasoku explain /var/log/mysql/slow.log --dsn 'app:secret@tcp(127.0.0.1:3306)/shop'
  kasoku explain before --defaults-file ~/.my.cnf
  kasoku explain before --log slow.log.1.gz --dsn 'app@tcp(127.0.0.1:3306)/shop' -o json
  kasoku explain before --log slow.log.1.gz --check-indexes --dsn 'app@tcp(127.0.0.1:3306)/shop'
  kasoku explain slow.log --analyze --timeout 2s --top 3 --dsn 'app@unix(/run/mysqld/mysqld.sock)/shop'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), e, args) },
	}
	f.Output.Register(cmd)
	fl := cmd.Flags()
	f.database.Register(fl, "`DSN` of the database to ask: user:password@tcp(host:port)/database")
	fl.IntVar(&f.Top, "top", 10, "explain so many classes of statements")
	fl.BoolVar(&f.Analyze, "analyze", false, "run the statements that only read, and report what they took")
	fl.DurationVar(&f.Limit, "timeout", 5*time.Second, "of each question to the server")
	cli.KeepOld(fl, "limit", "timeout")
	fl.StringVar(&f.Schema, "schema", "",
		"default `DATABASE` of statements whose log does not report theirs; default that of the DSN")
	fl.StringVar(&f.log, "log", "", "slow `LOG` that holds the statements of the run")
	fl.BoolVar(&f.check, "check-indexes", false, "ask a private server, with a copy of some rows, whether it would "+
		"use the proposed indexes")
	fl.BoolVar(&f.noSave, "no-save", false, "do not keep the plans in the run")
	return cmd
}

func (f *explainFlags) run(ctx context.Context, e *cli.Env, args []string) error {
	if err := f.Check(); err != nil {
		return err
	}
	if f.Top < 1 || f.Limit < time.Millisecond {
		return cli.Usagef("", "--top and --timeout must be positive")
	}
	dsn, err := f.database.Server(e)
	if err != nil {
		return err
	}
	if dsn == "" {
		return cli.Usagef("--dsn 'user:password@tcp(127.0.0.1:3306)/database', --defaults-file ~/.my.cnf, or a kasoku.toml "+
			"with [mysql], as `kasoku init` writes", "no database to ask")
	}
	name := store.Latest
	if len(args) > 0 {
		name = args[0]
	}
	var rec *kasoku.Recording
	var path string
	err = e.WhileReading(ctx, func(ctx context.Context) (err error) {
		rec, path,
			err = f.statements(ctx, e, name)
		return err
	})
	if err != nil {
		return err
	}
	askErr := e.WhileReading(ctx, func(ctx context.Context) error { return f.ask(ctx, e, rec, dsn) })
	if askErr != nil && len(rec.Plans) == 0 {
		return askErr
	}
	if path != "" && !f.noSave {
		if err := savePlans(path, rec); err != nil {
			return errors.Join(askErr, err)
		}
	}
	err = f.Print(e, cli.Printer{
		Doc:  statements.Plans(rec, e.ReportOptions(filepath.Base(cmp.Or(path, name)))),
		JSON: func(w io.Writer) error { return encode.PlansJSON(w, rec) },
	})
	return errors.Join(askErr, err)
}

// statements returns what is to be explained: a run with its path, or a log as if
// it were one.
func (f *explainFlags) statements(ctx context.Context, e *cli.Env, name string) (rec *kasoku.Recording, path string,
	err error) {
	if cli.NamesLogs(name) {
		if f.log != "" {
			return nil, "", cli.Usagef("name a run, or only the log", "%q is a log, and so is --log", name)
		}
		queries, err := loggedQueries(ctx, e, name)
		return &kasoku.Recording{Queries: queries}, "", err
	}
	rec, path, err = cli.OpenRun(e, f.Dir, name)
	if err != nil {
		return rec, path, err
	}
	f.kept = slices.Clone(rec.Queries)
	if f.log == "" {
		return rec, path, nil
	}
	queries, err := loggedQueries(ctx, e, f.log)
	type class struct{ id, tag string }
	raw := map[class]*kasoku.Query{}
	for i := range queries {
		raw[class{queries[i].ID, queries[i].Tag}] = &queries[i]
	}
	for i := range rec.Queries {
		q := &rec.Queries[i]
		if from := raw[class{q.ID, q.Tag}]; from != nil {
			q.Raw, q.Schema = from.Raw, from.Schema
		}
	}
	return rec, path, err
}

// loggedQueries reads the classes of a slow log, with a statement of each.
func loggedQueries(ctx context.Context, e *cli.Env, path string) ([]kasoku.Query, error) {
	in, err := e.LogInputs([]string{path})
	if err != nil {
		return nil, err
	}
	t, windows, err := slowlog.CollectAll(ctx, in, slowlog.Options{KeepRaw: true}, nil)
	if err != nil {
		return nil, err
	}
	for i := range windows {
		if bad, ok := kasoku.DroppedLines(&windows[i]); ok {
			e.Warn([]kasoku.Warning{bad})
		}
	}
	return t.Queries(), nil
}

// ask asks the server, and puts into the recording what it said.
func (f *explainFlags) ask(ctx context.Context, e *cli.Env, rec *kasoku.Recording, dsn string) error {
	o := f.Options
	o.Schema = cmp.Or(o.Schema, mysqlflags.Database(dsn))
	db, err := mysqlflags.OpenBounded(dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	r, err := mysql.New(ctx, db)
	if err != nil {
		return err
	}
	defer r.Close()
	rec.Plans, rec.Tables, err = explain.Queries(ctx, r, rec.Queries, o)
	for i := range rec.Plans {
		explain.Mask(&rec.Plans[i])
	}
	if err != nil || !f.check {
		return err
	}
	return f.checkIndexes(ctx, r, rec)
}

// checkIndexes keeps with the tables what a private server says of the proposed indexes,
// of statements as the run has them: the rules see no more of them.
func (f *explainFlags) checkIndexes(ctx context.Context, r *mysql.Reader, rec *kasoku.Recording) error {
	seen := *rec
	if f.kept != nil {
		seen.Queries = f.kept
	}
	if _, known := seen.Setting("mysql", "version"); !known {
		seen.Settings = append(slices.Clip(seen.Settings), kasoku.Setting{Scope: "mysql", Name: "version", Value: r.Version().Text})
	}
	return indexcheck.Check(ctx, r, &seen, rec.Queries)
}

// savePlans keeps the plans in the run.
func savePlans(path string, rec *kasoku.Recording) error {
	ed, err := store.Edit(path)
	if err != nil {
		return err
	}
	return errors.Join(ed.SavePlans(rec.Plans, rec.Tables), ed.Close())
}
