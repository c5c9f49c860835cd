package main

import (
	"bufio"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"
)

// A server that says more than it was asked for is noted by net/http in its own log, which
// is no part of what kasoku prints.
func TestUnsolicitedAnswers(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go sayTooMuch(conn)
		}
	}()
	var stderr strings.Builder
	cmd := exec.Command("kasoku", "attack", "--engine", "nethttp", "-rate", "20", "-duration", "1s",
		"-target", "GET http://"+l.Addr().String()+"/", "-o", "text")
	cmd.Stderr = &stderr
	if out, err := cmd.Output(); err != nil || strings.Contains(stderr.String(), "nsolicited") {
		t.Errorf("%v\n%s\nstderr: %s", err, out, stderr.String())
	}
}

// sayTooMuch answers each request, and once more.
func sayTooMuch(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
		if _, err := conn.Write([]byte(answer + answer)); err != nil {
			return
		}
	}
}
