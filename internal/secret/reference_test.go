package secret

import (
	"regexp"
	"strings"
)

// reference is the mask as simply as it can be said: values are found by expressions,
// the text becomes a list of characters in which a value is one, and the words of that
// list lose their passwords.
func reference(text string) string {
	var list []string // one byte each, or Masked
	for len(text) > 0 {
		n, spans := referenceValue(text)
		if n == 0 {
			list, text = append(list, text[:1]), text[1:]
			continue
		}
		at := 0
		for _, s := range spans {
			list = append(append(list, strings.Split(text[at:s.from], "")...), Masked)
			at = s.to
		}
		text = text[at:]
	}
	var out strings.Builder
	for len(list) > 0 {
		n := referenceWord(list)
		word := list[:n]
		colon, at := -1, -1
		for i, c := range word {
			if c == ":" && colon < 0 {
				colon = i
			}
			if c == "@" {
				at = i
			}
		}
		if colon >= 0 && at > colon+1 {
			word = append(append(append([]string{}, word[:colon+1]...), Masked), word[at:]...)
		}
		out.WriteString(strings.Join(word, ""))
		list = list[n:]
	}
	return out.String()
}

// referenceWord returns how many characters the first word has, with what ends it.
func referenceWord(list []string) int {
	for i, c := range list {
		if c <= " " || strings.Contains("\"'<>(,", c) {
			return i + 1
		}
		if c == ":" && i+2 < len(list) && list[i+1] == "/" && list[i+2] == "/" {
			if i == 0 {
				return 1
			}
			return i // without the colon, which is a word of its own
		}
	}
	return len(list)
}

var (
	refQuote      = `(?:\\*["'])?`
	refSigned     = regexp.MustCompile(`^` + refQuote + `[ \t]*(?:\(["']|(?:=>|[=:])(?:=>|[ \t=:])*)`)
	refBlank      = regexp.MustCompile(`^` + refQuote + `[ \t]+`)
	refIdentified = regexp.MustCompile(`^` + refQuote + `[ \t]+(\w*)`)
	refCalls      = regexp.MustCompile(`^[\w(]*\(["']`)
	refOpening    = regexp.MustCompile(`^(\\*)(["'])`)
	refWord       = regexp.MustCompile("^[^ \t,;&)}\\]'\"\r\n]*")
	refHeader     = regexp.MustCompile("^[^'\"\r\n]*")
)

// referenceValue returns a number above 0 and where values lie when the text starts
// with the name of a secret that has one.
func referenceValue(text string) (n int, spans []span) {
	for _, name := range names() {
		if len(text) < len(name.text) || !isASCIIFold(text[:len(name.text)], name.text) {
			continue
		}
		at := len(name.text)
		switch name.kind {
		case identified:
			at = referenceIdentified(text, at)
		case blank:
			at = matchEnd(refBlank, text, at)
		default:
			if at = matchEnd(refSigned, text, at); at > 0 && text[at-1] != ' ' && strings.ContainsAny(text[at-1:at], `"'`) {
				at-- // PASSWORD('
			}
		}
		if at < 0 || at >= len(text) {
			continue
		}
		at += len(refCalls.FindString(text[at:]))
		if at > 0 && strings.ContainsAny(text[at-1:at], `"'`) && text[at-2:at-1] == "(" {
			at-- // from a call
		}
		rest, shape := text[at:], refWord
		if name.kind == header {
			shape = refHeader
		}
		var all []span
		if q := refOpening.FindStringSubmatch(rest); q != nil {
			from := len(q[0])
			end := from + referenceClosing(rest[from:], q[2], len(q[1]))
			all = append(all, span{from, end})
			if glued := end + len(q[0]); glued < len(rest) &&
				(name.kind != header || rest[glued] == ';' || refWord.FindString(rest[glued:]) != "") {
				all = append(all, span{glued, glued + len(shape.FindString(rest[glued:]))})
			}
		} else {
			all = append(all, span{0, len(shape.FindString(rest))})
		}
		for _, s := range all {
			switch v := strings.ToLower(rest[s.from:s.to]); {
			case strings.HasPrefix(v, Masked+"@"):
				s.to = s.from + len(Masked)
			case v == "", v == "?", v == "yes", v == "no":
				continue
			}
			spans = append(spans, span{at + s.from, at + s.to})
		}
		if len(spans) > 0 {
			return at, spans
		}
	}
	return 0, nil
}

func isASCIIFold(s, low string) bool {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s) == low
}

func matchEnd(re *regexp.Regexp, text string, at int) int {
	if loc := re.FindStringIndex(text[at:]); loc != nil {
		return at + loc[1]
	}
	return -1
}

func referenceIdentified(text string, at int) int {
	before := ""
	for range mostWords {
		loc := refIdentified.FindStringSubmatchIndex(text[at:])
		if loc == nil || at+loc[2] >= len(text) {
			return -1
		}
		word := strings.ToLower(text[at+loc[2] : at+loc[3]])
		from := at + loc[2]
		at += loc[3]
		switch {
		case word == "password":
			continue
		case before == "by" || before == "as" || before == "using", word == "" && strings.ContainsAny(text[at:min(at+1, len(text))], `"'`):
			return from
		case word == "":
			return -1
		}
		before = word
	}
	return -1
}

// referenceClosing returns how long the string is that the rest begins within.
func referenceClosing(rest, quote string, slashes int) int {
	re := regexp.MustCompile(`(?s)^(?:[^\\` + quote + `]|\\(?:.|\z)|` + quote + quote + `)*`)
	if slashes == 0 {
		return len(re.FindString(rest))
	}
	for i := range len(rest) {
		if rest[i:i+1] != quote {
			continue
		}
		have := len(rest[:i]) - len(strings.TrimRight(rest[:i], `\`))
		if have <= slashes {
			return i - have
		}
	}
	return len(rest)
}
