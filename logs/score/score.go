package score

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"unicode/utf8"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs"
)

// A Pattern defines where in an output something stands: at a path of its last JSON
// value, or at the last match of a regexp. The zero value says nothing.
type Pattern struct {
	JSON   string // score, .result.score, $.items[0].score, ["a name"]; [-1] is the last item
	Regexp string // the group named score, else the first group, else the whole match; ^ and $ match at lines
}

// Empty reports whether the pattern says nothing.
func (p Pattern) Empty() bool { return p == Pattern{} }

// Validate refuses a pattern that can never match.
func (p Pattern) Validate() error {
	_, err := p.compile()
	return err
}

// String names the pattern: "JSON score", "/score: (\d+)/".
func (p Pattern) String() string {
	if p.JSON != "" {
		return "JSON " + p.JSON
	}
	return "/" + p.Regexp + "/"
}

// A matcher is a pattern that was understood: a path or a regexp.
type matcher struct {
	path []key
	re   *regexp.Regexp
}

func (p Pattern) compile() (m matcher, err error) {
	switch {
	case p.Empty():
		return m, errors.New("neither a JSON path nor a regexp")
	case p.JSON != "" && p.Regexp != "":
		return m, fmt.Errorf("both a JSON path %q and a regexp %q: give one", p.JSON, p.Regexp)
	case p.JSON != "":
		m.path, err = parsePath(p.JSON)
		return m, err
	}
	if m.re, err = regexp.Compile("(?m:" + p.Regexp + ")"); err != nil {
		_, plain := regexp.Compile(p.Regexp) // its message quotes what was typed
		return m, errors.Join(plain)
	}
	return m, nil
}

// A NotFoundError reports that an output does not have what was sought.
type NotFoundError struct {
	What    string // score, pass
	Pattern Pattern
	Why     string
	Tail    string // the end of the output, without secrets and control bytes
}

// Error quotes the end of the output.
func (e *NotFoundError) Error() string {
	if e.Tail == "" {
		return fmt.Sprintf("no %s by %s: the command printed nothing", e.What, e.Pattern)
	}
	return fmt.Sprintf("no %s by %s: %s; the output ends with %q", e.What, e.Pattern, e.Why, e.Tail)
}

// Hint returns what to do.
func (e *NotFoundError) Hint() string {
	return "change load.score or load.pass in kasoku.toml, or type the score in: kasoku score RUN VALUE"
}

// shownTail is how much of an output's end an error quotes, in bytes.
const shownTail = 200

func notFound(what string, p Pattern, why string, output []byte) *NotFoundError {
	end := bytes.TrimSpace(output)
	end = end[max(0, len(end)-shownTail):]
	for len(end) > 0 && !utf8.RuneStart(end[0]) {
		end = end[1:]
	}
	return &NotFoundError{What: what, Pattern: p, Why: why, Tail: string(logs.AppendSafe(nil, end, 2*shownTail))}
}

// Extract returns the number that the pattern finds in the output, and where it
// was found. When there is none, the error is a [*NotFoundError].
func Extract(output []byte, p Pattern) (value float64, source string, err error) {
	m, err := p.compile()
	if err != nil {
		return 0, "", err
	}
	found, why := any(nil), ""
	if m.re != nil {
		found, why = m.lastMatch(output)
	} else {
		found, why = lastAt(output, m.path)
	}
	if why == "" {
		if value, why = numberIn(found); why == "" {
			return value, "output, " + p.String(), nil
		}
	}
	return 0, "", notFound("score", p, why, output)
}

// Judge returns what the pattern says of a run. A regexp that matches is a pass
// and one that does not is a fail. A JSON value must be there: true, a number but
// 0, or a word such as pass or ok is a pass.
func Judge(output []byte, p Pattern) (kasoku.Outcome, error) {
	m, err := p.compile()
	if err != nil {
		return kasoku.Unjudged, err
	}
	if m.re != nil {
		return outcomeOf(m.re.Match(plainText(output))), nil
	}
	found, why := lastAt(output, m.path)
	if why == "" {
		var passed bool
		if passed, why = truthIn(found); why == "" {
			return outcomeOf(passed), nil
		}
	}
	return kasoku.Unjudged, notFound("pass", p, why, output)
}

func outcomeOf(passed bool) kasoku.Outcome {
	if passed {
		return kasoku.Passed
	}
	return kasoku.Failed
}

// Read returns the score and the outcome that the patterns find. Without a
// pattern for the score it is looked for as [Recognize] does. The result is nil
// when there is neither a score nor a fail: a run that failed is worth 0 when the
// benchmark does not say.
func Read(output []byte, score, pass Pattern) (*kasoku.Score, error) {
	var s *kasoku.Score
	var errs []error
	if score.Empty() {
		s = Recognize(output)
	} else {
		value, source, err := Extract(output, score)
		if err == nil {
			s = &kasoku.Score{Value: value, Source: source}
			if known := Recognize(output); known != nil { // its own count, of a score by another's word
				setCount(s, count{known.Requests, known.Failures})
			}
		}
		errs = append(errs, err)
	}
	if pass.Empty() {
		return s, errors.Join(errs...)
	}
	o, err := Judge(output, pass)
	switch {
	case s != nil:
		s.Outcome = o
	case o == kasoku.Failed:
		s = &kasoku.Score{Outcome: o, Source: "output, fail by " + pass.String()}
	}
	return s, errors.Join(append(errs, err)...)
}

// lastMatch returns the text of the last match.
func (m matcher) lastMatch(output []byte) (found any, why string) {
	all := m.re.FindAllSubmatch(plainText(output), -1)
	if len(all) == 0 {
		return nil, "it matches nothing"
	}
	group := min(1, m.re.NumSubexp())
	if i := m.re.SubexpIndex("score"); i > 0 {
		group = i
	}
	text := all[len(all)-1][group]
	if text == nil {
		return nil, "its group took no part in the last match"
	}
	return string(text), ""
}

// plainText returns the output without the colours that programs add.
func plainText(output []byte) []byte {
	if bytes.IndexByte(output, 0x1b) < 0 {
		return output
	}
	return logs.AppendWithoutEscapes(nil, output)
}
