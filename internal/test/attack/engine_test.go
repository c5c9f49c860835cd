package attack

import (
	"bufio"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
)

// answers are what a hostile web server sends for each request: a head, and what follows
// without end; nothing follows what is empty.
var answers = map[string][2]string{
	"endless header":          {"HTTP/1.1 200 OK\r\nX-A: ", strings.Repeat("a", 16<<10)},
	"endless headers":         {"HTTP/1.1 200 OK\r\n", strings.Repeat("X-A: b\r\n", 2<<10)},
	"endless status":          {"HTTP/1.1 200 ", strings.Repeat("a", 16<<10)},
	"endless body":            {"HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("x", 16<<10)},
	"endless chunks":          {chunkedHead, strings.Repeat("400\r\n"+strings.Repeat("x", 1<<10)+"\r\n", 16)},
	"endless chunk extension": {chunkedHead + "1;", strings.Repeat("a", 16<<10)},
	"endless chunk size":      {chunkedHead, strings.Repeat("0", 16<<10)},
	"endless trailer":         {chunkedHead + "1\r\nx\r\n0\r\n", strings.Repeat("X-A: b\r\n", 2<<10)},
	"endless continue":        {"", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 1<<10)},
	"a huge chunk":            {chunkedHead + "7fffffffffffffff\r\n", strings.Repeat("x", 16<<10)},
	"100,000 headers":         {okHead + strings.Repeat("X-A: b\r\n", 100_000) + "\r\nok", ""},
	"a huge cookie":           {okHead + "Set-Cookie: a=" + strings.Repeat("b", 2<<20) + "\r\n\r\nok", ""},
	"a redirect without end":  {"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /" + strings.Repeat("a", 2<<20) + "\r\n\r\n", ""},
	"drips":                   {"HTTP/1.1 200 OK\r\n", dripping},
}

const (
	okHead      = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
	chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	dripping    = "X" // one byte at a time, slowly
)

// answering is the conduct of such a server.
func answering(answer [2]string) conduct {
	return func(c *net.TCPConn, r *rand.Rand) {
		in := bufio.NewReader(c)
		for {
			req, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			if _, err := io.WriteString(c, answer[0]); err != nil {
				return
			}
			switch answer[1] {
			case "":
			case dripping:
				drip(c, answer[1])
				return
			default:
				endless(answer[1])(c, r)
				return
			}
		}
	}
}

// drip sends a text again and again, slowly, until no one takes it.
func drip(c net.Conn, text string) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if _, err := io.WriteString(c, text); err != nil {
			return
		}
	}
}

// mostLoad is how much more memory a load may hold beside a hostile server than beside an
// honest one: a few buffers of each connection, and what the garbage collector has not
// taken yet.
const mostLoad = 64 << 20

// TestLoadMemory: a web server answers without end, in each part of an answer. A load by
// either engine ends in time, counts what it sent, and holds little more than beside an
// honest server.
func TestLoadMemory(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	names := sorted(answers)
	if !whole() {
		names = []string{"endless header", "endless chunk extension"}
	}
	for _, engine := range []string{"epollhttp", "nethttp"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			honest := w.loadBy(engine, "an honest server", [2]string{okHead + "\r\nok", ""})
			for _, name := range names {
				if most := w.loadBy(engine, name, answers[name]); most > honest+mostLoad {
					t.Errorf("%s, %s: kasoku held %d MB, %d MB beside an honest server", engine, name, most>>20, honest>>20)
				}
			}
		})
	}
}

// loadBy makes a load and returns the most memory that kasoku held.
func (w *world) loadBy(engine, name string, answer [2]string) (most int64) {
	w.Helper()
	addr := w.hostile(answering(answer))
	w.unchanged(engine+", "+name, func() {
		p := w.start("attack", "-target", "GET http://"+addr+"/", "-rate", "20", "-duration", "1s",
			"-timeout", "500ms", "--engine", engine, "-o", "text", "-output", "load.gob")
		code := p.wait(patience)
		w.wants(engine+", "+name, code, p.printed(), 0, 1, 3)
		if !strings.Contains(p.printed(), "20") {
			w.Errorf("%s, %s: 20 requests are not counted\n%s", engine, name, tail(p.printed()))
		}
		most = maxRSS(p)
		w.Logf("%s, %s: at most %d MB held", engine, name, most>>20)
	})
	return most
}
