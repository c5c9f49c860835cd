package sandbox_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

func TestRedis(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b")
	s := sandboxtest.Redis(t, sandbox.RedisOptions{Dir: dir, Password: "s3cret#x", Config: "maxmemory 10mb\n"})
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	r := bufio.NewReader(conn)
	for _, c := range []struct{ send, want string }{
		{"PING", "-NOAUTH"}, {"AUTH s3cret#x", "+OK"}, {"PING", "+PONG"}, {"SET a 1", "+OK"},
	} {
		fmt.Fprintf(conn, "%s\r\n", c.send)
		if got, err := r.ReadString('\n'); err != nil || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, %v, want %s", c.send, got, err, c.want)
		}
	}
	if s.Pid() == 0 {
		t.Error("it does not run")
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.Pid() != 0 {
		t.Error("it runs on")
	}
	if _, err := os.Stat(s.ConfigFile); err != nil {
		t.Errorf("a directory that was named stays: %v", err)
	}
}
