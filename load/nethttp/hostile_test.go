package nethttp

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// hostile is a server that answers each path in its own wrong way.
type hostile struct {
	ln    net.Listener
	wg    sync.WaitGroup
	mu    sync.Mutex
	conns []net.Conn
}

// answers are what the paths give; after each the connection is closed.
var answers = map[string]string{
	"/ok":            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
	"/fail":          "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 2\r\n\r\nno",
	"/teapot":        "HTTP/1.1 418 \x1b[31mteapot\r\nContent-Length: 0\r\n\r\n",
	"/close":         "",
	"/half-status":   "HTTP/1.1 20",
	"/half-header":   "HTTP/1.1 200 OK\r\nContent-Len",
	"/half-body":     "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
	"/half-chunk":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nhalf",
	"/bad-chunk":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhalf\r\n",
	"/garbage":       "\x00\x01\x02\xff\xfe not HTTP at all\r\n\r\n",
	"/negative":      "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
	"/two-lengths":   "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
	"/short-length":  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nfar more than two bytes",
	"/bad-header":    "HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
	"/code-9999":     "HTTP/1.1 9999 Over\r\nContent-Length: 0\r\n\r\n",
	"/huge-header":   "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 11<<20),
	"/many-continue": strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 50),
	"/early":         "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
	"/loop":          "HTTP/1.1 302 Found\r\nLocation: /loop\r\nContent-Length: 0\r\n\r\n",
	"/bad-location":  "HTTP/1.1 302 Found\r\nLocation: http://[::1/%\r\nContent-Length: 0\r\n\r\n",
}

func startHostile(t testing.TB) *hostile {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &hostile{ln: ln}
	s.wg.Go(s.accept)
	t.Cleanup(func() {
		ln.Close()
		s.mu.Lock()
		for _, c := range s.conns {
			c.Close()
		}
		s.mu.Unlock()
		s.wg.Wait()
	})
	return s
}

func (s *hostile) url(path string) string { return "http://" + s.ln.Addr().String() + path }

func (s *hostile) accept() {
	for {
		c, err := s.ln.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns = append(s.conns, c)
		s.mu.Unlock()
		s.wg.Go(func() { s.serve(c.(*net.TCPConn)) })
	}
}

func (s *hostile) serve(c *net.TCPConn) {
	defer c.Close()
	req, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	switch path := req.URL.Path; path {
	case "/reset":
		c.SetLinger(0)
	case "/reset-midway":
		io.WriteString(c, answers["/half-body"])
		c.SetLinger(0)
	case "/hang":
		io.Copy(io.Discard, c) // until the client goes away
	case "/hang-midway":
		io.WriteString(c, answers["/half-body"])
		io.Copy(io.Discard, c)
	case "/endless":
		io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		block := make([]byte, 32<<10)
		for err == nil {
			_, err = c.Write(block)
		}
	default:
		io.WriteString(c, answers[path])
		c.CloseWrite()
		c.SetReadDeadline(time.Now().Add(time.Second))
		io.Copy(io.Discard, c)
	}
}
