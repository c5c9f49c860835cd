package main

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// testServer is a server to be loaded: testserver [flags]. Each path answers in
// its own way, good or bad; it serves until it is killed.
func testServer() {
	addr := flag.String("addr", "addr", "file that gets the address once requests are accepted")
	accessLog := flag.String("accesslog", "", "LTSV access log")
	slow := flag.String("slow", "", "while there is this file, every answer takes its time")
	flag.Parse()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		err = announce(*addr, ln.Addr().String())
	}
	log := io.Writer(io.Discard)
	if err == nil && *accessLog != "" {
		log, err = os.OpenFile(*accessLog, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	}
	if err == nil {
		err = http.Serve(ln, logged(slowed(http.HandlerFunc(answer), *slow), log))
	}
	fmt.Fprintln(os.Stderr, "testserver:", err)
	os.Exit(1)
}

// announce writes a line to a file at once, so that a reader never sees half.
func announce(path, line string) error {
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path))
	if err := os.WriteFile(temp, []byte(line+"\n"), 0o644); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

func answer(w http.ResponseWriter, r *http.Request) {
	what, arg, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch what {
	case "status":
		code, err := strconv.Atoi(arg)
		if err != nil {
			code = http.StatusBadRequest
		}
		w.WriteHeader(code)
	case "hang":
		<-r.Context().Done()
	case "reset", "half", "garbage":
		misbehave(w, what)
	default:
		io.WriteString(w, "ok\n")
	}
}

// misbehave takes the connection over and answers as no server should.
func misbehave(w http.ResponseWriter, how string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	switch how {
	case "reset":
		conn.(*net.TCPConn).SetLinger(0)
	case "half":
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
	case "garbage":
		io.WriteString(conn, "\x00\x01\x02\xff\xfe not HTTP at all\r\n\r\n")
	}
}

// slowed takes 50 ms for each answer while a file is there.
func slowed(next http.Handler, file string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := os.Stat(file); err == nil {
			<-time.After(50 * time.Millisecond)
		}
		next.ServeHTTP(w, r)
	})
}

// logged writes a line of LTSV for each request that ends.
func logged(next http.Handler, log io.Writer) http.Handler {
	var mu sync.Mutex
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, said := time.Now(), &statusWriter{w, http.StatusOK}
		next.ServeHTTP(said, r)
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(log, "time:%s\tmethod:%s\turi:%s\tstatus:%d\tsize:3\treqtime:%.6f\n",
			time.Now().Format(time.RFC3339Nano), r.Method, r.URL.Path, said.status, time.Since(began).Seconds())
	})
}

// A statusWriter knows the status that was answered.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}
