package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// carbonSink is a server that takes lines, and what it took; without reads it takes none.
func carbonSink(t *testing.T, reads bool) (addr string, took func() string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all bytes.Buffer
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended); l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if !reads {
					<-ended
					return
				}
				b, _ := io.ReadAll(conn)
				mu.Lock()
				defer mu.Unlock()
				all.Write(b)
			}()
		}
	}()
	return l.Addr().String(), func() string {
		mu.Lock()
		defer mu.Unlock()
		return all.String()
	}
}

// attackCarbon runs kasoku attack and returns what it printed and its exit code.
func attackCarbon(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command("kasoku", append([]string{"attack"}, args...)...)
	cmd.Dir = t.TempDir()
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// TestAttackCarbon: the report in each form, the lines, and the exit codes.
func TestAttackCarbon(t *testing.T) {
	t.Parallel()
	addr, took := carbonSink(t, true)
	small := []string{"--carbon", addr, "--metrics", "40", "--interval", "500ms", "-duration", "1s", "--ramp", "0s"}
	out, errs, code := attackCarbon(t, append(small, "-o", "json", "--html", "page.html")...)
	var got struct {
		Kind  string
		Total struct{ Nominal, Sent, Acknowledged, Outstanding int }
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 || errs != "" {
		t.Fatalf("%d, %v, %s\n%s", code, err, errs, out)
	}
	if got.Kind != "carbon" || got.Total.Nominal != 80 || got.Total.Sent != 80 || got.Total.Acknowledged != 80 ||
		got.Total.Outstanding != 0 {
		t.Errorf("%+v", got)
	}
	if n := strings.Count(took(), "\n"); n != 80 ||
		!regexp.MustCompile(`(?m)^kasoku\.agent\.3\.metrics\.9 \d{1,3} \d{10}$`).MatchString(took()) {
		t.Errorf("%d lines came:\n%.300s", n, took())
	}
	for format, want := range map[string]string{"text": "80 points were due over 1 s, 80.0 a second: all arrived",
		"tsv": "acknowledged\t80\t80\t", "md": "| acknowledged | 80 |"} {
		if out, errs, code := attackCarbon(t, append(small, "-o", format)...); code != 0 || !strings.Contains(out,
			want) {
			t.Errorf("%s: %d %s\n%s", format, code, errs, out)
		}
	}
	for _, x := range []struct {
		code int
		want string
		args []string
	}{
		{cli.ExitUsage, `-rate`, []string{"--carbon", addr, "-rate", "5"}},
		{cli.ExitUsage, `--jitter does not go with --carbon`, []string{"--carbon", addr, "-jitter", "5s"}},
		{cli.ExitUsage, `--interval does not go with --as haggar`, []string{"--as", "haggar", "--interval", "5s"}},
		{cli.ExitUsage, `--metrics is for a load of carbon`, []string{"-metrics", "5", "http://127.0.0.1:1/"}},
		{cli.ExitUsage, `without "http`, []string{"--carbon", addr, "http://127.0.0.1:1/"}},
		{cli.ExitUsage, `want line, pickle or udp`, []string{"--carbon", addr, "--protocol", "http"}},
		{cli.ExitUsage, `want {metric} once`, []string{"--carbon", addr, "--names", "a.b"}},
		{cli.ExitUsage, `--as "k6": want haggar`, []string{"--as", "k6"}},
		{cli.ExitUsage, `--allow 192.0.2.1`, []string{"--carbon", "192.0.2.1:2003"}},
		{cli.ExitBad, `jitter value must be less than or equal to spawn-interval`, []string{"--as=haggar",
			"-jitter=2s", "-spawn-interval=1s"}},
		{cli.ExitCouldNot, `LINE_RECEIVER_PORT`, []string{"--carbon", "127.0.0.1:1"}},
	} {
		if out, errs, code := attackCarbon(t, x.args...); code != x.code || out != "" || !strings.Contains(errs,
			x.want) {
			t.Errorf("%v: exit %d, %q, %s", x.args, code, out, errs)
		}
	}
}

// TestAttackCarbon_Haggar: -as haggar takes haggar's flags, with one dash.
func TestAttackCarbon_Haggar(t *testing.T) {
	t.Parallel()
	addr, took := carbonSink(t, true)
	out, errs, code := attackCarbon(t, "-as=haggar", "-agents=2", "-metrics=300", "-carbon="+addr,
		"-flush-interval=200ms", "-jitter=10ms",
		"-spawn-interval=20ms", "-prefix=p", "-cache_connections", "-duration=900ms", "-o", "text")
	if code != 0 || !strings.Contains(out, "agents as haggar's") {
		t.Fatalf("%d %s\n%s", code, errs, out)
	}
	line := regexp.MustCompile(`^p\.agent\.[01]\.metrics\.\d+ \d{1,3} \d{10}\n$`)
	n := 0
	for l := range strings.Lines(took()) {
		if n++; !line.MatchString(l) {
			t.Fatalf("line %q", l)
		}
	}
	if n == 0 || n%300 != 0 {
		t.Errorf("%d lines", n)
	}
}

// TestAttackCarbon_Interrupt: a load of a server that reads nothing ends with what there is,
// and says that it was stopped.
func TestAttackCarbon_Interrupt(t *testing.T) {
	t.Parallel()
	addr, _ := carbonSink(t, false)
	cmd := exec.Command("kasoku", "attack", "--carbon", addr, "--metrics", "3000000", "--interval", "1s",
		"-duration", "10m", "--ramp", "0s")
	cmd.Dir = t.TempDir()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	sandboxtest.Until(t, "a connection that is full", func() bool {
		b, err := exec.Command("ss", "-tnH", "state", "established", "dst", addr).Output()
		full := regexp.MustCompile(`(?m)^\s*0\s+[1-9]\d{5,}`)
		return err == nil && full.Match(b)
	})
	time.Sleep(100 * time.Millisecond) // for the signal to come in the midst of a write
	began := time.Now()
	_ = cmd.Process.Signal(syscall.SIGINT)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitCouldNot || !strings.Contains(errs.String(),
		"stopped before the end") {
		t.Errorf("exit %d: %s", code, errs.String())
	}
	t.Logf("it ended %s after the signal", time.Since(began))
	if s := out.String(); !strings.Contains(s, "The load was stopped before its end.") || !strings.Contains(s,
		"not sent by the end") {
		t.Errorf("it printed\n%s", s)
	}
}

// TestAttackCarbon_Limits: of a real carbon-cache as shipped the report says that series are
// not created, and the line of carbon.conf.
func TestAttackCarbon_Limits(t *testing.T) {
	if testing.Short() {
		t.Skip("starts carbon-cache")
	}
	turn.Wait(t)
	c := sandboxtest.Carbon(t, sandbox.CarbonOptions{MetricInterval: time.Second,
		Settings: map[string]string{"MAX_UPDATES_PER_SECOND": "500", "MAX_CREATES_PER_MINUTE": "50"}})
	out, errs, code := attackCarbon(t, "--carbon", c.LineAddr(), "--metrics", "1000", "--interval", "1s",
		"-duration", "5s", "--ramp", "0s",
		"--query", c.QueryAddr(), "--storage", filepath.Join(c.StorageDir, "whisper"), "-o", "text")
	if code != 0 || !strings.Contains(out, "MAX_CREATES_PER_MINUTE = inf") || !strings.Contains(out,
		"creates dropped") {
		t.Errorf("%d %s\n%s", code, errs, out)
	}
	if _, err := os.Stat(filepath.Join(c.StorageDir, "whisper", "kasoku", "agent")); err != nil {
		t.Error(err)
	}
}
