package kasoku

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// AnswersScope is the scope of the settings by which a run says how the service's answers at
// its end compare with the golden ones that kasoku.toml names.
const AnswersScope = "answers"

// The words of the names of settings of [AnswersScope]; those after failed come before
// an endpoint.
const (
	answersAsked  = "asked"
	answersFailed = "failed"
	answersOrder  = "order"
	answersAge    = "age"
	answersBare   = "bare"
	answersHold   = "hold"
	answersBeyond = "outside"
)

// ComparedAnswers are what a run knows of the answers at its end.
type ComparedAnswers struct {
	Asked  int                      // answers that were compared
	Failed int                      // others that were asked for, and failed or have another status
	Order  map[string]string        // by endpoint: what has the same elements in another order, in words
	Oldest map[string]time.Duration // by endpoint: the greatest age that a cache gave an answer
	// Bare has, by endpoint, the host and port that was asked where all answers were 200 without ETag,
	// Last-Modified, Cache-Control and Expires; "" where one was not.
	Bare map[string]string
	// Outside has, by endpoint, in words, the first value of an answer that lies outside of the population whose
	// statistics stand beside it.
	Outside map[string]string
	// Sequences are, by endpoint, what its answers hold and in which order.
	Sequences map[string]AnswerSequence
}

// An AnswerSequence has hashes of the answers of an endpoint: of two runs that agree in Requests and
// Elements, and not in Order, the same elements came in another order.
type AnswerSequence struct{ Requests, Elements, Order uint64 }

// formatSequence is the value of a setting of one.
const formatSequence = "%016x %016x %016x"

// Settings returns what is known as a run keeps it.
func (a ComparedAnswers) Settings() []Setting {
	out := []Setting{{Scope: AnswersScope, Name: answersAsked, Value: strconv.Itoa(a.Asked)}}
	if a.Failed > 0 {
		out = append(out, Setting{Scope: AnswersScope, Name: answersFailed, Value: strconv.Itoa(a.Failed)})
	}
	for endpoint, words := range a.Order {
		out = append(out, Setting{Scope: AnswersScope, Name: answersOrder + " " + endpoint, Value: words})
	}
	for endpoint, age := range a.Oldest {
		out = append(out, Setting{Scope: AnswersScope, Name: answersAge + " " + endpoint, Value: age.String()})
	}
	for endpoint, words := range a.Outside {
		out = append(out, Setting{Scope: AnswersScope, Name: answersBeyond + " " + endpoint, Value: words})
	}
	for endpoint, host := range a.Bare {
		out = append(out, Setting{Scope: AnswersScope, Name: answersBare + " " + endpoint, Value: host})
	}
	for endpoint, s := range a.Sequences {
		out = append(out, Setting{Scope: AnswersScope, Name: answersHold + " " + endpoint,
			Value: fmt.Sprintf(formatSequence, s.Requests, s.Elements, s.Order)})
	}
	return out
}

// ComparedAnswers returns what a run knows of the answers at its end; ok is false when they were
// not asked for. What is no number or duration is passed over: a run file may come from
// anywhere.
func (r *Recording) ComparedAnswers() (out ComparedAnswers, ok bool) {
	out = ComparedAnswers{Order: map[string]string{}, Oldest: map[string]time.Duration{}, Bare: map[string]string{},
		Outside: map[string]string{}, Sequences: map[string]AnswerSequence{}}
	for _, s := range r.Settings {
		if s.Scope != AnswersScope {
			continue
		}
		word, endpoint, _ := strings.Cut(s.Name, " ")
		switch word {
		case answersAsked:
			n, err := strconv.Atoi(s.Value)
			out.Asked, ok = n, ok || err == nil && n > 0
		case answersFailed:
			if n, err := strconv.Atoi(s.Value); err == nil && n > 0 {
				out.Failed = n
			}
		case answersOrder:
			out.Order[endpoint] = s.Value
		case answersBeyond:
			out.Outside[endpoint] = s.Value
		case answersBare:
			out.Bare[endpoint] = s.Value
		case answersHold:
			var x AnswerSequence
			if n, err := fmt.Sscanf(s.Value, formatSequence, &x.Requests, &x.Elements, &x.Order); n == 3 && err == nil {
				out.Sequences[endpoint] = x
			}
		case answersAge:
			if d, err := time.ParseDuration(s.Value); err == nil && d > 0 {
				out.Oldest[endpoint] = d
			}
		}
	}
	return out, ok
}
