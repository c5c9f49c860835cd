package scenario

import (
	"cmp"
	"slices"
	"sync"

	"github.com/kasoku/kasoku/logs"
)

const (
	maxText    = 300  // bytes of a message
	maxSamples = 5    // texts of a code that are kept
	maxCodes   = 1000 // of a benchmark; what is beyond counts as Internal

	otherMessages = "(others)"
)

// failures count errors by code, and their messages.
type failures struct {
	deduct      map[Code]int64
	every       map[Code]uint64
	maxMessages int

	mu       sync.Mutex
	total    uint64
	taken    int64 // points deducted
	codes    map[Code]*CodeErrors
	messages []Message // in the order of their first ones
	place    map[string]int
	others   uint64
}

func newFailures(s *Scoring, maxMessages int) *failures {
	return &failures{deduct: s.Deduct, every: s.Every, maxMessages: maxMessages, codes: map[Code]*CodeErrors{}, place: map[string]int{}}
}

// add counts an error and returns how many of its code there are.
func (f *failures) add(code Code, err error) uint64 {
	text := safeText(err.Error())
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.codes[code]
	if c == nil && len(f.codes) >= maxCodes {
		code = Internal
		c = f.codes[code]
	}
	if c == nil {
		c = &CodeErrors{Code: code, Samples: []string{}}
		f.codes[code] = c
	}
	f.total++
	c.Count++
	if c.Count%max(f.every[code], 1) == 0 {
		c.Deduction += f.deduct[code]
		f.taken += f.deduct[code]
	}
	if len(c.Samples) < maxSamples && !slices.Contains(c.Samples, text) {
		c.Samples = append(c.Samples, text)
	}
	if code != Trivial {
		f.message(text)
	}
	return c.Count
}

func (f *failures) message(text string) {
	i, known := f.place[text]
	switch {
	case known:
		f.messages[i].Count++
	case len(f.messages) < f.maxMessages:
		f.place[text] = len(f.messages)
		f.messages = append(f.messages, Message{text, 1})
	default:
		f.others++
	}
}

// safeText returns a message as it may be printed: what a service said may be in it.
func safeText(s string) string { return string(logs.AppendSafe(nil, []byte(s), maxText)) }

// sums returns how many errors were counted and the points that they cost.
func (f *failures) sums() (total uint64, taken int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.total, f.taken
}

// byCode returns the counts of each code, the most frequent first.
func (f *failures) byCode() []CodeErrors {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := []CodeErrors{}
	for _, c := range f.codes {
		one := *c
		one.Samples = slices.Clone(c.Samples)
		out = append(out, one)
	}
	slices.SortFunc(out, func(x, y CodeErrors) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count),
			cmp.Compare(x.Code, y.Code))
	})
	return out
}

// texts returns the messages, the most frequent first, what is beyond them last.
func (f *failures) texts() []Message {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := append([]Message{}, f.messages...)
	slices.SortStableFunc(out, func(x, y Message) int { return cmp.Compare(y.Count, x.Count) })
	if f.others > 0 {
		out = append(out, Message{otherMessages, f.others})
	}
	return out
}
