// Package secret masks the secrets of a text that may come from anyone: a line of a log, an
// error, a URL, SQL. It owns the words by which secrets are known; checkpoint/capture masks
// configuration by the same words, in the notations of files.
//
// The one idea: one pass forward. What is written is never taken back, so whoever writes the
// text cannot lead the mask back over its own output. It is two rules in order. Values of
// names such as password are found first. In what is left, a word with user:password@ loses
// what stands between its first colon and its last @; the mask of a value is a part of such a
// word like any other. Only this second rule looks ahead, once for each word, so the time
// grows with the text and not faster.
//
// Sources: RFC 3986 (userinfo), RFC 9110 (credentials), github.com/go-sql-driver/mysql (DSN).
package secret

import "bytes"

// Append appends text with the values of passwords, tokens, cookies and
// authorizations, the passwords of data source names and URLs, and the rows' values
// that MySQL names as duplicates, replaced by [Masked]. The quotes around a value
// stay. It allocates only what dst needs to grow. A text masked twice is the same as
// masked once. The text may not be a part of dst.
func Append(dst, text []byte) []byte {
	dst, _ = appendMasked(dst, text)
	return dst
}

func appendMasked(dst, text []byte) (_ []byte, steps int) {
	s := scanner{text: text}
	written := 0                           // text is, up to here
	last := bytes.LastIndexByte(text, '@') // no password is sought after it
	begun := false                         // the word has its first colon
	for s.skipPlain(); s.at < len(text); s.skipPlain() {
		if v := s.hidden(); !v.isEmpty() {
			dst = append(append(dst, text[written:v.from]...), Masked...)
			s.at, written = v.to, v.to
			continue
		}
		switch c := classOf[text[s.at]]; {
		case c&ends != 0:
			begun = false
		case c&marks != 0 && s.isScheme():
			begun = false
		case c&marks != 0 && !begun && s.at < last:
			begun = true
			from := s.at + 1
			if s.passwordEnd() && s.at > from {
				dst = append(append(dst, text[written:from]...), Masked...)
				written = s.at
				continue
			}
		case c&marks != 0:
			begun = true
		}
		s.at++
	}
	return append(dst, text[written:]...), s.steps
}

// isScheme reports whether the colon is that of scheme://, before which a word ends.
func (s *scanner) isScheme() bool {
	return s.at+2 < len(s.text) && s.text[s.at+1] == '/' && s.text[s.at+2] == '/' && !s.isHiddenAt(s.at+1)
}

// passwordEnd goes from the first colon of a word on to its last @; it stays and
// returns false when there is none.
func (s *scanner) passwordEnd() bool {
	ahead, found := *s, false
	for ahead.at++; ahead.at < len(s.text); {
		if v := ahead.hidden(); !v.isEmpty() {
			ahead.at = v.to
			continue
		}
		c := classOf[s.text[ahead.at]]
		if c&ends != 0 || c&marks != 0 && ahead.isScheme() {
			break
		}
		if s.text[ahead.at] == '@' {
			*s, found = ahead, true
		}
		ahead.at++
	}
	s.steps = ahead.steps
	return found
}
