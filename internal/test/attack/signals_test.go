package attack

import (
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
)

// mostEnding is how long a command may take to end once it is asked to: a second is what
// it is meant to take, and the machine is busy.
const mostEnding = 10 * time.Second

// An input is what a command waits for when the signal comes.
type input uint8

const (
	stream input = iota // endless lines at its standard input
	pipe                // a FIFO with no one at its other end, never.kasoku and never.log
	silent              // a server that takes connections and says nothing
)

// A waiting is a command that does not end by itself. FIFO, RUN, LOG, DSN and ADDR stand
// for what it is given.
type waiting struct {
	line  string
	in    input
	lines string // repeated at standard input
	has   string // what it prints of what it has read by then
}

const (
	vegetaLine = `{"attack":"","seq":0,"code":200,"timestamp":"2026-01-02T03:04:05Z","latency":1000000,"bytes_out":0,"bytes_in":1,"error":"","body":null,"method":"GET","url":"http://h/","headers":null}` + "\n"
	slowEntry  = "# Time: 2026-01-02T03:04:05.000000Z\n# User@Host: a[a] @ h [1.2.3.4]\n# Query_time: 1.0 Lock_time: 0 Rows_sent: 1 Rows_examined: 1\nselect 1;\n"
	ltsv       = "time:2026-01-02T03:04:05Z\tmethod:GET\turi:/a\tstatus:200\tsize:3\treqtime:0.001\n"
)

// waitings are the commands that read: each of them on what can be without end for it.
var waitings = []waiting{
	{"accesslog -", stream, ltsv, "/a"}, {"accesslog -", stream, "\n", "Stopped by"}, {"slowlog -", stream, slowEntry, "select ?"}, {"slowlog -", stream, "\n", "Stopped by"},
	{"accesslog --as alp ltsv", stream, ltsv, ""}, {"slowlog --as pt-query-digest -", stream, slowEntry, ""},
	{"encode", stream, vegetaLine, `"code":200`}, {"report", stream, vegetaLine, "Requests"}, {"plot", stream, vegetaLine, "<html"},
	{"accesslog FIFO", pipe, "", ""}, {"slowlog FIFO", pipe, "", ""}, {"encode FIFO", pipe, "", ""}, {"report FIFO", pipe, "", ""}, {"plot FIFO", pipe, "", ""},
	{"show FIFO", pipe, "", ""}, {"diagnose FIFO", pipe, "", ""}, {"list --dir .", pipe, "", "unreadable"}, {"compare FIFO RUN", pipe, "", ""}, {"merge FIFO RUN", pipe, "", ""},
	{"export FIFO --to csv", pipe, "", ""}, {"scrub FIFO", pipe, "", ""}, {"scrub FIFO --out scrubbed.kasoku", pipe, "", ""}, {"note FIFO x", pipe, "", ""}, {"label FIFO x", pipe, "", ""},
	{"revert FIFO", pipe, "", ""}, {"advise FIFO", pipe, "", ""}, {"explain FIFO --dsn DSN", pipe, "", ""}, {"digest FIFO FIFO", pipe, "", ""}, {"attack --targets FIFO", pipe, "", ""},
	{"attack --csv FIFO --targets targets.txt", pipe, "", ""}, {"probe --targets FIFO --dsn DSN", pipe, "", ""},
	{"digest --dsn DSN", silent, "", ""}, {"digest --dsn DSN --for 1h", silent, "", ""}, {"advise --dsn DSN", silent, "", ""}, {"explain LOG --dsn DSN", silent, "", ""},
	{"explain RUN --log LOG --dsn DSN", silent, "", ""}, {"doctor", silent, "", ""}, {"init --print", silent, "", ""}, {"export RUN --to graphite --address ADDR", silent, "", ""},
	{"record --mysql DSN --for 1h --out r.kasoku", silent, "", ""}, {"checkpoint --mysql DSN", silent, "", ""}, {"probe --targets targets.txt --dsn DSN", silent, "", ""},
	{"watch --mysql DSN", silent, "", ""}, {"run", silent, "", ""},
}

// TestEndings: every command ends soon after SIGINT and SIGTERM, with what it has, and
// leaves nothing, while it waits for what never comes.
func TestEndings(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	w := newWorld(t)
	good := w.recorded()
	for i, c := range waitings {
		signals := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}
		if !whole() {
			signals = signals[i%2 : i%2+1]
		}
		for _, s := range signals {
			w.unchanged(c.line, func() { w.interrupt(c, s, good) })
		}
	}
}

// interrupt starts a command, waits until it waits, and asks it to end.
func (w *world) interrupt(c waiting, s syscall.Signal, good []byte) {
	w.Helper()
	server := newSilent(w.T)
	defer server.Close()
	addr := server.Addr().String()
	dsn := "u:p@tcp(" + addr + ")/"
	if err := os.WriteFile(w.path("good.kasoku"), good, 0o600); err != nil {
		w.Fatal(err)
	}
	if c.in == pipe {
		if err := syscall.Mkfifo(w.path("never.kasoku"), 0o600); err != nil {
			w.Fatal(err)
		}
	}
	w.write("slow.log", slowEntry)
	w.write("targets.txt", "GET http://"+addr+"/\n")
	w.write("kasoku.toml", "project = 'a'\n[load]\nfor = '1s'\n[mysql]\ndsn = '"+dsn+"'\n")
	defer func() {
		for _, name := range []string{"never.kasoku", "good.kasoku", "slow.log", "targets.txt", "kasoku.toml", "r.kasoku"} {
			_ = os.Remove(w.path(name))
		}
	}()
	args := strings.Fields(strings.NewReplacer("FIFO", "never.kasoku", "RUN", "good.kasoku", "LOG", "slow.log", "DSN", dsn, "ADDR", addr).Replace(c.line))
	var fed lineSource
	i := invocation{}
	if c.in == stream {
		fed.text = []byte(strings.Repeat(c.lines, 1+65536/len(c.lines)))
		i.stdin = &fed
	}
	p, began := w.startAs(i, args...), time.Now()
	p.until(func() bool {
		switch c.in {
		case stream:
			return fed.n.Load() > 1<<20
		case silent:
			return server.n.Load() > 0
		}
		return time.Since(began) > 300*time.Millisecond // a FIFO that is opened shows nowhere
	})
	asked := time.Now()
	p.signal(s)
	code := p.wait(mostEnding)
	took := time.Since(asked)
	fed.ended.Store(true)
	text := p.printed()
	w.Logf("%-50s %-10v exit %d after %s: %.100q", c.line, s, code, took.Round(time.Millisecond), text)
	w.wants(c.line, code, text, 0, 1, 2, 3, signalKilled+int(s))
	if !strings.Contains(text, c.has) {
		w.Errorf("%s: %v: there is no %q in what it prints\n%s", c.line, s, c.has, tail(text))
	}
}

// A lineSource is standard input without end.
type lineSource struct {
	text  []byte
	n     atomic.Int64
	ended atomic.Bool
}

// Read gives text until the command has ended.
func (l *lineSource) Read(b []byte) (int, error) {
	if l.ended.Load() {
		return 0, io.EOF
	}
	n := copy(b, l.text)
	l.n.Add(int64(n))
	return n, nil
}

// A silentServer takes connections and says nothing.
type silentServer struct {
	net.Listener
	n atomic.Int64
}

func newSilent(t *testing.T) *silentServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &silentServer{Listener: l}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.n.Add(1)
			t.Cleanup(func() { _ = c.Close() })
		}
	}()
	return s
}
