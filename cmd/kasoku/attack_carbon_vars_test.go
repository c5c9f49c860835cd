package main

import (
	"encoding/json"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestAttackCarbon_Vars: while it runs, --vars shows what was due, sent and acknowledged; an address that
// is taken is said before anything is sent.
func TestAttackCarbon_Vars(t *testing.T) {
	t.Parallel()
	addr, _ := carbonSink(t, true)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	taken := l.Addr().String()
	if out, errs, code := attackCarbon(t, "--carbon", addr, "--metrics", "10", "--vars", taken); code != cli.ExitCouldNot ||
		out != "" || !strings.Contains(errs, "--vars: listen tcp "+taken) {
		t.Errorf("taken: exit %d, %q, %s", code, out, errs)
	}
	l.Close()
	cmd := exec.Command("kasoku", "attack", "--carbon", addr, "--metrics", "100", "--interval", "100ms", "-duration", "1m",
		"--ramp", "0s", "--vars", taken)
	cmd.Dir = t.TempDir()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
	}()
	var got struct {
		Sender struct{ Due, Sent, Acknowledged, Outstanding, Connections int }
	}
	sandboxtest.Until(t, "points that were acknowledged", func() bool {
		resp, err := http.Get("http://" + taken + "/debug/vars")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return json.NewDecoder(resp.Body).Decode(&got) == nil && got.Sender.Acknowledged > 0
	})
	if s := got.Sender; s.Sent < s.Acknowledged || s.Due < s.Sent || s.Connections != 4 {
		t.Errorf("%+v", s)
	}
}
