package sqlshape

import "bytes"

// numbersAndSpace does in one pass what the original does in seven: booleans
// and whatever looks like a number become ?, an x, b or dot left before a ?
// goes, blanks are collapsed, one final newline goes, letters become lower
// case.
func (s *Shaper) numbersAndSpace(q []byte) []byte {
	out := s.next()
	i, n := skipSpace(q, 0), len(q)
	if n > i && q[n-1] == '\n' {
		n--
	}
	q = q[:n]
	for i < n {
		c := q[i]
		switch tab.class[c] {
		case blank:
			for i < n && tab.class[q[i]] == blank {
				i++
			}
			out = append(out, ' ')
		case number:
			out = appendQuestion(out, q, i)
			i = numberEnd(q, i)
		case mark: // a ? that was there, or was a string
			out = appendQuestion(out, q, i)
			i++
		case letter:
			if end := endOfBoolean(q, i); end > 0 {
				out = appendQuestion(out, q, i)
				i = end
				continue
			}
			// The rest of the word, up to where a number starts.
			for {
				out = append(out, tab.lower[c])
				if i++; i >= n {
					break
				}
				if c = q[i]; tab.class[c] != letter {
					break
				}
			}
		default:
			out = append(out, c)
			i++
		}
	}
	return s.done(out)
}

// appendQuestion appends a ? for what starts at q[i], in place of a leftover of the
// number before it: [xb.+-]\? is replaced by ?. Plus and minus never get here,
// and an upper-case letter is no leftover.
func appendQuestion(out, q []byte, i int) []byte {
	if n := len(out) - 1; n >= 0 && out[n] == q[i-1] && (out[n] == '.' || out[n] == 'x' || out[n] == 'b') {
		out[n] = '?'
		return out
	}
	return append(out, '?')
}

// numberEnd returns where [0-9+-][0-9a-f.xb+-]* ends. It does not run into the
// word false, which has become a ? before.
func numberEnd(q []byte, i int) int {
	digitish := &tab.digitish
	for i++; i < len(q) && digitish[q[i]]; i++ {
		if q[i] == 'f' && !isWord(q[i-1]) && endOfBoolean(q, i) > 0 {
			break
		}
	}
	return i
}

// endOfBoolean returns where the word true or false that starts at i ends, 0 when
// none does.
func endOfBoolean(q []byte, i int) int {
	end := 0
	switch q[i] {
	case 't', 'T':
		if !hasFold(q[i:], "true") {
			return 0
		}
		end = i + 4
	case 'f', 'F':
		if !hasFold(q[i:], "false") {
			return 0
		}
		end = i + 5
	default:
		return 0
	}
	if i > 0 && isWord(q[i-1]) || end < len(q) && isWord(q[end]) {
		return 0
	}
	return end
}

// nulls replaces \bnull\b by ?.
func (s *Shaper) nulls(q []byte) []byte {
	var out []byte
	from := 0
	for at := 0; ; {
		i := bytes.Index(q[at:], []byte("null"))
		if i < 0 {
			break
		}
		at += i
		if at > 0 && isWord(q[at-1]) || at+4 < len(q) && isWord(q[at+4]) {
			at++
			continue
		}
		if out == nil {
			out = s.next()
		}
		out = append(append(out, q[from:at]...), '?')
		at += 4
		from = at
	}
	if out == nil {
		return q
	}
	return s.done(append(out, q[from:]...))
}

// lists collapses IN and VALUES lists:
// \b(in|values?)(?:[\s,]*\([\s?,]*\))+ is replaced by $1(?+).
func (s *Shaper) lists(q []byte) []byte {
	var out []byte
	from := 0
	for at := 0; at < len(q); {
		i := bytes.IndexByte(q[at:], '(')
		if i < 0 {
			break
		}
		open := at + i
		at = open + 1
		end := listEnd(q, open)
		if end < 0 {
			continue
		}
		word := listWord(q, open, from)
		if word < 0 {
			continue
		}
		for {
			next := end
			for next < len(q) && (isSpace(q[next]) || q[next] == ',') {
				next++
			}
			if next >= len(q) || q[next] != '(' {
				break
			}
			e := listEnd(q, next)
			if e < 0 {
				break
			}
			end = e
		}
		if out == nil {
			out = s.next()
		}
		out = append(append(out, q[from:word]...), "(?+)"...)
		from, at = end, end
	}
	if out == nil {
		return q
	}
	return s.done(append(out, q[from:]...))
}

// listEnd returns the end of a parenthesis that holds nothing but blanks, ? and
// commas, -1 when it holds more.
func listEnd(q []byte, open int) int {
	for i := open + 1; i < len(q); i++ {
		switch c := q[i]; {
		case c == ')':
			return i + 1
		case c != '?' && c != ',' && !isSpace(c):
			return -1
		}
	}
	return -1
}

// listWord returns the end of the word in, value or values before the
// parenthesis, -1 when another stands there. It does not look before from.
func listWord(q []byte, open, from int) int {
	end := open
	for end > from && (isSpace(q[end-1]) || q[end-1] == ',') {
		end--
	}
	for _, w := range [...]string{"in", "values", "value"} {
		start := end - len(w)
		if start >= from && string(q[start:end]) == w && (start == 0 || !isWord(q[start-1])) {
			return end
		}
	}
	return -1
}

// maxUnions bounds how often, in one statement, a SELECT is compared with what
// stands after a UNION. All pairs of 256 of them fit; the original has no
// bound, and takes a time that grows with their square.
const maxUnions = 1 << 16

// unions collapses selects that repeat:
// \b(select\s.*?)(?:(\sunion(?:\sall)?)\s\1)+ is replaced by $1 /*repeat$2*/.
func (s *Shaper) unions(q []byte) []byte {
	if !bytes.Contains(q, []byte("union")) {
		return q
	}
	var out []byte
	from, tries := 0, maxUnions
	for at := 0; ; {
		i := bytes.Index(q[at:], []byte("select"))
		if i < 0 {
			break
		}
		at += i
		if at > 0 && isWord(q[at-1]) || at+6 >= len(q) || !isSpace(q[at+6]) {
			at++
			continue
		}
		first, end, union := findRepeated(q, at, &tries)
		if first == 0 {
			at++
			continue
		}
		if out == nil {
			out = s.next()
		}
		out = append(append(append(out, q[from:first]...), " /*repeat"...), union...)
		out = append(out, "*/"...)
		from, at = end, end
	}
	if out == nil {
		return q
	}
	return s.done(append(out, q[from:]...))
}

// findRepeated finds the shortest select from at on that is repeated by a union
// right after it. It returns the select's end, the end of the last repetition
// and the last union with the blank before it; first is 0 when there is none.
func findRepeated(q []byte, at int, tries *int) (first, end int, union []byte) {
	for u := at + 7; *tries > 0; *tries-- {
		i := bytes.Index(q[min(u+1, len(q)):], []byte("union"))
		if i < 0 {
			return 0, 0, nil
		}
		u += i // at the blank before union
		if !isSpace(q[u]) {
			u++
			continue
		}
		sel := q[at:u]
		for end = u; ; {
			next, word := unionOf(q, end, sel)
			if next == 0 {
				break
			}
			first, end, union = u, next, word
		}
		if first > 0 {
			return first, end, union
		}
		u++
	}
	return 0, 0, nil
}

// unionOf matches \sunion(?:\sall)?\s and the select at p; it returns the end,
// 0 without a match, and the union.
func unionOf(q []byte, p int, sel []byte) (end int, union []byte) {
	if p >= len(q) || !isSpace(q[p]) || !bytes.HasPrefix(q[p+1:], []byte("union")) {
		return 0, nil
	}
	u := p + 6
	if u+4 <= len(q) && isSpace(q[u]) && string(q[u+1:u+4]) == "all" {
		if t := q[u+4:]; len(t) > 0 && isSpace(t[0]) && bytes.HasPrefix(t[1:], sel) {
			return u + 5 + len(sel), q[p : u+4]
		}
	}
	if t := q[u:]; len(t) > 0 && isSpace(t[0]) && bytes.HasPrefix(t[1:], sel) {
		return u + 1 + len(sel), q[p:u]
	}
	return 0, nil
}

// limit shortens the first \blimit \?(?:, ?\?| offset \?)? to limit ?.
func (s *Shaper) limit(q []byte) []byte {
	for at := 0; ; at++ {
		i := bytes.Index(q[at:], []byte("limit ?"))
		if i < 0 {
			return q
		}
		at += i
		if at > 0 && isWord(q[at-1]) {
			continue
		}
		rest := q[at+7:]
		n := 0
		for _, tail := range [...]string{", ?", ",?", " offset ?"} {
			if len(rest) >= len(tail) && string(rest[:len(tail)]) == tail {
				n = len(tail)
				break
			}
		}
		if n == 0 {
			return q
		}
		return s.done(append(append(s.next(), q[:at+7]...), rest[n:]...))
	}
}

// ascending drops asc, with the blanks before it, everywhere after the first
// "order by ". As in the original a word that only starts with asc loses it.
func (s *Shaper) ascending(q []byte) []byte {
	at := 0
	for {
		i := bytes.Index(q[at:], []byte("order by "))
		if i < 0 {
			return q
		}
		at += i + 9
		if start := at - 9; start == 0 || !isWord(q[start-1]) {
			break
		}
		at -= 8
	}
	if !bytes.Contains(q[at:], []byte("asc")) {
		return q
	}
	out := append(s.next(), q[:at]...)
	for p := at; ; {
		blank := p + 1 // one byte at least stays before it
		for blank < len(q) && !(isSpace(q[blank]) && bytes.HasPrefix(q[skipSpace(q, blank):], []byte("asc"))) {
			blank++
		}
		if blank >= len(q) {
			return s.done(append(out, q[p:]...))
		}
		out = append(out, q[p:blank]...)
		p = skipSpace(q, blank) + 3
		if p >= len(q) {
			return s.done(out)
		}
	}
}
