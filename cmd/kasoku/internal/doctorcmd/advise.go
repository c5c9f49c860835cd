package doctorcmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/diagnose/settings"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/mysqlflags"
)

// adviseFlags are those of kasoku advise.
type adviseFlags struct {
	cli.Output
	database cli.DatabaseFlags
	over     time.Duration
	ram      string
	risk     string
	sql      bool
	conf     bool
	failOn   bool
}

// NewAdvise returns the command advise, which judges the settings of a database server.
func NewAdvise(e *cli.Env) *cobra.Command {
	var f adviseFlags
	cmd := &cobra.Command{
		Use:   "advise [RUN]",
		Short: "Judge the settings of a MySQL or MariaDB server: what to set, why, at what price",
		Long: `Judge the settings of a MySQL or MariaDB server: forty checks (MYS-01 to MYS-40),
and the settings that trade durability for speed (DBC-01 to DBC-05). Each answer
has its figure, formula and threshold, the statement and the line of my.cnf, its
risk, gain and price. Nothing is changed.

The figures are those of a run's load, of the time of --for, or else of the time
since the server was started. The server is that of --dsn or --defaults-file, else
that of kasoku.toml. Memory is that of the control group or the host that the
server runs in; for one that runs elsewhere, --ram says it. Any account will do:
what it may not see is listed with the GRANT that would show it.

Lines whose risk is durability or semantics are printed by --sql and --conf only
when --risk allows it. Exit code 1 with --fail-on-advice when there is something
to set whose risk is allowed.`,
		Example: `  kasoku advise --dsn 'app:secret@tcp(127.0.0.1:3306)/shop' --for 60s
  kasoku advise --defaults-file ~/.my.cnf
  kasoku advise before.kasoku -o json
  kasoku advise --dsn 'app@unix(/run/mysqld/mysqld.sock)/' --conf --risk durability`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.WhileReading(cmd.Context(), func(ctx context.Context) error { return f.run(ctx, e, args) })
		},
	}
	cli.RegisterFormats(cmd, &f.Format, cli.Formats)
	f.RegisterDir(cmd)
	fl := cmd.Flags()
	f.database.Register(fl, "`DSN` of the server to ask: user:password@tcp(host:port)/")
	fl.DurationVar(&f.over, "for", 0, "compare two readings, so long apart, instead of counting since the server "+
		"was started")
	fl.StringVar(&f.ram, "ram", "", "memory that the server may take, such as 4G, where it runs on another host")
	fl.StringVar(&f.risk, "risk", string(kasoku.RiskRestart), "greatest `RISK` of --sql, --conf and "+
		"--fail-on-advice: none, app-restart, restart, durability, semantics")
	fl.BoolVar(&f.sql, "sql", false, "print only the statements to set what can be set at once")
	fl.BoolVar(&f.conf, "conf", false, "print only the lines for my.cnf")
	fl.BoolVar(&f.failOn, "fail-on-advice", false, "exit 1 when there is something to set")
	return cmd
}

func (f *adviseFlags) run(ctx context.Context, e *cli.Env, args []string) error {
	risk, ram, err := f.parse(args)
	if err != nil {
		return err
	}
	in, source, err := f.input(ctx, e, args, ram)
	if err != nil {
		return err
	}
	a := &adviser{e: e, in: in, Result: settings.Examine(in), source: source, risk: risk}
	if err := f.show(a); err != nil {
		return err
	}
	if n := a.toSet(); f.failOn && n > 0 {
		return cli.Bad(unit.Counted(uint64(n), "setting to change", "settings to change"))
	}
	return nil
}

// parse checks the flags.
func (f *adviseFlags) parse(args []string) (risk kasoku.Risk, ram uint64, err error) {
	if err := f.Check(); err != nil {
		return "", 0, err
	}
	risk = kasoku.Risk(strings.ReplaceAll(f.risk, "-", " "))
	switch {
	case !slices.Contains(settings.Risks(), risk):
		return "", 0, cli.Usagef("none, app-restart, restart, durability or semantics", "--risk %q is no risk", f.risk)
	case f.sql && f.conf:
		return "", 0, cli.Usagef("", "--sql and --conf: give one")
	case f.over < 0 || f.over > 0 && f.over < time.Second:
		return "", 0, cli.Usagef("", "--for %v: want at least 1s", f.over)
	case len(args) > 0 && f.over > 0:
		return "", 0, cli.Usagef("--for asks a server", "a run has a load of its own")
	case len(args) > 0 && (f.database.MySQL != "" || f.database.DefaultsFile != ""):
		return "", 0, cli.Usagef("", "a run and a server: give one")
	}
	if f.ram != "" {
		if ram, err = unit.ParseSize(f.ram); err != nil || ram == 0 {
			return "", 0, cli.Usagef("such as 4G, or 3800M", "--ram %q is no size", f.ram)
		}
	}
	return risk, ram, nil
}

// input reads a run, or asks a server; source names it.
func (f *adviseFlags) input(ctx context.Context, e *cli.Env, args []string, ram uint64) (in settings.Input, source string, err error) {
	if len(args) > 0 {
		rec, path, err := cli.OpenNamed(e, f.Dir, args)
		if err != nil {
			return settings.Input{}, "", err
		}
		in = settings.FromRecording(rec)
		if ram > 0 {
			in.SayRAM(ram)
		}
		return in, path, nil
	}
	dsn, err := f.database.Server(e)
	if err == nil && dsn == "" {
		err = cli.Usagef("--dsn 'user:password@tcp(127.0.0.1:3306)/', --defaults-file ~/.my.cnf, or a RUN", "no server to ask")
	}
	if err != nil {
		return settings.Input{}, "", err
	}
	db, err := mysqlflags.OpenBounded(dsn)
	if err != nil {
		return settings.Input{}, "", err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return settings.Input{}, "", mysqlflags.Explain(err)
	}
	defer conn.Close()
	if f.over > 0 && e.StderrTTY {
		fmt.Fprintf(e.Stderr, "kasoku: counting for %s\n", unit.Exact(f.over))
	}
	in, err = settings.Read(ctx, conn, settings.ReadOptions{For: f.over, RAM: ram})
	return in, mysqlflags.Redact(dsn), err
}

// show prints the answer as asked.
func (f *adviseFlags) show(a *adviser) error {
	switch {
	case f.sql:
		return printLines(a.e.Stdout, settings.Statements(a.Advice, a.risk))
	case f.conf:
		lines := settings.ConfLines(a.Advice, a.risk)
		if len(lines) > 0 {
			lines = append([]string{"[mysqld]"}, lines...)
		}
		return printLines(a.e.Stdout, lines)
	}
	return a.print(&f.Output)
}

func printLines(w io.Writer, lines []string) error {
	for _, l := range lines {
		if _, err := fmt.Fprintln(w, cli.PlainLine(l)); err != nil {
			return err
		}
	}
	return nil
}
