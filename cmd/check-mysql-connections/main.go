// Command check-mysql-connections is a check for Mackerel: how many more
// connections does a MySQL or MariaDB server take?
//
// Its measure is the headroom: the connections in use as a share of
// max_connections, and what is left of them in number. A server that refuses the
// check itself because all are taken is CRITICAL, not UNKNOWN: that is the answer.
//
// It has the connection flags of package mysqlflags.
package main

import (
	"context"
	"database/sql"
	"io"
	"os"
	"time"

	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/wire/mackerel/check"
	"github.com/kasoku/kasoku/wire/mackerel/program"
)

const name = "check-mysql-connections"

type options struct {
	mysqlflags.MyOpts
	Warning      float64       `short:"w" long:"warning" default:"80" value-name:"PERCENT" description:"warn from this share of max_connections in use"`
	Critical     float64       `short:"c" long:"critical" default:"90" value-name:"PERCENT" description:"critical from this share"`
	WarningFree  int64         `long:"warning-free" default:"0" value-name:"N" description:"warn when fewer connections are free"`
	CriticalFree int64         `long:"critical-free" default:"0" value-name:"N" description:"critical when fewer are free"`
	Timeout      time.Duration `long:"timeout" default:"10s" value-name:"DURATION" description:"for all that the server is asked"`
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr, os.Getenv)) }

// run is the program; the environment says nothing to it.
func run(args []string, stdout, stderr io.Writer, _ func(string) string) int {
	var o options
	f := program.Flags{
		Name: name, Mistake: check.Unknown.Code(), Stdout: stdout, Stderr: stderr,
		About: "Reports how many more connections MySQL or MariaDB takes.",
	}
	if _, code, done := f.Parse(&o, args); done {
		return code
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.Timeout)
	defer cancel()
	use, err := o.ask(ctx)
	switch mysqlflags.ErrorNumber(err) {
	case errTooMany, errTooManyOfUser:
		return check.Exit(stdout, check.New(name, check.Critical, "no connection is left: %v", err))
	}
	if err != nil {
		text := program.Explanation(err)
		for _, note := range mysqlflags.Notes(o.MyOpts) {
			text += "; " + note
		}
		return check.Exit(stdout, check.New(name, check.Unknown, "%s", text))
	}
	return check.Exit(stdout, o.judge(use))
}

// The errors of a server that has no connection left: for anybody, and for one
// user. Source: MySQL 9.7 "Server Error Message Reference", ER_CON_COUNT_ERROR and
// ER_TOO_MANY_USER_CONNECTIONS; they are MariaDB's too.
const (
	errTooMany       = 1040
	errTooManyOfUser = 1203
)

// usage is how many connections there are, this check's own among them.
type usage struct{ used, most, limit int64 }

// ask asks the server.
func (o options) ask(ctx context.Context) (usage, error) {
	db, err := mysqlflags.OpenDB(o.MyOpts, o.Timeout, false)
	if err != nil {
		return usage{}, err
	}
	defer db.Close()
	return read(ctx, db)
}

func read(ctx context.Context, db *sql.DB) (usage, error) {
	var status struct {
		Connected int64 `mysqlvar:"Threads_connected"`
		Most      int64 `mysqlvar:"Max_used_connections"`
	}
	if err := mysqlflags.QueryContext(ctx, db, "SHOW GLOBAL STATUS /* kasoku */").Scan(&status); err != nil {
		return usage{}, err
	}
	var limit struct {
		Max int64 `mysqlvar:"max_connections"`
	}
	if err := mysqlflags.QueryContext(ctx, db,
		"SHOW GLOBAL VARIABLES LIKE 'max_connections' /* kasoku */").Scan(&limit); err != nil {
		return usage{}, err
	}
	return usage{status.Connected, status.Most, limit.Max}, nil
}

// judge describes how good the headroom is. A server holds one connection more than
// max_connections for an administrator; that one in use is critical too.
func (o options) judge(u usage) check.Result {
	free := u.limit - u.used
	percent := 100 * float64(u.used) / float64(max(1, u.limit))
	status, why := check.OK, ""
	switch {
	case free <= 0:
		status, why = check.Critical, "; only the administrator's reserve is left or in use"
	case percent >= o.Critical || free < o.CriticalFree:
		status = check.Critical
	case percent >= o.Warning || free < o.WarningFree:
		status = check.Warning
	}
	return check.New(name, status, "%d of %d connections in use (%.1f %%), %d free, at most %d since the server's start%s",
		u.used, u.limit, percent, max(0, free), u.most, why)
}
