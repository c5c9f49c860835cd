package nethttp

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/kasoku/kasoku/load"
)

// forgetful answers the first request of each connection and closes after it has
// read the second one. It counts the requests by the header N.
type forgetful struct {
	ln   net.Listener
	wg   sync.WaitGroup
	mu   sync.Mutex
	seen map[string]int
}

func startForgetful(t testing.TB) *forgetful {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &forgetful{ln: ln, seen: map[string]int{}}
	s.wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			s.wg.Go(func() { s.serve(c) })
		}
	})
	t.Cleanup(func() {
		ln.Close()
		s.wg.Wait()
	})
	return s
}

func (s *forgetful) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for answers := 1; ; answers-- {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		io.Copy(io.Discard, req.Body)
		s.mu.Lock()
		s.seen[req.Header.Get("N")]++
		s.mu.Unlock()
		if answers == 0 {
			return
		}
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	}
}

func TestOnlyIdempotentRequestsAreSentAgain(t *testing.T) {
	f := func(method string, header http.Header, body string, again bool) {
		t.Helper()
		s := startForgetful(t)
		const n = 20
		sum, hits := attack(t, t.Context(), Options{MaxInFlight: 1, SeqHeader: "N"}, n,
			load.Target{Method: method, URL: "http://" + s.ln.Addr().String() + "/", Header: header, Body: []byte(body)})
		var failed, twice int
		for _, h := range hits {
			if h.Err != "" {
				failed++
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, k := range s.seen {
			if k > 1 {
				twice++
			}
		}
		if len(s.seen) != n || again != (twice > 0) || again == (failed > 0) || sum.Resent != uint64(twice) || sum.Connections == 0 {
			t.Errorf("%s %v: the server saw %d of %d requests, %d of them twice; %d failed; the summary says %d were sent again on %d connections",
				method, header, len(s.seen), n, twice, failed, sum.Resent, sum.Connections)
		}
	}
	f("GET", nil, "", true)
	f("HEAD", nil, "", true)
	f("GET", nil, "with a body", true)
	f("POST", http.Header{"Idempotency-Key": {"1"}}, "x", true)
	f("POST", nil, "", false)
	f("POST", nil, "x", false)
	f("PUT", nil, "x", false)
	f("DELETE", nil, "", false)
}
