package accessformat

// match reads a line with a regexp, the slow way.
func (p *Parser) match(line []byte, r *Record) (why string) {
	m := p.format.regexp.FindSubmatchIndex(line)
	if m == nil {
		return "the regexp does not match"
	}
	p.beginKeys()
	for i := range p.groups {
		from, to := m[2*i+2], m[2*i+3]
		if from < 0 {
			continue
		}
		if s := &p.groups[i]; !p.keyed(s, line[from:to], r) {
			return badValue(s.name, line[from:to])
		}
	}
	return p.finishKeyed(r)
}
