package fleetcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/relay"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/private"
)

// Where the agent of a host lies that systemd keeps.
const (
	unitName  = "kasoku-agent"
	unitPath  = "/etc/systemd/system/" + unitName + ".service"
	unitState = "/var/lib/" + unitName // systemd's StateDirectory, which gives it to the unit's user
)

// newInstall returns the command agent install.
func newInstall(e *cli.Env) *cobra.Command {
	var o relay.Agent
	var as string
	var show bool
	cmd := &cobra.Command{
		Use:   "install JOIN-LINE",
		Short: "Join the hub, and write a systemd unit that keeps the agent",
		Long: `Join the hub of a join line as this host's agent, and write ` + unitPath + `,
a unit that may do little more than answer: a user of its own that owns nothing else
(DynamicUser), a file system that it cannot write to, no new rights, no devices. The
join line is used up at once and stands in no file. To be recorded takes more rights
than such a user has; --user names another one.`,
		Example: `  kasoku agent install kasoku-join:10.0.0.9:7422,ca=…,token=…,until=… --allow load=http://10.0.0.5/
  kasoku agent install - --user root --allow record=/home/isucon/kasoku.toml
  kasoku agent install --print --allow load=http://10.0.0.5/`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.Join = args[0]
			}
			o.Dir = filepath.Join(unitState, "agent")
			if err := complete(e, &o); err != nil {
				return err
			}
			text, err := unitText(&o, as)
			if err != nil {
				return err
			}
			if show {
				_, err := e.Stdout.Write(text)
				return err
			}
			return install(cmd.Context(), e, &o, text)
		},
	}
	fl := cmd.Flags()
	agentFlags(fl, &o)
	fl.StringVar(&o.Name, "name", "", "of this host in the fleet; default its host name")
	fl.StringVar(&as, "user", "", "`USER` that the agent runs as; default one of its own that owns nothing else")
	fl.BoolVar(&show, "print", false, "print the unit; join nothing and write nothing")
	return cmd
}

// install joins, and writes the unit.
func install(ctx context.Context, e *cli.Env, o *relay.Agent, text []byte) error {
	switch {
	case o.Join == "":
		return cli.Usagef("`kasoku hub invite` prints one", "a join line is to be given")
	case os.Geteuid() != 0:
		return cli.Usagef("sudo kasoku agent install …", "a unit of systemd is written by root")
	}
	if st, err := os.Stat(filepath.Dir(unitPath)); err != nil || !st.IsDir() {
		return cli.WithHint(errors.New("there is no systemd here: "+filepath.Dir(unitPath)+" is not there"),
			"`kasoku agent` runs without it")
	}
	path, err := relay.Find()
	if err != nil {
		return err
	}
	j := *o
	j.JoinOnly = true
	if err := private.State.MkdirAll(unitState); err != nil { // systemd gives it away, with all in it
		return err
	}
	if _, err := command.Output(ctx, command.Spec{Path: path, Name: relay.Program,
		Env: []string{relay.Env + "=" + relay.Options{Agent: &j, Kasoku: cli.VersionString()}.String()}},
		1<<16); err != nil {
		return joinError(err)
	}
	if err := private.Output.WriteFile(unitPath, text); err != nil {
		return fmt.Errorf("write the unit: %w", err)
	}
	e.SayLine("it has joined; %s is written; this starts it, now and at each start of the host:", unitPath)
	e.SayLine("  systemctl daemon-reload && systemctl enable --now %s", unitName)
	return nil
}

// joinError is what the second program said.
func joinError(err error) error {
	var exit *command.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	text, hint := exit.Error(), ""
	for line := range strings.Lines(exit.Stderr) {
		if t, ok := strings.CutPrefix(line, "kasoku: error: "); ok {
			text = t
		}
		if t, ok := strings.CutPrefix(line, "kasoku: hint: "); ok {
			hint = t
		}
	}
	return cli.WithHint(errors.New(fleet.Clean(strings.TrimSpace(text))), fleet.Clean(strings.TrimSpace(hint)))
}

// unitText returns the unit of an agent.
func unitText(o *relay.Agent, as string) ([]byte, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("look for kasoku: %w", err)
	}
	if real, err := filepath.EvalSymlinks(own); err == nil {
		own = real
	}
	limit, err := fleet.ParseLimit(o.Allow)
	if err != nil {
		return nil, cli.Usage(err, "")
	}
	words := []string{own, "agent", "--dir", o.Dir, "--lease", o.Lease.String()}
	if o.PerSec > 0 {
		words = append(words, "--max-rate", strconv.FormatFloat(o.PerSec, 'f', -1, 64))
	}
	for _, a := range o.Allow {
		words = append(words, "--allow", a)
	}
	for i, w := range words {
		words[i] = unitWord(w)
	}
	who := "DynamicUser=yes"
	if as != "" {
		if _, err := user.Lookup(as); err != nil {
			return nil, cli.Usagef("", "--user: no user %q here", as)
		}
		who = "User=" + as
	}
	home := "yes"
	if slices.ContainsFunc(append([]string{own, limit.Config}, limit.Logs...), isAtHome) {
		home = "read-only" // the program, the file that says what is recorded, or logs lie there
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, unitTemplate, strings.Join(words, " "), unitName, who, home)
	if !limit.Record {
		b.WriteString(unitNarrow)
	}
	b.WriteString("\n[Install]\nWantedBy=multi-user.target\n")
	return b.Bytes(), nil
}

func isAtHome(path string) bool {
	for _, dir := range []string{"/home/", "/root/", "/run/user/"} {
		if strings.HasPrefix(path, dir) {
			return true
		}
	}
	return false
}

// unitWord quotes a word for a command line of a unit (systemd.service(5), systemd.syntax(7)).
func unitWord(w string) string {
	w = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$", "\n", `\n`, "\t", `\t`).Replace(w)
	return `"` + w + `"`
}

// The directives are those of systemd.exec(5). A recorder is a child of the agent, so that each must leave it
// what it needs: other processes, /tmp with its sockets, its journal in the state directory.
const unitTemplate = `[Unit]
Description=kasoku: what this host may be asked by its fleet
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=%s
Environment=KASOKU_STATE=%%S/%s
Restart=on-failure
RestartSec=2
TimeoutStopSec=120
%s
StateDirectory=kasoku-agent
StateDirectoryMode=0700
UMask=0077
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=%s
ProtectKernelTunables=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
RestrictSUIDSGID=yes
RestrictRealtime=yes
LockPersonality=yes
MemoryMax=1G
`

// unitNarrow is what an agent can do without that sends load and records nothing.
const unitNarrow = `PrivateTmp=yes
PrivateDevices=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectProc=invisible
ProcSubset=pid
RestrictNamespaces=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
CapabilityBoundingSet=
AmbientCapabilities=
`
