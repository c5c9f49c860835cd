package accessformat

import (
	"strings"
	"time"
)

// apacheLetters are the directives of Apache that mean something here.
//
// Sources: Apache httpd mod_log_config, Custom Log Formats; mod_logio; H2O
// access-log; varnishncsa(1), FORMAT.
var apacheLetters = map[byte]meaning{
	'h': {what: aRemoteAddr, rank: 1}, 'a': {what: aRemoteAddr, rank: 2}, 'u': {what: aUser, rank: 1},
	't': {what: aTime, rank: 1},
	'r': {what: aRequest, rank: 1}, 'm': {what: aMethod, rank: 1}, 'U': {what: aPath, rank: 1},
	'q': {what: aQuery, rank: 1}, 'H': {what: aProtocol, rank: 1},
	's': {what: aStatus, rank: 1}, 'b': {what: aSize, rank: 2}, 'B': {what: aSize, rank: 2},
	'O': {what: aSize, rank: 1}, 'I': {what: aRequestSize, rank: 1},
	'D': {what: aLatency, rank: 3, unit: time.Microsecond}, 'T': {what: aLatency, rank: 1, unit: time.Second},
	'v': {what: aVHost, rank: 2}, 'V': {what: aVHost, rank: 1},
}

// apacheNames are what directives with a name in braces mean, in lower case: with
// the letter after it.
var apacheNames = map[string]meaning{
	"i referer": {what: aReferer, rank: 1}, "i user-agent": {what: anAgent, rank: 1},
	"i x-forwarded-for": {what: aForwardedFor, rank: 1},
	"i host":            {what: aVHost, rank: 3},
	"t ":                {what: aTime, rank: 1},
	"T s":               {what: aLatency, rank: 1, unit: time.Second},
	"T ms":              {what: aLatency, rank: 2, unit: time.Millisecond},
	"T us":              {what: aLatency, rank: 3, unit: time.Microsecond},
	"x duration":        {what: aLatency, rank: 4, unit: time.Second}, "x total-time": {what: aLatency, rank: 4,
		unit: time.Second},
	"x request-total-time": {what: aLatency, rank: 2, unit: time.Second}, "x proxy.total-time": {what: anUpstream,
		rank: 2, unit: time.Second},
	"x proxy.response-time": {what: anUpstream, rank: 1, unit: time.Second},
	"a c":                   {what: aRemoteAddr, rank: 1},
}

// parseApache reads a LogFormat directive, or the text in it.
func parseApache(spec string) (*Format, error) {
	name, text := "apache", spec
	for _, directive := range []string{"LogFormat", "CustomLog"} {
		if rest, ok := cutFold(text, directive); ok {
			text = strings.TrimSpace(rest)
		}
	}
	if text == "" {
		return nil, &FormatError{Spec: spec, At: len(spec), Problem: "the directive has no format",
			Expected: `LogFormat "FORMAT" NAME`}
	}
	if text[0] == '"' {
		end := findClosing([]byte(text[1:]))
		if end < 0 {
			return nil, &FormatError{Spec: spec, At: len(spec), Problem: "a quote is not closed",
				Expected: `" after the format`}
		}
		if nick := strings.Fields(text[end+2:]); len(nick) > 0 {
			name = nick[0]
		}
		text = text[1 : end+1]
	}
	text = strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\t`, "\t", `\n`, "\n").Replace(text)
	pieces, err := apachePieces(text)
	if err != nil {
		return nil, err
	}
	return fromPieces(name, text, pieces)
}

// cutFold cuts a prefix in any case.
func cutFold(s, prefix string) (rest string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// apachePieces splits the text of a LogFormat.
func apachePieces(text string) ([]piece, error) {
	var pieces []piece
	for i := 0; i < len(text); {
		if text[i] != '%' {
			end := strings.IndexByte(text[i:], '%')
			if end < 0 {
				end = len(text) - i
			}
			pieces = append(pieces, piece{text: text[i : i+end], at: i})
			i += end
			continue
		}
		if strings.HasPrefix(text[i:], "%%") {
			pieces = append(pieces, piece{text: "%", at: i})
			i += 2
			continue
		}
		p, n := apacheDirective(text[i:])
		if n == 0 {
			return nil, &FormatError{Spec: text, At: i, Problem: "a directive without a letter",
				Expected: `%h, %>s, %{Referer}i or such`}
		}
		p.at = i
		if joinsTime(pieces, p) {
			last := len(pieces) - 1
			if pieces[last].isText() {
				last--
			}
			pieces = pieces[:last+1]
			pieces[last].name += p.name
			i += n
			continue
		}
		if p.name == "%t" { // the only one that brings brackets
			pieces = append(pieces, piece{text: "[", at: i}, p, piece{text: "]", at: i})
		} else {
			pieces = append(pieces, p)
		}
		i += n
	}
	return pieces, nil
}

// joinsTime reports whether a directive is the fraction or the offset of the time
// before it, as in %{%F}tT%{%T}t.%{msec_frac}t %{%z}t.
func joinsTime(pieces []piece, p piece) bool {
	n := len(pieces)
	between := ""
	if n > 0 && pieces[n-1].isText() {
		n--
		between = pieces[n].text
	}
	if n == 0 || pieces[n-1].what != aTime || pieces[n-1].name == "%t" || p.what != aTime {
		return false
	}
	switch {
	case strings.HasSuffix(p.key, "_frac"):
		return between == "." || between == ","
	case p.key == "%z":
		return between == "" || between == " "
	case strings.Contains(p.key, "%T") || strings.Contains(p.key, "%H"):
		return between == "T" || between == " " || between == ":"
	}
	return false
}

// apacheDirective reads the directive that s starts with: %h, %>s, %!200{X}i,
// %{X}^to. It returns how many bytes it takes, 0 when it has no letter.
func apacheDirective(s string) (p piece, n int) {
	n = 1
	for n < len(s) && strings.IndexByte("<>!,0123456789", s[n]) >= 0 {
		n++
	}
	argument, braces := "", false
	if n < len(s) && s[n] == '{' {
		end := strings.IndexByte(s[n:], '}')
		if end < 0 {
			return p, 0
		}
		argument, braces = s[n+1:n+end], true
		n += end + 1
	}
	if n < len(s) && s[n] == '^' {
		n++
		if n < len(s) && isToken[s[n]] && n+1 < len(s) && isToken[s[n+1]] {
			n++ // ^FO, ^ti
		}
	}
	if n >= len(s) || !isToken[s[n]] {
		return p, 0
	}
	letter := s[n]
	n++
	p = piece{name: s[:n], key: s[1:n]}
	switch {
	case !braces:
		p.meaning = apacheLetters[letter]
	case letter == 't':
		p.key, p.meaning = argument, apacheNames["t "]
		if strings.HasSuffix(argument, "_frac") || argument == "%z" {
			p.rank = 0 // a part of a time at best
		}
	default:
		p.key, p.meaning = argument, apacheNames[string(letter)+" "+strings.ToLower(argument)]
	}
	if strings.Contains(s[:n], "^") {
		p.meaning = meaning{}
	}
	return p, n
}
