package provecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/prove"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/report/encode"
)

// tryFlags are those of kasoku try.
type tryFlags struct {
	cli.Output
	database cli.DatabaseFlags
	log      string
	keep     bool
	all      bool
	repeat   int
	top      int
	limit    time.Duration
}

// NewTry returns the command try, which measures one proposed change and takes it back.
func NewTry(e *cli.Env) *cobra.Command {
	var f tryFlags
	cmd := &cobra.Command{
		Use:   "try RUN FINDING",
		Short: "Make the index or set the variable that a finding proposes, measure it, and take it back",
		Long: `Make the change that a finding of a run proposes, where that is an index or a
variable of the database: ask for plans and run the statements that it is for, some
times each, before and after; print the gain; and take it back, unless --keep. Of
the statements those are printed that the change concerns: an index those whose
plans are others with it, a variable those whose time differs by more than noise.

FINDING is its number in the report, or its id. The statements are those that the run
kept (record --keep-statements), else those of --log. Only such are run as read
nothing but rows. The change is the one that today's rules find in the run's data.

On MySQL 8 and later an index is made INVISIBLE first: where no plan of these statements
would have it, it is dropped before any other session could use it.

This is done only on the database of a kasoku.toml that says so:

  [safe]
  change = true

Where kasoku.toml has [answers], those are asked for before and after the change; one
after which they differ is taken back, "faster, but …", with exit code 1.

The change is in a journal before it is made: should this process be killed, it is
taken back, or ` + "`kasoku restore`" + ` does so.`,
		Example: `  kasoku try before 1 --log slow.log
  kasoku try before IDX-01 --dsn 'root@tcp(127.0.0.1:3306)/shop' --keep`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), e, args[0], args[1]) },
	}
	f.Output.Register(cmd)
	fl := cmd.Flags()
	f.database.Register(fl, "`DSN` of the database to change: user:password@tcp(host:port)/database; default that "+
		"of kasoku.toml")
	fl.StringVar(&f.log, "log", "", "slow `LOG` that holds the statements of the run")
	fl.BoolVar(&f.keep, "keep", false, "leave the change as it is")
	fl.BoolVar(&f.all, "all", false, "show also statements that were run and that the change does not concern")
	fl.IntVar(&f.repeat, "repeat", prove.DefaultRepeat, "run each statement so often, before and after")
	fl.IntVar(&f.top, "top", prove.DefaultTop, "measure so many classes of statements")
	fl.DurationVar(&f.limit, "timeout", prove.DefaultLimit, "of one statement")
	cli.KeepOld(fl, "limit", "timeout")
	return cmd
}

func (f *tryFlags) run(parent context.Context, e *cli.Env, name, which string) error {
	if err := f.Check(); err != nil {
		return err
	}
	if f.repeat < 1 || f.top < 1 || f.limit < time.Millisecond {
		return cli.Usagef("", "--repeat, --top and --timeout must be positive")
	}
	ctx, _, stop := cli.Interruptible(parent)
	defer stop()
	x := explainFlags{Output: f.Output, log: f.log}
	rec, path, err := x.statements(ctx, e, name)
	if err != nil {
		return err
	}
	named, err := findingNamed(rec, which)
	if err != nil {
		return err
	}
	finding, err := findAgain(rec, x.kept, named)
	if err != nil {
		return err
	}
	if len(prove.Edits(finding, kasoku.EditIndex, kasoku.EditVariable)) == 0 {
		return cli.Usagef("`kasoku show "+name+"` says what to do", "%s proposes no index and no variable that can be "+
			"set without a restart", finding.ID)
	}
	dsn, err := f.safe(ctx, e)
	if err != nil {
		return err
	}
	o := prove.Options{DSN: dsn, Finding: finding, Queries: rec.Queries, Keep: f.keep, Repeat: f.repeat, Top: f.top, Limit: f.limit}
	if held, err := cli.HeldAnswers(); err != nil {
		return err
	} else if held != nil {
		o.Answers = held
		defer held.Asker.Close()
	}
	progress := e.Progress()
	o.Progress = func(what string, done, all int) {
		progress.Work(what, float64(done)/float64(max(all, 1)), finding.Title)
	}
	var end func(bool)
	if o.Guard, end, err = OpenJournal(e, dsn, f.database.DefaultsFile); err != nil {
		return err
	}
	res, err := prove.Try(ctx, o)
	progress.Clear()
	end(err == nil)
	if errors.Is(err, prove.ErrNoStatement) {
		return cli.Usage(err, "give the slow log of the run: --log FILE; or record anew with keep_statements = true in [mysql] "+
			"of kasoku.toml (kasoku record: --keep-statements)")
	}
	if res == nil {
		return err
	}
	printErr := f.Print(e, cli.Printer{Doc: trialDocument(res, filepath.Base(path), f.all),
		JSON: func(w io.Writer) error { return encode.JSON(w, newTrial(res)) }})
	if ctx.Err() != nil {
		return errors.Join(printErr, cli.Stopped("stopped before the end, and taken back: "+context.Cause(ctx).Error()))
	}
	if err == nil && len(res.Differs) > 0 {
		err = cli.Bad(trialButs(res))
	}
	return errors.Join(err, printErr)
}

// findAgain returns the finding that today's rules make of the run's data where the run has
// that one: what a run file says is to be changed is not done. The statements are those
// that the run kept.
func findAgain(rec *kasoku.Recording, kept []kasoku.Query, named *kasoku.Finding) (*kasoku.Finding, error) {
	again := *rec
	again.Queries = kept
	cli.Rediagnose(&again, nil)
	for i := range again.Diagnosis.Findings {
		if f := &again.Diagnosis.Findings[i]; f.ID == named.ID && f.Object == named.Object {
			return f, nil
		}
	}
	return nil, cli.Usagef("`kasoku diagnose` prints what they find", "today's rules do not find %s in the data of the run",
		named.ID)
}

// findingNamed returns the finding of that number or id.
func findingNamed(rec *kasoku.Recording, which string) (*kasoku.Finding, error) {
	if rec.Diagnosis == nil || len(rec.Diagnosis.Findings) == 0 {
		return nil, cli.Usagef("`kasoku diagnose` looks at it anew", "the run has no findings")
	}
	all := rec.Diagnosis.Findings
	if n, err := strconv.Atoi(which); err == nil {
		if n < 1 || n > len(all) {
			return nil, cli.Usagef("", "finding %d: the run has %s", n, unit.Counted(len(all), "finding", "findings"))
		}
		return &all[n-1], nil
	}
	var ids []string
	for i := range all {
		if strings.EqualFold(all[i].ID, which) {
			return &all[i], nil
		}
		ids = append(ids, all[i].ID)
	}
	return nil, cli.Usagef("they are "+strings.Join(ids, ", "), "the run has no finding %q", which)
}

// safe returns the address of a database that kasoku.toml marks as safe to change.
func (f *tryFlags) safe(ctx context.Context, e *cli.Env) (string, error) {
	const hint = "kasoku.toml of a database that may be changed says so: change = true in [safe], and its address " +
		"in [mysql]"
	c, err := cli.ReadConfig("")
	if err != nil {
		return "", err
	}
	dsn, err := f.database.DSN(e)
	if err != nil {
		return "", err
	}
	if c == nil {
		return "", cli.Usagef(hint, "no %s here or above marks a database as safe to change", config.Name)
	}
	if !c.Safe.Change || !c.MySQL.Set() {
		return "", cli.Usagef(hint, "%s does not mark its database as safe to change", c.Path)
	}
	own, err := e.Noted(record.DSN(c.MySQL))
	if err != nil || dsn == "" || dsn == own {
		return own, err
	}
	same, err := sameServer(ctx, own, dsn)
	if err == nil && !same {
		err = cli.Usagef(hint, "%s is not the server that %s marks as safe to change", mysqlflags.Redact(dsn), c.Path)
	}
	return dsn, err
}

// sameServer reports whether two addresses lead to one server.
func sameServer(ctx context.Context, a, b string) (bool, error) {
	var ids [2]mysql.Identity
	for i, dsn := range []string{a, b} {
		db, err := mysqlflags.OpenBounded(dsn)
		if err != nil {
			return false, err
		}
		defer db.Close()
		r, err := mysql.New(ctx, db)
		if err != nil {
			return false, fmt.Errorf("database %s: %w", mysqlflags.Redact(dsn), err)
		}
		defer r.Close()
		if ids[i], err = r.Identity(ctx); err != nil {
			return false, err
		}
	}
	return ids[0].Same(ids[1]), nil
}

// OpenJournal has what is changed on a server journalled, and put back should this process be
// killed. The function that it returns releases the process that would do so.
func OpenJournal(e *cli.Env, dsn, defaultsFile string) (guard.Options, func(orderly bool), error) {
	o := record.Options{Database: record.Database{MySQL: dsn}}
	if err := e.Guarded(&o, defaultsFile); err != nil {
		return guard.Options{}, nil, err
	}
	journal := guard.Options{Dir: o.Guard.Dir, DefaultsFile: o.Guard.DefaultsFile}
	p, err := guard.Start(o.Guard.Program, guard.Request{Dir: o.Guard.Dir, DSN: dsn, Holder: guard.ThisProcess("")})
	if err != nil { // the journal helps: kasoku restore
		return journal, func(bool) {}, nil
	}
	return journal, func(orderly bool) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = p.Done(ctx, orderly) // all is put back, or it goes on trying
	}, nil
}
