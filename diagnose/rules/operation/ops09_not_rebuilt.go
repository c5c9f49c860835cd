package operation

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
)

// NotRebuilt is the rule OPS-09.
type NotRebuilt struct{}

// ID returns OPS-09.
func (NotRebuilt) ID() string { return "OPS-09" }

// Doc describes the rule.
func (NotRebuilt) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds data, indexes and answers that a restart loses.`,
		Evidence: `probes of the data that 'kasoku finalize' took: row counts, indexes and answers after
			initialize differ from those after a restart, or after a restart and another initialize; one
			difference counts.`,
		Cause: `what is kept in memory is filled in one place only, where the process starts or in
			initialize, and the other path leaves it empty or old.`,
		Fix:    `fill it in a function that both paths call.`,
		Silent: `when the probes agree; blind without probes from before and after.`,
	}
}

// Check compares the probes.
func (r NotRebuilt) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	before, ok := c.Probe(diagnose.AfterInitialize)
	if !ok {
		before, ok = c.Probe(diagnose.AtStart)
	}
	restart, okRestart := c.Probe(diagnose.AfterRestart)
	if !ok || !okRestart {
		return nil, diagnose.Blind(r.ID(),
			errors.New("no probes from before and after a restart; `kasoku finalize` takes them"))
	}
	words := []string{diagnose.FactRows, diagnose.FactIndex, diagnose.FactAnswer}
	lost := before.Lost(restart, words...)
	again, okAgain := c.Probe(diagnose.AfterReinitialize)
	var lasting []diagnose.Loss
	if okAgain {
		lasting = before.Lost(again, words...)
	}
	if len(lost)+len(lasting) == 0 {
		return nil, diagnose.Quiet(r.ID(), 0, "row counts %d, indexes %d, answers %d: all the same after a restart",
			before.Count(diagnose.FactRows), before.Count(diagnose.FactIndex), before.Count(diagnose.FactAnswer))
	}
	return []kasoku.Finding{r.finding(c, before, lost, lasting)}, nil
}

// mostLosses is how many differences are quoted.
const mostLosses = 6

func (r NotRebuilt) finding(c *diagnose.Case, before diagnose.Probe, lost, lasting []diagnose.Loss) kasoku.Finding {
	all := append(lost, lasting...)
	var evidence []kasoku.Evidence
	for i, l := range all {
		if i == mostLosses {
			evidence = append(evidence, kasoku.Evidence{Source: "probe", Text: "more differences",
				Value: fmt.Sprint(len(all) - mostLosses)})
			break
		}
		is := l.Is
		if is == "" {
			is = "gone"
		}
		evidence = append(evidence, kasoku.Evidence{Source: "probe", Text: wording.Cut(l.Fact, 100), Note: l.At,
			Value: l.Was + " → " + is, Strong: true, Interval: c.Whole()})
	}
	what, where := "A restart", "where the process starts"
	cause := "What the answers come from is filled by initialize and not where the process starts, so that a " +
		"restart leaves it empty until the next initialize."
	switch {
	case len(lasting) == 0:
	case len(lost) == 0:
		what, where = "Initialize after a restart", "initialize"
		cause = "What the answers come from is filled where the process starts and not by initialize, so that an " +
			"initialize leaves what was there before it."
	default:
		cause = "Neither the start of the process nor initialize brings back what was there after the first initialize."
	}
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: kindOf(all[0].Fact), Name: wording.Cut(nameOf(all[0].Fact), 60)},
		Title: fmt.Sprintf("%s changes %s", what, countOf(all)), Severity: kasoku.Problem,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: before.At == diagnose.AfterInitialize,
				Lacks: "initialize was not called before the restart"}),
		Impact: kasoku.Impact{Of: "of requests after a restart"}, Evidence: evidence, Cause: cause,
		Fixes: []kasoku.Fix{{Text: "Fill caches and indexes in one function, and call it on both paths", Where: where,
			Risk: kasoku.RiskAppRestart, Note: "Where the program starts, and in the handler of initialize."}},
		Expect: "the same data, indexes and answers", Verify: "`kasoku finalize` restarts and compares again",
		Interval: c.Whole(),
	}
}

// kindOf returns what a fact is about: table, index or endpoint.
func kindOf(fact string) string {
	switch {
	case strings.HasPrefix(fact, diagnose.FactRows):
		return "table"
	case strings.HasPrefix(fact, diagnose.FactIndex):
		return "index"
	}
	return "endpoint"
}

// nameOf returns the name in a fact, of an answer its method and path.
func nameOf(fact string) string {
	_, name, _ := strings.Cut(fact, " ")
	if method, url, ok := strings.Cut(name, " "); ok && kindOf(fact) == "endpoint" {
		if _, rest, ok := strings.Cut(url, "://"); ok {
			_, path, _ := strings.Cut(rest, "/")
			return method + " /" + path
		}
	}
	return name
}

// countOf describes how many things of each kind there are: "2 answers and 1 index".
func countOf(all []diagnose.Loss) string {
	count := map[string]map[string]bool{}
	for _, l := range all {
		kind := kindOf(l.Fact)
		if count[kind] == nil {
			count[kind] = map[string]bool{}
		}
		count[kind][l.Fact] = true
	}
	var out []string
	for _, k := range []struct{ kind, one, many string }{
		{"endpoint", "an answer", "answers"}, {"table", "the rows of a table", "tables"},
		{"index", "an index", "indexes"},
	} {
		switch n := len(count[k.kind]); {
		case n == 1:
			out = append(out, k.one)
		case n > 1:
			out = append(out, fmt.Sprintf("%d %s", n, k.many))
		}
	}
	return strings.Join(out, " and ")
}
