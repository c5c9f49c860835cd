// Package sshhost brings hosts into a fleet by the system's ssh, with its user's configuration,
// agent and jump hosts.
//
// The one idea: one connection a host, which ssh itself keeps (ControlMaster) until it is ended.
// Over it go the program, when the host has none or another one, the options of its agent by
// standard input, as a join line is a secret, and the agent's way to the hub: a Unix socket of
// the host that leads here. So no port is opened, neither here nor there.
//
// What is on a host lies in one directory of the user, kasoku/fleet in his state directory. Its
// file "up" is there for as long as the agent is to run: who takes it away ends it, and no
// process is looked for by a number or a name.
//
// Sources: ssh(1), ssh_config(5), sshd_config(5).
package sshhost

import (
	"context"
	_ "embed" // fleet.sh
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/internal/command"
)

// A Host is one that ssh reaches.
type Host struct {
	Name string // in the fleet
	Dest string // as ssh takes it: gen1, user@gen1, ssh://user@gen1:2222

	Control string // the socket by which ssh's connection is found again
	Config  string // file of ssh's configuration; empty: the user's
}

// Named reads DEST or NAME=DEST.
func Named(text string) (h Host, err error) {
	name, dest, named := strings.Cut(text, "=")
	if !named {
		name, dest = "", text
	}
	// A name that begins with - would be an option of ssh.
	if dest == "" || strings.HasPrefix(dest, "-") || strings.ContainsFunc(dest, notShown) {
		return h, fmt.Errorf("bad host %q: want what ssh takes, such as gen1 or user@10.0.0.7", text)
	}
	if !named {
		name = nameOf(dest)
	}
	if err := fleet.CheckHost(name); err != nil || name == fleet.Operator {
		return h, fmt.Errorf("host %q: no name for it: NAME=%s gives it one, of lower-case letters, digits, - and _",
			text, dest)
	}
	return Host{Name: name, Dest: dest}, nil
}

func notShown(r rune) bool { return r <= ' ' || r == 0x7f }

// nameOf is the host's own name in what ssh takes; of an address all of it.
func nameOf(dest string) string {
	if u, err := url.Parse(dest); err == nil && u.Scheme == "ssh" {
		dest = u.Hostname()
	}
	dest = dest[strings.LastIndexByte(dest, '@')+1:]
	if _, err := netip.ParseAddr(dest); err == nil {
		return strings.NewReplacer(".", "-", ":", "-").Replace(dest)
	}
	return fleet.HostName(dest)
}

// environment are the variables that ssh and what it asks for passwords read.
func environment() (out []string) {
	for _, name := range []string{"SSH_AUTH_SOCK", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "DISPLAY", "WAYLAND_DISPLAY",
		"XAUTHORITY", "XDG_RUNTIME_DIR", "TERM", "USER", "LOGNAME", "KRB5CCNAME"} {
		if v, ok := os.LookupEnv(name); ok {
			out = append(out, name+"="+v)
		}
	}
	return out
}

// ssh runs it with options before the destination, and a command for the host after it.
func (h *Host) ssh(ctx context.Context, stdin io.Reader, options []string, remote ...string) ([]byte, error) {
	args := []string{"-S", h.Control}
	if h.Config != "" {
		args = append(args, "-F", h.Config)
	}
	args = append(append(append(args, options...), "--", h.Dest), remote...)
	// In the foreground it may ask for a password on the terminal.
	out, err := command.Output(ctx, command.Spec{Path: "ssh", Args: args, Trusted: true, Env: environment(),
		Stdin: stdin, KeepForeground: true}, 0)
	if err != nil {
		return out, &Error{Host: h.Name, Dest: h.Dest, Err: err}
	}
	return out, nil
}

// An Error reports what ssh said, or what it ran on the host.
type Error struct {
	Host, Dest string
	Err        error
}

// Error returns it in one line.
func (e *Error) Error() string {
	var exit *command.ExitError
	if errors.As(e.Err, &exit) {
		lines := strings.Split(strings.TrimSpace(exit.Stderr), "\n")
		for i := len(lines) - 1; i >= 0; i-- { // the hint of kasoku-hub comes after what is wrong
			if text, ok := strings.CutPrefix(lines[i], "kasoku: error: "); ok {
				return e.Host + ": " + fleet.Clean(text)
			}
		}
		if last := lines[len(lines)-1]; last != "" {
			return e.Host + ": " + fleet.Clean(last)
		}
	}
	return e.Host + ": " + fleet.Clean(e.Err.Error())
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint returns what to try by hand.
func (e *Error) Hint() string {
	var exit *command.ExitError
	if errors.As(e.Err, &exit) && exit.Result.ExitCode == 255 { // its own, not that of what it ran
		return "ssh " + e.Dest + " has to get there by itself: its key accepted, and a login without a question"
	}
	return ""
}

// off are things of a user's configuration that a connection for kasoku does not take over.
var off = [...]string{"-T", "-o", "RemoteCommand=none", "-o", "ClearAllForwardings=yes", "-o", "ForwardAgent=no",
	"-o", "ForwardX11=no", "-o", "PermitLocalCommand=no"}

// Open connects, and leaves the connection to ssh, in the background.
func (h *Host) Open(ctx context.Context) error {
	if err := os.Remove(h.Control); err != nil && !errors.Is(err, fs.ErrNotExist) { // of one that is gone
		return fmt.Errorf("connect to %s: %w", h.Name, err)
	}
	_, err := h.ssh(ctx, nil, append([]string{"-M", "-N", "-f", "-o", "ServerAliveInterval=15",
		"-o", "ServerAliveCountMax=4"}, off[:]...))
	return err
}

// Connected reports whether the connection is there.
func (h *Host) Connected(ctx context.Context) bool {
	_, err := h.ssh(ctx, nil, []string{"-O", "check"})
	return err == nil
}

// Close ends the connection.
func (h *Host) Close(ctx context.Context) error {
	if _, err := os.Lstat(h.Control); err != nil {
		return nil // it is gone
	}
	_, err := h.ssh(ctx, nil, []string{"-O", "exit"})
	return err
}

// run runs a script of sh on the host: without single quotes and lines, so that any shell of the
// user passes it on.
func (h *Host) run(ctx context.Context, stdin io.Reader, script string) ([]byte, error) {
	options := append([]string{"-o", "ControlMaster=no", "-o", "BatchMode=yes"}, off[:]...)
	return h.ssh(ctx, stdin, options, "sh -c '"+place+script+"'")
}

// place is where all lies on a host.
const place = `umask 077; d=${XDG_STATE_HOME:-$HOME/.local/state}/kasoku/fleet; `

//go:embed fleet.sh
var fleetScript string

// forward makes the host's socket lead to an address that is reached from here.
func (h *Host) forward(ctx context.Context, socket, address string) error {
	_, err := h.ssh(ctx, nil, []string{"-O", "forward", "-R", socket + ":" + address})
	if err != nil {
		return fmt.Errorf("%w (a socket that leads back: AllowStreamLocalForwarding in its sshd_config)", err)
	}
	return nil
}

// Logs returns the last lines that the agent of the host printed.
func (h *Host) Logs(ctx context.Context, lines int) ([]byte, error) {
	return h.run(ctx, nil, `[ -f "$d/fleet.sh" ] || exit 0; sh "$d/fleet.sh" logs `+strconv.Itoa(lines))
}

// ControlPath returns the socket of a host in a directory.
func ControlPath(dir, name string) string { return filepath.Join(dir, name) }
