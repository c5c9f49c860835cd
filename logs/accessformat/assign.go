package accessformat

import (
	"bytes"
	"time"
)

// value puts a value into the record and reports whether it makes sense.
func (p *Parser) value(s *slot, v []byte, r *Record) bool {
	if s.extra >= 0 {
		p.extra[s.extra] = v
	}
	switch s.what {
	case noField, aTime:
	case aRequest:
		requestLine(v, r)
	case aStatus:
		return setStatus(r, v)
	case aSize:
		return p.size(v, r)
	case aLatency:
		return p.latency(v, &s.meaning, r)
	case aRemoteAddr:
		r.RemoteAddr = v
	case anAgent:
		r.UserAgent = v
	default:
		return p.rareValue(&s.meaning, v, r)
	}
	return true
}

// unit returns the unit of a duration.
func (p *Parser) unit(m *meaning, v []byte) time.Duration {
	if p.sniffer != nil {
		p.sniffer.see(m, v)
	}
	if m.unit != 0 {
		return m.unit
	}
	return p.format.unit
}

// size reads the size of a response.
func (p *Parser) size(v []byte, r *Record) bool {
	n, ok := parseDigits(v)
	if ok {
		r.Bytes = n
		r.Has |= HasBytes
	}
	return ok || isDash(v)
}

// latency reads a request time.
func (p *Parser) latency(v []byte, m *meaning, r *Record) bool {
	unit := p.unit(m, v)
	d, ok := parseDecimal(v, unit)
	if !ok {
		var known bool
		if d, known, ok = sumOfTimes(v, unit); !known {
			return ok
		}
	}
	r.Latency = d
	r.Has |= HasLatency
	return true
}

// rareValue puts a value into the record of which few formats have one.
func (p *Parser) rareValue(m *meaning, v []byte, r *Record) bool {
	switch m.what {
	case anUpstream:
		d, known, ok := sumOfTimes(v, p.unit(m, v))
		if known {
			r.Upstream = d
			r.Has |= HasUpstream
		}
		return ok
	case aConnect:
		d, known, ok := sumOfTimes(v, p.unit(m, v))
		if known {
			r.Connect = d
			r.Has |= HasConnect
		}
		return ok
	case aRequestSize:
		n, ok := parseDigits(v)
		if ok {
			r.RequestBytes = n
			r.Has |= HasRequestBytes
		}
		return ok || isDash(v)
	case aMethod:
		if isMethod(v) && v[0] >= 'A' {
			r.Method = v
		}
	case aPath:
		if !isDash(v) {
			r.Path = v
		}
	case aQuery:
		if !isDash(v) {
			p.query = bytes.TrimPrefix(v, []byte("?"))
		}
	case aProtocol:
		r.Protocol = v
	case aUser:
		r.User = v
	case aReferer:
		r.Referer = v
	case aVHost:
		r.VHost = v
	case aForwardedFor:
		r.ForwardedFor = v
	}
	return true
}

// finish ties up the values of a line that was understood.
func (p *Parser) finish(r *Record) {
	if len(r.Path) == 0 {
		r.Method = nil
	}
	if r.Has&(HasLatency|HasUpstream) == HasUpstream {
		r.Latency = r.Upstream
		r.Has |= HasLatency
	}
	if len(p.query) > 0 && len(r.Path) > 0 {
		p.buf = append(append(append(p.buf, r.Path...), '?'), p.query...)
		r.Path = p.buf[len(p.buf)-len(r.Path)-1-len(p.query):]
	}
	if len(p.extra) > 0 {
		r.Extra = p.extra
	}
}
