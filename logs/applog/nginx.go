package applog

import (
	"bytes"

	"github.com/kasoku/kasoku"
)

// nginxStamp is the length of the time of a line of nginx's error log.
const nginxStamp = len("2026/11/20 14:02:11")

// nginxLine takes a line of nginx's error log apart:
//
//	2026/11/20 14:02:11 [warn] 1234#1234: *57 MESSAGE, client: ADDRESS, server: NAME, request: "GET /a?b HTTP/1.1", upstream: …
//
// It appends the message and, where there is one, the request without its query
// string to dst: "MESSAGE, request: GET /a". What is between them are addresses and
// names of clients. ok is false for other lines.
//
// Source: ngx_log_error_core and ngx_http_log_error of nginx.
func nginxLine(dst, line []byte) (stated level, text []byte, ok bool) {
	if len(line) < nginxStamp+8 || line[4] != '/' || line[7] != '/' || line[10] != ' ' || line[nginxStamp] != ' ' ||
		line[nginxStamp+1] != '[' {
		return unknown, dst, false
	}
	rest := line[nginxStamp+2:]
	end := bytes.IndexByte(rest[:min(len(rest), 12)], ']')
	if end < 0 {
		return unknown, dst, false
	}
	stated = levelNamed(rest[:end])
	rest = bytes.TrimPrefix(rest[end+1:], []byte(" "))
	pid := countDigits(rest)
	if stated == unknown || pid == 0 || pid >= len(rest) || rest[pid] != '#' {
		return unknown, dst, false
	}
	rest = rest[pid+1:]
	tid := countDigits(rest)
	if tid == 0 || !bytes.HasPrefix(rest[tid:], []byte(": ")) {
		return unknown, dst, false
	}
	rest = rest[tid+2:]
	if rest = bytes.TrimSpace(rest); len(rest) > 1 && rest[0] == '*' { // number of the connection
		if n := countDigits(rest[1:]); n > 0 {
			rest = bytes.TrimLeft(rest[1+n:], " ")
		}
	}
	message, about, _ := bytes.Cut(rest, []byte(", client: "))
	dst = append(dst, message[:min(len(message), maxPattern)]...)
	if method, path := nginxRequest(about); len(path) > 0 {
		dst = append(append(append(append(dst, ", request: "...), method...), ' '), path...)
	}
	return stated, dst, true
}

// nginxRequest returns the method of the request that a line is about, and its path
// without the query string.
func nginxRequest(about []byte) (method, path []byte) {
	_, request, ok := bytes.Cut(about, []byte(`, request: "`))
	if !ok {
		return nil, nil
	}
	method, path, _ = bytes.Cut(request, []byte(" "))
	if end := bytes.IndexAny(path, ` ?#"`); end >= 0 {
		path = path[:end]
	}
	if len(method) > 16 || len(path) == 0 || path[0] != '/' {
		return nil, nil
	}
	return method, path
}

// startNginx begins an entry with what nginxLine returned. Each is one line.
func (r *reader) startNginx(stated level, text []byte) {
	r.flush()
	r.table.account.Records++
	e := &r.cur
	*e = entry{active: true, text: append(e.text[:0], text...), offset: r.src.Offset(), bytes: uint64(r.src.Width()),
		verb: -1, level: stated, nginx: true}
}

// nginxMessage returns the message that the entry of nginx belongs to.
func (r *reader) nginxMessage() *kasoku.Message {
	e := &r.cur
	key := append(r.pattern[:0], byte(e.level), 2)
	body := len(key)
	key = appendPattern(key, e.text)
	r.pattern = key
	if m := r.seen[string(key)]; m != nil {
		return m
	}
	k := id{host: r.o.Host, path: r.o.Path, level: e.level.String(), pattern: safeText(key[body:], maxPattern), nginx: true}
	return r.remember(key, k, e.text, nil, nil)
}
