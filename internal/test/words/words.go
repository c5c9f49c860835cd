// Package words reads the words that are not used in this repository, and finds them in
// text. The list is the table in CONTRIBUTING.md whose first column is headed "not
// used"; the test of the root package and tools/figures share it.
//
// A [List] is read-only once read, and safe for use by several goroutines.
package words

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// head begins the table in CONTRIBUTING.md.
const head = "| not used | but |"

// A List is the words that are not used.
type List struct {
	english  *regexp.Regexp
	segments map[string]bool // English words, lower case
	japanese []spelling
}

// A spelling is one that is not used, with the one that is.
type spelling struct{ wrong, right string }

// camel splits an identifier into its words: TestPrintOnce is Test, Print, Once.
var camel = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)

// Read takes the list from the text of CONTRIBUTING.md. Cells of the first column hold
// words separated by commas or 、; a Japanese word has as its counterpart the word at the
// same place of the second column.
func Read(contributing string) (*List, error) {
	_, table, ok := strings.Cut(contributing, head+"\n")
	if !ok {
		return nil, fmt.Errorf("words: no table %q", head)
	}
	l := &List{segments: map[string]bool{}}
	var english []string
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(row), "|")
		if len(cells) < 3 {
			break
		}
		wrong, right := split(cells[1]), split(cells[2])
		for i, w := range wrong {
			switch {
			case strings.Trim(w, "-") == "":
			case w[0] < 0x80:
				english = append(english, regexp.QuoteMeta(w))
				l.segments[strings.ToLower(w)] = true
			case i >= len(right):
				return nil, fmt.Errorf("words: %q has no counterpart", w)
			default:
				l.japanese = append(l.japanese, spelling{w, right[i]})
			}
		}
	}
	if len(english) == 0 || len(l.japanese) == 0 {
		return nil, fmt.Errorf("words: the table %q lists no English or no Japanese words", head)
	}
	l.english = regexp.MustCompile(`(?i)\b(?:` + strings.Join(english, "|") + `)\b`)
	return l, nil
}

// split returns the words of a cell.
func split(cell string) (out []string) {
	for _, w := range strings.FieldsFunc(cell, func(r rune) bool { return r == ',' || r == '、' }) {
		out = append(out, strings.TrimSpace(w))
	}
	return out
}

// Find returns the words of text that are not used, in English and in Japanese. A wrong
// spelling that begins the right one, for want of a long vowel, is found only where the
// text does not go on to the right one. Names with a hyphen or an underscore, such as
// Seconds_Behind_Master, are one word.
func (l *List) Find(text string) (found []string) {
	for _, at := range l.english.FindAllStringIndex(text, -1) {
		if !joined(text, at[0]-1, at[0]-2) && !joined(text, at[1], at[1]+1) {
			found = append(found, text[at[0]:at[1]])
		}
	}
	for _, s := range l.japanese {
		for i := 0; ; {
			at := strings.Index(text[i:], s.wrong)
			if at < 0 {
				break
			}
			if i += at; len(s.right) < len(s.wrong) || !strings.HasPrefix(text[i:], s.right) {
				found = append(found, s.wrong)
			}
			i += len(s.wrong)
		}
	}
	return found
}

// joined reports whether a hyphen at i joins a word with the letter at next.
func joined(text string, i, next int) bool {
	if i < 0 || next < 0 || i >= len(text) || next >= len(text) || text[i] != '-' {
		return false
	}
	c := text[next] | 0x20
	return 'a' <= c && c <= 'z'
}

// FindIdentifier returns the words of an identifier in camel case that are not used.
func (l *List) FindIdentifier(name string) (found []string) {
	for _, w := range camel.FindAllString(name, -1) {
		if l.segments[strings.ToLower(w)] {
			found = append(found, w)
		}
	}
	return found
}

// MayHave reports whether a text has the letters of a word that is not used, in any
// place. It is fast: a file without them need not be parsed.
func (l *List) MayHave(text string) bool {
	lower := strings.ToLower(text)
	for w := range l.segments {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return slices.ContainsFunc(l.japanese, func(s spelling) bool { return strings.Contains(text, s.wrong) })
}
