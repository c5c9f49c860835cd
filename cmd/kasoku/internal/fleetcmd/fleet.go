package fleetcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/hubdir"
	"github.com/kasoku/kasoku/fleet/sshhost"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/report/encode"
)

// NewFleet returns the command fleet, which brings hosts into the fleet by ssh.
func NewFleet(e *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Bring hosts into the fleet by ssh, and take them out",
		Long: `Bring hosts into the fleet by the system's ssh, with your configuration, agent and jump
hosts. Each gets the program that it lacks, and an agent that is connected back through
the ssh connection: no port is opened. [fleet] of kasoku.toml names hosts and what they may
be asked.`,
		Example: `  kasoku fleet up gen1 deploy@10.0.0.7 --allow load=http://10.0.0.5/
  kasoku fleet status
  kasoku fleet logs gen1
  kasoku fleet down`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newUp(e), newFleetStatus(e), newFleetDoctor(e), newLogs(e), newDown(e))
	return cmd
}

// members are the hosts that are up, by name, as a file keeps them.
type members struct {
	dir     string // private; its file is there for as long as a host is up
	Control string // directory of ssh's sockets
	Config  string `json:",omitempty"` // of ssh
	Hosts   map[string]string
}

func (m *members) path() string { return filepath.Join(m.dir, "hosts.json") }

// openFleet reads which hosts are up, and keeps others from changing it until free is called.
func openFleet(e *cli.Env) (m *members, free func(), err error) {
	dir, err := dirOf(e, "", "fleet")
	if err != nil {
		return nil, nil, err
	}
	if err := private.State.MkdirAll(dir); err != nil {
		return nil, nil, fmt.Errorf("make the fleet's directory: %w", err)
	}
	if err := hubdir.CheckPrivate(dir); err != nil {
		return nil, nil, err
	}
	lock, err := private.State.Open(filepath.Join(dir, "lock"), 0)
	if err != nil {
		return nil, nil, fmt.Errorf("lock the fleet's directory: %w", err)
	}
	free = func() { _ = lock.Close() }
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		free()
		return nil, nil, cli.WithHint(errors.New("another `kasoku fleet` is at work"), "wait until it has ended")
	}
	m = &members{dir: dir, Hosts: map[string]string{}}
	b, err := os.ReadFile(m.path())
	if err == nil {
		err = json.Unmarshal(b, m)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		free()
		return nil, nil, fmt.Errorf("read %s: %w", m.path(), err)
	}
	return m, free, nil
}

// write keeps the hosts; with none of them the file goes, and the hub with it.
func (m *members) write() error {
	if len(m.Hosts) == 0 {
		err := os.Remove(m.path())
		if m.Control != "" {
			_ = os.Remove(m.Control) // it is empty when all connections have ended
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	b, err := json.MarshalIndent(m, "", "  ")
	if err == nil {
		err = private.State.WriteFile(m.path(), append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep the fleet's hosts: %w", err)
	}
	return nil
}

// control makes the directory of ssh's sockets when it is not there, as after a restart of this
// host. It is not below the state directory, since the path of a socket is at most 107 bytes.
func (m *members) control() error {
	if m.Control != "" && hubdir.CheckPrivate(m.Control) == nil {
		return nil
	}
	dir, err := os.MkdirTemp("", "kasoku-ssh-")
	if err != nil {
		return fmt.Errorf("make a directory for ssh: %w", err)
	}
	m.Control = dir
	return nil
}

func (m *members) host(name string) *sshhost.Host {
	return &sshhost.Host{Name: name, Dest: m.Hosts[name], Control: sshhost.ControlPath(m.Control, name),
		Config: m.Config}
}

// chosen are the hosts that are named, else all that are up.
func (m *members) chosen(names []string) ([]*sshhost.Host, error) {
	if len(m.Hosts) == 0 {
		return nil, cli.WithHint(errors.New("no host is up"), "kasoku fleet up HOST… brings them up")
	}
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(m.Hosts))
	}
	var out []*sshhost.Host
	for _, name := range names {
		if m.Hosts[name] == "" {
			return nil, cli.Usagef("`kasoku fleet status` lists them", "no host %q is up", name)
		}
		out = append(out, m.host(name))
	}
	return out, nil
}

// each does something for all hosts at once. What went wrong is in the order of the hosts.
func each(hosts []*sshhost.Host, f func(h *sshhost.Host) error) error {
	errs := make([]error, len(hosts))
	var all sync.WaitGroup
	for i, h := range hosts {
		all.Go(func() {
			errs[i] = contain.Do(contain.Part{Kind: contain.Step, Name: "generator"}, func() error { return f(h) })
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// lookAt returns the fleet as it is now, which others may change meanwhile, and the hosts of it that are named.
func lookAt(e *cli.Env, names []string) (*members, []*sshhost.Host, error) {
	m, free, err := openFleet(e)
	if err != nil {
		return nil, nil, err
	}
	free()
	hosts, err := m.chosen(names)
	return m, hosts, err
}

func newFleetStatus(e *cli.Env) *cobra.Command {
	var out cli.Output
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "List the hosts that are up, each asked whether it is there",
		Example: "  kasoku fleet status\n  kasoku fleet status -o json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.Check(); err != nil {
				return err
			}
			ctx, stop := e.ReadingInterruptible(cmd.Context())
			defer stop()
			m, hosts, err := lookAt(e, nil)
			if err != nil {
				return err
			}
			all := m.status(ctx, e, hosts)
			if err := out.Print(e, cli.Printer{Doc: statusDocument(all, e),
				JSON: func(w io.Writer) error { return encode.JSON(w, Members{encode.Schema, "members", all}) }}); err != nil {
				return err
			}
			if answering(all) < len(all) {
				return cli.Bad("not all hosts answer")
			}
			return nil
		},
	}
	out.Register(cmd)
	return cmd
}

// status asks each host that is up, by the hub and by ssh.
func (m *members) status(ctx context.Context, e *cli.Env, hosts []*sshhost.Host) []hostState {
	asked, err := status(ctx, e, "")
	out := make([]hostState, len(hosts))
	for i, h := range hosts {
		out[i] = hostState{Host: h.Name, Problem: "the hub does not know it"}
		if err != nil {
			out[i].Problem = err.Error()
		}
		for _, a := range asked {
			if a.Host == h.Name {
				out[i] = a
			}
		}
		if !out[i].Connected && !h.Connected(ctx) {
			out[i].Problem = "the ssh connection is gone: kasoku fleet up " + h.Dest
		}
	}
	return out
}

func newLogs(e *cli.Env) *cobra.Command {
	var lines int
	cmd := &cobra.Command{
		Use:     "logs [HOST...]",
		Short:   "Print what the agents of hosts that are up have printed",
		Example: "  kasoku fleet logs\n  kasoku fleet logs gen1 --tail 200",
		RunE: func(cmd *cobra.Command, names []string) error {
			if lines < 1 || lines > 100_000 {
				return cli.Usagef("", "--tail %d: want 1 to 100000", lines)
			}
			ctx, stop := e.ReadingInterruptible(cmd.Context())
			defer stop()
			_, hosts, err := lookAt(e, names)
			if err != nil {
				return err
			}
			var mu sync.Mutex
			return each(hosts, func(h *sshhost.Host) error {
				text, err := h.Logs(ctx, lines)
				mu.Lock()
				defer mu.Unlock()
				for line := range bytes.Lines(text) {
					e.SayLine("%s: %s", h.Name, fleet.Clean(strings.TrimSuffix(string(line), "\n")))
				}
				return err
			})
		},
	}
	cmd.Flags().IntVar(&lines, "tail", 20, "print the last `N` of each")
	return cmd
}

func newDown(e *cli.Env) *cobra.Command {
	var purge bool
	cmd := &cobra.Command{
		Use:   "down [HOST...]",
		Short: "End the agents of hosts, or of all, and the connections to them",
		Long: `End the agents of the hosts, or of all, take them out of the hub, and end the ssh
connections. With the last one ends the hub that ` + "`kasoku fleet up`" + ` started.`,
		Example: "  kasoku fleet down\n  kasoku fleet down gen2 --purge",
		RunE: func(cmd *cobra.Command, names []string) error {
			m, free, err := openFleet(e)
			if err != nil {
				return err
			}
			defer free()
			hosts, err := m.chosen(names)
			if err != nil {
				return err
			}
			ctx, _, stop := cli.Interruptible(cmd.Context())
			defer stop()
			return m.down(ctx, e, hosts, purge)
		},
	}
	cmd.Flags().BoolVar(&purge, "purge", false, "also remove from the hosts what was brought there")
	return cmd
}

// down takes hosts out. One that cannot be reached is out, too: its agent has no hub any more.
func (m *members) down(ctx context.Context, e *cli.Env, hosts []*sshhost.Host, purge bool) error {
	hub, hubErr := existing(e, "")
	err := each(hosts, func(h *sshhost.Host) error {
		limited, cancel := context.WithTimeout(ctx, downTime)
		defer cancel()
		err := h.Down(limited, cli.VersionString(), purge)
		if closeErr := h.Close(limited); err == nil {
			err = closeErr
		}
		return err
	})
	for _, h := range hosts {
		if hubErr == nil {
			_ = hub.Remove(h.Name) // it had not joined
		}
		delete(m.Hosts, h.Name)
		e.SayLine("%s is down", h.Name)
	}
	if err != nil {
		err = cli.WithHint(fmt.Errorf("not all ended as they should: %w", err),
			"an agent that is left can ask nothing and is asked nothing; on its host: rm ~/.local/state/kasoku/fleet/up")
	}
	return errors.Join(err, m.write())
}

// downTime is long enough for an agent that waits for the requests in flight.
const downTime = 30 * time.Second
