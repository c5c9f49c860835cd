package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/kasoku/kasoku/command"
)

// VarnishOptions say how to run a private Varnish.
type VarnishOptions struct {
	// Dir is where everything goes; it is also the name of the instance, for
	// varnishstat -n. Empty: a temporary one, removed when the server stops.
	Dir string
	// Port on 127.0.0.1; 0 takes a free one.
	Port int
	// Upstream is the host:port that requests are passed on to.
	Upstream string
	// VCL is the whole configuration; {host} and {port} stand for the upstream.
	// Empty: one backend, and Varnish's own rules.
	VCL string
}

// A VarnishServer is a running or stopped Varnish. Its methods are safe for
// concurrent use.
type VarnishServer struct {
	Dir     string // absolute; the instance's name
	Port    int
	VCLFile string

	temporary bool
	mu        sync.Mutex // held by who starts or stops
	proc      *process
}

const varnishHint = "install it: sudo apt-get install varnish (no need to run it)"

const varnishDefault = `vcl 4.1;
backend app { .host = "{host}"; .port = "{port}"; }
`

// Varnish starts a Varnish with the system's binary, as the calling user, root
// included: nothing is jailed. It keeps at most 64 MB in memory. The context bounds
// the start alone; the server lives until [VarnishServer.Stop], or the process that
// started it dies.
func Varnish(ctx context.Context, o VarnishOptions) (*VarnishServer, error) {
	program, err := command.LookPath("varnishd")
	if err != nil {
		return nil, &Error{Err: fmt.Errorf("varnish: %w", err), hint: varnishHint}
	}
	s := &VarnishServer{Port: o.Port}
	if o.Dir == "" {
		if o.Dir, err = os.MkdirTemp("", "kasoku-varnish-"); err != nil {
			return nil, fmt.Errorf("varnish: directory: %w", err)
		}
		s.temporary = true
	}
	if s.Dir, err = filepath.Abs(o.Dir); err == nil {
		err = os.MkdirAll(s.Dir, 0o755)
	}
	if err == nil && s.Port == 0 {
		s.Port, err = FreePort()
	}
	if err == nil {
		err = s.writeVCL(o)
	}
	if err != nil {
		return nil, fmt.Errorf("varnish: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.start(ctx, program); err != nil {
		s.cleanUp()
		return nil, err
	}
	return s, nil
}

func (s *VarnishServer) writeVCL(o VarnishOptions) error {
	host, port, err := net.SplitHostPort(o.Upstream)
	if err != nil {
		return fmt.Errorf("upstream: %w", err)
	}
	text := o.VCL
	if text == "" {
		text = varnishDefault
	}
	s.VCLFile = filepath.Join(s.Dir, "kasoku.vcl")
	return os.WriteFile(s.VCLFile, []byte(strings.NewReplacer("{host}", host, "{port}", port).Replace(text)), 0o644)
}

// start runs the server and waits until it answers: it compiles its configuration
// with the C compiler first.
func (s *VarnishServer) start(ctx context.Context, program string) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	pidFile := filepath.Join(s.Dir, "varnish.pid")
	_ = os.Remove(pidFile) // a stale one of a killed server
	said := command.NewTail(16 << 10)
	child, err := command.Start(context.WithoutCancel(ctx), command.Spec{
		Path: program, Dir: s.Dir, Stdout: said, Stderr: said, CleanEnv: true, EndWithParent: true,
		Args: []string{"-F", "-n", s.Dir, "-P", pidFile, "-j", "none", "-a", s.Addr(), "-f", s.VCLFile, "-s", "malloc,64m",
			"-p", "thread_pool_min=20", "-p", "thread_pools=1", "-p", "vsl_space=16m"},
	})
	if err != nil {
		return fmt.Errorf("varnish: %w", err)
	}
	p := ownProcess(child)
	var dialer net.Dialer
	err = p.await(ctx, pidFile, func() bool {
		conn, err := dialer.DialContext(ctx, "tcp", s.Addr())
		if err == nil {
			_ = conn.Close() // nothing was said
		}
		return err == nil
	})
	if err != nil {
		_ = p.kill()
		return &Error{Err: fmt.Errorf("start varnish on port %d: %w", s.Port, err), Log: strings.TrimSpace(said.String())}
	}
	s.proc = p
	return nil
}

// Addr returns host:port.
func (s *VarnishServer) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)) }

// URL returns http://host:port without a path.
func (s *VarnishServer) URL() string { return "http://" + s.Addr() }

// Pid returns the manager's process id, 0 when it does not run. Its child does the
// work.
func (s *VarnishServer) Pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil || !s.proc.alive() {
		return 0
	}
	return s.proc.pid
}

// Stop ends the server and waits until its processes are gone. When ctx ends
// first it is killed, which is an error. Stopping a stopped server does nothing.
func (s *VarnishServer) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.cleanUp()
	p := s.proc
	if p == nil || !p.alive() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	p.signal(syscall.SIGTERM)
	select {
	case <-p.done():
		return p.verifyGone()
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("stop varnish: killed, it did not end by itself: %w", ctx.Err()), p.kill())
	}
}

func (s *VarnishServer) cleanUp() {
	if s.temporary {
		_ = os.RemoveAll(s.Dir)
	}
}
