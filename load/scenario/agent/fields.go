package agent

import (
	"bytes"
	"strings"
)

// fields are those of an answer that the agent acts on. They are parts of the
// header.
type fields struct {
	encoding, etag, modified, control, vary []byte
	cookies                                 bool // there is Set-Cookie
}

// readFields looks for them.
func readFields(lines []byte) (f fields) {
	for len(lines) > 0 {
		var line []byte
		if end := bytes.IndexByte(lines, '\n'); end > 0 {
			line, lines = lines[:end-1], lines[end+1:]
		} else {
			line, lines = lines, nil
		}
		colon := bytes.IndexByte(line, ':')
		if colon < 0 || wanted>>colon&1 == 0 {
			continue
		}
		name, value := line[:colon], bytes.Trim(line[colon+1:], " \t")
		switch {
		case equalsFold(name, "etag"):
			f.etag = value
		case equalsFold(name, "vary"):
			f.vary = joinLists(f.vary, value)
		case equalsFold(name, "set-cookie"):
			f.cookies = true
		case equalsFold(name, "last-modified"):
			f.modified = value
		case equalsFold(name, "cache-control"):
			f.control = joinLists(f.control, value)
		case equalsFold(name, "content-encoding"):
			f.encoding = joinLists(f.encoding, value)
		}
	}
	return f
}

// wanted has the bit n set when readFields looks for a name of n bytes.
const wanted = 1<<len("etag") | 1<<len("vary") | 1<<len("set-cookie") | 1<<len("last-modified") | 1<<len("cache-control") | 1<<len("content-encoding")

// joinLists makes one list of two.
func joinLists(list, more []byte) []byte {
	if len(list) == 0 {
		return more
	}
	return append(append(bytes.Clone(list), ", "...), more...)
}

// equalsFold reports whether a name or a token is this one, in any case. What strings does
// with it does not escape, so nothing is allocated for a short one.
func equalsFold(b []byte, name string) bool {
	return len(b) == len(name) && strings.EqualFold(string(b), name)
}
