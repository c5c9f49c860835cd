package attack

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/load/loadtest"
	"github.com/kasoku/kasoku/store"
)

// A conduct is what a hostile server does with a connection.
type conduct func(c *net.TCPConn, r *rand.Rand)

// conducts are of servers that speak no protocol, or one of ours wrongly.
func conducts() map[string]conduct {
	out := map[string]conduct{
		"closes": func(*net.TCPConn, *rand.Rand) {},
		"resets": func(c *net.TCPConn, _ *rand.Rand) { _ = c.SetLinger(0) },
		"hangs":  func(c *net.TCPConn, _ *rand.Rand) { _, _ = io.Copy(io.Discard, c) },
		"garbage": func(c *net.TCPConn, r *rand.Rand) {
			b := make([]byte, 1+r.IntN(65536))
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			_, _ = c.Write(b)
		},
		"drips": func(c *net.TCPConn, r *rand.Rand) {
			for tick := time.NewTicker(50 * time.Millisecond); ; <-tick.C {
				if _, err := c.Write([]byte{byte(r.Uint32())}); err != nil {
					tick.Stop()
					return
				}
			}
		},
		"endless line":  endless(strings.Repeat("a", 4096)),
		"endless lines": endless(strings.Repeat("\x1b[2Ja: 1\r\n", 512)),
		"endless zeros": endless(strings.Repeat("\x00", 4096)),
	}
	for name, text := range map[string]string{
		"huge redis bulk":   "$9223372036854775807\r\n",
		"huge redis array":  strings.Repeat("*1000000\r\n", 1000),
		"redis error":       "-ERR \x1b[2J\x1b]0;evil\x07 panic\r\n",
		"http huge length":  "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n{\"a\":",
		"http deep json":    "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + strings.Repeat(`{"a":[`, 200_000),
		"http escape":       "HTTP/1.1 500 \x1b[2J\r\nConnection: close\r\n\r\n\x1b[31mevil",
		"http redirect":     "HTTP/1.1 302 Found\r\nLocation: file:///etc/shadow\r\nContent-Length: 0\r\n\r\n",
		"mysql huge packet": "\xff\xff\xff\x00\x0a",
		"mysql empty":       "\x00\x00\x00\x00",
		"mysql error":       mysqlPacket(0, "\xff\x15\x04#28000\x1b[2J no \x07entry"),
		"mysql greets":      greeting(),
		"mysql greets, ok":  greeting() + mysqlPacket(2, "\x00\x00\x00\x02\x00\x00\x00") + mysqlPacket(1, "\xfc\xff\xff"),
	} {
		out[name] = func(c *net.TCPConn, _ *rand.Rand) {
			_, _ = io.WriteString(c, text)
			_ = c.SetReadDeadline(time.Now().Add(2 * time.Second))
			_, _ = io.Copy(io.Discard, c)
		}
	}
	return out
}

// endless sends without end: as fast as it is read, but for what a test can bear.
func endless(text string) conduct {
	return func(c *net.TCPConn, _ *rand.Rand) {
		for range (256 << 20) / len(text) {
			if _, err := io.WriteString(c, text); err != nil {
				return
			}
		}
	}
}

// mysqlPacket is a packet of the MySQL protocol: 3 bytes of length, a number, a payload.
func mysqlPacket(number byte, payload string) string {
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(payload))|uint32(number)<<24)
	return string(head) + payload
}

// greeting is Protocol::HandshakeV10 of a server that wants mysql_native_password.
func greeting() string {
	return mysqlPacket(0, "\x0a9.7.0-\x1b[2Jevil\x00\x01\x00\x00\x00abcdefgh\x00\xff\xf7\xff\x02\x00\xff\xc1\x15"+
		strings.Repeat("\x00", 10)+"ijklmnopqrst\x00mysql_native_password\x00")
}

// hostile starts a server that behaves so until the end of the test.
func (w *world) hostile(how conduct) string {
	w.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = ln.Close() })
	go func() {
		for n := uint64(0); ; n++ {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				how(c.(*net.TCPConn), rand.New(rand.NewPCG(seed, n)))
			}()
		}
	}()
	return ln.Addr().String()
}

// mostRun bounds the run file of two seconds beside a hostile server.
const mostRun = 8 << 20

// TestServers: all that a run asks, and the database, behave in each of these ways. The
// run ends in time, is bounded, and says what is missing.
func TestServers(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	all := conducts()
	names := sorted(all)
	if !whole() {
		names = []string{"hangs", "endless line", "garbage", "mysql greets"}
	}
	for _, name := range names {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			addr := w.hostile(all[name])
			w.write("kasoku.toml", fmt.Sprintf(`
[load]
for = '2s'
[nginx]
status = 'http://%[1]s/'
[redis]
address = '%[1]s'
[graphite]
query = '%[1]s'
render = 'http://%[1]s/render'
[watch]
expvar = ['http://%[1]s/debug/vars']
pprof = ['http://%[1]s/debug/pprof/']
`, addr))
			w.unchanged(name, func() {
				p := w.start("run", "--label", "hostile")
				code := p.wait(patience)
				w.wants(name, code, p.printed(), 0, 3)
				w.bounded(name, p)
				w.checkRuns(name)
				code, out := w.run(patience, "record", "--mysql", "x@tcp("+addr+")/", "--for", "1s", "--out", "db.kasoku")
				w.wants("a database that "+name, code, out, 3)
				code, out = w.run(patience, "doctor")
				w.wants("doctor beside what "+name, code, out, 0, 1, 3)
			})
		})
	}
}

// checkRuns opens the run that was made, and says what it must: what is missing.
func (w *world) checkRuns(what string) {
	w.Helper()
	paths, err := store.ResolveAll(w.path("runs"), "hostile")
	if err != nil || len(paths) != 1 {
		return // it was refused, with exit code 3
	}
	if info, err := os.Stat(paths[0]); err == nil && info.Size() > mostRun {
		w.Errorf("%s: the run has %d bytes", what, info.Size())
	}
	rec, err := store.Open(paths[0])
	if err != nil {
		w.Errorf("%s: %v", what, err)
		return
	}
	if len(rec.Gaps) == 0 && len(rec.Warnings) == 0 {
		w.Errorf("%s: nothing could be read, and the run says nothing of it", what)
	}
}

// mostMemory bounds what a kasoku holds beside a hostile server or file.
const mostMemory = 512 << 20

// bounded fails when a kasoku that has ended held too much memory or worked for too long.
func (w *world) bounded(what string, p *proc) {
	w.Helper()
	if bytes := maxRSS(p); bytes > mostMemory {
		w.Errorf("%s: kasoku %s held %d MB", what, p.line(), bytes>>20)
	}
	if cpu := p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime(); cpu > mostCPU {
		w.Errorf("%s: kasoku %s took %s of CPU", what, p.line(), cpu)
	}
}

// TestLoadHostile: a load on a server that answers each request in another wrong way
// ends in time, and counts what it sent.
func TestLoadHostile(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	w := newWorld(t)
	h := loadtest.Start(t)
	var targets strings.Builder
	for _, a := range loadtest.Answers() {
		fmt.Fprintf(&targets, "GET %s\n", h.URL("/"+a.Name))
	}
	for _, path := range []string{"/reset", "/hang", "/endless", "/endless-chunks", "/endless-header", "/endless-continue", "/stale-reset", "/unread-reset"} {
		fmt.Fprintf(&targets, "GET %s\n", h.URL(path))
	}
	file := w.write("targets.txt", targets.String())
	for _, engine := range []string{"epollhttp", "nethttp"} {
		w.unchanged("load by "+engine, func() {
			p := w.start("attack", "-targets", file, "-rate", "80", "-duration", "2s", "-timeout", "1s", "--engine", engine, "-output", engine+".gob", "-o", "text")
			code := p.wait(patience)
			w.wants("load by "+engine, code, p.printed(), 0, 1, 3)
			w.bounded("load by "+engine, p)
			if !strings.Contains(p.printed(), "160") {
				w.Errorf("%s does not count 160 requests\n%s", engine, tail(p.printed()))
			}
		})
	}
}

// beWeb answers requests, for who is alone in a network of its own.
func beWeb() {
	err := http.ListenAndServe("127.0.0.1:8099", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		_, _ = io.WriteString(w, "ok")
	}))
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
