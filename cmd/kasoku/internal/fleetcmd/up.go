package fleetcmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/hubdir"
	"github.com/kasoku/kasoku/fleet/relay"
	"github.com/kasoku/kasoku/fleet/sshhost"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/private"
)

// An upping brings hosts up.
type upping struct {
	e       *cli.Env
	m       *members
	options relay.Agent // of all
	program sshhost.Program
	first   *sshhost.Program // for hosts that are recorded
	hub     *hubdir.Dir
	address string // of the hub

	mu sync.Mutex // of m, and of what is printed
}

func newUp(e *cli.Env) *cobra.Command {
	var o relay.Agent
	var sshConfig string
	cmd := &cobra.Command{
		Use:   "up [HOST...]",
		Short: "Bring hosts into the fleet by ssh",
		Long: `Bring hosts, or those of [fleet] in kasoku.toml, into the fleet. A host is what ssh takes,
gen1 or user@10.0.0.7, or NAME=that; its name in the fleet is the first word of its own.
The program is copied when the host has none or another one, the agent is kept by systemd
where that runs, and what it may be asked is --allow. The connections stay, and the hub,
until ` + "`kasoku fleet down`" + `; given again, it makes anew what broke.`,
		Example: `  kasoku fleet up gen1 gen2 --allow load=http://10.0.0.5/
  kasoku fleet up web=deploy@10.0.0.7
  kasoku attack --from gen1,gen2 -rate 20000 -duration 30s http://10.0.0.5/`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, _, stop := cli.Interruptible(cmd.Context())
			defer stop()
			return up(ctx, e, args, o, sshConfig)
		},
	}
	fl := cmd.Flags()
	agentFlags(fl, &o)
	fl.StringVar(&sshConfig, "ssh-config", "", "`FILE` of ssh's configuration; default the user's")
	return cmd
}

// hostsOf are the hosts that are named, else those of kasoku.toml.
func hostsOf(args []string, o *relay.Agent) (out []sshhost.Host, err error) {
	c, err := cli.ReadConfig("")
	if err != nil {
		return nil, err
	}
	if c != nil {
		if len(args) == 0 {
			args = c.Fleet.Hosts
		}
		if len(o.Allow) == 0 {
			o.Allow = c.Fleet.Allow
		}
		if o.PerSec == 0 {
			o.PerSec = c.Fleet.MaxRate
		}
	}
	if len(args) == 0 {
		return nil, cli.Usagef("kasoku fleet up gen1 gen2, or [fleet] hosts in kasoku.toml", "no host is named")
	}
	for _, a := range args {
		h, err := sshhost.Named(a)
		if err != nil {
			return nil, cli.Usage(err, "")
		}
		if slices.ContainsFunc(out, func(x sshhost.Host) bool { return x.Name == h.Name }) {
			return nil, cli.Usagef("NAME=HOST gives one another name", "two hosts have the name %s", h.Name)
		}
		out = append(out, h)
	}
	return out, checkAllowed(o)
}

func up(ctx context.Context, e *cli.Env, args []string, o relay.Agent, sshConfig string) error {
	named, err := hostsOf(args, &o)
	if err != nil {
		return err
	}
	m, free, err := openFleet(e)
	if err != nil {
		return err
	}
	defer free()
	if sshConfig != "" {
		if m.Config, err = filepath.Abs(sshConfig); err != nil {
			return err
		}
	}
	u := &upping{e: e, m: m, options: o}
	path, err := relay.Find()
	if err != nil {
		return err
	}
	if u.program, err = sshhost.Hashed(path, runtime.GOARCH); err != nil {
		return err
	}
	if err := u.findFirst(); err != nil {
		return err
	}
	if err := m.control(); err != nil {
		return err
	}
	before := maps.Clone(m.Hosts)
	var hosts []*sshhost.Host
	for _, h := range named {
		m.Hosts[h.Name] = h.Dest
		hosts = append(hosts, m.host(h.Name))
	}
	if err := m.write(); err != nil { // the hub is there for as long as the file is
		return err
	}
	err = u.startHub(ctx, path)
	if err == nil {
		err = u.bring(ctx, hosts)
	}
	switch {
	case ctx.Err() != nil: // what is half done is taken back
		u.m.Hosts = before
		for _, h := range hosts {
			u.m.Hosts[h.Name] = h.Dest
		}
		return errors.Join(context.Cause(ctx), u.m.down(context.WithoutCancel(ctx), e, hosts, false))
	case err != nil:
		return errors.Join(err, m.write())
	}
	return m.write()
}

// findFirst finds kasoku itself, where the hosts are to be recorded, or to read logs.
func (u *upping) findFirst() error {
	if limit, err := fleet.ParseLimit(u.options.Allow); err != nil || !limit.Record && len(limit.Logs) == 0 {
		return err
	}
	own, err := os.Executable()
	if err != nil {
		return fmt.Errorf("copy kasoku: %w", err)
	}
	p, err := sshhost.HashedAs(own, relay.First, runtime.GOARCH)
	u.first = &p
	return err
}

// bring connects to one host after the other, as ssh may ask for a password, and brings all up at once.
func (u *upping) bring(ctx context.Context, hosts []*sshhost.Host) error {
	var errs []error
	var open []*sshhost.Host
	for _, h := range hosts {
		_ = h.Close(ctx) // of before: it is made anew
		if err := h.Open(ctx); err != nil {
			delete(u.m.Hosts, h.Name)
			errs = append(errs, err)
			continue
		}
		open = append(open, h)
	}
	errs = append(errs, each(open, func(h *sshhost.Host) error {
		done, err := u.one(ctx, h)
		u.mu.Lock()
		defer u.mu.Unlock()
		if err != nil {
			if ctx.Err() == nil {
				delete(u.m.Hosts, h.Name)
				_ = h.Close(ctx)
			}
			return err
		}
		copied := ""
		if done.Copied {
			copied = ", the program copied"
		}
		u.e.SayLine("%s is up, kept by %s%s", h.Name, done.By, copied)
		return nil
	}))
	return errors.Join(errs...)
}

// joinTime is how long the line is good by which a host joins: ssh passes it on at once.
const joinTime = 5 * time.Minute

func (u *upping) one(ctx context.Context, h *sshhost.Host) (done sshhost.Done, err error) {
	// Who gets there by ssh says who the host is: a key of before, which may be lost, is none.
	_ = u.hub.Remove(h.Name)
	t, err := u.hub.Invite(h.Name, u.e.Now().Add(joinTime))
	if err != nil {
		return done, err
	}
	done, err = h.Up(ctx, &sshhost.Agent{Program: u.program, First: u.first, Hub: u.address, Join: t.String(),
		Kasoku: cli.VersionString(), Options: u.options})
	if err != nil {
		return done, err
	}
	conn, err := Connect(ctx, u.e, u.hub.Path, nil)
	if err != nil {
		return done, err
	}
	defer conn.Close()
	for deadline := time.Now().Add(answerTime); ; {
		s := greet(ctx, conn, h.Name)
		if s.Connected && s.Problem == "" {
			return done, nil
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			return done, cli.WithHint(fmt.Errorf("%s: its agent does not answer: %s", h.Name, s.Problem),
				"kasoku fleet logs "+h.Name+" shows what it printed")
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

const answerTime = 15 * time.Second

// startHub starts the hub, unless one serves this user's directory. It ends with the file of hosts.
func (u *upping) startHub(ctx context.Context, program string) error {
	dir, err := dirOf(u.e, "", "hub")
	if err != nil {
		return err
	}
	if u.running(ctx, dir) {
		return nil
	}
	listen := "127.0.0.1:0"
	if u.hub != nil { // the connections of other hosts lead to the address of before
		if host, _, err := net.SplitHostPort(u.address); err == nil && net.ParseIP(host).IsLoopback() {
			listen = u.address
		}
	}
	for _, listen := range slices.Compact([]string{listen, "127.0.0.1:0"}) {
		if err = u.serve(ctx, program, dir, listen); err == nil {
			return nil
		}
	}
	return err
}

func (u *upping) running(ctx context.Context, dir string) bool {
	d, err := hubdir.Existing(dir)
	if err != nil {
		return false
	}
	u.hub = d
	conn, err := Connect(ctx, u.e, dir, nil)
	if err == nil {
		conn.Close()
	}
	// Read after it was used: a hub that begins writes where it listens meanwhile.
	if a, readErr := d.Operator(); readErr == nil {
		u.address = a.Address
	}
	return err == nil && u.address != ""
}

// serve starts a hub and waits until it answers.
func (u *upping) serve(ctx context.Context, program, dir, listen string) error {
	log, err := private.State.Create(filepath.Join(u.m.dir, "hub.log"))
	if err != nil {
		return fmt.Errorf("start the hub: %w", err)
	}
	defer log.Close()
	hub, err := command.Start(context.WithoutCancel(ctx), command.Spec{Path: program, Name: relay.Program,
		NewSession: true, Env: []string{relay.Env + "=" + relay.Options{Kasoku: cli.VersionString(),
			Serve: &relay.Serve{Dir: dir, Listen: listen, While: u.m.path()}}.String()},
		Stdout: log, Stderr: log})
	if err != nil {
		return fmt.Errorf("start the hub: %w", err)
	}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline) && ctx.Err() == nil; {
		select {
		case <-hub.Done():
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("the hub ended: %s", fleet.Clean(string(text)))
		case <-time.After(50 * time.Millisecond):
		}
		if u.running(ctx, dir) {
			return nil
		}
	}
	_, _ = hub.Stop()
	return errors.New("start the hub: it does not answer")
}
