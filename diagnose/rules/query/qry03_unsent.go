package query

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// Thresholds of QRY-03 for what is read and not sent on.
const (
	// unsentBytes a request are worth a remark.
	unsentBytes = 16 << 10
	// unsentTimes what answers have cannot be in them, packedTimes not where they may be
	// compressed: JSON shrinks to a tenth at best, mostly to a fifth.
	unsentTimes = 10
	packedTimes = 50
)

// unsent finds wide columns that an endpoint reads and whose bytes its answers do not have.
func (r WideStar) unsent(c *diagnose.Case, advised *indexes.Advice) (out []kasoku.Finding) {
	times := float64(packedTimes)
	if sendsPlain(c) {
		times = unsentTimes
	}
	for _, read := range advised.Reads() {
		q := c.Statements().QueryByID(read.QueryID)
		if q == nil || q.Verb != "SELECT" || len(read.Wide) == 0 || q.BytesSent == 0 || q.RowsSent == 0 ||
			q.BytesSent < wideRow*q.RowsSent ||
			slices.ContainsFunc(out, func(f kasoku.Finding) bool { return f.Object.Name == read.Table.Name }) {
			continue
		}
		x := evidence.Surest(c, q.ID)
		if x == nil || x.PerRequest <= 0 {
			continue
		}
		e := c.Statements().EndpointOf(x.Endpoint())
		if e == nil || e.Bytes == 0 || e.Method == http.MethodHead || // the log lacks sizes; no body
			e.Codes[http.StatusOK]*10 < e.Count*9 { // others have no body, and read the row to know
			continue
		}
		got := x.PerRequest * float64(q.BytesSent) / float64(max(q.Calls, 1))
		sent := float64(e.Bytes) / float64(max(e.Count, 1))
		if got >= unsentBytes && got >= times*sent && c.Statements().ShareOf(e.Total) >= evidence.SmallShare {
			out = append(out, r.unsentFinding(c, &read, q, x, got, sent))
		}
	}
	return out
}

func (r WideStar) unsentFinding(c *diagnose.Case, read *indexes.Read, q *kasoku.Query, x *kasoku.Caller,
	got, sent float64) kasoku.Finding {
	t := read.Table
	impact := evidence.TimeImpact(c, time.Duration(min(max(x.Share, 0), 1)*float64(c.Statements().QueryTime(q))), q)
	impact.Share, impact.Estimate = impact.Share/2, true // the rest is in finding the rows
	bytes := func(v float64) string { return unit.Bytes(uint64(v)) }
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "table", Name: t.Name}, Severity: kasoku.Info, Impact: impact,
		Interval: c.Focus.Interval,
		Title: wording.Cut(fmt.Sprintf("%s reads %s of %s for %s", wording.Cut(x.Endpoint(), 30), bytes(got),
			wording.Cut(t.Name, 16), bytes(sent)), wording.MaxTitle),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Blind: "which columns the program uses is not known"},
			diagnose.Signal{Blind: "it may make of them what it sends, as an excerpt or a number"}),
		Evidence: []kasoku.Evidence{
			evidence.Statement(c, q, unit.Duration(q.Total), fmt.Sprintf("%s, %s rows a call, %s each",
				wording.Times(q.Calls), wording.Average(statements.RowsPerCall(q)), unit.Bytes(q.BytesSent/q.RowsSent)), q.Total.Seconds()),
			{Source: "accesslog", Text: x.Endpoint() + ": bytes of an answer", Note: "on average", Value: bytes(sent),
				Number: sent, Strong: true, Interval: c.Whole()},
		},
		Cause: fmt.Sprintf("The statement reads %s with each row, and the answers have far fewer bytes than it sends: most of "+
			"them are not sent on. The program may look at all of them for what it does send, or at none.",
			wording.List(read.Wide, 3)),
		Fixes: []kasoku.Fix{{Text: "Leave out what the program does not use of " + wording.List(read.Wide, 3),
			Where: evidence.HandlerOf(x.Endpoint()), Risk: kasoku.RiskAppRestart,
			Note: "Where it makes something of them, such as an excerpt, a number of words, a thumbnail, that may be kept in a " +
				"column of its own when they are written, or be asked for: LEFT(…, 300), CHAR_LENGTH(…)."}},
		Expect: "fewer bytes from the database for each answer",
		Verify: "Bytes_sent in the status falls",
	}
}
