package applog

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/lines"
)

func TestNginxLine(t *testing.T) {
	f := func(line string, level, text string) {
		t.Helper()
		l, got, ok := nginxLine(nil, []byte(line))
		if ok != (level != "") || ok && (l.String() != level || string(got) != text) {
			t.Errorf("%s: %v %q %v", line, l, got, ok)
		}
	}
	f(`2026/11/20 14:02:11 [warn] 1234#1234: *57 a client request body is buffered to a temporary file /x/body/0000000001, client: 127.0.0.1, server: , request: "POST /api/a?token=1 HTTP/1.1", host: "127.0.0.1:8080"`,
		"warn", "a client request body is buffered to a temporary file /x/body/0000000001, request: POST /api/a")
	f(`2026/11/20 14:02:11 [alert] 7#7: 64 worker_connections are not enough`, "error", "64 worker_connections are not enough")
	f(`2026/11/20 14:02:11 [crit] 7#7: accept4() failed (24: Too many open files)`, "error", "accept4() failed (24: Too many open files)")
	f(`2026/11/20 14:02:11 [error] 7#7: *1 upstream timed out (110: Connection timed out) while reading response header from upstream, client: 1.2.3.4, server: x, request: "GET /slow HTTP/1.1", upstream: "http://127.0.0.1:1/slow"`,
		"error", "upstream timed out (110: Connection timed out) while reading response header from upstream, request: GET /slow")
	f(`2026/11/20 14:02:11 [notice] 7#7: signal process started`, "info", "signal process started")
	f(`2026/11/20 14:02:11 [error] put order: Error 1040: Too many connections`, "", "")
	f(`2026/11/20 14:02:11 error: x`, "", "")
	f(``, "", "")
}

// TestRead_Nginx: lines of nginx are distinguished from those of applications, and
// counted by message and request.
func TestRead_Nginx(t *testing.T) {
	const log = `2026/11/20 14:02:11 [warn] 1#1: *57 a client request body is buffered to a temporary file /x/body/0000000001, client: 127.0.0.1, server: , request: "POST /api/a/17 HTTP/1.1", host: "h"
2026/11/20 14:02:11 [warn] 1#1: *58 a client request body is buffered to a temporary file /x/body/0000000002, client: 127.0.0.1, server: , request: "POST /api/a/18 HTTP/1.1", host: "h"
2026/11/20 14:02:12 [warn] 1#1: *59 an upstream response is buffered to a temporary file /x/proxy/1/00/0000000001 while reading upstream, client: 127.0.0.1, server: , request: "GET /zip HTTP/1.1", host: "h"
2026/11/20 14:02:12 error: put order: Error 1040: Too many connections
`
	var warned uint64
	for _, m := range readNginx(t, log) {
		switch m.Kind {
		case kasoku.MessageNginx:
			if m.Level != "warn" || m.SQL || m.Code != "" {
				t.Errorf("%+v", m)
			}
			warned += m.Count
			if m.Count == 2 && m.Pattern != "a client request body is buffered to a temporary file /x/body/?, request: POST /api/a/?" {
				t.Errorf("pattern %q", m.Pattern)
			}
		default:
			if m.Code != "1040" {
				t.Errorf("%+v", m)
			}
		}
	}
	if warned != 3 {
		t.Errorf("%d lines of nginx", warned)
	}
}

func FuzzNginxLine(f *testing.F) {
	f.Add(`2026/11/20 14:02:11 [warn] 1#1: *57 x, client: 127.0.0.1, server: , request: "POST /api/a/17 HTTP/1.1"`)
	f.Add(`2026/11/20 14:02:11 [alert] 7#7: 64 worker_connections are not enough`)
	f.Fuzz(func(t *testing.T, line string) {
		if _, text, ok := nginxLine(nil, []byte(line)); ok && len(text) > len(line)+len(", request: ") {
			t.Errorf("%q grew to %q", line, text)
		}
	})
}

func readNginx(t *testing.T, log string) []kasoku.Message {
	t.Helper()
	table, err := Read(lines.NewReader(strings.NewReader(log), 0), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return table.Messages()
}
