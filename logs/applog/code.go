package applog

import "bytes"

// findCode finds the number of an error that MySQL or MariaDB reported: 1000 to
// 1999 and 3000 to 5999 of the server, 2000 to 2999 of the client.
//
//	Error 1040: …   Error 1040 (08004): …   ERROR 1040 (08004): …   error: 1040, …
//	OperationalError: (1040, …)   OperationalError(1040, …)   errno: 1040
//	SQLSTATE[08004] [1040] …
func findCode(text []byte) (code [4]byte, ok bool) {
	for _, rr := range [...]string{"rror", "RROR", "rrno"} {
		for p := text; ; {
			i := bytes.Index(p, []byte(rr))
			if i < 0 {
				break
			}
			p = p[i+len(rr):]
			if code, ok = numberAfter(p); ok {
				return code, true
			}
		}
	}
	if i := bytes.Index(text, []byte("SQLSTATE[")); i >= 0 {
		if j := bytes.Index(text[i:], []byte("] [")); j > 0 && j <= 16 {
			p := text[i+j+3:]
			if code, ok = isCode(p); ok && len(p) > 4 && p[4] == ']' {
				return code, true
			}
		}
	}
	return [4]byte{}, false
}

// numberAfter reads the number after the word error or errno.
func numberAfter(p []byte) (code [4]byte, ok bool) {
	n := 0
	for n < len(p) && n < 4 && bytes.IndexByte([]byte(" :=(#["), p[n]) >= 0 {
		n++
	}
	if n == 0 {
		return code, false
	}
	p = p[n:]
	if code, ok = isCode(p); !ok {
		return code, false
	}
	rest := p[4:]
	switch {
	case len(rest) == 0 || bytes.IndexByte([]byte(":,)]\"'"), rest[0]) >= 0:
		return code, true
	case rest[0] == ' ' && len(rest) > 1 && rest[1] == '(':
		return code, true
	case rest[0] == ' ' && len(rest) > 1 && code[0] == '1' && rest[1] >= 'A' && rest[1] <= 'Z':
		return code, true // a message without a colon; units are in lower case
	}
	return [4]byte{}, false
}

func isCode(p []byte) (code [4]byte, ok bool) {
	if len(p) < 4 || countDigits(p[:min(len(p), 5)]) != 4 || p[0] < '1' || p[0] > '5' {
		return code, false
	}
	copy(code[:], p)
	return code, true
}
