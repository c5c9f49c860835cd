package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
	"github.com/kasoku/kasoku/trace/kernel"
)

// TestRecordTraces: a recording watches the service where it keeps the right to, unless [trace] says that it
// is off, and says so where it does not and was asked for it.
func TestRecordTraces(t *testing.T) {
	t.Parallel()
	if err := kernel.Permitted(); errors.Is(err, os.ErrPermission) && os.Geteuid() != 0 {
		t.Skipf("takes root, or CAP_BPF and CAP_PERFMON: %v", err)
	}
	port, err := sandbox.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	server := exec.Command("python3", "-m", "http.server", "--bind", "127.0.0.1", "--directory", dir, fmt.Sprint(port))
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	address := fmt.Sprintf("127.0.0.1:%d", port)
	sandboxtest.Until(t, "its port", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan bool)
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if resp, err := http.Get("http://" + address + "/"); err == nil {
				_ = resp.Body.Close()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	defer func() { cancel(); <-done }()
	says := func(trace string) {
		text := fmt.Sprintf("[service]\nport = %d\n\n[trace]\n%s", port, trace)
		if err := os.WriteFile(filepath.Join(dir, "kasoku.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	record := func(args ...string) string {
		cmd := exec.Command("kasoku", append([]string{"record"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	says("after = '4s'\n") // that it is not asked for does not matter
	out := record("--for", "15s", "--keep-rights", "--out", "kept.kasoku")
	rec, err := store.Open(filepath.Join(dir, "kept.kasoku"))
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.Traces) != 1 || rec.Traces[0].Refused != "" || rec.Traces[0].Counts.Requests == 0 {
		t.Errorf("%+v\n%s", rec.Traces, out)
	}
	if iv := rec.Traces[0].Interval; iv.Len() < time.Second || iv.Len() > 1600*time.Millisecond {
		t.Errorf("%s of 15 s were watched, want a tenth", iv.Len())
	}
	says("on = false\n")
	record("--for", "10s", "--keep-rights", "--out", "off.kasoku")
	if rec, err = store.Open(filepath.Join(dir, "off.kasoku")); err != nil || len(rec.Traces) != 0 {
		t.Errorf("%v %+v", err, rec.Traces)
	}
	says("on = true\n")
	if out := record("--for", "1s", "--out", "dropped.kasoku"); !strings.Contains(out, "--keep-rights leaves it") {
		t.Error(out)
	}
}
