package discover

import "strings"

// A directive is one statement of an nginx configuration. Blocks are flattened:
// what stands in them follows, one deeper.
type directive struct {
	file  string // as the dump names it; empty when it does not
	depth int
	words []string // the name first, unquoted
}

// marker begins each file in what nginx -T prints.
const marker = "# configuration file "

// parseNginx reads a configuration or a dump of nginx -T. It knows no
// directive's meaning and stops at nothing: what is not closed ends with the text.
//
// Source: nginx "Beginner's Guide", "Configuration File's Structure"; quoting as
// in ngx_conf_read_token.
func parseNginx(text string) []directive {
	var out []directive
	var words []string
	file := ""
	depth := 0
	flush := func() {
		if len(words) > 0 {
			out = append(out, directive{file, depth, words})
		}
		words = nil
	}
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case ' ', '\t', '\r', '\n':
			i++
		case ';':
			flush()
			i++
		case '{':
			flush()
			depth++
			i++
		case '}':
			flush()
			depth = max(depth-1, 0)
			i++
		case '#':
			line := text[i:]
			if end := strings.IndexByte(line, '\n'); end >= 0 {
				line = line[:end]
			}
			if name, ok := strings.CutPrefix(line, marker); ok {
				flush()
				file, depth = strings.TrimSuffix(strings.TrimSpace(name), ":"), 0
			}
			i += len(line)
		default:
			word, n := nginxWord(text[i:])
			words = append(words, word)
			i += n
		}
	}
	flush()
	return out
}

// nginxWord reads one word and returns how many bytes it took, at least one. In
// ${name} the braces belong to the word.
func nginxWord(s string) (word string, n int) {
	if quote := s[0]; quote == '"' || quote == '\'' {
		var b strings.Builder
		for i := 1; i < len(s); i++ {
			switch {
			case s[i] == quote:
				return b.String(), i + 1
			case s[i] == '\\' && i+1 < len(s):
				i++
				b.WriteString(nginxEscape(s[i]))
			default:
				b.WriteByte(s[i])
			}
		}
		return b.String(), len(s)
	}
	for n < len(s) && !strings.ContainsRune(" \t\r\n;{", rune(s[n])) {
		switch {
		case s[n] == '$' && n+1 < len(s) && s[n+1] == '{':
			n += 2
		case s[n] == '\\' && n+1 < len(s):
			n += 2
		default:
			n++
		}
	}
	return s[:max(n, 1)], max(n, 1)
}

// nginxEscape resolves an escape inside of quotes.
func nginxEscape(c byte) string {
	switch c {
	case 't':
		return "\t"
	case 'r':
		return "\r"
	case 'n':
		return "\n"
	case '"', '\'', '\\':
		return string([]byte{c})
	}
	return `\` + string([]byte{c})
}
