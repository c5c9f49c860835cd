package protocol

import (
	"bytes"
	"strconv"

	"github.com/kasoku/kasoku/logs/routes"
	"github.com/kasoku/kasoku/trace"
)

// HTTP reads the requests of one connection of HTTP/1. The zero value is at its beginning.
type HTTP struct {
	head    []byte // of a request, until it is whole
	body    int64  // bytes that belong to a body still
	chunked bool   // a body in chunks follows
	lost    bool   // the place is not known: a call that begins with a method is
}

// Feed takes the bytes of one read, of which there were total in all, and calls each with
// the requests that are whole with it.
func (h *HTTP) Feed(b []byte, total int, each func(trace.Request)) {
	unknown := max(total-len(b), 0)
	if h.lost {
		if !beginsRequest(b) {
			return
		}
		h.reset()
	}
	for len(b) > 0 {
		switch {
		case h.body > 0:
			n := min(int64(len(b)), h.body)
			b, h.body = b[n:], h.body-n
		case h.chunked:
			b = h.chunk(b)
		default:
			b = h.take(b, unknown > 0, each)
		}
	}
	h.skip(int64(unknown))
}

// skip goes over bytes that are not known.
func (h *HTTP) skip(n int64) {
	if n == 0 {
		return
	}
	if h.body >= n {
		h.body -= n
		return
	}
	h.reset()
	h.lost = true
}

// Held returns how many bytes are kept of what came.
func (h *HTTP) Held() int { return cap(h.head) }

// Forget keeps nothing of what came: a request of which not all has come is not read.
func (h *HTTP) Forget() {
	h.lost = h.lost || len(h.head) > 0
	h.head = nil
}

func (h *HTTP) reset() { *h = HTTP{head: h.head[:0]} }

// take adds bytes to the head of a request, and returns those after it. One that is cut
// off by what is not known is taken as it is.
func (h *HTTP) take(b []byte, cut bool, each func(trace.Request)) []byte {
	if len(h.head) == 0 {
		b = bytes.TrimLeft(b, "\r\n") // which clients may send between requests
		if len(b) > 0 && !mayBegin(b) {
			h.lost = true
			return nil
		}
	}
	from := max(len(h.head)-3, 0)
	n := min(len(b), mostHead-len(h.head))
	h.head = append(h.head, b[:n]...)
	end := bytes.Index(h.head[from:], []byte("\r\n\r\n"))
	switch {
	case end >= 0:
		end += from + 4
		rest := b[n-(len(h.head)-end):]
		h.whole(h.head[:end], each)
		return rest
	case len(h.head) >= mostHead, cut:
		h.whole(h.head, each)
		h.lost, h.body, h.chunked = true, 0, false
		return nil
	}
	return nil
}

// whole reads a head and sets what follows it.
func (h *HTTP) whole(head []byte, each func(trace.Request)) {
	r, ok := ReadHead(head)
	h.body, h.chunked = 0, false
	if ok {
		if value, has := header(head, "content-length"); has {
			h.body, _ = strconv.ParseInt(string(value), 10, 63)
			h.body = max(h.body, 0)
		}
		if value, has := header(head, "transfer-encoding"); has && bytes.Contains(bytes.ToLower(value),
			[]byte("chunked")) {
			h.body, h.chunked = 0, true
		}
		each(r)
	}
	h.lost = !ok
	h.head = h.head[:0]
}

// chunk reads the line before a chunk.
func (h *HTTP) chunk(b []byte) []byte {
	n := min(len(b), 128-len(h.head))
	h.head = append(h.head, b[:n]...)
	end := bytes.IndexByte(h.head, '\n')
	if end < 0 {
		if len(h.head) >= 128 {
			h.reset()
			h.lost = true
		}
		return nil
	}
	rest := b[n-(len(h.head)-end-1):]
	line, _, _ := bytes.Cut(bytes.TrimSpace(h.head[:end]), []byte(";"))
	size, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 63)
	h.head = h.head[:0]
	switch {
	case len(line) == 0: // after a chunk
	case err != nil:
		h.reset()
		h.lost = true
		return nil
	case size == 0:
		h.chunked = false
	default:
		h.body = size
	}
	return rest
}

var requestMethods = [][]byte{[]byte("GET "), []byte("POST "), []byte("PUT "), []byte("HEAD "),
	[]byte("DELETE "), []byte("PATCH "), []byte("OPTIONS ")}

// beginsRequest reports whether bytes begin with a method.
func beginsRequest(b []byte) bool {
	for _, m := range requestMethods {
		if bytes.HasPrefix(b, m) {
			return true
		}
	}
	return false
}

// mayBegin reports whether bytes begin a request, or are too few to know.
func mayBegin(b []byte) bool {
	for _, m := range requestMethods {
		if bytes.HasPrefix(m, b[:min(len(b), len(m))]) {
			return true
		}
	}
	return false
}

// ReadHead reads the first line of a request, and which host it names. The rest may be
// missing.
func ReadHead(head []byte) (r trace.Request, ok bool) {
	line, _, whole := bytes.Cut(head, []byte("\r\n"))
	method, rest, found := bytes.Cut(line, []byte(" "))
	if !found || !beginsRequest(head) || len(method) > mostMethod {
		return r, false
	}
	target, version, found := bytes.Cut(rest, []byte(" "))
	if whole && (!found || !bytes.HasPrefix(version, []byte("HTTP/1."))) || len(target) == 0 {
		return r, false
	}
	host, _ := header(head, "host")
	if _, after, absolute := bytes.Cut(target, []byte("://")); absolute && target[0] != '/' {
		at, path, _ := bytes.Cut(after, []byte("/"))
		host, target = at, append([]byte("/"), path...)
	}
	r = trace.Request{Method: string(method), Path: pathOf(target), Host: string(clean(host, mostHost))}
	if found { // a target that was cut may be cut within a value
		r.Choice = choiceOf(target)
	}
	return r, true
}

// choiceOf returns what the query string of a target says that a program does; empty where it does not.
func choiceOf(target []byte) string {
	target, _, _ = bytes.Cut(target, []byte("#"))
	_, query, _ := bytes.Cut(target, []byte("?"))
	choice, _ := routes.AppendChoice(nil, query)
	return string(choice)
}

// pathOf returns the path of a target, as it may be shown.
func pathOf(target []byte) string {
	path, _, _ := bytes.Cut(target, []byte("?"))
	path, _, _ = bytes.Cut(path, []byte("#"))
	return string(clean(path, mostPath))
}

// clean cuts a text and takes out what terminals and pages must not see.
func clean(b []byte, most int) []byte {
	b = bytes.ToValidUTF8(b[:min(len(b), most)], []byte("?"))
	return bytes.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, b)
}

// header returns the value of a header, whose name is in lower case.
func header(head []byte, name string) (value []byte, ok bool) {
	for line := range bytes.SplitSeq(head, []byte("\r\n")) {
		key, value, found := bytes.Cut(line, []byte(":"))
		if found && len(key) == len(name) && string(bytes.ToLower(key)) == name {
			return bytes.TrimSpace(value), true
		}
	}
	return nil, false
}
