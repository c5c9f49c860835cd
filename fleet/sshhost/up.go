package sshhost

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/relay"
)

// A Program is the one that is to run on hosts.
type Program struct {
	Path string
	Arch string // as Go names it
	name string // on the host
	sum  string
}

// Hashed hashes the second program, of this host's architecture.
func Hashed(path, arch string) (Program, error) { return HashedAs(path, relay.Program, arch) }

// HashedAs hashes a program that is to have a name on the hosts.
func HashedAs(path, name, arch string) (p Program, err error) {
	f, err := os.Open(path)
	if err != nil {
		return p, err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	if err := errors.Join(err, f.Close()); err != nil {
		return p, fmt.Errorf("read %s: %w", path, err)
	}
	return Program{Path: path, Arch: arch, name: name, sum: hex.EncodeToString(h.Sum(nil))}, nil
}

// An Agent is what a host is to be.
type Agent struct {
	Program Program
	First   *Program // kasoku itself, for a host that is recorded; nil: none
	Hub     string   // address, as it is reached from here
	Join    string   // line
	Kasoku  string   // version
	Options relay.Agent
}

// A Done is how a host was brought up.
type Done struct {
	Copied bool
	By     string // what starts the agent again when it ends: systemd, or sh
}

// found is what a host says of itself.
type found struct{ dir, system, arch, sum, first string }

// An ArchError reports a host for which there is no program here.
type ArchError struct{ Host, Theirs, Ours string }

// Error names both architectures.
func (e *ArchError) Error() string {
	return fmt.Sprintf("%s is %s, and the kasoku here is for linux %s", e.Host, e.Theirs, e.Ours)
}

// Hint returns another way.
func (e *ArchError) Hint() string {
	return "install kasoku for it on that host, and join by `kasoku agent` with a line of `kasoku hub invite`"
}

// maxSocket is the longest path of a Unix socket, less what ssh adds; unix(7).
const maxSocket = 107

// probe makes the directory on the host and says what is there.
func (h *Host) probe(ctx context.Context) (f found, err error) {
	out, err := h.run(ctx, nil, `mkdir -p "$d/bin" && chmod 700 "$d" && rm -f "$d/hub.sock" && echo "kasoku-dir $d" && `+
		`echo "kasoku-system $(uname -s) $(uname -m)" && `+
		`echo "kasoku-sum $(sha256sum "$d/bin/kasoku-hub" 2>/dev/null | cut -c1-64)" && `+
		`echo "kasoku-first $(sha256sum "$d/bin/kasoku" 2>/dev/null | cut -c1-64)"`)
	if err != nil {
		return f, err
	}
	return foundIn(h.Name, out)
}

// foundIn reads what the host of that name says of itself. A host may say anything: where a colon ended the
// socket's name, ssh would lead elsewhere.
func foundIn(name string, out []byte) (f found, err error) {
	for line := range strings.Lines(string(out)) { // a shell's start may print, too
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "kasoku-dir":
			f.dir = rest
		case "kasoku-system":
			f.system, f.arch, _ = strings.Cut(rest, " ")
		case "kasoku-sum":
			f.sum = rest
		case "kasoku-first":
			f.first = rest
		}
	}
	if f.dir == "" || f.dir[0] != '/' || len(f.dir)+len("/hub.sock") > maxSocket ||
		strings.ContainsFunc(f.dir, notShown) || strings.ContainsAny(f.dir, ":[]") {
		return f, fmt.Errorf("%s: no directory for a socket: %q is none, has a colon or a space, or is longer than %d",
			name, f.dir, maxSocket-len("/hub.sock"))
	}
	return f, nil
}

func goArch(machine string) string {
	switch machine {
	case "x86_64", "amd64":
		return "amd64"
	case "aarch64", "arm64":
		return "arm64"
	}
	return machine
}

// Up brings the host up: the connection is open.
func (h *Host) Up(ctx context.Context, a *Agent) (done Done, err error) {
	f, err := h.probe(ctx)
	if err != nil {
		return done, err
	}
	if f.system != "Linux" || goArch(f.arch) != a.Program.Arch {
		return done, &ArchError{Host: h.Name, Theirs: fleet.Clean(f.system + " " + f.arch), Ours: a.Program.Arch}
	}
	for _, p := range []struct {
		*Program
		there string
	}{{&a.Program, f.sum}, {a.First, f.first}} {
		if p.Program == nil || p.sum == p.there {
			continue
		}
		if err := h.copyProgram(ctx, p.Program); err != nil {
			return done, err
		}
		done.Copied = true
	}
	if _, err := h.run(ctx, strings.NewReader(fleetScript), `cat >"$d/fleet.sh"`); err != nil {
		return done, err
	}
	if err := h.forward(ctx, f.dir+"/hub.sock", a.Hub); err != nil {
		return done, err
	}
	o := a.Options
	o.Name, o.Dir, o.Via, o.While = h.Name, f.dir+"/agent", f.dir+"/hub.sock", f.dir+"/up"
	join, end := o, endOf(f.dir)
	join.Join, join.JoinOnly = a.Join, true
	var in strings.Builder
	for _, x := range []relay.Agent{end, join, o} {
		in.WriteString(relay.Options{Agent: &x, Kasoku: a.Kasoku}.String() + "\n")
	}
	out, err := h.run(ctx, strings.NewReader(in.String()), `exec sh "$d/fleet.sh" up`)
	if err != nil {
		return done, err
	}
	for line := range strings.Lines(string(out)) {
		if by, ok := strings.CutPrefix(strings.TrimSpace(line), "kasoku-by "); ok {
			done.By = by
		}
	}
	return done, nil
}

func endOf(dir string) relay.Agent {
	return relay.Agent{Dir: dir + "/agent", While: dir + "/up", End: true, Lease: time.Minute}
}

func (h *Host) copyProgram(ctx context.Context, p *Program) error {
	b, err := os.Open(p.Path)
	if err != nil {
		return err
	}
	defer b.Close()
	_, err = h.run(ctx, b, `cd "$d/bin" && f=`+p.name+` && cat >$f.new && `+
		`{ [ "$(sha256sum $f.new | cut -c1-64)" = `+p.sum+` ] || `+
		`{ echo it came other than it was sent >&2; exit 3; }; } && `+
		`chmod 700 $f.new && mv -f $f.new $f`)
	if err != nil {
		return fmt.Errorf("copy %s: %w", p.name, err)
	}
	return nil
}

// Down ends the agent of the host and waits until it has ended. purge also removes what Up has
// brought there.
func (h *Host) Down(ctx context.Context, kasoku string, purge bool) error {
	out, err := h.run(ctx, nil, `echo "kasoku-dir $d"`)
	if err != nil {
		return err
	}
	_, dir, ok := strings.Cut(string(out), "kasoku-dir ")
	if !ok {
		return fmt.Errorf("%s: it says not where its state is", h.Name)
	}
	end, what := endOf(strings.TrimSpace(dir)), ""
	if purge {
		what = " purge"
	}
	_, err = h.run(ctx, strings.NewReader(relay.Options{Agent: &end, Kasoku: kasoku}.String()+"\n"),
		`[ -f "$d/fleet.sh" ] || exit 0; exec sh "$d/fleet.sh" down`+what)
	return err
}
