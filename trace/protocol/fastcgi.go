package protocol

import (
	"encoding/binary"

	"github.com/kasoku/kasoku/trace"
)

// FastCGI reads the requests of one connection of FastCGI. The zero value is at its beginning.
// https://fastcgi-archives.github.io/FastCGI_Specification.html
type FastCGI struct {
	head    [fastHead]byte
	have    int // bytes of head
	kind    byte
	content int // bytes of the record's content that are to come
	padding int
	params  []byte
	cut     bool // not all of the parameters are known
	lost    bool
}

// The records that say what is asked.
const (
	fastHead   = 8
	fastBegin  = 1
	fastParams = 4
)

// Held returns how many bytes are kept of what came.
func (f *FastCGI) Held() int { return cap(f.params) }

// Forget keeps nothing of what came: a request of which not all has come is not read.
func (f *FastCGI) Forget() {
	f.lost = f.lost || len(f.params) > 0
	f.params = nil
}

// Feed takes the bytes of one read, of which there were total in all, and calls each with
// the requests whose parameters are whole with it.
func (f *FastCGI) Feed(b []byte, total int, each func(trace.Request)) {
	unknown := max(total-len(b), 0)
	if f.lost {
		if len(b) < 2 || b[0] != 1 || b[1] != fastBegin {
			return
		}
		*f = FastCGI{params: f.params[:0]}
	}
	for len(b) > 0 && !f.lost {
		switch {
		case f.content > 0:
			n := min(len(b), f.content)
			if f.kind == fastParams {
				room := max(mostHead-len(f.params), 0)
				f.params = append(f.params, b[:min(n, room)]...)
				f.cut = f.cut || n > room
			}
			b, f.content = b[n:], f.content-n
		case f.padding > 0:
			n := min(len(b), f.padding)
			b, f.padding = b[n:], f.padding-n
		default:
			n := copy(f.head[f.have:], b)
			b, f.have = b[n:], f.have+n
			if f.have == fastHead {
				f.record(each)
			}
		}
	}
	f.skip(unknown)
}

// record begins the record whose head is there.
func (f *FastCGI) record(each func(trace.Request)) {
	f.have, f.kind = 0, f.head[1]
	f.content, f.padding = int(binary.BigEndian.Uint16(f.head[4:])), int(f.head[6])
	switch {
	case f.head[0] != 1:
		f.lost = true
	case f.kind == fastBegin:
		f.params, f.cut = f.params[:0], false
	case f.kind == fastParams && f.content == 0:
		if r, ok := readParams(f.params); ok {
			each(r)
		}
		f.params = f.params[:0]
	}
}

// skip goes over bytes that are not known.
func (f *FastCGI) skip(n int) {
	if n == 0 || f.lost {
		return
	}
	f.cut = f.cut || f.kind == fastParams
	for _, left := range []*int{&f.content, &f.padding} {
		k := min(n, *left)
		*left, n = *left-k, n-k
	}
	f.lost = n > 0
}

// readParams reads the parameters that say what is asked.
func readParams(b []byte) (r trace.Request, ok bool) {
	var script []byte
	for len(b) > 0 {
		name, value, rest, whole := param(b)
		if !whole {
			break
		}
		b = rest
		variable(&r, &script, name, value)
	}
	return asked(r, script)
}

// variable takes a variable of CGI that says what is asked, or by which script; see RFC 3875, 4.1.
func variable(r *trace.Request, script *[]byte, name, value []byte) {
	switch string(name) {
	case "REQUEST_METHOD":
		r.Method = string(clean(value, mostMethod))
	case "REQUEST_URI":
		r.Path, r.Choice = pathOf(value), choiceOf(value)
	case "SCRIPT_NAME", "DOCUMENT_URI":
		*script = value
	case "HTTP_HOST":
		r.Host = string(clean(value, mostHost))
	}
}

// asked returns what the variables of CGI asked, where they did.
func asked(r trace.Request, script []byte) (trace.Request, bool) {
	if r.Path == "" {
		r.Path = pathOf(script)
	}
	return r, r.Method != "" && r.Path != ""
}

// param returns the first name and value.
func param(b []byte) (name, value, rest []byte, ok bool) {
	var sizes [2]int
	for i := range sizes {
		switch {
		case len(b) == 0:
			return nil, nil, nil, false
		case b[0] < 0x80:
			sizes[i], b = int(b[0]), b[1:]
		case len(b) < 4:
			return nil, nil, nil, false
		default:
			sizes[i], b = int(binary.BigEndian.Uint32(b)&0x7fffffff), b[4:]
		}
	}
	if sizes[0]+sizes[1] > len(b) {
		return nil, nil, nil, false
	}
	name, b = b[:sizes[0]], b[sizes[0]:]
	return name, b[:sizes[1]], b[sizes[1]:], true
}
