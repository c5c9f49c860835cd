package nethttp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku/load"
)

// benchUsers is how many requests the benchmark keeps in flight.
const benchUsers = 64

// sinkEnv makes the test binary a server, so that its CPU is not the client's.
const sinkEnv = "KASOKU_TEST_SINK"

// sink answers each request that has no body with 1 KiB, until its standard input
// ends. It prints its address.
func sink() {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(ln.Addr())
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go sinkConn(c)
		}
	}()
	io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func sinkConn(c net.Conn) {
	defer c.Close()
	answer := []byte("HTTP/1.1 200 OK\r\nServer: sink\r\nContent-Type: text/plain\r\nContent-Length: 1024\r\n\r\n" + strings.Repeat("x", 1024))
	buf := make([]byte, 4096)
	for end := ""; ; {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		if end += string(buf[max(0, n-4):n]); !strings.HasSuffix(end, "\r\n\r\n") {
			end = end[max(0, len(end)-4):]
			continue
		}
		end = ""
		if _, err := c.Write(answer); err != nil {
			return
		}
	}
}

func startSink(b *testing.B) string {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), sinkEnv+"=1", "GOMAXPROCS=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return "http://" + strings.TrimSpace(addr) + "/"
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// perRequest reports the CPU of this process for each of n requests.
func perRequest(b *testing.B, n func() int) {
	began := cpuTime()
	b.ReportAllocs()
	b.ResetTimer()
	sent := n()
	b.ReportMetric(float64(cpuTime()-began)/float64(sent), "cpu-ns/req")
}

// BenchmarkEngine compares the whole engine, with its driver and a recorder, with
// the plain http.Client that one would write by hand: the same closed loop, the
// server in a process of its own. Run it with -cpu 1; cpu-ns/req is the figure.
func BenchmarkEngine(b *testing.B) {
	url := startSink(b)
	engine := func(o Options) func(*testing.B) {
		return func(b *testing.B) {
			o.MaxInFlight = benchUsers
			e, err := New(o)
			if err != nil {
				b.Fatal(err)
			}
			perRequest(b, func() int { return e.flood(b, url, b.N) })
		}
	}
	b.Run("engine=nethttp", engine(Options{}))
	b.Run("engine=nethttp-seq", engine(Options{SeqHeader: "X-Vegeta-Seq"}))
	b.Run("client=plain", func(b *testing.B) { perRequest(b, func() int { return plain(b, url, b.N, 0) }) })
	b.Run("client=plain-timeout", func(b *testing.B) {
		perRequest(b, func() int { return plain(b, url, b.N, DefaultTimeout) })
	})
}

// flood sends about n requests in a closed loop.
func (e *Engine) flood(b *testing.B, url string, n int) int {
	sched, err := load.Closed(0)
	if err != nil {
		b.Fatal(err)
	}
	p := load.Plan{Schedule: sched, Targets: []load.Target{get(url)}}
	rec := load.NewRecorder(p, 0)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	stop := &stopAfter{n: int64(n), stop: cancel}
	if _, err := e.Run(ctx, p, time.Now(), load.Tee(rec, stop)); err != nil {
		b.Fatal(err)
	}
	t := rec.Tally(0)
	if t.Failed() > 0 {
		b.Fatalf("errors %v", t.Errors)
	}
	return int(t.Asked)
}

type stopAfter struct {
	n    int64
	sent atomic.Int64
	stop func()
}

func (s *stopAfter) Hits(hits []load.Hit) {
	if s.sent.Add(int64(len(hits))) == s.n {
		s.stop()
	}
}

// plain sends n requests with as many goroutines as there are users.
func plain(b *testing.B, url string, n int, timeout time.Duration) int {
	c := http.Client{Timeout: timeout, Transport: &http.Transport{MaxIdleConnsPerHost: benchUsers}}
	defer c.CloseIdleConnections()
	var left atomic.Int64
	left.Store(int64(n))
	var users sync.WaitGroup
	for range benchUsers {
		users.Go(func() {
			for left.Add(-1) >= 0 {
				resp, err := c.Get(url)
				if err != nil {
					b.Error(err)
					return
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
	users.Wait()
	return n
}
