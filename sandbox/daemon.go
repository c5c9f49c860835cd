package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/private"
)

// A Daemon is what the private servers that are no databases have in common: a
// directory, a port on loopback, and a process that ends with the one that started
// it. Its methods are safe for concurrent use.
type Daemon struct {
	Dir  string // absolute
	Port int    // on 127.0.0.1

	name  string           // for errors
	temp  *private.TempDir // Dir, which goes when it stops, or with this process; nil when it was given
	fixed bool             // Port was asked for

	mu   sync.Mutex // held by who starts or stops
	proc *process
}

// place makes the directory, a temporary one when none is given, and notes the port.
func (d *Daemon) place(name, dir string, port int) (err error) {
	d.name, d.Port, d.fixed = name, port, port != 0
	if dir == "" {
		if d.temp, err = makeTempDir(name); err != nil {
			return fmt.Errorf("%s: directory: %w", name, err)
		}
		dir = d.temp.Path
	}
	if d.Dir, err = filepath.Abs(dir); err == nil {
		err = os.MkdirAll(d.Dir, 0o755)
	}
	if err != nil {
		return fmt.Errorf("%s: directory: %w", name, err)
	}
	return nil
}

// launch starts the server. configure writes its configuration, for the port that
// was chosen, and says what to run; a free port that somebody else took in the
// meantime is replaced. The directory of a server that does not start is removed
// when it is a temporary one.
func (d *Daemon) launch(ctx context.Context, configure func() (daemonSpec, error)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for attempt := 0; ; attempt++ {
		err := d.start(ctx, configure)
		if err == nil {
			return nil
		}
		if d.fixed || attempt >= 2 || !portTaken(err) {
			d.cleanUp()
			return err
		}
	}
}

// A daemonSpec defines how to run a server in the foreground.
type daemonSpec struct {
	path    string
	args    []string
	env     []string
	pidFile string // the server writes it when it has started; empty: it says started
	started string // what stands in the console then
	log     string // its own log, for errors; may be empty
	console string // where its output goes; empty: kept for errors alone
	ports   []int  // on which it listens beside the first
}

// start runs the server and waits until it has written its pid, or has said that it
// runs, and accepts connections.
func (d *Daemon) start(ctx context.Context, configure func() (daemonSpec, error)) (err error) {
	if !d.fixed {
		if d.Port, err = FreePort(); err != nil {
			return err
		}
	}
	o, err := configure()
	if err != nil {
		return fmt.Errorf("%s: configuration: %w", d.name, err)
	}
	_ = os.Remove(o.pidFile) // a stale one of a killed server, if any
	logFrom := fileSize(o.log)
	said := command.NewTail(16 << 10)
	// A killed master would leave its workers; one that is asked to end takes
	// them along.
	spec := command.Spec{
		Path: o.path, Args: o.args, Env: o.env, Dir: d.Dir, Stdout: said, Stderr: said, CleanEnv: true, EndWithParent: true,
	}
	if o.console != "" {
		out, err := os.Create(o.console)
		if err != nil {
			return fmt.Errorf("%s: log: %w", d.name, err)
		}
		defer out.Close()
		spec.Stdout, spec.Stderr = out, out
		o.log, logFrom = o.console, 0
	}
	child, err := command.Start(context.WithoutCancel(ctx), spec)
	if err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	p := ownProcess(child)
	answers := func() bool {
		closed := func(port int) bool { return !accepts(ctx, loopback(port)) }
		return says(o.console, o.started) && !slices.ContainsFunc(append(o.ports, d.Port), closed)
	}
	if err := p.await(ctx, o.pidFile, answers); err != nil {
		_ = p.kill()
		log := strings.TrimSpace(said.String() + "\n" + tailOf(o.log, logFrom))
		return &Error{Err: fmt.Errorf("start %s on port %d: %w", d.name, d.Port, err), Log: log}
	}
	d.proc = p
	return nil
}

// says prints whether a console holds a text; each holds the empty one.
func says(console, text string) bool {
	if text == "" {
		return true
	}
	b, err := os.ReadFile(console)
	return err == nil && strings.Contains(string(b), text)
}

// accepts reports whether somebody listens at an address.
func accepts(ctx context.Context, addr string) bool {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err == nil {
		_ = conn.Close() // nothing was said
	}
	return err == nil
}

// Addr returns host:port.
func (d *Daemon) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(d.Port)) }

// Pid returns the process id of the server, of its master where it has workers; 0
// when it does not run.
func (d *Daemon) Pid() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.proc == nil || !d.proc.alive() {
		return 0
	}
	return d.proc.pid
}

// Stop ends the server and waits until its process is gone. When ctx ends first it
// is killed, which is an error. Stopping a stopped server does nothing.
func (d *Daemon) Stop(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.cleanUp()
	p := d.proc
	if p == nil || !p.alive() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	p.terminate() // its group: a master and its workers
	select {
	case <-p.done():
		return p.verifyGone()
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("stop %s: killed, it did not end by itself: %w", d.name, ctx.Err()), p.kill())
	}
}

func (d *Daemon) cleanUp() {
	if d.temp != nil {
		_ = d.temp.Close() // what is left is removed by the next start
	}
}
