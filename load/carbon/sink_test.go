package carbon

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A sink is a server on loopback that keeps what each connection sends.
type sink struct {
	l     net.Listener
	group sync.WaitGroup

	mu    sync.Mutex // guards the following field
	conns []*bytes.Buffer
}

// newSink returns a sink; serve handles one connection, nil keeps all that it sends.
func newSink(t testing.TB, serve func(net.Conn)) *sink {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &sink{l: l}
	s.group.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.group.Go(func() {
				defer conn.Close()
				if serve != nil {
					serve(conn)
					return
				}
				b := new(bytes.Buffer)
				s.mu.Lock()
				s.conns = append(s.conns, b)
				s.mu.Unlock()
				if _, err := io.Copy(b, conn); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Logf("sink: %v", err)
				}
			})
		}
	})
	t.Cleanup(func() { l.Close(); s.group.Wait() })
	return s
}

func (s *sink) addr() string { return s.l.Addr().String() }

// texts is what each connection has sent that sent anything, when all have ended.
func (s *sink) texts() (out []string) {
	s.l.Close()
	s.group.Wait()
	for _, b := range s.conns {
		if b.Len() > 0 {
			out = append(out, b.String())
		}
	}
	return out
}

// A point as it was sent.
type point struct {
	path  string
	value float64
	time  int64
}

// parseLines takes lines apart, strictly.
func parseLines(t testing.TB, text string) (out []point) {
	t.Helper()
	if text != "" && !strings.HasSuffix(text, "\n") {
		t.Fatalf("the last line has no end: %q", text[max(0, len(text)-80):])
	}
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(f) != 3 {
			t.Fatalf("line %q", line)
		}
		v, err := strconv.ParseFloat(f[1], 64)
		at, err2 := strconv.ParseInt(f[2], 10, 64)
		if err != nil || err2 != nil || v < 0 || v > 999 {
			t.Fatalf("line %q: %v %v", line, err, err2)
		}
		out = append(out, point{f[0], v, at})
	}
	return out
}

// options are those of a small load of a server.
func options(addr string) Options {
	return Options{Address: addr, Protocol: "line", Names: "t.agent.{agent}.metrics.{metric}", Agents: 1, Metrics: 100,
		Interval: time.Second, Duration: 200 * time.Millisecond}
}
