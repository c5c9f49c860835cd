package report

import (
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// FormatDay prints a wall time for people: 20 Nov 2026, 14:02:11 JST.
func FormatDay(t time.Time) string { return t.Format("2 Jan 2006, 15:04:05 MST") }

// axisTime prints a label of the time axis, whose labels are step seconds apart.
func axisTime(at, step int) string {
	switch {
	case step < 60:
		return unit.Count(at) + " s"
	case step < 3600 && at < 3*3600:
		return unit.Count(at/60) + " min"
	}
	return unit.Plain(float64(at)/3600) + " h"
}

// JoinWords joins words: a, b and c.
func JoinWords(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// LabelOf makes words of a code: slow-log-trap is Slow log trap.
func LabelOf(code string) string {
	s := strings.ReplaceAll(code, "-", " ")
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// firstWord is a plain word at the beginning. Names such as app.log or
// max_connections keep their small letter.
var firstWord = regexp.MustCompile(`^[a-z]+(?:[ ,]|: |\. |$)`)

// names are words that keep their small letter: programs are typed so.
var names = regexp.MustCompile(`^(?:mysql|epollhttp|nethttp|(?:kasoku|nginx|ps|sysctl|systemctl|timedatectl)\b)`)

// FailuresOf describes how many requests the benchmark counted as failed: 12 of 4,600 failed.
func FailuresOf(s *kasoku.Score) string {
	return unit.Count(int(s.Failures)) + " of " + unit.Count(int(max(s.Requests, s.Failures))) + " failed"
}

// Sentence begins a text with a capital letter when its first word is a plain one.
func Sentence(s string) string {
	if !firstWord.MatchString(s) || names.MatchString(s) {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// FullSentence makes a whole sentence of a clause: a capital letter and a full stop.
func FullSentence(s string) Prose {
	s = Sentence(strings.TrimSpace(s))
	if s == "" || strings.HasSuffix(s, ".") || strings.HasSuffix(s, ":") {
		return Prose(s)
	}
	return Prose(s + ".")
}

// FooterOf returns the last line of a report: the version of kasoku, when the report was
// made where that is known, and that the file is complete.
func FooterOf(o Options, version string) string {
	parts := []string{strings.TrimSpace("kasoku " + version)}
	if !o.Made.IsZero() {
		made := o.Made
		if o.Location != nil {
			made = made.In(o.Location)
		}
		parts = append(parts, "report made "+FormatDay(made))
	}
	return strings.Join(append(parts, "this file is complete: no network, no other files"), " · ")
}

// MostRows is how many rows of a long table are shown before the rest is summed
// up.
const MostRows = 10

// LeftOut describes what a table does not show: 8 more, 4.2 % of time.
func LeftOut(n int, share float64, of string) string {
	return unit.Count(n) + " more, " + unit.Percent(share) + " of " + of
}
