package accessformat

import (
	"strings"
	"time"
)

// goaccessLetters are the specifiers of goaccess that mean something here.
//
// Source: goaccess(1), CUSTOM LOG/DATE FORMAT. Dates and times are known by their
// form, so date-format and time-format are not needed.
var goaccessLetters = map[byte]meaning{
	'x': {what: aTime, rank: 1}, 'd': {what: aTime, rank: 1}, 't': {what: aTime, rank: 1},
	'v': {what: aVHost, rank: 1}, 'e': {what: aUser, rank: 1}, 'h': {what: aRemoteAddr, rank: 1},
	'r': {what: aRequest, rank: 1}, 'm': {what: aMethod, rank: 1}, 'U': {what: aPath, rank: 1},
	'q': {what: aQuery, rank: 1}, 'H': {what: aProtocol, rank: 1},
	's': {what: aStatus, rank: 1}, 'b': {what: aSize, rank: 1}, 'R': {what: aReferer, rank: 1},
	'u': {what: anAgent, rank: 1},
	'D': {what: aLatency, rank: 1, unit: time.Microsecond}, 'T': {what: aLatency, rank: 1, unit: time.Second},
	'L': {what: aLatency, rank: 1, unit: time.Millisecond}, 'n': {what: aLatency, rank: 1, unit: time.Nanosecond},
	'C': {}, 'M': {}, 'K': {}, 'k': {}, '^': {},
}

// parseGoaccess reads a log-format, also as the line of a configuration, whose
// other lines are left out.
func parseGoaccess(spec string) (*Format, error) {
	text := spec
	for line := range strings.Lines(spec) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "log-format"); ok {
			text = strings.TrimSpace(rest)
		}
	}
	if f := formatNamed(text); f != nil {
		return f, nil
	}
	text = strings.NewReplacer(`\t`, "\t", `\"`, `"`).Replace(text)
	pieces, err := goaccessPieces(text)
	if err != nil {
		return nil, err
	}
	return fromPieces("goaccess", text, fuseTimes(pieces))
}

func goaccessPieces(text string) ([]piece, error) {
	var pieces []piece
	blanks := false // may stand before the next value
	for i := 0; i < len(text); {
		switch {
		case strings.HasPrefix(text[i:], "%~"):
			blanks = true
			i += 2
		case strings.HasPrefix(text[i:], "%%"):
			pieces = append(pieces, piece{text: "%", at: i})
			i += 2
		case strings.HasPrefix(text[i:], "~h{"):
			end := strings.IndexByte(text[i:], '}')
			if end < 0 {
				return nil, &FormatError{Spec: text, At: i, Problem: "~h{ is not closed", Expected: "~h{, }"}
			}
			pieces = append(pieces, piece{name: text[i : i+end+1], at: i, meaning: meaning{what: aForwardedFor}})
			i += end + 1
		case text[i] == '%':
			if i+1 >= len(text) {
				return nil, &FormatError{Spec: text, At: i, Problem: "nothing after the last %",
					Expected: "a specifier such as %h or %^"}
			}
			m, ok := goaccessLetters[text[i+1]]
			if !ok {
				return nil, &FormatError{Spec: text, At: i, Problem: "goaccess has no specifier " +
					quoteShort([]byte(text[i:i+2])),
					Expected: "one of %x %d %t %v %e %h %r %m %U %q %H %s %b %R %u %D %T %L %n %C %M %K %k %^ %~"}
			}
			pieces = append(pieces, piece{name: text[i : i+2], key: text[i+1 : i+2], at: i, meaning: m, blanks: blanks})
			blanks = false
			i += 2
		default:
			end := strings.IndexAny(text[i+1:], "%~") + 1
			if end == 0 {
				end = len(text) - i
			}
			pieces = append(pieces, piece{text: text[i : i+end], at: i})
			i += end
		}
	}
	return pieces, nil
}

// fuseTimes makes one of a date and the time after it, and of what stands for
// the offset or the fraction: [%d:%t %^], %x.%^.
func fuseTimes(pieces []piece) []piece {
	pieces = joinTexts(pieces)
	var out []piece
	for i := 0; i < len(pieces); i++ {
		p := pieces[i]
		if p.what == aTime {
			text := func(n int, s string) bool {
				return i+n < len(pieces) && pieces[i+n].isText() &&
					pieces[i+n].text == s
			}
			skip := func(n int) bool { return i+n < len(pieces) && pieces[i+n].name == "%^" }
			if i+2 < len(pieces) && pieces[i+1].isText() && pieces[i+2].what == aTime {
				p.name += pieces[i+1].text + pieces[i+2].name
				i += 2
			}
			if (text(1, " ") && skip(2) && i+3 < len(pieces) && strings.HasPrefix(pieces[i+3].text, "]")) ||
				text(1, ".") && skip(2) {
				p.name += pieces[i+1].text + pieces[i+2].name
				i += 2
			}
		}
		out = append(out, p)
	}
	return out
}
