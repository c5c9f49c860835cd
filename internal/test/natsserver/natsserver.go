// Package natsserver is a nats-server for tests, as the distribution has it: somebody's own cluster.
package natsserver

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/command"
)

// TLS is a configuration's part that has the server speak TLS with [Server].Dir's hub.pem.
const TLS = "tls { cert_file: hub.pem, key_file: hub.pem }\n"

// patience is how long a server may take for what it is asked.
const patience = 20 * time.Second

// A Server is one of them. It is used by one goroutine.
type Server struct {
	At  string // HOST:PORT
	Dir string // of its configuration and log; it holds hub.pem, a key and its certificate

	process *command.Process // nil: it does not run
}

// Free returns an address of the loopback at which nothing listens.
func Free(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Serve starts the server with a configuration, or has the one that runs take it, and returns
// when it has.
func (s *Server) Serve(t testing.TB, conf string) {
	t.Helper()
	text := fmt.Sprintf("listen: %q\nlog_file: %q\n%s", s.At, s.log(), conf)
	if err := os.WriteFile(s.conf(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if s.process == nil {
		s.Start(t)
		return
	}
	taken := s.said("Reloaded server configuration")
	if err := s.process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.await(t, "it takes another configuration", func() bool { return s.said("Reloaded server configuration") > taken })
}

// Start starts the server with the configuration of before. It ends with the test.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	p, err := command.Start(context.Background(), command.Spec{Path: "nats-server",
		Args: []string{"-c", s.conf()}, Dir: s.Dir})
	if err != nil {
		t.Fatal(err, "; tools/setup installs nats-server")
	}
	s.process = p
	t.Cleanup(func() { _, _ = p.Kill() })
	s.await(t, "it listens", func() bool {
		conn, err := net.Dial("tcp", s.At)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

// Kill kills the server with kill -9.
func (s *Server) Kill() {
	_, _ = s.process.Kill()
	s.process = nil
}

// Logged waits for a line of the server's log that has all these words, as they are there.
func (s *Server) Logged(t testing.TB, words ...string) {
	t.Helper()
	s.await(t, fmt.Sprintf("it logs %q", words), func() bool { return s.said(words...) > 0 })
}

// said counts the lines of its log that have all these words.
func (s *Server) said(words ...string) (n int) {
	b, _ := os.ReadFile(s.log()) // it is not there at first
lines:
	for line := range bytes.Lines(b) {
		for _, w := range words {
			if !bytes.Contains(line, []byte(w)) {
				continue lines
			}
		}
		n++
	}
	return n
}

func (s *Server) conf() string { return filepath.Join(s.Dir, "nats.conf") }
func (s *Server) log() string  { return filepath.Join(s.Dir, "nats.log") }

func (s *Server) await(t testing.TB, what string, is func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for !is() {
		select {
		case <-deadline:
			b, _ := os.ReadFile(s.log())
			t.Fatalf("nats-server at %s: it is not seen that %s\n%s", s.At, what, b)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
