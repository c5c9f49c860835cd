package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/discover"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/mysqlread"
)

// reachLimit bounds one try to get into a database that runs here.
const reachLimit = 2 * time.Second

// A reached database is one that let kasoku in.
type reached struct {
	dsn          string // without a password
	defaultsFile string // or the option file that it took
	user         string // as the server knows it: app@localhost
	server       string // MariaDB 10.11.19
	how          string
	databases    []string // of users
}

// reachDatabase tries what needs no password to be typed: the user's own option
// file, then the sockets and ports of the servers that run here.
func reachDatabase(ctx context.Context, found *discover.Found) (reached, error) {
	var refused error
	try := func(r reached, dsn string) (reached, bool) {
		err := r.connect(ctx, dsn)
		if err != nil {
			refused = errors.Join(refused, fmt.Errorf("%s: %w", r.how, err))
		}
		return r, err == nil
	}
	if file := found.ClientFile; file != "" {
		dsn, err := mysqlflags.ReadDSN(file)
		if err == nil {
			if r, ok := try(reached{defaultsFile: file, how: "user and password from " + file}, dsn); ok {
				return r, nil
			}
		}
		refused = errors.Join(refused, err)
	}
	for _, s := range found.Of(discover.MySQL) {
		if s.Container != "" {
			continue
		}
		for _, address := range addresses(s.MySQL) {
			dsn, err := mysqlflags.FormatDSN(found.User, "", address, "", nil)
			if err != nil {
				continue
			}
			if r, ok := try(reached{dsn: dsn, how: "without a password at " + address}, dsn); ok {
				return r.withDatabase(found.User, address), nil
			}
		}
	}
	return reached{}, lastLine(refused)
}

// addresses are where a server is tried: its socket, which may know the user, else
// its port.
func addresses(db *discover.Database) []string {
	if db.Socket != "" {
		return []string{db.Socket}
	}
	return []string{net.JoinHostPort("127.0.0.1", strconv.Itoa(db.Port))}
}

// lastLine keeps the last of several refusals.
func lastLine(err error) error {
	if err == nil {
		return nil
	}
	lines := strings.Split(err.Error(), "\n")
	return errors.New(lines[len(lines)-1])
}

// connect asks the server who it takes us for.
func (r *reached) connect(ctx context.Context, dsn string) error {
	ctx, cancel := context.WithTimeout(ctx, reachLimit)
	defer cancel()
	db, err := mysqlflags.OpenDSN(dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	reader, err := mysqlread.New(ctx, db)
	if err != nil {
		return err
	}
	defer func() { _ = reader.Close() }() // nothing is lost with it
	r.server = fmt.Sprintf("%s %s", reader.Flavor(), reader.Version().Text)
	if r.user, err = currentUser(ctx, db); err != nil {
		return err
	}
	tables, err := reader.Tables(ctx)
	for _, t := range tables {
		if n := len(r.databases); n == 0 || r.databases[n-1] != t.Schema {
			r.databases = append(r.databases, t.Schema)
		}
	}
	return err
}

// withDatabase names the database when there is only one.
func (r reached) withDatabase(user, address string) reached {
	if len(r.databases) != 1 {
		return r
	}
	if dsn, err := mysqlflags.FormatDSN(user, "", address, r.databases[0], nil); err == nil {
		r.dsn = dsn
	}
	return r
}

// currentUser is the account that the server checks rights of.
func currentUser(ctx context.Context, db *sql.DB) (string, error) {
	var user string
	if err := db.QueryRowContext(ctx, "SELECT /* kasoku */ CURRENT_USER()").Scan(&user); err != nil {
		return "", fmt.Errorf("ask who we are: %w", mysqlflags.Explain(err))
	}
	return user, nil
}
