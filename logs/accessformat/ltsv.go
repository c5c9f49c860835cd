package accessformat

import "bytes"

// ltsv reads label:value pairs with tabs between.
//
// Source: ltsv.org.
func (p *Parser) ltsv(line []byte, r *Record) (why string) {
	p.beginKeys()
	known := p.layout
	for n := 0; len(line) > 0; n++ {
		var s *slot
		if at := known.find(n, line, nil); at != nil {
			s, line = at.slot, line[len(at.label):]
		} else {
			s, line = p.label(n, line)
			known = p.layout
		}
		v := line
		if i := bytes.IndexByte(line, '\t'); i >= 0 {
			v, line = line[:i], line[i+1:]
		} else {
			line = nil
		}
		if s == nil {
			continue
		}
		if !p.keyed(s, v, r) {
			return badValue(s.name, v)
		}
	}
	return p.finishKeyed(r)
}

// label reads a label that is not the one of the last line. It returns the rest
// of the line after the colon.
func (p *Parser) label(n int, line []byte) (s *slot, rest []byte) {
	field := line
	if i := bytes.IndexByte(line, '\t'); i >= 0 {
		field = line[:i]
	}
	colon := bytes.IndexByte(field, ':')
	if colon < 0 {
		p.layout.learn(n, nil, nil, nil)
		return nil, line
	}
	s = p.keys[string(field[:colon])]
	p.layout.learn(n, field[:colon+1], nil, s)
	return s, line[colon+1:]
}
