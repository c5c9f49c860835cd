package client

import (
	"errors"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/observe/expvar"
)

// KnownAnswers is the rule CLI-12.
type KnownAnswers struct{}

// ID returns CLI-12.
func (KnownAnswers) ID() string { return "CLI-12" }

// Doc describes the rule.
func (KnownAnswers) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `says that a service answered the same questions of two runs alike.`,
		Evidence: `of the baseline and of this run the client publishes over expvar the same hash of its first
			questions (QuestionsHash), and the same one of the answers to them (AnswersHash).`,
		Cause: `what the service keeps is the same in each run, or drawn from a seed that is: who has asked once
			knows the answers.`,
		Fix: `a seed from the system's random numbers for each run; streams of their own for what is drawn early
			and for what is drawn later. For a comparison at an equal seed nothing is to be done.`,
		Silent: `without a baseline, when the questions differ or the answers do; blind when no program publishes
			hashes of them.`,
	}
}

// errNoHash is said where there are none.
var errNoHash = errors.New("no client publishes hashes of its questions and answers")

// Check holds the answers of the run against those of its baseline.
func (r KnownAnswers) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if c.Baseline == nil {
		return nil, diagnose.Blind(r.ID(), diagnose.ErrNoBaseline)
	}
	before, known := hashesOf(diagnose.NewCase(c.Baseline, nil))
	after, too := hashesOf(c)
	switch {
	case !known || !too:
		return nil, diagnose.Blind(r.ID(), errNoHash)
	case before.questions != after.questions:
		return nil, diagnose.Quiet(r.ID(), 0, "the client asked other questions in the baseline")
	case before.answers != after.answers:
		return nil, diagnose.Quiet(r.ID(), 0.5, "the same questions were answered otherwise in the baseline")
	}
	return []kasoku.Finding{{
		ID: r.ID(), Object: after.seen.object(), Title: "The service answers the same questions of two runs alike",
		Clause: "the service answers the same questions of two runs alike", Severity: kasoku.Info,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}),
		Impact:     kasoku.Impact{Of: "of the requests, whose answers an earlier run can have learnt", Estimate: true},
		Evidence: []kasoku.Evidence{
			after.seen.quote(expvar.QuestionsHash, "hash of the first questions", "as in the baseline",
				after.questions),
			after.seen.quote(expvar.AnswersHash, "hash of the answers to them", "as in the baseline", after.answers),
		},
		Cause: "The client's first questions were those of the baseline, and so were all answers to them: what the service " +
			"holds does not change from run to run, and who has asked once need not ask again.",
		Fixes: []kasoku.Fix{{
			Text: "Draw what the service holds from the system's random numbers for each run", Where: "the service",
			Risk: kasoku.RiskNone,
			Note: "And what is drawn later from a stream of its own. Where both runs were given one seed in order to be compared, " +
				"nothing is to be done.",
		}},
		Expect: "other answers in each run", Verify: "repeat it: AnswersHash must differ",
		Interval: after.seen.interval,
	}}, nil
}

// hashes are those that a client publishes.
type hashes struct {
	questions, answers float64
	seen               seen
}

func hashesOf(c *diagnose.Case) (h hashes, ok bool) {
	s, err := seenOf(c)
	if err != nil {
		return h, false
	}
	questions, answers := beside(c, s.key, expvar.QuestionsHash), beside(c, s.key, expvar.AnswersHash)
	if questions == nil || answers == nil || len(questions.Points) == 0 || len(answers.Points) == 0 {
		return h, false
	}
	h = hashes{last(questions), last(answers), s}
	return h, h.questions != 0 && h.answers != 0 // 0 stands before any was asked
}

func last(s *kasoku.Series) float64 { return s.Points[len(s.Points)-1].Value }
