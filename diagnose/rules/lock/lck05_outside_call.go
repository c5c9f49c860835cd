package lock

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/internal/unit"
)

// OutsideCall is the rule LCK-05.
type OutsideCall struct{}

// Thresholds of LCK-05.
const (
	heldShare = 0.02                 // of the time of the requests that were traced
	heldLeast = 2 * time.Millisecond // that rows stay locked for one call
	// mostlyHeld of the endpoint's calls are made so: fewer may be what another request sent.
	mostlyHeld = 0.9
	// fewHeld in a trace say too little, and sureHeld are enough.
	fewHeld  = 20
	sureHeld = 100
	// fewLong are enough of calls that take longHeld, where all are made so: what another request
	// sent does not come in each of them, nor lie in so long a wait by chance.
	fewLong  = 5
	longHeld = 20 * time.Millisecond
	mostHeld = 3 // findings
)

// ID returns LCK-05.
func (OutsideCall) ID() string { return "LCK-05" }

// Doc describes the rule.
func (OutsideCall) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds transactions that keep rows locked while another service is asked.`,
		Evidence: `a trace has at least 20 requests that an endpoint sent to a service by HTTP after a statement
			of its transaction had locked rows and before the transaction ended; they are 90 % of what it
			asked of that service, took 2 ms each and 2 % of the time of all requests that were traced. Five
			are enough where each is so, and takes 20 ms.`,
		Cause: `between BEGIN and COMMIT the handler waits for another program: who wants the same rows waits for
			that program too, and the connection is taken from the pool meanwhile.`,
		Fix: `ask the other service before the transaction begins or after it has ended.`,
		Silent: `below the thresholds, and where the transaction has only read: it locks nothing. It is a remark
			where no one was seen waiting for a lock. Blind without a trace.`,
	}
}

// A heldCall is what an endpoint asks of another service while its transaction holds rows.
type heldCall struct {
	trace *kasoku.Trace
	asked *kasoku.TracedExternal
	locks string  // the statement that locked
	share float64 // of the time of all requests that were traced
}

// Check looks through the traces.
func (r OutsideCall) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	var calls []heldCall
	traced, read := false, uint64(0)
	for i := range c.Traces {
		t := &c.Traces[i]
		if t.Refused != "" || t.Counts.Requests == 0 {
			continue
		}
		traced = true
		var all time.Duration
		for k := range t.Endpoints {
			all += t.Endpoints[k].Time
		}
		for k := range t.Externals {
			x := &t.Externals[k]
			read += x.Held - min(x.Locked, x.Held)
			if x.Locked > 0 && all > 0 {
				calls = append(calls, heldCall{t, x, statementOf(t, x.Locks), float64(x.LockedTime) / float64(all)})
			}
		}
	}
	switch {
	case !traced:
		return nil, diagnose.Blind(r.ID(), errors.New("no trace shows what requests ask of other services"))
	case len(calls) == 0 && read > 0:
		return nil, diagnose.Quiet(r.ID(), 0, "transactions that were open while another service was asked had only read")
	case len(calls) == 0:
		return nil, diagnose.Quiet(r.ID(), 0, "no transaction that was traced held rows while another service was asked")
	}
	slices.SortStableFunc(calls, func(a, b heldCall) int { return cmp.Compare(b.share, a.share) })
	var out []kasoku.Finding
	for i := range calls {
		if k := &calls[i]; k.measure() >= 1 && len(out) < mostHeld {
			out = append(out, r.finding(c, k))
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	most := &calls[0]
	return nil, diagnose.Quiet(r.ID(), min(most.measure(), 0.99), "%s asked %s %s while its transaction held rows, "+
		"%s each, %s of the time of what was traced; the thresholds are %d, %s and %s", most.caller(), most.asked.To,
		unit.Counted(most.asked.Locked, "time", "times"), unit.Duration(most.each()), unit.Percent(most.share),
		int(most.enough()),
		unit.Duration(heldLeast), unit.Percent(heldShare))
}

// measure is how far the thresholds are met: 1 or more when all are.
func (k *heldCall) measure() float64 {
	return min(k.share/heldShare, float64(k.asked.Locked)/k.enough(), float64(k.each())/float64(heldLeast),
		float64(k.asked.Locked)/(mostlyHeld*float64(max(k.asked.Calls, 1))))
}

// enough is how many of such calls say enough.
func (k *heldCall) enough() float64 {
	if k.asked.Locked >= k.asked.Calls && k.each() >= longHeld {
		return fewLong
	}
	return fewHeld
}

func (k *heldCall) caller() string { return k.asked.Method + " " + k.asked.Route }

// each is how long rows stay locked for one call.
func (k *heldCall) each() time.Duration {
	return k.asked.LockedTime / time.Duration(max(k.asked.Locked, 1))
}

// statementOf returns the fingerprint of a class that was traced.
func statementOf(t *kasoku.Trace, id string) string {
	i := slices.IndexFunc(t.Calls, func(c kasoku.TracedCall) bool { return id != "" && c.QueryID == id })
	if i < 0 {
		return ""
	}
	return t.Calls[i].Fingerprint
}

// outside is how the call leaves the transaction, by language.
var outside = map[string]string{
	language.Go:           "The client.Do stands before db.BeginTx, or after tx.Commit.",
	language.PHP:          "The call stands before beginTransaction(), or after commit().",
	language.ActiveRecord: "The call stands outside of the block of transaction do, or in after_commit.",
	language.Python:       "The call stands outside of the with block of the transaction, or after commit().",
	language.Django:       "The call stands outside of transaction.atomic(), or in on_commit.",
	language.JavaScript:   "The await fetch stands before beginTransaction, or after commit.",
	language.Java:         "The call stands before setAutoCommit(false), or after commit().",
	language.Spring:       "The call stands outside of the @Transactional method, or in an after-commit callback.",
	language.Unknown:      "The call stands before BEGIN, or after COMMIT.",
}

func (r OutsideCall) finding(c *diagnose.Case, k *heldCall) kasoku.Finding {
	each := k.each()
	waits := len(c.LockWaits) > 0
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: k.caller()},
		Title:    "Rows stay locked while another service is asked",
		Severity: kasoku.Info,
		Impact:   kasoku.Impact{Share: k.share, Of: "of request time, with rows locked", Estimate: true},
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: k.asked.Locked >= sureHeld, Lacks: "few calls were traced"},
			diagnose.Signal{Holds: waits, Lacks: "no one was seen waiting for such a lock"}),
		Evidence: []kasoku.Evidence{{
			Source: "trace", Text: "requests to another service by " + k.caller() + " while its transaction held rows",
			Note: k.asked.To, Value: unit.Count(k.asked.Locked), Number: float64(k.asked.Locked), Strong: true,
			Interval: k.trace.Interval,
		}, {
			Source: "trace", Text: "that the rows stayed locked for each", Value: unit.Duration(each), Number: each.Seconds(),
			Note:     fmt.Sprintf("%d of the %d that it sent there", k.asked.Locked, k.asked.Calls),
			Interval: k.trace.Interval,
		}},
		Cause: fmt.Sprintf("%s asks %s after a statement of its transaction has locked rows, and before it ends: "+
			"who wants these rows waits %s longer, however fast the database is, and so does who wants the connection.",
			k.caller(), k.asked.To, unit.Duration(each)),
		Fixes: []kasoku.Fix{{
			Text:  "Ask " + k.asked.To + " before the transaction begins, or after it has ended",
			Where: evidence.HandlerOf(k.caller()),
			Note: language.Pick(c, outside) + " Where the answer decides what is written, ask first, then lock and look " +
				"again whether it still holds; where it must follow the writing, write that it is due, and send it after COMMIT.",
			Risk: kasoku.RiskAppRestart,
		}},
		Expect:   "rows are locked for " + unit.Duration(each) + " less in each request, and fewer requests wait for them",
		Verify:   "repeat the load: the trace has no request to " + k.asked.To + " in a transaction",
		Interval: c.Focus.Interval,
	}
	if waits {
		f.Severity = kasoku.Problem
	}
	if k.locks != "" {
		f.Evidence = append(f.Evidence, kasoku.Evidence{Source: "trace", Text: k.locks,
			Note: "locked them", Interval: k.trace.Interval})
	}
	return f
}
