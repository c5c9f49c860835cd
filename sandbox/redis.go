package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/internal/command"
)

// RedisOptions configure how to run a private Redis.
type RedisOptions struct {
	// Dir is where everything goes. Empty: a temporary one, removed when the server
	// stops.
	Dir string
	// Port on 127.0.0.1; 0 takes a free one.
	Port int
	// Password that clients must give; empty: none. It holds no quote and no
	// backslash.
	Password string
	// TLS, when set, is what the port speaks; nothing is heard that does not.
	TLS *RedisTLS
	// Config are further lines of redis.conf.
	Config string
}

// RedisTLS are the files that a Redis shows, and whose certificates it takes. Clients
// need none unless Config says tls-auth-clients yes.
type RedisTLS struct{ Cert, Key, CACert string }

// A RedisServer is a running or stopped Redis. Its methods are safe for concurrent
// use.
type RedisServer struct {
	Daemon
	ConfigFile string
}

const redisHint = "install it: sudo apt-get install redis-server (no need to run it)"

// Redis starts a Redis with the system's binary, as the calling user, root
// included. It writes no snapshots by itself. The context bounds the start alone;
// the server lives until [Daemon.Stop], or the process that started it dies.
func Redis(ctx context.Context, o RedisOptions) (*RedisServer, error) {
	program, err := command.LookPath("redis-server")
	if err != nil {
		return nil, &Error{Err: fmt.Errorf("redis: %w", err), hint: redisHint}
	}
	s := &RedisServer{}
	if err := s.place("redis", o.Dir, o.Port); err != nil {
		return nil, err
	}
	s.ConfigFile = filepath.Join(s.Dir, "redis.conf")
	err = s.launch(ctx, func() (daemonSpec, error) {
		pidFile := filepath.Join(s.Dir, "redis.pid")
		// It may hold a password.
		return daemonSpec{path: program, args: []string{s.ConfigFile}, pidFile: pidFile},
			os.WriteFile(s.ConfigFile, []byte(s.configure(o, pidFile)), 0o600)
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// configure returns the text of redis.conf.
func (s *RedisServer) configure(o RedisOptions, pidFile string) string {
	var b strings.Builder
	port := fmt.Sprintf("port %d", s.Port)
	if f := o.TLS; f != nil {
		port = fmt.Sprintf("port 0\ntls-port %d\ntls-auth-clients no\ntls-cert-file %q\ntls-key-file %q\ntls-ca-cert-file %q", s.Port, f.Cert, f.Key, f.CACert)
	}
	fmt.Fprintf(&b, "bind 127.0.0.1\n%s\ndaemonize no\nsave \"\"\nappendonly no\n", port)
	fmt.Fprintf(&b, "dir %s\npidfile %s\n", strconv.Quote(s.Dir), strconv.Quote(pidFile))
	if o.Password != "" {
		fmt.Fprintf(&b, "requirepass \"%s\"\n", o.Password)
	}
	b.WriteString(o.Config)
	return b.String()
}
