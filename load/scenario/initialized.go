package scenario

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// An Answer is what a service answered when it was brought to its initial state: the
// numbers at the top of a JSON object, for such a number may be how much load the
// service asks for. All else of the answer is left out, secrets with it.
type Answer struct {
	At      time.Duration // since the run's start
	Request string        // POST /initialize
	Numbers []AnswerNumber
}

// An AnswerNumber is one number of an answer, as it was written.
type AnswerNumber struct{ Name, Value string }

// Bounds of what is kept of answers.
const (
	maxAnswers     = 8
	maxNumbers     = 8
	maxAnswerBytes = 16 << 10
)

var (
	numberName  = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.-]{0,39}$`)
	numberValue = lazyregexp.New(`^-?[0-9]{1,15}(\.[0-9]{1,6})?$`)
)

// Initialized takes note of what a service answered when it was brought to its initial
// state. Of several the last ones are kept.
func (s *Step) Initialized(request string, body []byte) {
	if s.closed.Load() {
		return
	}
	a := Answer{Request: safeText(request), Numbers: answerNumbers(body)}
	s.run.mu.Lock()
	defer s.run.mu.Unlock()
	a.At = time.Since(s.run.start)
	if s.run.answers = append(s.run.answers, a); len(s.run.answers) > maxAnswers {
		s.run.answers = s.run.answers[1:]
	}
}

// answerNumbers returns the numbers at the top of a JSON object, by their names.
func answerNumbers(body []byte) (out []AnswerNumber) {
	var object map[string]json.RawMessage
	if len(body) > maxAnswerBytes || json.Unmarshal(body, &object) != nil {
		return nil
	}
	for name, value := range object {
		if v := strings.TrimSpace(string(value)); numberName().MatchString(name) && numberValue().MatchString(v) {
			out = append(out, AnswerNumber{name, v})
		}
	}
	slices.SortFunc(out, func(a, b AnswerNumber) int { return cmp.Compare(a.Name, b.Name) })
	return out[:min(len(out), maxNumbers)]
}
