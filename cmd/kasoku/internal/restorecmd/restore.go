package restorecmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/diagnose/recycle"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/record"
)

// restoreFlags are the flags of restore as they were typed.
type restoreFlags struct {
	list, forget bool
	all          bool // that are listed: of other directories, too
	dsn          string
	defaultsFile string
	recycle      bool
}

// NewRestore returns the command restore, which puts back what killed recordings changed on database servers.
func NewRestore(e *cli.Env) *cobra.Command {
	var f restoreFlags
	cmd := &cobra.Command{
		Use:   "restore",
		Short: "Put back what killed recordings changed on database servers",
		Long: `Put back what recordings changed on database servers and could not put back
themselves, such as after a power cut. What a recording that goes on needs, what
somebody else has changed since, and servers that were restarted are left alone.

The journal has the address and the user, or the option file, but no password.`,
		Example: `  kasoku restore
  kasoku restore --list
  kasoku restore --defaults-file ~/.my.cnf`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return restoreServers(cmd.Context(), e, &f) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.list, "list", false, "only say what is changed, and by whom: by recordings of this "+
		"project's directory")
	fl.BoolVar(&f.all, "all", false, "with --list: by recordings of other directories, too")
	fl.StringVar(&f.dsn, "mysql", "", "`DSN` of the server: user:password@tcp(host:port)/")
	fl.StringVar(&f.defaultsFile, "defaults-file", "", "or an option `FILE` with a [client] group, as ~/.my.cnf")
	fl.BoolVar(&f.recycle, "recycle-connections", false, "end idle sessions that go on logging because they began "+
		"during a recording, where their driver is known to reconnect, or [mysql] of kasoku.toml says reconnects = true, and "+
		"a GET of [service] url succeeds before and after")
	fl.BoolVar(&f.forget, "forget", false, "give up what cannot be put back, and print the statements that would")
	return cmd
}

func restoreServers(ctx context.Context, e *cli.Env, f *restoreFlags) error {
	if f.all && !f.list {
		return cli.Usagef("without --list all are put back", "--all goes with --list")
	}
	if f.defaultsFile != "" && f.dsn != "" {
		return cli.Usagef("", "--mysql and --defaults-file both name a database: give one")
	}
	dir, err := e.Journals()
	if err != nil {
		return err
	}
	guard.Tidy(ctx, dir)
	found, err := guard.Journals(dir)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		fmt.Fprintln(e.Stdout, "nothing is to be put back")
		return nil
	}
	if f.list && !f.all {
		all := len(found)
		if found, err = ofThisProject(found); err != nil {
			return err
		}
		if n := all - len(found); n > 0 {
			defer e.SayLine("%s changed by recordings of other directories: `%s restore --list --all` shows them, "+
				"`%s restore` puts them back, too", unit.Counted(n, "server is", "servers are"), e.Name, e.Name)
		}
	}
	failed := 0
	var broken error
	for _, j := range found {
		if err := f.one(ctx, e, j); err != nil {
			failed++
			if errors.As(err, new(*recycle.BrokenError)) {
				broken = err
			}
			what := "not put back"
			switch {
			case errors.As(err, new(*recycle.BrokenError)):
				what = "broken"
			case errors.As(err, new(*guard.HeirsError)):
				what = "not over"
			}
			e.SayLine("  %s: %s", what, err)
			if hint := cli.HintOf(err); hint != "" {
				e.SayLine("  hint: %s", hint)
			}
		}
	}
	if broken != nil {
		return broken
	}
	if failed > 0 {
		return cli.Stopped(fmt.Sprintf("%d of %d servers could not be put right", failed, len(found)))
	}
	return nil
}

// ofThisProject leaves of some journals those with a recording whose run is in the directory of the kasoku.toml here
// or above, else in this one. What says of no recording where it is may be of this project.
func ofThisProject(found []guard.Found) ([]guard.Found, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("this directory: %w", err)
	}
	dirs := []string{dir}
	if c, err := cli.ReadConfig(""); err == nil && c != nil { // a file with an error is no reason to list nothing
		dirs = []string{filepath.Dir(c.Path), c.Runs}
	}
	within := func(h guard.Holder) bool {
		return h.Run == "" || slices.ContainsFunc(dirs, func(dir string) bool {
			at, err := filepath.Rel(dir, h.Run)
			return err == nil && filepath.IsLocal(at)
		})
	}
	return slices.DeleteFunc(slices.Clone(found), func(j guard.Found) bool {
		if j.Journal == nil {
			return false
		}
		by := slices.Concat(j.Journal.Holders, j.Journal.Readers)
		if j.Journal.Last != nil {
			by = append(by, *j.Journal.Last)
		}
		return len(by) > 0 && !slices.ContainsFunc(by, within)
	}), nil
}

// one puts right what one journal records.
func (f *restoreFlags) one(ctx context.Context, e *cli.Env, found guard.Found) error {
	if found.Err != nil {
		e.SayLine("%s", found.Path)
		return f.forgetting(ctx, e, found, cli.WithHint(found.Err, "remove the file once the server is right: rm "+found.Path))
	}
	j := found.Journal
	e.SayLine("%s", j.Server)
	if f.list {
		sayPending(e, j)
		return nil
	}
	if by := j.InUse(); by != nil {
		e.SayLine("  in use by a recording that goes on: pid %d, %s", by.PID, by.Run)
		return nil
	}
	dsn, err := f.reach(e, j)
	if err != nil {
		return f.forgetting(ctx, e, found, err)
	}
	seen := map[string]bool{}
	keep := func(l guard.Left) error {
		sayChanges(e, l.Changes, seen)
		return record.KeepLeft(l)
	}
	err = guard.Restore(ctx, found.Path, dsn, keep)
	if f.recycle && errors.As(err, new(*guard.HeirsError)) {
		seen["sessions"] = true
		err = f.endSessions(ctx, e, found, dsn, keep)
	}
	if err == nil && len(j.Readers) > 0 {
		e.SayLine("  mysql.slow_log has no rows any more of recordings that are gone")
		seen["rows"] = true
	}
	if err == nil && len(seen) == 0 {
		e.SayLine("  nothing is to be put back")
	}
	if err != nil {
		return f.forgetting(ctx, e, found, err)
	}
	return nil
}

// endSessions ends the idle sessions that go on logging, where that is known to harm no
// application, which must answer afterwards.
func (f *restoreFlags) endSessions(ctx context.Context, e *cli.Env, found guard.Found, dsn string, keep guard.Keep) error {
	o, err := recycling(dsn)
	if err != nil {
		return err
	}
	ended, err := recycle.Around(ctx, o, func(ctx context.Context) (int, error) {
		return guard.EndHeirs(ctx, found.Path, dsn)
	})
	if ended > 0 {
		e.SayLine("  ended %s that logged each statement", unit.Counted(ended, "idle session", "idle sessions"))
	}
	if errors.As(err, new(*recycle.RefusedError)) {
		e.SayLine("  %s", err)
		e.SayLine("  hint: %s", cli.HintOf(err))
		err = nil
	}
	return errors.Join(err, guard.Restore(ctx, found.Path, dsn, keep))
}

// recycling returns what the kasoku.toml of a database says of those that use it; of another
// database it says nothing.
func recycling(dsn string) (recycle.Options, error) {
	c, err := cli.ReadConfig("")
	if err != nil || c == nil || !cli.IsDatabaseOf(c, dsn) {
		return recycle.Options{}, err
	}
	return recycle.Options{Confirmed: c.MySQL.Reconnects, URL: c.Service.URL, Permit: load.Permit{Hosts: c.Load.Allow},
		Service: func(ctx context.Context) (kasoku.Service, error) { return record.ServiceNow(ctx, c) }}, nil
}

// sayChanges prints what became of the changes, each once.
func sayChanges(e *cli.Env, changes []mysql.Changed, seen map[string]bool) {
	for _, c := range changes {
		switch {
		case seen[c.Name]:
		case c.Restored:
			e.SayLine("  put back %s: %s", c.Name, cli.OrEmpty(c.Before))
		default:
			e.SayLine("  %s: %s", c.Name, c.Note)
		}
		seen[c.Name] = true
	}
}

// sayPending prints what is changed on a server, and who holds on to it.
func sayPending(e *cli.Env, j *guard.Journal) {
	for _, c := range j.Pending() {
		e.SayLine("  %s is %s, was %s", c.Name, cli.OrEmpty(c.During), cli.OrEmpty(c.Before))
	}
	if j.Last != nil && len(j.Holders) == 0 {
		e.SayLine("  sessions that began during a recording went on logging each statement; `%s restore` "+
			"looks for them", e.Name)
	}
	if len(j.Readers) > 0 {
		e.SayLine("  mysql.slow_log has rows of recordings")
	}
	for i := range j.Holders {
		h := &j.Holders[i]
		state := "is gone"
		if h.Alive() {
			state = "goes on"
		}
		e.SayLine("  by pid %d, which %s, since %s: %s", h.PID, state, h.Since.Local().Format("2006-01-02 15:04:05"), h.Run)
	}
}

// reach returns the DSN of a journal's server.
func (f *restoreFlags) reach(e *cli.Env, j *guard.Journal) (string, error) {
	if f.dsn != "" {
		return f.dsn, nil
	}
	if f.defaultsFile != "" {
		return e.Noted(mysqlflags.ReadDSN(f.defaultsFile))
	}
	holders := append(slices.Clone(j.Holders), j.Readers...)
	if j.Last != nil {
		holders = append(holders, *j.Last)
	}
	for i := range holders {
		h := &holders[i]
		switch {
		case h.Defaults != "":
			return e.Noted(mysqlflags.ReadDSN(h.Defaults))
		case h.DSN != "" && !h.HadPassword():
			return h.DSN, nil
		}
	}
	return "", cli.WithHint(errors.New("the server wants a password, and none is kept"),
		"give an option file with a [client] group: kasoku restore --defaults-file ~/.my.cnf")

}

// forgetting gives a journal up when that is wanted, else it returns why it
// cannot be put back.
func (f *restoreFlags) forgetting(ctx context.Context, e *cli.Env, found guard.Found, why error) error {
	if !f.forget || f.list {
		return why
	}
	if err := guard.Forget(ctx, found.Path); err != nil {
		return err
	}
	e.SayLine("  given up: %s", why)
	if found.Journal != nil {
		e.SayLine("  by hand:%s", undoStatements(found.Journal.Pending()))
	}
	return nil
}

func undoStatements(changes []mysql.Changed) string {
	var b strings.Builder
	for _, c := range changes {
		b.WriteString(" " + c.Undo() + ";")
	}
	return b.String()
}
