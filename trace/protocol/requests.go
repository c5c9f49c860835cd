package protocol

import (
	"bytes"

	"github.com/kasoku/kasoku/trace"
)

// Requests reads the requests that come on one connection.
type Requests interface {
	// Feed takes the bytes of one read, of which there were total in all, and calls each with the requests
	// that are whole with it.
	Feed(b []byte, total int, each func(trace.Request))
	// Held returns how many bytes are kept of what came.
	Held() int
	// Forget keeps nothing of what came: a request of which not all has come is not read.
	Forget()
}

// NewRequests returns what reads a connection whose first read brought these bytes.
func NewRequests(b []byte) Requests {
	switch {
	case len(b) > 1 && b[0] == 1 && b[1] == fastBegin:
		return &FastCGI{}
	case beginsUWSGI(b):
		return &UWSGI{}
	}
	return &HTTP{}
}

// Name returns what a client speaks whose first bytes are no request that is read.
func Name(b []byte) string {
	switch {
	case len(b) >= 2 && (b[0] == 0x16 || b[0] == 0x17) && b[1] == 3:
		return "TLS"
	case bytes.HasPrefix(b, []byte("PRI ")):
		return "HTTP/2"
	}
	return "another protocol"
}
