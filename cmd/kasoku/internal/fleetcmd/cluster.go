package fleetcmd

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/hubdir"
	"github.com/kasoku/kasoku/fleet/keys"
)

func newCluster(e *cli.Env, dir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "cluster HOST:PORT [NAME=KEY...]",
		Short: "Use a NATS server of your own as the hub",
		Long: `Use a nats-server that is there, 2.9 or later, with TLS, in the place of a hub of kasoku's.
It prints the users that its configuration needs, each by a public key and for what a
hub would let it do, and the line for the agents. Each agent prints the key that it
made; with NAME=KEY its host is among the users that are printed the next time.`,
		Example: `  kasoku hub cluster nats.example.com:4222
  kasoku hub cluster nats.example.com:4222 gen1=UAB… gen2=UCD…`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, port, err := net.SplitHostPort(args[0]); err != nil || port == "" {
				return cli.Usagef("", "%q: want HOST:PORT, such as 10.0.0.5:4222", args[0])
			}
			hosts, err := namedKeys(args[1:])
			if err != nil {
				return err
			}
			path, err := dirOf(e, *dir, "hub")
			if err != nil {
				return err
			}
			ctx, stop := e.ReadingInterruptible(cmd.Context())
			defer stop()
			ca, err := lookAtCluster(ctx, args[0])
			if err != nil {
				return err
			}
			d, err := hubdir.OpenCluster(path, args[0], ca, hosts)
			if err != nil {
				return cli.WithHint(err, "--dir names another directory")
			}
			return printCluster(e, d)
		},
	}
}

// namedKeys reads NAME=KEY.
func namedKeys(args []string) (map[string]string, error) {
	out := map[string]string{}
	for _, a := range args {
		name, key, found := strings.Cut(a, "=")
		if !found {
			return nil, cli.Usagef("an agent prints its key", "%q: want NAME=KEY", a)
		}
		if err := fleet.CheckHost(name); err != nil {
			return nil, cli.Usage(err, "")
		}
		if err := keys.CheckPublic(key); err != nil {
			return nil, cli.Usage(fmt.Errorf("%s: %w", name, err), "an agent prints its key")
		}
		out[name] = key
	}
	return out, nil
}

// lookTime bounds a look at a cluster.
const lookTime = 5 * time.Second

// lookAtCluster returns the SHA-256 of the public key of a server that has what a fleet needs.
func lookAtCluster(ctx context.Context, address string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if at, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(at); err != nil {
			return "", err
		}
	}
	const most = 64 << 10
	line, err := bufio.NewReader(io.LimitReader(conn, most)).ReadString('\n')
	greeting, found := strings.CutPrefix(line, "INFO ")
	var g fleet.Greeted
	if err != nil || !found || json.Unmarshal([]byte(greeting), &g) != nil {
		return "", cli.WithHint(fmt.Errorf("%s is no nats-server that says who it is", address),
			"handshake_first has to be off there")
	}
	if what, fix := g.Lacks(); what != "" {
		return "", cli.WithHint(fmt.Errorf("%s lacks %s", address, what), fix)
	}
	// Names and authorities say nothing here: the key is what is kept.
	secure := tls.Client(conn, &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true})
	if err := secure.HandshakeContext(ctx); err != nil {
		return "", fmt.Errorf("%s: %w", address, err)
	}
	all := secure.ConnectionState().PeerCertificates
	if len(all) == 0 {
		return "", errors.New(address + " shows no certificate")
	}
	return keys.Fingerprint(all[0]), nil
}

func printCluster(e *cli.Env, d *hubdir.Dir) error {
	a, err := d.Operator()
	if err != nil {
		return err
	}
	members, err := d.Members()
	if err != nil {
		return err
	}
	t := fleet.Ticket{Address: a.Address, CA: a.CA, Cluster: true}
	e.SayLine("# The nats-server at %s is known by its key, %s.", a.Address, a.CA)
	e.SayLine("# On each host: kasoku agent %s --name NAME --allow load=URL", t)
	e.SayLine("# then here, with the key that it prints: kasoku hub cluster %s NAME=KEY", a.Address)
	fmt.Fprint(e.Stdout, fleet.ClusterUsers(a.Public, maps.Clone(members)))
	return nil
}
