package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// startSink runs a sink until the returned function is called.
func startSink(t *testing.T, o sinkOptions) (addr string, finish func() sinkReport) {
	t.Helper()
	o.addr = netip.MustParseAddrPort("127.0.0.1:0")
	s, err := newSink(o)
	if err != nil {
		t.Fatal(err)
	}
	port, err := s.port()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	type end struct {
		report sinkReport
		err    error
	}
	ended := make(chan end, 1)
	go func() {
		r, err := s.run(ctx)
		ended <- end{r, err}
	}()
	return fmt.Sprintf("127.0.0.1:%d", port), func() sinkReport {
		t.Helper()
		cancel()
		select {
		case e := <-ended:
			if e.err != nil {
				t.Fatal(e.err)
			}
			return e.report
		case <-time.After(10 * time.Second):
			t.Fatal("the sink does not end")
		}
		panic("unreachable")
	}
}

func TestSinkAnswersAsNginx(t *testing.T) {
	addr, finish := startSink(t, sinkOptions{body: bodyBytes, record: 100, perSec: 1000})
	c := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{}}
	defer c.CloseIdleConnections()
	for range 3 {
		resp, err := c.Get("http://" + addr + "/file")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || len(body) != bodyBytes || !strings.HasPrefix(resp.Header.Get("Server"),
			"nginx") {
			t.Fatalf("%s, %d bytes, %v, %v", resp.Status, len(body), resp.Header, err)
		}
	}
	r := finish()
	if r.Requests != 3 || r.Connections != 1 || r.PeakOpen != 1 || r.Pacing == nil || r.Last < r.First || r.Stall != nil {
		t.Errorf("%+v", r)
	}
}

// Requests that are split anywhere or come together are all answered, in turn.
func TestSinkPipelining(t *testing.T) {
	const n = 200
	addr, finish := startSink(t, sinkOptions{body: 100})
	conn := dial(t, addr)
	go func() {
		all := []byte(strings.Repeat("GET / HTTP/1.1\r\nHost: a\r\n\r\n", n))
		for len(all) > 0 {
			k, err := conn.Write(all[:min(len(all), 13)])
			if err != nil {
				return
			}
			all = all[k:]
		}
	}()
	readAnswers(t, conn, n)
	if r := finish(); r.Requests != n {
		t.Errorf("counted %d requests, want %d", r.Requests, n)
	}
}

func TestSinkStandsStill(t *testing.T) {
	const stall = 200 * time.Millisecond
	addr, finish := startSink(t, sinkOptions{body: 10, stallFor: stall})
	conns := []net.Conn{dial(t, addr), dial(t, addr)}
	began := time.Now()
	for _, c := range conns {
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	conns[1].Close() // an answer that is not waited for is not taken for another connection's
	late := dial(t, addr)
	if _, err := io.WriteString(late, "GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	readAnswers(t, conns[0], 1)
	if d := time.Since(began); d < stall-time.Millisecond {
		t.Errorf("answered after %s, while it was to stand still for %s", d, stall)
	}
	readAnswers(t, late, 2)
	r := finish()
	if r.Requests != 4 || r.Connections != 3 || r.Stall == nil || r.Stall.For != stall || r.Stall.Drained < 1 {
		t.Errorf("%+v, stall %+v", r, r.Stall)
	}
}

func TestSinkTakesItsTime(t *testing.T) {
	const service = 50 * time.Millisecond
	addr, finish := startSink(t, sinkOptions{body: 10, service: service})
	conn, began := dial(t, addr), time.Now()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	readAnswers(t, conn, 1)
	if d := time.Since(began); d < service {
		t.Errorf("answered after %s, not %s", d, service)
	}
	finish()
}

// A peer that does not read is no reason to lose an answer.
func TestSinkKeepsWhatIsNotTaken(t *testing.T) {
	const n = 200
	addr, finish := startSink(t, sinkOptions{body: 100_000})
	conn := dial(t, addr)
	if _, err := io.WriteString(conn, strings.Repeat("GET / HTTP/1.1\r\n\r\n", n)); err != nil {
		t.Fatal(err)
	}
	readAnswers(t, conn, n)
	finish()
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return c
}

func readAnswers(t *testing.T, c net.Conn, n int) {
	t.Helper()
	r := bufio.NewReader(c)
	for i := range n {
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("answer %d: %v", i+1, err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatalf("answer %d: %v", i+1, err)
		}
	}
}

// However a stream of requests is cut, the same number of them is found.
func TestRequestsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stream := []byte(rapid.StringMatching(`([\r\n]|ab|\r\n\r\n|a\r\n){0,30}`).Draw(t, "stream"))
		var got, part int
		for rest := stream; len(rest) > 0; {
			k := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			var n int
			n, part = countRequests(rest[:k], part)
			got, rest = got+n, rest[k:]
		}
		if want := bytes.Count(stream, end); got != want {
			t.Errorf("%q: found %d ends, want %d", stream, got, want)
		}
	})
}

func TestQueue(t *testing.T) {
	var q queue
	next := 0
	for i := range 10_000 {
		q.push(owed{fd: int32(i)})
		if i%3 == 0 {
			continue
		}
		if o, ok := q.first(); !ok || int(o.fd) != next {
			t.Fatalf("first is %v, want %d", o.fd, next)
		}
		q.pop()
		next++
	}
	if q.len() != 10_000-next {
		t.Errorf("%d left, want %d", q.len(), 10_000-next)
	}
}
