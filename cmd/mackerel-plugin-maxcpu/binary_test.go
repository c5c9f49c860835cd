package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/test/agenttest"
	"github.com/kasoku/kasoku/internal/test/turn"
)

// wait waits until a condition holds.
func wait(t *testing.T, what string, holds func() bool) {
	t.Helper()
	limit := time.Now().Add(30 * time.Second)
	for !holds() {
		if time.Now().After(limit) {
			t.Fatalf("waited for nothing: %s", what)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// samplerOf is the process that serves a socket; 0 when there is none.
func samplerOf(socket string) int {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return 0
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0
	}
	pid := 0
	_ = raw.Control(func(fd uintptr) {
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(cred.Pid)
		}
	})
	return pid
}

// samplesOf is what a sampler holds.
func samplesOf(t *testing.T, socket string) ring {
	t.Helper()
	c, err := dial(socket, os.Geteuid())
	if err != nil {
		t.Fatal(err)
	}
	var r ring
	if err := errors.Join(c.call(request{Word: wordSamples}, &r, answerIn), c.close()); err != nil {
		t.Fatal(err)
	}
	return r
}

// gone reports whether a process has ended, even when its exit status has not been collected.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || bytes.Contains(stat, []byte(") Z "))
}

// endOf stops the sampler of a socket at the end of a test.
func endOf(t *testing.T, socket string) {
	t.Cleanup(func() {
		if pid := samplerOf(socket); pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGTERM)
			wait(t, "the sampler's end", func() bool { return gone(pid) })
		}
	})
}

var five = strings.Fields("maxcpu.us_sy_wa_si_st_usage.max maxcpu.us_sy_wa_si_st_usage.min maxcpu.us_sy_wa_si_st_usage.avg maxcpu.us_sy_wa_si_st_usage.90pt maxcpu.us_sy_wa_si_st_usage.75pt")

// TestBinary runs the binary as the agent does, on the real /proc/stat, and replaces
// it below its own sampler.
func TestBinary(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("-short: seconds of real samples")
	}
	bin := agenttest.Build(t)
	a := agenttest.New(t)
	socket := filepath.Join(t.TempDir(), "maxcpu.sock")
	endOf(t, socket)
	argv := []string{bin, "--socket", socket}
	defs, r := a.Definitions(t, argv...)
	agenttest.Show(t, r, "MACKEREL_AGENT_PLUGIN_META=1 mackerel-plugin-maxcpu -s /run/maxcpu.sock")
	if _, err := os.Lstat(socket); err == nil {
		t.Error("graph definitions start a sampler")
	}

	// A pipe that somebody left open for the agent is not kept open by the sampler.
	pipe, err := os.Create(filepath.Join(a.WorkDir, "inherited"))
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	if _, err := unix.FcntlInt(pipe.Fd(), unix.F_SETFD, 0); err != nil {
		t.Fatal(err)
	}
	points, r := a.Values(t, argv...)
	want := regexp.MustCompile(`^check daemon alive failed: .*no such file or directory\nstart background process\n$`)
	if len(points) > 0 || r.ExitCode != 0 || !want.MatchString(r.Stderr) {
		t.Errorf("the first run: %v, %+v", points, r)
	}
	agenttest.Show(t, r, "mackerel-plugin-maxcpu -s /run/maxcpu.sock")
	points, r = a.Values(t, argv...)
	if early := r.ExitCode == 1 && r.Stdout == "" && strings.Contains(r.Stderr, "calculating now"); !early && len(points) != len(five) {
		t.Errorf("at once again: %+v", r) // on a slow machine there may be samples by now
	}
	first := samplerOf(socket)
	checkDetached(t, first, socket)

	var second []agenttest.Point
	wait(t, "two samples", func() bool { return len(samplesOf(t, socket).Samples) >= 3 })
	for range 2 { // polled twice: the second is answered too
		second, r = a.Values(t, argv...)
		if names := agenttest.Names(second); !slices.Equal(names, five) || r.ExitCode != 0 || r.Stderr != "" {
			t.Fatalf("got %q, %+v", names, r)
		}
		checkFive(t, second)
		if missing := defs.Missing(second); len(missing) > 0 {
			t.Errorf("without a definition: %q", missing)
		}
	}
	agenttest.Show(t, r, "mackerel-plugin-maxcpu -s /run/maxcpu.sock")
	replace(t, a, bin, socket, first)
}

// checkFive: each number has a fraction, and their order is right.
func checkFive(t *testing.T, points []agenttest.Point) {
	t.Helper()
	var v [5]float64
	for i, p := range points {
		v[i] = p.Value
		if !regexp.MustCompile(`^\d+\.\d{6}$`).MatchString(p.Number) || p.Time != points[0].Time {
			t.Errorf("%+v", p)
		}
	}
	maximum, minimum, mean, p90, p75 := v[0], v[1], v[2], v[3], v[4]
	if maximum < p90 || p90 < p75 || p75 < minimum || mean < minimum || mean > maximum || minimum < 0 || maximum > 100 {
		t.Errorf("max, min, avg, 90pt, 75pt are %v", v)
	}
}

// checkDetached: the sampler is a session of its own, on /dev/null, and answers on a
// private socket.
func checkDetached(t *testing.T, pid int, socket string) {
	t.Helper()
	if session, err := unix.Getsid(pid); err != nil || session != pid {
		t.Errorf("the session of sampler %d is %d, %v", pid, session, err)
	}
	for fd := range 3 {
		if to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd)); to != "/dev/null" {
			t.Errorf("its file %d is %q, %v", fd, to, err)
		}
	}
	if to, _ := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd"); to != "/" {
		t.Errorf("it keeps the directory %q busy", to)
	}
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, f := range files {
		if to, _ := os.Readlink(f); strings.HasSuffix(to, "/inherited") {
			t.Errorf("it keeps %s open", to)
		}
	}
	if info, err := os.Lstat(socket); err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("the socket: %v, %v", info, err)
	}
}

// replace puts another binary in the place of the running one, and looks at what the
// new sampler got from the old one.
func replace(t *testing.T, a *agenttest.Agent, bin, socket string, first int) {
	t.Helper()
	before := samplesOf(t, socket)
	content, err := os.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(bin+".new", content, 0o755), os.Rename(bin+".new", bin)); err != nil {
		t.Fatal(err)
	}
	wait(t, "a sampler of the new binary", func() bool { pid := samplerOf(socket); return pid != 0 && pid != first })
	wait(t, "the end of the old one", func() bool { return gone(first) })
	next := samplerOf(socket)
	checkDetached(t, next, socket)
	n := len(samplesOf(t, socket).Samples)
	wait(t, "samples of the new sampler", func() bool { return len(samplesOf(t, socket).Samples) > n+1 })
	after := samplesOf(t, socket)
	if after.Samples[0].At != before.Samples[0].At {
		t.Errorf("the old samples are lost: %+v, had %+v", after.Samples[0], before.Samples[0])
	}
	for i := 1; i < len(after.Samples); i++ {
		if s := after.Samples[i]; s.At-s.For != after.Samples[i-1].At {
			t.Errorf("sample %d begins %s after the one before", i, time.Duration(s.At-s.For-after.Samples[i-1].At))
		}
	}
	if _, known := after.Askers[a.WorkDir]; !known {
		t.Errorf("the agent is forgotten: %v", after.Askers)
	}

	// The same sampler follows the interval of the newest poll, up and down; more is
	// printed on wish.
	every := func(holds func(time.Duration) bool) func() bool {
		return func() bool {
			all := samplesOf(t, socket).Samples
			return holds(time.Duration(all[len(all)-1].For))
		}
	}
	argv := []string{bin, "-s", socket, "--interval", "100ms", "--per-cpu", "--seconds-above-90"}
	a.Values(t, argv...)
	wait(t, "ten samples a second", every(func(d time.Duration) bool { return d < 200*time.Millisecond }))
	points, r := a.Values(t, argv...)
	names := agenttest.Names(points)
	if len(names) < 13 || !slices.Equal(names[:5], five) || names[5] != "maxcpu.busiest_cpu_usage.max" || r.Stderr != "" ||
		!slices.Contains(names, "maxcpu.per_cpu_max.cpu0") || names[len(names)-1] != "maxcpu.seconds_above_90.busiest_cpu" {
		t.Errorf("more, on wish: %q, %+v", names, r)
	}
	checkFive(t, points[5:10])
	defs, _ := a.Definitions(t, argv...)
	if missing := defs.Missing(points); len(missing) > 0 {
		t.Errorf("without a definition: %q", missing)
	}
	agenttest.Show(t, r, "mackerel-plugin-maxcpu -s /run/maxcpu.sock --interval 100ms --per-cpu --seconds-above-90")
	a.Values(t, bin, "-s", socket)
	wait(t, "one sample a second", every(func(d time.Duration) bool { return d > 900*time.Millisecond }))
	last := samplerOf(socket)
	if last != next {
		t.Error("another interval is another sampler")
	}
	_ = syscall.Kill(last, syscall.SIGTERM)
	wait(t, "the end by TERM", func() bool { return gone(last) })
	if _, err := os.Lstat(socket); err == nil {
		t.Error("the socket is left over")
	}
}

// inProcess runs the program in this process, with a binary that is none.
func inProcess(args ...string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	e := env{&stdout, &stderr, func(string) string { return "" }, "/no/such/binary"}
	code = run(context.Background(), args, e)
	return code, stdout.String(), stderr.String()
}

func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ args, want string }{
		{"", "the required flag `-s, --socket' was not specified"},
		{"-s x y", "unexpected \"y\""},
		{"-s x --interval 50ms", "--interval 50ms: not between 100ms and 1s"},
		{"-s " + dir + "/none/x", "no such file or directory"},
		{"-s " + file + "/x", "not a directory"},
		{"-s " + dir + "/" + strings.Repeat("x", 100), "96 is the most"},
		{"-s " + dir + "/x", "start \"/no/such/binary\""},
		{"--as-daemon -s " + file, "is not a socket: it is left alone"},
	} {
		code, out, errs := inProcess(strings.Fields(tt.args)...)
		if code != 1 || out != "" || !strings.Contains(errs, tt.want) {
			t.Errorf("%q: exit %d, %q, %q, want %q", tt.args, code, out, errs, tt.want)
		}
	}
	if code, out, _ := inProcess("-v"); code != 0 || !strings.HasPrefix(out, name+"-") {
		t.Errorf("--version: exit %d, %q", code, out)
	}
}

// TestForeign: a socket of another user is not talked to.
func TestForeign(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if _, err := dial(path, os.Geteuid()+1); !errors.Is(err, errForeign) {
		t.Errorf("got %v", err)
	}
	c, err := dial(path, os.Geteuid())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.close(); err != nil {
		t.Error(err)
	}
}

// TestStranger: what answers in another language is no sampler, and a sampler hangs
// up on what asks in one.
func TestStranger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	s := newSampler()
	srv, err := listen(path, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, ask := range []string{"GET stats\r\n", `{"Protocol":1,"Word":"stats"}`, `{"Protocol":2,"Word":"?"}`, strings.Repeat(" ", maxRequest+1)} {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, ask) // it may hang up first
		if got, _ := io.ReadAll(conn); len(got) > 0 {
			t.Errorf("%.20q: %q", ask, got)
		}
		_ = conn.Close()
	}
	if err := srv.close(); err != nil {
		t.Error(err)
	}

	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
			_ = conn.Close()
		}
	}()
	old, err := takeOver(path, s)
	if old != nil || err != nil || len(s.ring.Samples) > 0 {
		t.Errorf("taken over from a stranger: %v, %v", old, err)
	}
}
