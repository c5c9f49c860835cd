package logs

import "unicode/utf8"

// AppendVisible appends text from a log as it stands, but for what a terminal
// would obey: control characters but the tab, and those that change the direction of
// writing, are written as \x1B and \u202E. It is for output that another program
// prints as well; [AppendSafe] is for our own.
func AppendVisible(dst []byte, text string) []byte {
	const hex = "0123456789ABCDEF"
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0:
			dst = append(dst, '\\', 'x', hex[r>>4], hex[r&15])
		case isBidi(r):
			dst = append(dst, '\\', 'u', hex[r>>12], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		default:
			dst = append(dst, text[:n]...)
		}
		text = text[n:]
	}
	return dst
}
