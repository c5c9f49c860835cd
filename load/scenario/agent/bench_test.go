package agent

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// serverEnv makes the test program serve instead, so that the CPU of the server
// is not that of the client.
const serverEnv = "KASOKU_AGENT_BENCH_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(serverEnv) != "" {
		serveSink()
		return
	}
	log.SetOutput(io.Discard) // net/http logs what servers send unasked
	os.Exit(m.Run())
}

// serveSink serves until standard input ends.
func serveSink() {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go acceptSink(ln)
	fmt.Println(ln.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func acceptSink(ln net.Listener) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		go sink(c)
	}
}

// sink answers GET with 15 kB of JSON and anything else with two bytes, as cheaply
// as a Go program can. It does not allocate for a request.
func sink(c net.Conn) {
	defer c.Close()
	const head = "HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Fri, 20 Nov 2026 10:00:00 GMT\r\nContent-Type: application/json; charset=UTF-8\r\nConnection: keep-alive\r\nContent-Length: "
	body := `{"count":25,"chairs":[` + strings.Repeat(`{"id":1,"name":"a chair","price":12000},`, 384) + `{}]}`
	list := []byte(head + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
	done := []byte(head + "2\r\n\r\n{}")
	br := bufio.NewReaderSize(c, 64<<10)
	for {
		length := 0
		first, err := br.ReadSlice('\n')
		if err != nil {
			return
		}
		get := first[0] == 'G'
		for {
			line, err := br.ReadSlice('\n')
			if err != nil {
				return
			}
			if v, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
				length, _ = strconv.Atoi(string(bytes.TrimSpace(v)))
			}
			if len(line) == 2 {
				break
			}
		}
		if _, err := br.Discard(length); err != nil {
			return
		}
		answer := done
		if get {
			answer = list
		}
		if _, err := c.Write(answer); err != nil {
			return
		}
	}
}

// startSink starts the server in a process of its own and returns its URL.
func startSink(b *testing.B) string {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverEnv+"=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait()
	})
	addr, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return "http://" + strings.TrimSpace(addr)
}

// processCPU returns the CPU time of this process.
func processCPU() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(unix.TimevalToNsec(u.Utime) + unix.TimevalToNsec(u.Stime))
}

// BenchmarkRequest compares what a request costs the process of the client: 16
// users in a closed loop, by an agent each and by a net/http client each.
func BenchmarkRequest(b *testing.B) {
	url := startSink(b)
	const users = 16
	order := []byte(`{"email":"isucon@example.com"}`)
	run := func(name string, user func() func() error) {
		b.Run(name, func(b *testing.B) {
			one := make([]func() error, users)
			for i := range one {
				one[i] = user()
				if err := one[i](); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			began := processCPU()
			b.ResetTimer()
			var wg sync.WaitGroup
			for i := range one {
				wg.Go(func() {
					for range (b.N + i) / users {
						if err := one[i](); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(processCPU()-began)/float64(b.N), "cpu-ns/op")
		})
	}
	for _, post := range []bool{false, true} {
		kind := map[bool]string{false: "GET-15k", true: "POST"}[post]
		agents := func(release bool) func() func() error {
			return func() func() error {
				a, err := New(Options{BaseURL: url})
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(a.Close)
				r := &Request{Path: "/api/chair/search?page=0&perPage=25"}
				if post {
					r = &Request{Method: "POST", Path: "/api/chair/buy/17", ContentType: "application/json", Body: order}
				}
				return func() error {
					res, err := a.Do(b.Context(), r)
					if err == nil && release {
						res.Release()
					}
					return err
				}
			}
		}
		run("request="+kind+"/client=agent/release", agents(true))
		run("request="+kind+"/client=agent/keep", agents(false))
		run("request="+kind+"/client=net-http", func() func() error {
			c := http.Client{Transport: &http.Transport{}, Timeout: time.Second}
			b.Cleanup(c.CloseIdleConnections)
			var buf bytes.Buffer // a careful user of net/http reads into memory that is used again
			return func() error {
				method, path, body := "GET", "/api/chair/search?page=0&perPage=25", []byte(nil)
				if post {
					method, path, body = "POST", "/api/chair/buy/17", order
				}
				req, err := http.NewRequestWithContext(b.Context(), method, url+path, bytes.NewReader(body))
				if err != nil {
					return err
				}
				if post {
					req.Header.Set("Content-Type", "application/json")
				}
				resp, err := c.Do(req)
				if err != nil {
					return err
				}
				defer resp.Body.Close()
				buf.Reset()
				_, err = buf.ReadFrom(resp.Body)
				return err
			}
		})
	}
}
