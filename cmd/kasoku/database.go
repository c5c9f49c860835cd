package main

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/report/terminal"
)

// databaseFlags name a database server: by its address, or by an option file.
type databaseFlags struct {
	mysql        string
	defaultsFile string
}

func (f *databaseFlags) register(fl *pflag.FlagSet, usage string) {
	fl.StringVar(&f.mysql, "mysql", "", usage)
	fl.StringVar(&f.mysql, "dsn", "", "the same as --mysql")
	fl.StringVar(&f.defaultsFile, "defaults-file", "", "or an option `FILE` with a [client] group, as ~/.my.cnf")
}

// dsn returns the address, empty when none was named. It does not connect.
func (f *databaseFlags) dsn(e *env) (string, error) {
	switch {
	case f.mysql != "" && f.defaultsFile != "":
		return "", usagef("", "--mysql and --defaults-file both name a database: give one")
	case f.defaultsFile != "":
		return e.noted(mysqlflags.ReadDSN(f.defaultsFile))
	case f.mysql == "":
		return "", nil
	}
	db, err := mysqlflags.OpenBounded(f.mysql)
	if err != nil {
		return "", asUsage(fmt.Errorf("--mysql: %w", err), hintOf(err))
	}
	_ = db.Close() // nothing is open
	return f.mysql, nil
}

// noted passes on what was read of an option file, and reports once what of it was left
// out.
func (e *env) noted(dsn string, notes []string, err error) (string, error) {
	e.hintOnce(notes)
	return dsn, err
}

// hintOnce prints each of the hints that was not printed before.
func (e *env) hintOnce(hints []string) {
	for _, h := range hints {
		if !slices.Contains(e.hinted, h) {
			e.hinted = append(e.hinted, h)
			fmt.Fprintf(e.stderr, "kasoku: hint: %s\n", terminal.Clean(h))
		}
	}
}
