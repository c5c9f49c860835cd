package loadtest

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A Hostile server answers each path in its own wrong way. A path is the name of
// an [Answer], or one of
//
//	/reset      reads the request and resets the connection
//	/hang       reads the request and says nothing
//	/endless    sends a body without end
//	/endless-chunks, /endless-header, /endless-continue
//	            send chunks, header lines and 1xx answers without end
//	/stale      answers well, and closes when the connection is used again
//	/stale-reset  the same, with a reset
//	/idle-close answers well and closes the connection at once
//	/unread     answers before it reads the body, and then reads it
//	/unread-close answers before it reads the body, and closes
//	/unread-reset resets before it reads the body
//
// The query of an answer's URL says how it is sent:
//
//	cut=N       only its first N bytes
//	end=close, end=reset, end=hang, end=keep
//	            what comes after it; without it, what Answer.Ends says
//	bytes=1     byte by byte
//	slow=1      in ten pieces, which take half a second
type Hostile struct {
	ln     net.Listener
	early  map[string]net.Listener
	opened atomic.Int64

	wg    sync.WaitGroup
	mu    sync.Mutex
	conns map[net.Conn]bool
}

// lingers is how long the server waits for a client to close its side.
const lingers = time.Second

// Start starts a server on a free port of loopback. The end of the test stops it.
func Start(t testing.TB) *Hostile {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &Hostile{ln: ln, conns: map[net.Conn]bool{}, early: map[string]net.Listener{}}
	h.wg.Go(func() { h.accept(ln, h.serve) })
	for how, serve := range impatience {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		h.early[how] = ln
		h.wg.Go(func() { h.accept(ln, serve) })
	}
	t.Cleanup(h.stop)
	return h
}

// impatience is what is done with a connection before anything is read from it.
var impatience = map[string]func(*net.TCPConn){
	"close":  func(*net.TCPConn) {},
	"reset":  func(c *net.TCPConn) { _ = c.SetLinger(0) },
	"banner": func(c *net.TCPConn) { giveAndWait(c, "SSH-2.0-OpenSSH_9.2\r\n") },
	"answer": func(c *net.TCPConn) { giveAndWait(c, okay) },
}

func giveAndWait(c *net.TCPConn, s string) {
	_, _ = io.WriteString(c, s)
	_, _ = io.Copy(io.Discard, c)
}

// Early returns the URL of a server that does something with a connection before
// a request has come: close, reset, banner (it is none of HTTP), answer.
func (h *Hostile) Early(how string) string {
	if h.early[how] == nil {
		return "http:///" + how
	}
	return "http://" + h.early[how].Addr().String() + "/" + how
}

func (h *Hostile) stop() {
	h.ln.Close()
	for _, ln := range h.early {
		ln.Close()
	}
	h.mu.Lock()
	for c := range h.conns {
		c.Close()
	}
	h.mu.Unlock()
	h.wg.Wait()
}

// URL returns the URL of a path.
func (h *Hostile) URL(path string) string { return "http://" + h.Addr() + path }

// Addr returns host and port; empty when the server was not started.
func (h *Hostile) Addr() string {
	if h.ln == nil {
		return ""
	}
	return h.ln.Addr().String()
}

// Opened returns on how many connections a request began so far, those of strangers left
// out.
func (h *Hostile) Opened() int { return int(h.opened.Load()) }

func (h *Hostile) accept(ln net.Listener, serve func(*net.TCPConn)) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		h.mu.Lock()
		h.conns[c] = true
		h.mu.Unlock()
		h.wg.Go(func() {
			defer func() {
				c.Close()
				h.mu.Lock()
				delete(h.conns, c)
				h.mu.Unlock()
			}()
			serve(c.(*net.TCPConn))
		})
	}
}

// serve answers requests until one of them ends the connection.
func (h *Hostile) serve(c *net.TCPConn) {
	br := bufio.NewReader(c)
	for n := 0; ; n++ {
		if n == 0 {
			if _, err := br.Peek(1); err != nil {
				return // a scan of listeners sends nothing, a load does
			}
		}
		req, err := http.ReadRequest(br)
		if n == 0 && !isStranger(req, err) {
			h.opened.Add(1)
		}
		if err != nil {
			return
		}
		x := &exchange{TCPConn: c, br: br, req: req, first: n == 0}
		a, known := findAnswer(strings.TrimPrefix(req.URL.Path, "/"))
		switch {
		case !known:
			if !x.behave() {
				return
			}
		case !x.give(a):
			return
		}
	}
}

// isStranger reports whether a connection begins as those of a scan of this host's
// listeners, which `kasoku doctor` and its tests make while the load runs.
func isStranger(req *http.Request, err error) bool {
	var broken *net.OpError
	if err != nil {
		return !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.As(err, &broken)
	}
	return req.UserAgent() == "kasoku" // package topology
}

// An exchange is one request and its answer.
type exchange struct {
	*net.TCPConn
	br    *bufio.Reader
	req   *http.Request
	first bool // on its connection
}

const okay = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

// send sends text. A client that has gone is seen when its next request is read.
func (x *exchange) send(s string) { _, _ = io.WriteString(x, s) }

// read reads the body of the request.
func (x *exchange) read() { _, _ = io.Copy(io.Discard, x.req.Body) }

// give sends an answer as the query says, and reports whether the connection goes
// on.
func (x *exchange) give(a Answer) bool {
	x.read()
	q := x.req.URL.Query()
	answer, end := a.Bytes, q.Get("end")
	if end == "" && a.Ends {
		end = "close"
	}
	if x.req.Method == http.MethodHead {
		answer, end = withoutBody(answer, end)
	}
	if n, err := strconv.Atoi(q.Get("cut")); err == nil {
		answer = answer[:min(n, len(answer))]
	}
	switch {
	case q.Has("bytes"):
		x.pieces(answer, 1, runtime.Gosched)
	case q.Has("slow"):
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		x.pieces(answer, len(answer)/10+1, func() { <-tick.C })
	default:
		x.send(answer)
	}
	return x.end(end)
}

// pieces sends an answer in pieces, and pauses after each.
func (x *exchange) pieces(answer string, size int, pause func()) {
	for piece := range slices.Chunk([]byte(answer), size) {
		_, _ = x.Write(piece)
		pause()
	}
}

// withoutBody returns what of an answer is sent to a HEAD request, and how the
// connection goes on.
func withoutBody(answer, end string) (header, then string) {
	rest := strings.NewReader(answer)
	br := bufio.NewReader(rest)
	for {
		resp, err := http.ReadResponse(br, &http.Request{Method: http.MethodHead})
		if err != nil {
			return answer, end
		}
		_ = resp.Body.Close()
		if resp.StatusCode < 200 {
			continue
		}
		if !resp.Close {
			end = "keep"
		}
		return answer[:len(answer)-rest.Len()-br.Buffered()], end
	}
}

// end ends the connection, or does not.
func (x *exchange) end(how string) (goesOn bool) {
	switch how {
	case "close":
		_ = x.CloseWrite()
		_ = x.SetReadDeadline(time.Now().Add(lingers))
		_, _ = io.Copy(io.Discard, x.br)
	case "reset":
		_ = x.SetLinger(0)
	case "hang":
		_, _ = io.Copy(io.Discard, x.br) // until the client goes away
	default:
		return true
	}
	return false
}

// behave does what is no answer of the catalogue.
func (x *exchange) behave() (goesOn bool) {
	path := x.req.URL.Path
	if !strings.HasPrefix(path, "/unread") {
		x.read()
	}
	switch path {
	case "/reset":
		return x.end("reset")
	case "/hang":
		return x.end("hang")
	case "/endless":
		return x.endless("HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("x", 32<<10))
	case "/endless-chunks":
		return x.endless(chunked+"\r\n", strings.Repeat("400\r\n"+strings.Repeat("x", 1024)+"\r\n", 32))
	case "/endless-header":
		return x.endless("HTTP/1.1 200 OK\r\n", strings.Repeat("X-Header: value\r\n", 1000))
	case "/endless-continue":
		return x.endless("", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 1000))
	case "/stale", "/stale-reset":
		if x.first {
			x.send(okay)
			return true
		}
		if path == "/stale" {
			return x.end("close")
		}
		return x.end("reset")
	case "/idle-close":
		x.send(okay)
		return x.end("close")
	case "/unread":
		x.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")
		x.read()
		return true
	case "/unread-close":
		x.send("HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		return false
	case "/unread-reset":
		return x.end("reset")
	}
	x.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
	return true
}

func (x *exchange) endless(begin, block string) bool {
	_, err := io.WriteString(x, begin)
	for err == nil {
		_, err = io.WriteString(x, block)
	}
	return false
}
