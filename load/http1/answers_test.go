package http1

import (
	"strings"

	"github.com/kasoku/kasoku/load/loadtest"
)

// nginx is an answer as nginx gives it, with a body of 1 KB.
var nginx = "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Mon, 13 Jul 2026 10:00:00 GMT\r\nContent-Type: text/html\r\nContent-Length: 1024\r\n" +
	"Last-Modified: Mon, 13 Jul 2026 09:00:00 GMT\r\nConnection: keep-alive\r\nETag: \"6871f2a0-400\"\r\nAccept-Ranges: bytes\r\n\r\n" + strings.Repeat("x", 1024)

// answers are those that the parser is compared with net/http on.
func answers() []string {
	out := []string{nginx}
	for _, a := range loadtest.Answers() {
		if len(a.Bytes) < 64<<10 {
			out = append(out, a.Bytes)
		}
	}
	return out
}

// named returns an answer of the catalogue.
func named(name string) string {
	for _, a := range loadtest.Answers() {
		if a.Name == name {
			return a.Bytes
		}
	}
	panic("no answer is called " + name)
}
