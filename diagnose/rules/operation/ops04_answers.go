package operation

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// answers looks at what the run knows of the answers at its end, and returns how many were
// compared.
func (r ImplicitOrder) answers(c *diagnose.Case) (out []kasoku.Finding, compared int) {
	got, ok := c.ComparedAnswers()
	if !ok {
		return nil, 0
	}
	for _, endpoint := range slices.Sorted(maps.Keys(got.Order)) {
		out = append(out, r.reordered(c, endpoint, "before", "the golden answer, asked again after the load",
			got.Order[endpoint]))
	}
	others := othersOf(c)
	for _, endpoint := range slices.Sorted(maps.Keys(got.Sequences)) {
		other := otherOrder(others, endpoint, got.Sequences[endpoint])
		if other == nil || got.Order[endpoint] != "" {
			continue
		}
		note := "the golden answers, asked at the end of both runs; the other began at " + other.Run.Started.Format(time.DateTime)
		out = append(out, r.reordered(c, endpoint, "in another run", note, "the same elements in another order"))
	}
	for _, endpoint := range slices.Sorted(maps.Keys(got.Oldest)) {
		method, route, _ := strings.Cut(endpoint, " ")
		t, ok := c.TermsOf(method, route)
		if age := got.Oldest[endpoint]; ok && t.Stale != nil && age > *t.Stale {
			out = append(out, r.aged(c, endpoint, unit.Exact(age), unit.Exact(*t.Stale)))
		}
	}
	return out, got.Asked
}

// answeredRun is another run with what its answers hold, by endpoint.
type answeredRun struct {
	run  *kasoku.Recording
	hold map[string]kasoku.AnswerSequence
}

// othersOf returns the other runs of the group, and those of the one that it is compared with.
func othersOf(c *diagnose.Case) (out []answeredRun) {
	for _, other := range slices.Concat([]*kasoku.Recording{c.Baseline}, c.Baselines, c.Repeats) {
		if other != nil {
			was, _ := other.ComparedAnswers()
			out = append(out, answeredRun{other, was.Sequences})
		}
	}
	return out
}

// otherOrder returns the run in which the answers of an endpoint had the same elements in another
// order; nil without one.
func otherOrder(others []answeredRun, endpoint string, now kasoku.AnswerSequence) *kasoku.Recording {
	for _, o := range others {
		x, ok := o.hold[endpoint]
		if ok && x.Requests == now.Requests && x.Elements == now.Elements && x.Order != now.Order {
			return o.run
		}
	}
	return nil
}

func (r ImplicitOrder) reordered(c *diagnose.Case, endpoint, than, note, words string) kasoku.Finding {
	writes := diagnose.Signal{Holds: true}
	if slices.ContainsFunc(c.Endpoints, isWrite) {
		writes = diagnose.Signal{Blind: "requests of this run write, and may have moved rows"}
	}
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: endpoint}, Severity: kasoku.Info,
		Interval:   c.Focus.Interval,
		Title:      wording.Cut(endpoint+" answers in another order than "+than, wording.MaxTitle),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, writes),
		Evidence: []kasoku.Evidence{{Source: "answers", Text: endpoint,
			Note:  note,
			Value: words, Strong: true, Interval: c.Whole()}},
		Cause: "The same elements come in another order: the statement has no ORDER BY, or one in which several rows " +
			"are equal, and then the server is free; another index, plan or key gives another order.",
		Fixes: []kasoku.Fix{{Text: "End the ORDER BY with a column that differs in each row, such as the primary key",
			Where: evidence.HandlerOf(endpoint), Risk: kasoku.RiskAppRestart,
			Note: "Where the order is to be another one now, `kasoku answers record` keeps it."}},
		Expect: "the same order, whatever the plan", Verify: "`kasoku answers check`, and the next run",
	}
}

// isWrite reports whether requests of an endpoint may change data.
func isWrite(e kasoku.Endpoint) bool {
	return e.Method != http.MethodGet && e.Method != http.MethodHead
}

func (r ImplicitOrder) aged(c *diagnose.Case, endpoint, age, allowed string) kasoku.Finding {
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: endpoint}, Severity: kasoku.Problem,
		Interval:   c.Focus.Interval,
		Title:      wording.Cut(fmt.Sprintf("%s is %s old; %s is allowed", endpoint, age, allowed), wording.MaxTitle),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true}),
		Impact:     kasoku.Impact{Of: "of what clients are promised"},
		Evidence: []kasoku.Evidence{{Source: "answers", Text: endpoint + ": Age", Note: "after the load",
			Value: age, Strong: true, Interval: c.Whole()},
			{Source: "contract", Text: endpoint + ": stale", Value: allowed, Strong: true, Interval: c.Whole()}},
		Cause: "A cache between the application and its clients keeps this answer for longer than [contract] of " +
			"kasoku.toml allows.",
		Fixes: []kasoku.Fix{{Text: "Keep it for the allowed time at most, or pass it on",
			Where: "the cache that sets Age: Varnish or what is in front", Risk: kasoku.RiskNone}},
		Expect: "answers as fresh as promised", Verify: "Age in the next run",
	}
}
