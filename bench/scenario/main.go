// Scenario measures what a request costs the client of a scenario, package agent,
// side by side with net/http's client.
//
//	scenario compare [flags]  measures both in rounds, at a private nginx, and prints the table
//	scenario client [flags]   makes the requests of one client and prints its CPU time
//
// A client is a process. What it costs is its user and system time by getrusage(2),
// from the first request of a connection that is open to the last one, by the
// number of requests; the server is in other processes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/median"
	"github.com/kasoku/kasoku/sandbox"
)

// most is the ratio that must be met.
const most = 0.5

var (
	errUsage = errors.New("usage: scenario compare|client; -h after each lists the flags")
	errAbove = errors.New("not every must is met")
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errAbove):
		os.Exit(1)
	default:
		fmt.Fprintln(os.Stderr, "scenario: error:", err)
		os.Exit(3)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errUsage
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	var l load
	flags.IntVar(&l.n, "n", 100_000, "`requests` of each client")
	flags.IntVar(&l.users, "users", 16, "users, each with a connection")
	switch args[0] {
	case "compare":
		rounds := flags.Int("rounds", 5, "rounds, at least 1")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return compareClients(ctx, l, max(*rounds, 1), out)
	case "client":
		flags.StringVar(&l.by, "by", "", "agent or net/http")
		flags.StringVar(&l.kind, "request", "", "GET or POST")
		flags.BoolVar(&l.keep, "keep", false, "each answer has memory of its own")
		flags.StringVar(&l.url, "url", "", "base `URL`")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		cpu, err := l.run(ctx)
		fmt.Fprintln(out, cpu.Nanoseconds())
		return err
	}
	return errUsage
}

// nginxConfig serves a list without ETag and Last-Modified, so that no request for it is
// conditional, and answers an order. The server is so quick that each client works
// without a pause: one that waits for its server is put to sleep and woken up for each
// answer, which costs as much as the rest of the request.
const nginxConfig = `{user}
worker_processes 2;
error_log {dir}/error.log warn;
pid {dir}/nginx.pid;
events { worker_connections 256; }
http {
	access_log off;
	open_file_cache max=10;
	keepalive_requests 1000000000;
	default_type application/json;
	client_body_temp_path {dir}/body;
	server {
		listen 127.0.0.1:{port};
		location = /list { root {dir}; etag off; add_header Last-Modified ""; }
		location = /buy { return 200 "{}"; }
	}
}
`

// compareClients measures both clients in turn.
func compareClients(ctx context.Context, l load, rounds int, out io.Writer) (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "kasoku-bench-scenario-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// nginx may run as another user.
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(filepath.Join(dir, "list"), makeList(), 0o644)); err != nil {
		return err
	}
	server, err := sandbox.Nginx(ctx, sandbox.NginxOptions{Dir: dir, Config: nginxConfig})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))) }()
	l.url = server.URL()
	fmt.Fprintf(out, "CPU of the client per request, µs: %d users, %d requests, median of %d rounds\n\n", l.users, l.n, rounds)
	tab := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "request\tmemory of answers\tagent\tnet/http\tratio\tleast\tmost\t")
	met := true
	for _, kind := range []string{"GET", "POST"} {
		for _, keep := range []bool{false, true} {
			l.kind, l.keep = kind, keep
			r, err := l.row(ctx, self, rounds)
			if err != nil {
				return err
			}
			memory := map[bool]string{false: "used again", true: "their own"}[keep]
			fmt.Fprintf(tab, "%s\t%s\t%.1f\t%.1f\t%.2f\t%.2f\t%.2f\t\n", kind, memory,
				median.Of(r.agent), median.Of(r.other), median.Of(r.ratio), slices.Min(r.ratio), slices.Max(r.ratio))
			met = met && median.Of(r.ratio) <= most
		}
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	if !met {
		fmt.Fprintf(out, "\nmust: ratio at most %.2f: not met\n", most)
		return errAbove
	}
	fmt.Fprintf(out, "\nmust: ratio at most %.2f: met\n", most)
	return nil
}

// A row is what both clients cost in each round: µs per request, and their ratio.
type row struct{ agent, other, ratio []float64 }

func (l load) row(ctx context.Context, self string, rounds int) (r row, err error) {
	for range rounds {
		var cpu [2]float64
		for i, by := range []string{"agent", "net/http"} {
			l.by = by
			if cpu[i], err = l.child(ctx, self); err != nil {
				return r, err
			}
		}
		perRequest := 1 / float64(l.n) / 1e3
		r.agent = append(r.agent, cpu[0]*perRequest)
		r.other = append(r.other, cpu[1]*perRequest)
		r.ratio = append(r.ratio, cpu[0]/cpu[1])
	}
	return r, nil
}

// child runs a client in a process of its own and returns its CPU time in ns.
func (l load) child(ctx context.Context, self string) (float64, error) {
	args := []string{"client", "-by", l.by, "-request", l.kind, "-keep=" + strconv.FormatBool(l.keep), "-url", l.url,
		"-n", strconv.Itoa(l.n), "-users", strconv.Itoa(l.users)}
	text, err := command.Output(ctx, command.Spec{Path: self, Args: args, Stderr: os.Stderr}, 1<<10)
	if err != nil {
		return 0, fmt.Errorf("client %s: %w", l.by, err)
	}
	return strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
}

// makeList is 15 kB of JSON.
func makeList() []byte {
	return []byte(`{"count":25,"chairs":[` + strings.Repeat(`{"id":1,"name":"a chair","price":12000},`, 384) + `{}]}`)
}
