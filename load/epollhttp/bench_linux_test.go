//go:build amd64 || arm64

package epollhttp

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku/load"
	"golang.org/x/sys/unix"
)

// startSink serves 1 KB to whatever is asked, as cheaply as a server in the same
// process can, and returns host and port.
func startSink(t testing.TB) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	answer := append([]byte("HTTP/1.1 200 OK\r\nServer: sink\r\nContent-Type: text/plain\r\nContent-Length: 1024\r\n\r\n"), make([]byte, 1024)...)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				buf := make([]byte, 4096)
				for {
					n, err := c.Read(buf)
					if err != nil {
						return
					}
					for range bytes.Count(buf[:n], []byte("\r\n\r\n")) {
						if _, err := c.Write(answer); err != nil {
							return
						}
					}
				}
			}()
		}
	}()
	t.Cleanup(func() {
		ln.Close()
		<-done
	})
	return ln.Addr().String()
}

// processCPU returns the CPU time of this process.
func processCPU() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(unix.TimevalToNsec(u.Utime) + unix.TimevalToNsec(u.Stime))
}

// countingSink stops a load after so many hits.
type countingSink struct {
	left atomic.Int64
	stop func()
}

func (s *countingSink) Hits(hits []load.Hit) {
	if s.left.Add(-int64(len(hits))) <= 0 {
		s.stop()
	}
}

// BenchmarkEngine compares a closed loop of the engine with the one that one
// would write with net/http, 16 users each. The server's side, which both include,
// is the same.
func BenchmarkEngine(b *testing.B) {
	addr := startSink(b)
	const users = 16
	measure := func(b *testing.B, f func()) {
		b.ReportAllocs()
		began := processCPU()
		b.ResetTimer()
		f()
		b.ReportMetric(float64(processCPU()-began)/float64(b.N), "cpu-ns/op")
	}
	for _, pipeline := range []int{1, 8} {
		b.Run(map[int]string{1: "client=epollhttp", 8: "client=epollhttp/pipeline=8"}[pipeline], func(b *testing.B) {
			e, err := New(Options{MaxInFlight: users, Shards: 1, Pipeline: pipeline})
			if err != nil {
				b.Fatal(err)
			}
			measure(b, func() {
				ctx, stop := context.WithCancel(b.Context())
				defer stop()
				sink := &countingSink{stop: stop}
				sink.left.Store(int64(b.N))
				p := load.Plan{Schedule: &load.ClosedLoop{End: load.Forever}, Targets: []load.Target{get("http://" + addr)}}
				if _, err := e.Run(ctx, p, time.Now(), sink); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
	b.Run("client=net/http", func(b *testing.B) {
		c := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: users, DisableCompression: true}}
		defer c.CloseIdleConnections()
		measure(b, func() {
			b.SetParallelism(users)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					resp, err := c.Get("http://" + addr)
					if err != nil {
						b.Error(err)
						return
					}
					io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			})
		})
	})
}
