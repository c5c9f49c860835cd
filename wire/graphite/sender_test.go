package graphite

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"
)

// listen takes connections on loopback, one at a time.
func listen(t *testing.T, address string) *net.TCPListener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.(*net.TCPListener)
}

func newSender(t *testing.T, o Options) *Sender {
	t.Helper()
	s, err := NewSender(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		s.Close(ctx)
	})
	return s
}

func accept(t *testing.T, l *net.TCPListener) *net.TCPConn {
	t.Helper()
	conn, err := l.AcceptTCP()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func readLine(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(line, "\n")
}

// TestReconnect: the server ends its side; what comes after it is seen goes over
// another connection, and nothing is lost.
func TestReconnect(t *testing.T) {
	l := listen(t, "127.0.0.1:0")
	s := newSender(t, Options{Address: l.Addr().String(), Protocol: Line})
	lines := make(chan string, 1000)
	take := func(conn net.Conn) {
		r := bufio.NewScanner(conn)
		for r.Scan() {
			lines <- r.Text()
		}
	}
	s.Offer([]Point{{"a", 0, 1}})
	first := accept(t, l)
	go take(first)
	if err := first.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{<-lines: true}
	offered := 1
	for ; s.Stats().Connections < 2; offered++ {
		s.Offer([]Point{{"a", int64(offered), 1}})
		seen[next(t, l, lines, take)] = true
	}
	for i := range offered {
		if !seen[fmt.Sprintf("a 1 %d", i)] {
			t.Errorf("point %d of %d is lost: %v", i, offered, seen)
		}
	}
	if st := s.Stats(); st.Dropped != 0 || st.Failures == 0 || !strings.Contains(st.LastError, "closed") {
		t.Errorf("stats: %+v", st)
	}
}

// next returns the next line, over whichever connection it comes.
func next(t *testing.T, l *net.TCPListener, lines <-chan string, take func(net.Conn)) string {
	t.Helper()
	for {
		select {
		case line := <-lines:
			return line
		default:
		}
		if err := l.SetDeadline(time.Now().Add(5 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if conn, err := l.Accept(); err == nil {
			t.Cleanup(func() { conn.Close() })
			go take(conn)
		}
	}
}

// TestDropsOldest: no server takes the points; the newest stay, the rest is counted.
func TestDropsOldest(t *testing.T) {
	l := listen(t, "127.0.0.1:0")
	address := l.Addr().String()
	l.Close()
	s := newSender(t, Options{Address: address, Protocol: Line, Buffer: 1000})
	for i := range 5000 {
		s.Offer([]Point{{"a", int64(i), 0}})
	}
	l = listen(t, address)
	conn := accept(t, l)
	r := bufio.NewReader(conn)
	last := ""
	lines := uint64(0)
	for last != "a 0 4999" {
		last = readLine(t, r)
		lines++
	}
	conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := s.Close(ctx)
	st := s.Stats()
	if err == nil || st.Dropped < 3000 || st.Dropped+lines != 5000 || st.Sent != lines {
		t.Errorf("%d lines, %+v, %v", lines, st, err)
	}
	t.Log(err)
}

// TestWriteWaits: with Write nothing is dropped however small the buffer is, and
// Close waits for the server.
func TestWriteWaits(t *testing.T) {
	for _, protocol := range []Protocol{Line, Pickle} {
		t.Run(string(protocol), func(t *testing.T) {
			l := listen(t, "127.0.0.1:0")
			s := newSender(t, Options{Address: l.Addr().String(), Protocol: protocol, Buffer: 10})
			counted := make(chan int, 1)
			go func() { counted <- count(l, protocol, t) }()
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			for i := range 300 {
				points := make([]Point, 7)
				for j := range points {
					points[j] = Point{fmt.Sprintf("a.b%d", j), int64(i), float64(j)}
				}
				if err := s.Write(ctx, points); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Close(ctx); err != nil {
				t.Fatal(err)
			}
			if n := <-counted; n != 2100 || s.Stats().Sent != 2100 {
				t.Errorf("%d points arrived, %+v", n, s.Stats())
			}
			if err := s.Write(ctx, []Point{{"late", 1, 1}}); err == nil {
				t.Error("a closed sender takes points")
			}
		})
	}
}

// count reads one connection to its end, and its points.
func count(l *net.TCPListener, p Protocol, t *testing.T) (n int) {
	conn, err := l.AcceptTCP()
	if err != nil {
		return -1
	}
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		if p == Line {
			if _, err := r.ReadString('\n'); err != nil {
				return n
			}
			n++
			continue
		}
		head, err := r.Peek(4)
		if err != nil {
			return n
		}
		msg := make([]byte, 4+int(head[0])<<24+int(head[1])<<16+int(head[2])<<8+int(head[3]))
		for at := 0; at < len(msg); {
			k, err := r.Read(msg[at:])
			if err != nil {
				return -1
			}
			at += k
		}
		n += len(unpickle(t, msg))
	}
}

// TestStuckServer: a server that reads nothing does not block the sender.
func TestStuckServer(t *testing.T) {
	l := listen(t, "127.0.0.1:0")
	s := newSender(t, Options{Address: l.Addr().String(), Protocol: Line, Buffer: 1000})
	s.Offer([]Point{{"a", 1, 1}})
	accept(t, l)
	points := make([]Point, 1000)
	for i := range points {
		points[i] = Point{strings.Repeat("x", 200), 1, 1}
	}
	for s.Stats().Dropped == 0 {
		s.Offer(points)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	for s.Write(ctx, points) == nil { // the kernel takes some, then no more
	}
	if err := s.Close(ctx); err == nil {
		t.Error("Close does not report what was dropped")
	}
}

func TestDatagrams(t *testing.T) {
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	s := newSender(t, Options{Address: server.LocalAddr().String(), Protocol: UDP})
	points := make([]Point, 100)
	for i := range points {
		points[i] = Point{"web1." + strings.Repeat("x", 60), int64(i), 1.25}
	}
	began, datagrams := time.Now(), 0
	s.Offer(points)
	buf := make([]byte, 65536)
	for lines := 0; lines < len(points); datagrams++ {
		n, _, err := server.ReadFrom(buf)
		if err != nil {
			t.Fatal(err)
		}
		if n > maxDatagram || buf[n-1] != '\n' {
			t.Fatalf("a datagram of %d bytes that ends in %q", n, buf[n-1])
		}
		lines += strings.Count(string(buf[:n]), "\n")
	}
	if took, want := time.Since(began), time.Duration(datagrams-1)*betweenDatagrams; datagrams < 2 || took < want {
		t.Errorf("%d datagrams within %s, want at least %s: they do not fit a socket's buffer", datagrams, took, want)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestDatagrams_Refused: a port on which nothing listens is reported, where the system says so.
func TestDatagrams_Refused(t *testing.T) {
	// A socket that is connected to another takes nothing from us, and keeps the port from other tests.
	other, err := net.Dial("udp", "127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	s := newSender(t, Options{Address: other.LocalAddr().String(), Protocol: UDP})
	s.Offer([]Point{{"a", 1, 1}})
	if err := s.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "refused") || s.Stats().Unsure != 1 {
		t.Errorf("%v, %+v", err, s.Stats())
	}
}

func TestOptions(t *testing.T) {
	if _, err := NewSender(Options{Protocol: "telnet"}); err == nil {
		t.Error("an unknown protocol is taken")
	}
}

// TestBrokenConnection: what the server's kernel took and the server did not read does
// not count as kept.
func TestBrokenConnection(t *testing.T) {
	l := listen(t, "127.0.0.1:0")
	s := newSender(t, Options{Address: l.Addr().String(), Protocol: Line})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := s.Write(ctx, []Point{{"a", 1, 1}}); err != nil {
		t.Fatal(err)
	}
	conn := accept(t, l)
	for s.Stats().Sent == 0 {
		runtime.Gosched()
	}
	if err := conn.SetLinger(0); err != nil { // Close resets
		t.Fatal(err)
	}
	conn.Close()
	err := s.Close(ctx)
	if err == nil || !strings.Contains(err.Error(), "kept all 1 points is not known") || s.Stats().Unsure != 1 {
		t.Errorf("%v, %+v", err, s.Stats())
	}
}
