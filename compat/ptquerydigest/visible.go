package ptquerydigest

import (
	"fmt"
	"io"
)

// A visible writes control characters, which a terminal would obey, as \x1B; line
// feeds and tabs stay. It recognises those of one byte and, in UTF-8, the C1 ones.
type visible struct {
	w    io.Writer
	buf  []byte
	half bool // the last byte was the first one of what may be a C1 character
}

// Write writes all of p or fails.
func (v *visible) Write(p []byte) (int, error) {
	v.buf = v.buf[:0]
	for _, c := range p {
		if v.half {
			v.half = false
			if c >= 0x80 && c < 0xa0 {
				v.buf = fmt.Appendf(v.buf, `\xC2\x%02X`, c)
				continue
			}
			v.buf = append(v.buf, 0xc2)
		}
		switch {
		case c == 0xc2:
			v.half = true
		case c < ' ' && c != '\n' && c != '\t' || c == 0x7f:
			v.buf = fmt.Appendf(v.buf, `\x%02X`, c)
		default:
			v.buf = append(v.buf, c)
		}
	}
	if _, err := v.w.Write(v.buf); err != nil {
		return 0, err
	}
	return len(p), nil
}
