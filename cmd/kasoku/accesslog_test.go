package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// requestLine is a request of a log, in combined with the time it took.
func requestLine(second int, path string, status int, took float64) string {
	return fmt.Sprintf("10.0.0.1 - - [20/Nov/2026:14:00:%02d +0900] \"GET %s HTTP/1.1\" %d 10 \"-\" \"-\" %.3f\n", second, path, status, took)
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFollowAccessLog follows a log that grows, is rotated and grows again, until
// it is interrupted.
func TestFollowAccessLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := filepath.Join(dir, "access.log")
	appendTo(t, log, requestLine(0, "/old", 200, 0.1))
	r := startIn(t, dir, "accesslog", "--follow", "access.log")
	r.waitFor("second without a request", func() bool { return strings.Contains(r.said(), "0 requests in") })
	appendTo(t, log, requestLine(1, "/users/1", 200, 0.010)+requestLine(1, "/users/2", 503, 0.030))
	r.waitFor("growth", func() bool { return strings.Contains(r.said(), "; 2 requests in ") })
	if err := os.Rename(log, log+".1"); err != nil {
		t.Fatal(err)
	}
	appendTo(t, log+".1", requestLine(2, "/users/3", 200, 0.020))
	appendTo(t, log, requestLine(2, "/users/4", 200, 0.020)+"rubbish\n")
	r.waitFor("growth over the rotation", func() bool { return strings.Contains(r.said(), "; 4 requests in ") })
	r.signal(syscall.SIGINT)
	r.exits(0, "5 lines = 4 requests + 1 dropped")
	for _, want := range []string{"GET     /users/:id", "access.log:5  dropped"} {
		if !strings.Contains(r.said(), want) {
			t.Errorf("no %q in\n%s", want, r.said())
		}
	}
	if strings.Contains(r.said(), "/old") {
		t.Errorf("what was there before is counted:\n%s", r.said())
	}
}

// TestInterruptAccessLog: what was read until then is reported, and marked.
func TestInterruptAccessLog(t *testing.T) {
	t.Parallel()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	r := startReading(t, t.TempDir(), in, nil, "accesslog", "-o", "json")
	in.Close()
	for i := range 20_000 { // more than a pipe and a block hold, so that it has begun
		if _, err := io.WriteString(out, requestLine(i%60, "/a", 200, 0.010)); err != nil {
			t.Fatal(err)
		}
	}
	r.signal(syscall.SIGINT)
	r.exits(3, "exit 3: Stopped by interrupt: ")
	if said := r.said(); !strings.Contains(said, `"complete": false`) || !strings.Contains(said, `"route": "/a"`) {
		t.Errorf("it reported\n%s", said)
	}
}
