package accesslog

import (
	"bytes"
	"time"
)

// A duration's label, in the order in which it is preferred when a line has
// several: what the server measured of the whole request comes before what an
// application took, and the finer unit before the coarser.
const (
	noLatency = iota
	appTime
	secondTime
	requestTime
	microTime
)

// parseLTSV reads label:value pairs with tabs between. It returns why the line
// is no access log line.
func (p *Parser) parseLTSV(line []byte, r *Record) (why string) {
	var request, size []byte
	var known int // labels of an access log
	best := noLatency
	bad := ""
	for len(line) > 0 {
		field := line
		if i := bytes.IndexByte(line, '\t'); i >= 0 {
			field, line = line[:i], line[i+1:]
		} else {
			line = nil
		}
		colon := bytes.IndexByte(field, ':')
		if colon < 0 {
			continue
		}
		label, value := field[:colon], field[colon+1:]
		ok := true
		switch string(label) {
		case "time", "time_local", "time_iso8601", "msec", "timestamp":
			ok = p.time(value, r)
		case "method", "request_method":
			if isMethod(value) {
				r.Method = value
			}
		case "uri", "request_uri", "path", "url":
			r.Path = value
		case "req", "request":
			request = value
		case "status", "code":
			ok = r.setStatus(value)
		case "size", "body_bytes_sent", "body_bytes", "bytes", "bytes_sent":
			if size == nil || string(label) != "bytes_sent" {
				size = value
			}
		default:
			if class, unit := latencyLabel(label); class > best {
				if d, ok := upstream(value, unit); ok {
					r.Latency, best = d, class
					r.Has |= HasLatency
				} else if !isDash(value) {
					bad = badValue(label, value)
				}
				known++
			}
			continue
		}
		known++
		if !ok {
			return badValue(label, value)
		}
	}
	switch {
	case known < 2:
		return "not LTSV with labels of an access log"
	case len(r.Path) == 0 && len(request) == 0:
		return "neither uri nor req"
	case bad != "" && best == noLatency:
		return bad
	}
	if len(r.Path) == 0 || len(r.Method) == 0 {
		requestLine(request, r)
	}
	r.setBytes(size)
	return ""
}

// latencyLabel returns how much a label of a request time is preferred, and its
// unit.
func latencyLabel(label []byte) (class int, unit time.Duration) {
	switch string(label) {
	case "reqtime_microsec", "reqtime_usec", "request_time_us", "duration_us":
		return microTime, time.Microsecond
	case "reqtime_msec", "request_time_ms", "duration_ms", "latency_ms":
		return requestTime, time.Millisecond
	case "reqtime", "request_time", "latency", "duration":
		return requestTime, time.Second
	case "taken_sec", "taken":
		return secondTime, time.Second
	case "apptime", "response_time", "upstream_response_time", "upstream_time", "runtime":
		return appTime, time.Second
	}
	return noLatency, 0
}

// setStatus reads a status code. nginx writes 000 when it sent none.
func (r *Record) setStatus(b []byte) bool {
	if isDash(b) {
		return true
	}
	n, ok := digits(b)
	if !ok || n > 999 {
		return false
	}
	r.Status = int(n)
	r.Has |= HasStatus
	return true
}

// setBytes reads a size. A dash is none.
func (r *Record) setBytes(b []byte) bool {
	n, ok := digits(b)
	if ok {
		r.Bytes = n
		r.Has |= HasBytes
	}
	return ok || isDash(b)
}

func isDash(b []byte) bool { return len(b) == 0 || len(b) == 1 && b[0] == '-' }

func badValue(label, value []byte) string {
	return "bad " + string(label) + " " + quote(value)
}
