package secret

import "bytes"

// A scanner goes through a text once, byte by byte, and knows of each whether a value
// begins there that is secret by its name.
type scanner struct {
	text  []byte
	at    int
	value [2]span // what is found last; in order
	known int     // where its last ends: names are sought from there on
	steps int     // bytes looked at
}

// A span is the part [from, to) of a text.
type span struct{ from, to int }

func (s span) isEmpty() bool { return s.to <= s.from }

// hidden returns the secret value that begins at the place, empty when none does.
func (s *scanner) hidden() span {
	s.steps++
	if s.at >= s.known {
		if classOf[s.text[s.at]] != initial {
			return span{}
		}
		s.value = s.named()
		s.known = max(s.value[0].to, s.value[1].to)
	}
	for _, v := range s.value {
		if v.from == s.at && !v.isEmpty() {
			return v
		}
	}
	return span{}
}

// skipPlain goes on to the next byte that may mean anything.
func (s *scanner) skipPlain() {
	if s.at < s.known {
		return
	}
	from, at := s.at, s.at
	for at < len(s.text) && classOf[s.text[at]]&^stops == 0 {
		at++
	}
	s.at, s.steps = at, s.steps+at-from
}

// isHiddenAt reports whether a secret value begins at a place that is not reached.
func (s *scanner) isHiddenAt(i int) bool {
	return !s.value[0].isEmpty() && s.value[0].from == i || !s.value[1].isEmpty() && s.value[1].from == i
}

// named returns where the value lies when a secret's name starts at the place.
func (s *scanner) named() (none [2]span) {
	text := s.text[s.at:]
	if len(text) < 2 {
		return none
	}
	for _, n := range byStart[startOf(text[0], text[1])] {
		if !hasFold(text, n.text) {
			continue
		}
		p := s.at + len(n.text)
		switch n.kind {
		case identified:
			p = s.afterIdentified(p)
		case blank:
			p = s.afterBlanks(p)
		default:
			p = s.afterSign(p)
		}
		if p < 0 || p >= len(s.text) {
			continue
		}
		if v := s.valueAt(p, n.kind == header); !v[0].isEmpty() || !v[1].isEmpty() {
			return v
		}
	}
	return none
}

// afterSign returns where the value begins after a name, blanks, = and :, and -1 when
// there is no sign. What closes a quote around the name goes before, in JSON within a
// string with backslashes; PASSWORD('x') is a call.
func (s *scanner) afterSign(p int) int {
	p = s.afterQuote(p)
	signed := false
	for ; p < len(s.text); p++ {
		s.steps++
		switch c := s.text[p]; {
		case c == '=' || c == ':':
			signed = true
		case c == '(' && !signed && p+1 < len(s.text) && isQuote(s.text[p+1]):
			return p + 1
		case c == '>' && s.text[p-1] == '=': // of PHP and Ruby
		case c != ' ' && c != '\t':
			if !signed {
				return -1
			}
			return p
		}
	}
	return -1
}

// afterBlanks returns where the value begins after a name and blanks, -1 without.
func (s *scanner) afterBlanks(p int) int {
	from := s.afterQuote(p)
	for p = from; p < len(s.text) && (s.text[p] == ' ' || s.text[p] == '\t'); p++ {
		s.steps++
	}
	if p == from {
		return -1
	}
	return p
}

func (s *scanner) afterQuote(p int) int {
	q := p
	for ; q < len(s.text) && s.text[q] == '\\'; q++ {
		s.steps++
	}
	if q < len(s.text) && isQuote(s.text[q]) {
		return q + 1
	}
	return p
}

// mostWords is how many words stand between IDENTIFIED and its value:
// WITH plugin BY PASSWORD, VIA plugin USING.
const mostWords = 6

// afterIdentified returns where the value begins after IDENTIFIED of SQL, -1 when
// there is none.
//
// Sources: MySQL 9.7 manual, "CREATE USER Statement"; MariaDB documentation, CREATE USER.
func (s *scanner) afterIdentified(p int) int {
	values := false // the next word is one, unless it is PASSWORD
	for range mostWords {
		from := s.afterBlanks(p)
		if from < 0 || from >= len(s.text) {
			return -1
		}
		for p = from; p < len(s.text) && isWord(s.text[p]); p++ {
			s.steps++
		}
		switch w := s.text[from:p]; {
		case bytes.EqualFold(w, []byte("password")):
		case values || p == from && p < len(s.text) && isQuote(s.text[p]):
			return from
		case p == from:
			return -1
		default:
			values = bytes.EqualFold(w, []byte("by")) || bytes.EqualFold(w, []byte("as")) ||
				bytes.EqualFold(w, []byte("using"))
		}
	}
	return -1
}

// valueAt returns the value that begins at p. Of a string in quotes that is what they
// hold, so that JSON stays JSON; what is glued to the closing quote comes second.
func (s *scanner) valueAt(p int, isHeader bool) (v [2]span) {
	p = s.afterCalls(p)
	q := p
	for ; q < len(s.text) && s.text[q] == '\\'; q++ {
		s.steps++
	}
	if q < len(s.text) && isQuote(s.text[q]) {
		end := s.closing(q+1, s.text[q], q-p)
		v[0] = s.judged(span{q + 1, end})
		if p = end + q - p + 1; p < len(s.text) && (!isHeader || s.text[p] == ';' || classOf[s.text[p]]&stops == 0) {
			v[1] = s.judged(span{p, s.wordEnd(p, isHeader)})
		}
		return v
	}
	v[0] = s.judged(span{p, s.wordEnd(p, isHeader)})
	return v
}

// afterCalls returns where the string begins in calls as PASSWORD('x') and
// SHA1(UNHEX('x')), and p where there is none.
func (s *scanner) afterCalls(p int) int {
	for q := p; q < len(s.text); q++ {
		s.steps++
		switch c := s.text[q]; {
		case isQuote(c) && q > p && s.text[q-1] == '(':
			return q
		case c != '(' && !isWord(c):
			return p
		}
	}
	return p
}

// closing returns where the string ends that begins at p, without the quote and the
// backslashes before it; the end of the text when it is not closed. A doubled quote
// belongs to the string, as does one after more backslashes than the first had.
func (s *scanner) closing(p int, quote byte, slashes int) int {
	before := 0 // backslashes before p
	for ; p < len(s.text); p++ {
		s.steps++
		switch c := s.text[p]; {
		case c == '\\':
			before++
			continue
		case c == quote && (slashes == 0 && before%2 == 0 || slashes > 0 && before <= slashes):
			if slashes > 0 || p+1 >= len(s.text) || s.text[p+1] != quote {
				return max(p-min(before, slashes), 0)
			}
			p++
		}
		before = 0
	}
	return len(s.text)
}

// wordEnd returns the end of a value without quotes: of the word, or for a header up
// to a quote or the end of the line.
func (s *scanner) wordEnd(p int, isHeader bool) int {
	for ; p < len(s.text); p++ {
		s.steps++
		if c := classOf[s.text[p]]; s.text[p] == '\r' || s.text[p] == '\n' || isQuote(s.text[p]) ||
			!isHeader && c&stops != 0 {
			break
		}
	}
	return p
}

// judged empties a span that says only that there is a secret, as in "Access denied
// for user 'a'@'b' (using password: YES)". What is masked already is masked again, so
// that a text masked twice is as one masked once.
func (s *scanner) judged(v span) span {
	if v.isEmpty() {
		return span{}
	}
	value := s.text[v.from:v.to]
	switch {
	case bytes.HasPrefix(value, maskedHost):
		v.to = v.from + len(Masked)
	case len(value) > 3:
	case string(value) == "?", bytes.EqualFold(value, []byte("yes")), bytes.EqualFold(value, []byte("no")):
		return span{}
	}
	return v
}

// maskedHost is what a masked password of a URL or a DSN begins with.
var maskedHost = []byte(Masked + "@")
