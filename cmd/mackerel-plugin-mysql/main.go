// Command mackerel-plugin-mysql is a metric plugin for Mackerel: the wide set of
// numbers of a MySQL or MariaDB server.
//
// Flags, graphs and names are those of mackerelio/mackerel-plugin-mysql 1.3.4.
// What differs: MariaDB is read too; several channels of replication are; what the
// monitor of a server does not say is taken from its status variables; what may not
// be read leaves out its own graphs only; and a counter that was reset prints
// nothing. Counters are differences per minute, but bytes/sec where the graph says
// so.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/wire/mackerel/plugin"
	"github.com/kasoku/kasoku/wire/mackerel/program"
)

const name = "mackerel-plugin-mysql"

type options struct {
	Host     string        `long:"host" description:"of the server (default: localhost)"`
	Port     string        `long:"port" description:"of the server (default: 3306)"`
	Socket   string        `long:"socket" value-name:"FILE" description:"Unix socket of the server, instead"`
	Username string        `long:"username" description:"with PROCESS and REPLICATION CLIENT (default: root)"`
	Password *string       `long:"password" unquote:"false" description:"of the user (default: $MYSQL_PASSWORD, which ps does not show)"`
	Extra    string        `long:"defaults-extra-file" value-name:"FILE" description:"option file with user, password and so on; flags beat it"`
	Tempfile string        `long:"tempfile" value-name:"FILE" description:"where counters are kept"`
	NoInnoDB bool          `long:"disable_innodb" description:"leave out InnoDB"`
	Prefix   string        `long:"metric-key-prefix" default:"mysql" description:"of all keys"`
	Extended bool          `long:"enable_extended" description:"more graphs"`
	TLS      bool          `long:"tls" description:"connect by TLS"`
	TLSRoot  string        `long:"tls-root-cert" value-name:"FILE" description:"certificates to trust, instead of the system's"`
	TLSSkip  bool          `long:"tls-skip-verify" description:"do not look at the server's certificate"`
	Debug    bool          `long:"debug" description:"does nothing; for old configurations"`
	Timeout  time.Duration `long:"timeout" default:"20s" value-name:"DURATION" description:"for all that the server is asked"`
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr, os.Getenv)) }

func run(args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	o := options{}
	f := program.Flags{Name: name, Stdout: stdout, Stderr: stderr,
		About: "Prints the numbers of MySQL and MariaDB for mackerel-agent. Long flags may have one dash."}
	if _, code, done := f.Parse(&o, program.SingleDash(&o, args)); done {
		return code
	}
	o.Prefix = cmp.Or(o.Prefix, "mysql")
	if p := getenv("MYSQL_PASSWORD"); o.Password == nil && p != "" {
		o.Password = &p
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.Timeout)
	defer cancel()
	p := &plugin.Plugin{
		Prefix: o.Prefix, Graphs: graphs(o.Prefix, !o.NoInnoDB, o.Extended), StateFile: o.Tempfile,
		Fetch: func(ctx context.Context) (map[string]float64, error) { return o.fetch(ctx, stderr) },
		Args:  append([]string{name}, args...), Out: stdout, Err: stderr, Getenv: getenv,
	}
	if err := p.Run(ctx); err != nil {
		program.Complain(stderr, name, err)
		if o.Extra != "" {
			d, _ := mysqlflags.ReadDefaults(o.Extra) // what is wrong with it has been said
			for _, note := range d.Notes {
				fmt.Fprintf(stderr, "%s: hint: %s\n", name, note)
			}
		}
		return 1
	}
	return 0
}

// dsn returns the address of the server. No my.cnf is read but the one that is
// named, as in the plugin that this one replaces.
func (o options) dsn() (string, error) {
	var d mysqlflags.Defaults
	if o.Extra != "" {
		var err error
		if d, err = mysqlflags.ReadDefaults(o.Extra); err != nil {
			return "", err
		}
	}
	opts := mysqlflags.MyOpts{MySQLHost: o.Host, MySQLPort: o.Port, MySQLSocket: o.Socket, MySQLUser: o.Username,
		MySQLPass: o.Password}
	if o.TLS {
		opts.MySQLSSLMode, opts.MySQLSSLCA = mysqlflags.SSLVerifyIdentity, o.TLSRoot
		if o.TLSSkip {
			opts.MySQLSSLMode = mysqlflags.SSLRequired
		}
	}
	return d.DSN(opts, o.Timeout)
}

// fetch reads the server. Only what has a graph is returned, as it is kept in the
// state too.
func (o options) fetch(ctx context.Context, stderr io.Writer) (map[string]float64, error) {
	dsn, err := o.dsn()
	if err != nil {
		return nil, err
	}
	db, err := mysqlflags.OpenBounded(dsn)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	stat, err := collector{db: db, innodb: !o.NoInnoDB, extended: o.Extended, stderr: stderr}.fetch(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for _, g := range graphs(o.Prefix, !o.NoInnoDB, o.Extended) {
		for _, m := range g.Metrics {
			if v, ok := stat[m.Name]; ok {
				out[m.Name] = v
			}
		}
	}
	return out, nil
}
