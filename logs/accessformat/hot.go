package accessformat

import (
	"bytes"
	"strconv"
)

// The combined format is what most logs have, so its first values have a reader
// of their own, which does in one go what [Parser.run] does step by step. It
// reads ordinary lines and leaves all others to the steps, which alone decide
// what is a record: whatever it reads, they would read the same.

// combinedSteps are the steps that combined reads: with three values before the
// time, as Apache and others have it, or with two and a dash, as nginx has it.
var combinedSteps = [...]string{
	signatureOf(anyCombined.program.steps[:9]),
	signatureOf(append([]step{
		{slot: slot{meaning: meaning{what: aRemoteAddr}}, text: " - "},
	}, anyCombined.program.steps[2:9]...)),
}

// signatureOf describes what the steps read.
func signatureOf(steps []step) string {
	var b []byte
	for i, s := range steps {
		b = append(strconv.AppendInt(b, int64(s.what), 10), ' ')
		if i == len(steps)-1 {
			break // what stands after the last one is compared when it is read
		}
		b = strconv.AppendQuote(b, s.text)
	}
	return string(b)
}

// hotSteps returns how many of the first steps combined can stand for.
func hotSteps(pr *program) int {
	if pr.prefix != "" {
		return 0
	}
	for i, want := range combinedSteps {
		n := 9 - i
		if len(pr.steps) >= n && signatureOf(pr.steps[:n]) == want {
			return n
		}
	}
	return 0
}

// combined reads
//
//	host - - [time] "request" status size "referer" "agent
//
// and returns where the quote after it stands, 0 when the line is not as usual.
func (p *Parser) combined(line []byte, r *Record) (at int) {
	i := bytes.IndexByte(line, ' ')
	if i < 0 || len(line) < i+6 || string(line[i:i+6]) != " - - [" {
		return 0
	}
	host := line[:i]
	user := line[i+3 : i+4]
	i += 6
	n := p.times.take(line[i:])
	if n == 0 || len(line) < i+n+3 || string(line[i+n:i+n+3]) != `] "` {
		return 0
	}
	p.times.set(r)
	i += n + 3
	n = bytes.IndexByte(line[i:], '"')
	if n < 0 || line[i+n-1] == '\\' {
		return 0
	}
	requestLine(line[i:i+n], r)
	rest := line[i+n+1:]
	if len(rest) < 8 || rest[0] != ' ' || rest[4] != ' ' || !setStatus(r, rest[1:4]) {
		return 0
	}
	n = 5
	if rest[n] == '-' {
		n++
	} else {
		var size uint64
		for n < len(rest) && n < 5+18 && isDigit(rest[n]) {
			size = size*10 + uint64(rest[n]-'0')
			n++
		}
		if n == 5 {
			return 0
		}
		r.Bytes = size
		r.Has |= HasBytes
	}
	if len(rest) < n+5 || rest[n] != ' ' || rest[n+1] != '"' {
		return 0
	}
	rest = rest[n+2:]
	n = 1
	if rest[0] != '-' || rest[1] != '"' {
		if n = bytes.IndexByte(rest, '"'); n < 1 || rest[n-1] == '\\' {
			return 0
		}
	}
	if len(rest) < n+4 || rest[n+1] != ' ' || rest[n+2] != '"' {
		return 0
	}
	r.RemoteAddr, r.User, r.Referer = host, user, rest[:n]
	rest = rest[n+3:]
	if n = bytes.IndexByte(rest, '"'); n < 1 || rest[n-1] == '\\' {
		return 0
	}
	r.UserAgent = rest[:n]
	return len(line) - len(rest) + n
}
