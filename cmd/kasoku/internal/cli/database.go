package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/report/terminal"
)

// DatabaseFlags name a database server: by its address, or by an option file.
type DatabaseFlags struct {
	MySQL        string
	DefaultsFile string
}

// Register adds --mysql, --dsn, which means the same, and --defaults-file; usage is what
// the help says of the first.
func (f *DatabaseFlags) Register(fl *pflag.FlagSet, usage string) {
	fl.StringVar(&f.MySQL, "mysql", "", usage)
	fl.StringVar(&f.MySQL, "dsn", "", "the same as --mysql")
	fl.StringVar(&f.DefaultsFile, "defaults-file", "", "or an option `FILE` with a [client] group, as ~/.my.cnf")
}

// DSN returns the address, empty when none was named. It does not connect.
func (f *DatabaseFlags) DSN(e *Env) (string, error) {
	switch {
	case f.MySQL != "" && f.DefaultsFile != "":
		return "", Usagef("", "--mysql and --defaults-file both name a database: give one")
	case f.DefaultsFile != "":
		return e.Noted(mysqlflags.ReadDSN(f.DefaultsFile))
	case f.MySQL == "":
		return "", nil
	}
	db, err := mysqlflags.OpenBounded(f.MySQL)
	if err != nil {
		return "", Usage(fmt.Errorf("--mysql: %w", err), HintOf(err))
	}
	_ = db.Close() // nothing is open
	return f.MySQL, nil
}

// Server returns the address of the server that was named, else that of kasoku.toml; empty
// without either.
func (f *DatabaseFlags) Server(e *Env) (string, error) {
	dsn, err := f.DSN(e)
	if err != nil || dsn != "" {
		return dsn, err
	}
	c, err := ReadConfig("")
	if err != nil || c == nil {
		return "", err
	}
	return e.Noted(record.DSN(c.MySQL))
}

// Noted passes on what was read of an option file, and reports once what of it was left
// out.
func (e *Env) Noted(dsn string, notes []string, err error) (string, error) {
	e.HintOnce(notes)
	return dsn, err
}

// HintOnce prints each of the hints that was not printed before.
func (e *Env) HintOnce(hints []string) {
	for _, h := range hints {
		if !slices.Contains(e.hinted, h) {
			e.hinted = append(e.hinted, h)
			fmt.Fprintf(e.Stderr, "kasoku: hint: %s\n", terminal.Clean(h))
		}
	}
}
