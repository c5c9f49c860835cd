package logscmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli/clitest"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/report/logfile"
)

// logLine is a request of a log, in combined with the time it took.
func logLine(second int, path string, status int, took float64) string {
	return fmt.Sprintf("10.0.0.1 - - [20/Nov/2026:14:00:%02d +0900] \"GET %s HTTP/1.1\" %d 10 \"-\" \"-\" %.3f\n", second, path, status, took)
}

// TestFollowStream: standard input is taken as it comes, also in pieces of lines,
// and its end is the end.
func TestFollowStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		e, stdout, _ := clitest.New()
		e.Stdin, e.Now = in, time.Now
		var f accessFlags
		f.out.Format, f.read.by, f.read.bots = "table", []string{"method", "route"}, "include"
		if err := f.read.check(e); err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() {
			done <- f.followAll(context.Background(), e, []lines.Input{{Path: "-", R: in}}, logfile.AccessOptions{})
		}()
		text := logLine(0, "/a", 200, 0.010) + logLine(0, "/b", 200, 0.010)
		for _, piece := range []string{text[:30], text[30:90], text[90:]} {
			io.WriteString(out, piece)
			<-time.After(300 * time.Millisecond)
		}
		<-time.After(time.Second)
		io.WriteString(out, logLine(1, "/a", 500, 0.020))
		out.Close()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		got := stdout.String()
		for _, want := range []string{"2 req/s, 0 5xx, p50 10.0 ms, p99 10.0 ms; 2 requests in 1 s.\n", "3 lines = 3 requests", "GET     /a"} {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in\n%s", want, got)
			}
		}
	})
}

// TestFollowNumbers: bad lines among many good ones are named by their numbers in the
// stream, wherever the pieces that were read end.
func TestFollowNumbers(t *testing.T) {
	var text strings.Builder
	for i := range 300 {
		if i == 2 || i == 6 {
			text.WriteString("garbage\n")
			continue
		}
		text.WriteString(logLine(i%60, "/a", 200, 0.010))
	}
	for _, size := range []int{100, 4000, 1 << 20} {
		in, out := io.Pipe()
		e, stdout, _ := clitest.New()
		e.Stdin, e.Now = in, time.Now
		var f accessFlags
		f.out.Format, f.read.by, f.read.bots = "table", []string{"method", "route"}, "include"
		if err := f.read.check(e); err != nil {
			t.Fatal(err)
		}
		go func() {
			for rest := []byte(text.String()); len(rest) > 0; {
				n := min(size, len(rest))
				if _, err := out.Write(rest[:n]); err != nil {
					break
				}
				rest = rest[n:]
			}
			out.Close()
		}()
		if err := f.followAll(t.Context(), e, []lines.Input{{Path: "-", R: in}}, logfile.AccessOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"! -:3  dropped", "! -:7  dropped"} {
			if !strings.Contains(stdout.String(), want) {
				t.Errorf("pieces of %d: no %s in\n%s", size, want, stdout)
			}
		}
	}
}

// TestFollowScreen: on a terminal the table is drawn over the last one, no higher
// than the screen, and what was there before comes back.
func TestFollowScreen(t *testing.T) {
	e, stdout, _ := clitest.New()
	e.StdoutTTY, e.Color = true, "never"
	var f accessFlags
	f.read.by, f.read.bots = []string{"method", "route"}, "include"
	if err := f.read.check(e); err != nil {
		t.Fatal(err)
	}
	w, err := f.newFollower(e, []lines.Input{{Path: "-", R: strings.NewReader("")}})
	if err != nil {
		t.Fatal(err)
	}
	s := newScreen(e)
	for i := range 50 {
		w.streamed([]byte(logLine(i, fmt.Sprintf("/route/%c%c", 'a'+i/26, 'a'+i%26), 200, 0.010)))
	}
	w.logs[0].Settle(w.add)
	for range 2 {
		if err := s.draw(w, logfile.AccessOptions{}); err != nil {
			t.Fatal(err)
		}
		w.turn()
	}
	s.close()
	frames := bytes.Split(stdout.Bytes(), []byte(home))
	if len(frames) != 3 || string(frames[0]) != enterScreen || !bytes.HasSuffix(frames[2], []byte(below+leaveScreen)) {
		t.Fatalf("%d frames: %q", len(frames), stdout)
	}
	for _, frame := range frames[1:] {
		if n := bytes.Count(frame, []byte("\n")); n > 23 {
			t.Errorf("%d lines on a screen of 24", n)
		}
	}
}
