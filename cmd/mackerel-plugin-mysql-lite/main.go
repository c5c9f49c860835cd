// Command mackerel-plugin-mysql-lite is a metric plugin for Mackerel: the few
// numbers of a MySQL or MariaDB server that everybody wants, replication, threads
// and how full the connections are.
//
// Its flags, keys and their order are those of kazeburo's plugin of this name. What
// differs: a lag that the server does not know prints nothing instead of 0; a user
// who may not see replication gets the rest, with a notice; and there are graph
// definitions. Of several channels of replication the worst counts. Lags are seconds, the utilization is a percentage.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/wire/mackerel/plugin"
	"github.com/kasoku/kasoku/wire/mackerel/program"
)

const name = "mackerel-plugin-mysql-lite"

type options struct {
	mysqlflags.MyOpts
	Timeout time.Duration `long:"timeout" default:"10s" value-name:"DURATION" description:"for all that the server is asked"`
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr, os.Getenv)) }

func run(args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	var o options
	f := program.Flags{Name: name, Stdout: stdout, Stderr: stderr,
		About: "Prints replication, threads and connections of MySQL and MariaDB for mackerel-agent."}
	if _, code, done := f.Parse(&o, args); done {
		return code
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.Timeout)
	defer cancel()
	p := &plugin.Plugin{Prefix: "mysql-lite", Graphs: graphs(), Values: func(ctx context.Context) ([]plugin.Value,
		error) {
		return o.values(ctx, stderr)
	}, Out: stdout, Err: stderr, Getenv: getenv}
	if err := p.Run(ctx); err != nil {
		program.Complain(stderr, name, err)
		for _, note := range mysqlflags.Notes(o.MyOpts) {
			fmt.Fprintf(stderr, "%s: hint: %s\n", name, note)
		}
		return 1
	}
	return 0
}

func graphs() []plugin.Graph {
	return []plugin.Graph{
		{Key: "replication-behind-master", Label: "MySQL Replication Behind Master", Unit: plugin.Seconds,
			Metrics: []plugin.Metric{{Name: "second", Label: "Behind"}}},
		{Key: "replication-threads", Label: "MySQL Replication Threads", Unit: plugin.Integer,
			Metrics: []plugin.Metric{{Name: "io", Label: "IO"}, {Name: "sql", Label: "SQL"}}},
		{Key: "threads", Label: "MySQL Threads", Unit: plugin.Integer, Metrics: []plugin.Metric{
			{Name: "running", Label: "Running"}, {Name: "connected", Label: "Connected"},
			{Name: "cached", Label: "Cached"},
			{Name: "max-connections", Label: "Max Connections"}, {Name: "cache-size", Label: "Cache Size"},
		}},
		{Key: "connections", Label: "MySQL Connections Utilization", Unit: plugin.Percentage,
			Metrics: []plugin.Metric{{Name: "utilization", Label: "Utilization"}}},
	}
}

// errPrivilege is ER_SPECIFIC_ACCESS_DENIED_ERROR.
const errPrivilege = 1227

// values asks the server for all lines. Those of replication, which takes a privilege
// of its own, are left out where they may not be read.
func (o options) values(ctx context.Context, stderr io.Writer) ([]plugin.Value, error) {
	db, err := mysqlflags.OpenDB(o.MyOpts, o.Timeout, false)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var threads struct {
		Running   float64 `mysqlvar:"Threads_running"`
		Connected float64 `mysqlvar:"Threads_connected"`
		Cached    float64 `mysqlvar:"Threads_cached"`
	}
	if err := mysqlflags.QueryContext(ctx, db, "SHOW GLOBAL STATUS /* kasoku */").Scan(&threads); err != nil {
		return nil, err
	}
	var limits struct {
		Connections float64 `mysqlvar:"max_connections"`
		Cache       float64 `mysqlvar:"thread_cache_size"`
	}
	if err := mysqlflags.QueryContext(ctx, db, "SHOW GLOBAL VARIABLES /* kasoku */").Scan(&limits); err != nil {
		return nil, err
	}
	out, err := replication(ctx, db)
	switch {
	case mysqlflags.ErrorNumber(err) == errPrivilege:
		program.Complain(stderr, name, err)
	case err != nil:
		return nil, err
	}
	out = append(out,
		plugin.Value{Name: "threads.running", Value: threads.Running},
		plugin.Value{Name: "threads.connected", Value: threads.Connected},
		plugin.Value{Name: "threads.cached", Value: threads.Cached},
		plugin.Value{Name: "threads.max-connections", Value: limits.Connections},
		plugin.Value{Name: "threads.cache-size", Value: limits.Cache},
	)
	if limits.Connections > 0 {
		out = append(out, plugin.Value{Name: "connections.utilization",
			Value: 100 * threads.Connected / limits.Connections, Float: true})
	}
	return out, nil
}
