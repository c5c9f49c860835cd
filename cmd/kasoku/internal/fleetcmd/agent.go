package fleetcmd

import (
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/relay"
)

// NewAgent returns the command agent, which answers the questions of a fleet for this host.
func NewAgent(e *cli.Env) *cobra.Command {
	var o relay.Agent
	cmd := &cobra.Command{
		Use:   "agent [JOIN-LINE]",
		Short: "Answer for this host in a fleet: send a share of a load, be recorded, read logs",
		Long: `Join the hub of a join line, or the one that this host is a member of, and answer
until it is ended. The host does what it is allowed here and nothing else: --allow
load=URL lets it send load to targets that begin so; --allow record=FILE lets it be
recorded as that kasoku.toml of this host says, --allow record the host and its
processes alone; --allow logs=PATTERN lets it read logs that match into tables. No
question names a command, and none another file. Its key is made here and stays here.

JOIN-LINE - reads the line from standard input, so that no process list shows it.`,
		Example: `  kasoku agent kasoku-join:10.0.0.9:7422,ca=…,token=…,until=… --allow load=http://10.0.0.5/
  kasoku agent --allow load=http://10.0.0.5:8080/api --max-rate 5000
  kasoku agent --allow 'logs=/var/log/nginx/*'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.Join = args[0]
			}
			if err := complete(e, &o); err != nil {
				return err
			}
			return become(relay.Options{Agent: &o})
		},
	}
	fl := cmd.Flags()
	agentFlags(fl, &o)
	fl.StringVar(&o.Name, "name", "", "of this host in the fleet; default its host name")
	fl.StringVar(&o.Dir, "dir", "", "`DIRECTORY` of its key; default agent in kasoku's state directory")
	cmd.AddCommand(newInstall(e))
	return cmd
}

// agentFlags are what the agent of a host may be asked, wherever it is started.
func agentFlags(fl *pflag.FlagSet, o *relay.Agent) {
	fl.StringArrayVar(&o.Allow, "allow", nil,
		"what it may be asked: `load=URL`, where targets begin, record=FILE, logs=PATTERN; may be repeated")
	fl.Float64Var(&o.PerSec, "max-rate", 0, "most requests a second that it sends; 0: no limit")
	fl.DurationVar(&o.Lease, "lease", time.Minute, "end a load or a recording when no one has asked for it for so long")
}

// checkAllowed checks what agentFlags read.
func checkAllowed(o *relay.Agent) error {
	if _, err := fleet.ParseLimit(o.Allow); err != nil {
		return cli.Usage(err, "")
	}
	if o.PerSec < 0 || o.Lease < time.Second {
		return cli.Usagef("", "want --max-rate 0 or more, and --lease 1s or more")
	}
	return nil
}

// complete checks what was given, so that a mistake is a line and no process.
func complete(e *cli.Env, o *relay.Agent) (err error) {
	if o.Join == "-" {
		const most = 1 << 10
		b, err := io.ReadAll(io.LimitReader(e.Stdin, most))
		if err != nil {
			return err
		}
		o.Join = strings.TrimSpace(string(b))
	}
	if o.Join != "" {
		t, err := fleet.ParseTicket(o.Join)
		if err != nil {
			return cli.Usage(err, "`kasoku hub invite` prints one")
		}
		if now := e.Now(); !t.Cluster && !now.Before(t.Until) {
			return cli.Usagef("`kasoku hub invite` prints another; a clock that is wrong here or there looks the same",
				"the join line was for use until %s, and it is %s", t.Until.Local().Format(time.DateTime), now.Format(time.DateTime))
		}
	}
	if o.Name != "" {
		if err := fleet.CheckHost(o.Name); err != nil {
			return cli.Usage(err, "")
		}
	}
	if err := checkAllowed(o); err != nil {
		return err
	}
	o.Dir, err = dirOf(e, o.Dir, "agent")
	return err
}
