package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/test/turn"
)

// A sniffer notes when the kernel took each request of a load from a link, by its number.
type sniffer struct {
	fd   int
	mu   sync.Mutex
	came map[int]time.Duration // CLOCK_REALTIME of the kernel, which all links have in common
}

func (r *fleetRig) sniff(link string) *sniffer {
	t := r.t
	t.Helper()
	dev, err := net.InterfaceByName(link)
	if err != nil {
		t.Fatal(err)
	}
	all := uint16(unix.ETH_P_IP)
	proto := int(all<<8 | all>>8)
	s := &sniffer{came: map[int]time.Duration{}}
	if s.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, proto); err != nil {
		t.Fatal(err)
	}
	_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 8<<20)
	_ = unix.SetsockoptTimeval(s.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 100_000})
	if err := unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
		t.Fatal(err)
	}
	if err := unix.Bind(s.fd, &unix.SockaddrLinklayer{Protocol: uint16(proto), Ifindex: dev.Index}); err != nil {
		t.Fatal(err)
	}
	end, over := make(chan struct{}), make(chan struct{})
	go func() { defer close(over); s.run(end) }()
	t.Cleanup(func() { close(end); <-over; _ = unix.Close(s.fd) })
	return s
}

func (s *sniffer) run(end chan struct{}) {
	b, oob := make([]byte, 1<<16), make([]byte, 256)
	name := []byte("X-Vegeta-Seq: ")
	for {
		select {
		case <-end:
			return
		default:
		}
		n, m, _, _, err := unix.Recvmsg(s.fd, b, oob, 0)
		if err != nil {
			continue // no packet for a while
		}
		var at time.Duration
		all, _ := unix.ParseSocketControlMessage(oob[:m])
		for _, c := range all {
			if c.Header.Level == unix.SOL_SOCKET && c.Header.Type == unix.SO_TIMESTAMPNS {
				ts := (*unix.Timespec)(unsafe.Pointer(&c.Data[0]))
				at = time.Duration(ts.Nano())
			}
		}
		for rest := b[:n]; ; {
			i := bytes.Index(rest, name)
			if i < 0 {
				break
			}
			rest = rest[i+len(name):]
			number, _, _ := bytes.Cut(rest, []byte("\r"))
			seq, err := strconv.Atoi(string(number))
			s.mu.Lock()
			if _, again := s.came[seq]; err == nil && !again {
				s.came[seq] = at
			}
			s.mu.Unlock()
		}
	}
}

// start is when the schedule began by the packets: no request comes before it is due, so the one that was sent
// with the least delay says so.
func (s *sniffer) start(perSec int) (least time.Duration, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for seq, at := range s.came {
		if began := at - time.Duration(seq)*time.Second/time.Duration(perSec); n == 0 || began < least {
			least = began
		}
		n++
	}
	return least, n
}

// TestFleetStart: generators whose clocks differ by hours, a quarter of a millisecond from the hub each way, begin
// one schedule within a millisecond, by the stamps that one kernel gives their packets; what is said of each clock,
// and of the starts, holds.
func TestFleetStart(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("it builds both programs")
	}
	if os.Getuid() != 0 {
		t.Skip("namespaces are made by root")
	}
	r := newFleetRig(t)
	team := &teamRig{fleetRig: r, ns: map[string]string{}, agents: map[string]*exec.Cmd{}}
	skews := map[string]int{"gen1": 0, "gen2": 5000, "gen3": 86400, "gen4": 17} // seconds of CLOCK_MONOTONIC
	var names []string
	for n := range len(skews) {
		names = append(names, fmt.Sprintf("gen%d", n+1))
		team.ns[names[n]], _ = r.namespace(n + 1)
	}
	l, err := net.Listen("tcp", r.address(1, 1)+":0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	go srv.Serve(l)
	defer srv.Close()
	url := "http://" + l.Addr().String() + "/"
	team.startHub()
	sniffers := map[string]*sniffer{}
	for n, name := range names {
		r.path(n + 1).delay = 250 * time.Microsecond
		line, errs, code := r.run("hub", "hub", "invite", name)
		if code != 0 {
			t.Fatalf("invite: exit %d, %s", code, errs)
		}
		cmd := r.command(context.Background(), name, "agent", strings.TrimSpace(line), "--name", name, "--allow",
			"load="+url)
		cmd.Args = append([]string{"ip", "netns", "exec", team.ns[name], "unshare", "--time", "--monotonic",
			strconv.Itoa(skews[name]), "--fork", cmd.Path}, cmd.Args[1:]...)
		cmd.Path, cmd.Err = exec.LookPath("ip")
		_, team.agents[name] = team.background("answers at hub", cmd)
		t.Cleanup(func() { // unshare waits for its child, whatever it is sent
			for _, pid := range strings.Fields(must(t, "ip", "netns", "pids", team.ns[name])) {
				if n, _ := strconv.Atoi(pid); n > 1 {
					_ = syscall.Kill(n, syscall.SIGTERM)
				}
			}
		})
		sniffers[name] = r.sniff(fmt.Sprintf("kf%d-%d", r.net, n+1))
	}
	// A host that is busy sends late, and the stamps have that; it takes nothing from a start.
	var wrong string
	for range 3 {
		if wrong = r.startsOnce(url, names, skews, sniffers); wrong == "" {
			return
		}
		t.Log(wrong)
	}
	t.Error(wrong)
}

// startsOnce has them send a load, and returns what is wrong with their starts.
func (r *fleetRig) startsOnce(url string, names []string, skews map[string]int, sniffers map[string]*sniffer) string {
	t := r.t
	t.Helper()
	for _, s := range sniffers {
		s.mu.Lock()
		clear(s.came)
		s.mu.Unlock()
	}
	const perSec, seconds = 2000, 5
	out, errs, code := r.run("hub", "attack", "--from", strings.Join(names, ","), "-rate", strconv.Itoa(perSec),
		"-duration", fmt.Sprintf("%ds", seconds), "-o", "json", url)
	var got struct {
		Generators []struct {
			Generator string
			Offset    float64 `json:"clock_offset_s"`
			Bound     float64 `json:"clock_bound_s"`
		}
		Skew float64 `json:"skew_s"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 || len(got.Generators) != len(names) {
		t.Fatalf("exit %d, %v, %s%s", code, err, out, errs)
	}
	var first, last time.Duration
	for i, g := range got.Generators {
		if off := g.Offset - float64(skews[g.Generator]); max(off, -off) > g.Bound {
			t.Errorf("%s: its clock is %.0f µs off what is said, ± %.0f µs", g.Generator, off*1e6, g.Bound*1e6)
		}
		at, n := sniffers[g.Generator].start(perSec)
		if n < perSec*seconds/len(names)*9/10 {
			t.Fatalf("%s: %d packets with a request", g.Generator, n)
		}
		if i == 0 {
			first, last = at, at
		}
		first, last = min(first, at), max(last, at)
		t.Logf("%s: offset %.6f s ± %.0f µs", g.Generator, g.Offset, g.Bound*1e6)
	}
	skew := last - first
	t.Logf("starts differ by %s by packets, at most %.0f µs as is said", skew, got.Skew*1e6)
	// What a request takes from when it is due to the link is in the stamps, and not in the clocks.
	const sending = 300 * time.Microsecond
	if skew > time.Millisecond || skew > time.Duration(got.Skew*1e9)+sending {
		return fmt.Sprintf("starts differ by %s by packets, %.0f µs are said", skew, got.Skew*1e6)
	}
	return ""
}
