package sandbox_test

import (
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/wire/whisper"
)

// TestCarbon: a value that is sent by lines over TCP and UDP, and one in a pickle,
// come to be in the files.
func TestCarbon(t *testing.T) {
	s := sandboxtest.Carbon(t, sandbox.CarbonOptions{Dir: filepath.Join(t.TempDir(), "a b"), MetricInterval: time.Second})
	taken(t, s, map[string]float64{"by.line": 1.5, "by.tag;a=1;b=2": 2.5, "by.udp": 3.5, "by.pickle": 4.5},
		"carbon.agents."+s.Host+".metricsReceived")
}

// TestGoCarbon: the same of go-carbon, which has no tags unless they are configured.
func TestGoCarbon(t *testing.T) {
	s := sandboxtest.GoCarbon(t, sandbox.CarbonOptions{Dir: filepath.Join(t.TempDir(), "a b"), MetricInterval: time.Second})
	taken(t, s, map[string]float64{"by.line": 1.5, "by.udp": 3.5, "by.pickle": 4.5},
		"carbon.agents."+s.Host+".tcp.metricsReceived")
}

// taken sends values to a server, finds them in its files, as one of its own, and
// stops it.
func taken(t *testing.T, s *sandbox.CarbonServer, want map[string]float64, own string) {
	t.Helper()
	now := time.Now().Unix()
	send := func(network, addr string, b []byte) {
		t.Helper()
		conn, err := net.Dial(network, addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	send("tcp", s.LineAddr(), fmt.Appendf(nil, "by.line 1.5 %d\nby.tag;b=2;a=1 2.5 %d\n", now, now))
	send("udp", s.UDPAddr(), fmt.Appendf(nil, "by.udp 3.5 %d\n", now))
	pickle, err := hex.DecodeString(fmt.Sprintf("80025d285809000000%x4a%s474012000000000000"+"8686652e", "by.pickle", little(now)))
	if err != nil {
		t.Fatal(err)
	}
	send("tcp", s.PickleAddr(), append([]byte{0, 0, 0, byte(len(pickle))}, pickle...))
	for metric, want := range want {
		points := await(t, s, metric)
		if len(points) != 1 || points[0] != (whisper.Point{Time: now, Value: want}) {
			t.Errorf("%s: %+v, want %v at %d", metric, points, want, now)
		}
	}
	await(t, s, own)
	conn, err := net.Dial("tcp", s.QueryAddr())
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if points, err := s.Points("no.such"); points != nil || err != nil {
		t.Errorf("%v, %v", points, err)
	}
}

func little(n int64) string {
	return fmt.Sprintf("%02x%02x%02x%02x", byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
}

// await waits until carbon has written a metric.
func await(t *testing.T, s *sandbox.CarbonServer, metric string) []whisper.Point {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(30 * time.Second)
	for {
		points, err := s.Points(metric)
		if err == nil && len(points) > 0 {
			return points
		}
		select {
		case <-tick.C:
		case <-limit:
			log, _ := os.ReadFile(s.LogFile)
			t.Fatalf("%s: %v, %v\n%s", metric, points, err, log)
		}
	}
}

// TestCarbon_Instances: two caches of a host share a directory of files, each with its own name.
func TestCarbon_Instances(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		s := sandboxtest.Carbon(t, sandbox.CarbonOptions{MetricInterval: time.Second, Instance: name, StorageDir: dir})
		if !strings.HasSuffix(s.Host, "-"+name) {
			t.Errorf("%s is called %s", name, s.Host)
		}
		own := filepath.Join(dir, "whisper", "carbon", "agents", s.Host, "cpuUsage.wsp")
		sandboxtest.Until(t, own, func() bool { _, err := os.Stat(own); return err == nil })
	}
}
