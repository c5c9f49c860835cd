package initcmd

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/topology"
)

// reachLimit bounds one try to get into a database that runs here.
const reachLimit = 2 * time.Second

// A Reached database is one that let kasoku in.
type Reached struct {
	DSN          string // without a password
	DefaultsFile string // or the option file that it took
	User         string // as the server knows it: app@localhost
	server       string // MariaDB 10.11.19
	how          string
	databases    []string // of users
	identity     mysql.Identity
	service      *topology.Service // that it is; nil when it is none of this host
	others       []neighbour       // that run here, too
}

// A neighbour is a database server that runs here and is not the one that was
// chosen.
type neighbour struct {
	service *topology.Service
	dsn     string // without a password
	refused error  // nil when it let us in
}

// ReachDatabase tries what needs no password to be typed: the user's own option
// file, then the sockets and ports of the servers that run here. Of those that let
// us in it takes the first that an application found here is connected to, else
// the first. With members those are the service's; else one of several may be anyone's, and
// none of them is asked.
func ReachDatabase(e *cli.Env, ctx context.Context, found *topology.Found, members bool) (Reached, error) {
	return reachDatabase(e, ctx, found, members, func(*Reached) bool { return true })
}

// reachDatabase takes of the databases that an option file leads to only one that is meant.
func reachDatabase(e *cli.Env, ctx context.Context, found *topology.Found, members bool, meant func(*Reached) bool) (Reached, error) {
	var in []Reached
	var refused error
	if file := found.ClientFile; file != "" {
		dsn, err := e.Noted(mysqlflags.ReadDSN(file))
		r := Reached{DefaultsFile: file, how: "user and password from " + file}
		if err == nil {
			err = r.connect(ctx, dsn)
		}
		if err == nil {
			if r.service = r.serviceOf(found); meant(&r) {
				in = append(in, r)
			}
		} else {
			refused = fmt.Errorf("%s: %w", r.how, err)
		}
	}
	var all []neighbour
	servers := found.Of(topology.MySQL)
	if n := len(servers); n > 1 && !members {
		servers, refused = nil, errors.Join(refused, fmt.Errorf("%d databases run here, and none is seen to be the service's", n))
	}
	for _, s := range servers {
		address := addressOf(s.MySQL)
		n := neighbour{service: s}
		if s.Container != "" {
			continue
		}
		if n.dsn, n.refused = mysqlflags.FormatDSN(found.User, "", address, "", nil); n.refused == nil {
			r := Reached{service: s, DSN: n.dsn, how: "without a password at " + address}
			if n.refused = r.connect(ctx, n.dsn); n.refused == nil {
				in = append(in, r.withDatabase(found.User, address))
			} else {
				refused = errors.Join(refused, fmt.Errorf("%s: %w", r.how, n.refused))
			}
		}
		all = append(all, n)
	}
	if len(in) == 0 {
		return Reached{}, lastLine(refused)
	}
	return chooseDatabase(in, all), nil
}

// chooseDatabase takes one of the databases that let us in, and names the others.
func chooseDatabase(in []Reached, all []neighbour) Reached {
	r := in[max(slices.IndexFunc(in, Reached.connected), 0)]
	for _, n := range all {
		if n.service != r.service {
			r.others = append(r.others, n)
		}
	}
	return r
}

// choice describes why it is this one of several databases; empty for the only one.
func (r Reached) choice() string {
	switch n := len(r.others) + 1; {
	case n == 1:
		return ""
	case r.connected():
		return fmt.Sprintf("one of %d: %s is connected to it", n, strings.Join(r.service.MySQL.Clients, ", "))
	default:
		return fmt.Sprintf("one of %d: check it", n)
	}
}

// connected reports whether an application found here uses the database.
func (r Reached) connected() bool { return r.service != nil && len(r.service.MySQL.Clients) > 0 }

// serviceOf finds the service that an option file led to; nil when it is none of
// this host.
func (r *Reached) serviceOf(found *topology.Found) *topology.Service {
	for _, s := range found.Of(topology.MySQL) {
		at := r.identity
		if s.Container == "" && at.Host == found.Host && (at.Socket != "" && at.Socket == s.MySQL.Socket || at.Port == strconv.Itoa(s.MySQL.Port)) {
			return s
		}
	}
	return nil
}

// addressOf is where a server is tried: its socket, which may know the user, else
// its port.
func addressOf(db *topology.Database) string {
	if db.Socket != "" {
		return db.Socket
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(db.Port))
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
func (r *Reached) connect(ctx context.Context, dsn string) error {
	ctx, cancel := context.WithTimeout(ctx, reachLimit)
	defer cancel()
	db, err := mysqlflags.OpenBounded(dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	reader, err := mysql.New(ctx, db)
	if err != nil {
		return err
	}
	defer func() { _ = reader.Close() }() // nothing is lost with it
	r.server = fmt.Sprintf("%s %s", reader.Flavor(), reader.Version().Text)
	if r.identity, err = reader.Identity(ctx); err != nil {
		return err
	}
	if r.User, err = CurrentUser(ctx, db); err != nil {
		return err
	}
	tables, err := mysql.NewSchema(reader).Tables(ctx)
	for _, t := range tables {
		if n := len(r.databases); n == 0 || r.databases[n-1] != t.Schema {
			r.databases = append(r.databases, t.Schema)
		}
	}
	return err
}

// withDatabase names the database when there is only one.
func (r Reached) withDatabase(user, address string) Reached {
	if len(r.databases) != 1 {
		return r
	}
	if dsn, err := mysqlflags.FormatDSN(user, "", address, r.databases[0], nil); err == nil {
		r.DSN = dsn
	}
	return r
}

// CurrentUser is the account that the server checks rights of.
func CurrentUser(ctx context.Context, db *sql.DB) (string, error) {
	var user string
	if err := db.QueryRowContext(ctx, "SELECT /* kasoku */ CURRENT_USER()").Scan(&user); err != nil {
		return "", fmt.Errorf("ask who we are: %w", mysqlflags.Explain(err))
	}
	return user, nil
}
