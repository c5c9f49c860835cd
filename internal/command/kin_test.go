package command

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestSignalStranger: once a child is reaped its number may be a stranger's, who gets no signal.
func TestSignalStranger(t *testing.T) {
	p, err := Start(t.Context(), Spec{Path: "true"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	stranger := exec.CommandContext(t.Context(), "sleep", "60")
	stranger.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stranger.Wait() }()
	defer func() { _ = stranger.Process.Kill() }()
	p.cmd.Process = stranger.Process // the number was given anew
	if err := p.Signal(syscall.SIGKILL); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("signal: %v", err)
	}
	if _, err := p.Kill(); err != nil {
		t.Error(err)
	}
	if _, ok := StartOf(stranger.Process.Pid); !ok {
		t.Error("the stranger was killed")
	}
}

// TestSignalLeft: what a child leaves in its group still gets signals.
func TestSignalLeft(t *testing.T) {
	out := NewTail(100)
	p, err := Start(t.Context(), Spec{Path: "sh", Args: []string{"-c", "sleep 60 >/dev/null 2>&1 & echo $!"}, Stdout: out})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(); err != nil || strings.TrimSpace(out.String()) == "" {
		t.Fatal(err, out.String())
	}
	if err := p.Signal(syscall.SIGKILL); err != nil {
		t.Errorf("what is left: %v", err)
	}
	for p.anyAlive(nil) {
	}
	if err := p.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
}
