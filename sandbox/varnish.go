package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/kasoku/kasoku/internal/command"
)

// VarnishOptions configure how to run a private Varnish.
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

// A VarnishServer is a running or stopped Varnish. The name of the instance is its
// directory. Its methods are safe for concurrent use.
type VarnishServer struct {
	Daemon
	VCLFile string
}

const varnishHint = "install it: sudo apt-get install varnish (no need to run it)"

const varnishDefault = `vcl 4.1;
backend app { .host = "{host}"; .port = "{port}"; }
`

// Varnish starts a Varnish with the system's binary, as the calling user, root
// included: nothing is jailed. It keeps at most 64 MB in memory. The context bounds
// the start alone; the server lives until [Daemon.Stop], or the process that
// started it dies.
func Varnish(ctx context.Context, o VarnishOptions) (*VarnishServer, error) {
	program, err := command.LookPath("varnishd")
	if err != nil {
		return nil, &Error{Err: fmt.Errorf("varnish: %w", err), hint: varnishHint}
	}
	s := &VarnishServer{}
	if err := s.place("varnish", o.Dir, o.Port); err != nil {
		return nil, err
	}
	err = s.launch(ctx, func() (daemonSpec, error) {
		if err := s.writeVCL(o); err != nil {
			return daemonSpec{}, err
		}
		pidFile := filepath.Join(s.Dir, "varnish.pid")
		return daemonSpec{
			path: program, pidFile: pidFile,
			args: []string{"-F", "-n", s.Dir, "-P", pidFile, "-j", "none", "-a", s.Addr(), "-f", s.VCLFile, "-s",
				"malloc,64m",
				"-p", "thread_pool_min=20", "-p", "thread_pools=1", "-p", "vsl_space=16m"},
		}, nil
	})
	if err != nil {
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

// URL returns http://host:port without a path.
func (s *VarnishServer) URL() string { return "http://" + s.Addr() }
