package index

import (
	"fmt"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/diagnose/internal/advice"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// SpatialIndex is the rule IDX-07.
type SpatialIndex struct{}

// roundTrip is what a statement that is sent for each row costs beside its own time:
// on one host, over a socket, with a driver of average make.
const roundTrip = 150 * time.Microsecond

// ID returns IDX-07.
func (SpatialIndex) ID() string { return "IDX-07" }

// Doc describes the rule.
func (SpatialIndex) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds tests of where something lies that no spatial index serves.`,
		Evidence: `a SELECT compares geometries (ST_Contains and its like) and its plan uses no spatial
			index: (a) the column has none, (b) a point is made of numbers for each row, or sent with the
			statement row by row, (c) on MySQL the column is bound to no reference system, so that its index
			is not used. The statements, with a round trip for each of those sent row by row, take at least 1
			% of the requests' time.`,
		Cause: `the server tests the geometry of each row.`,
		Fix: `a POINT column, NOT NULL and on MySQL with SRID 0, a spatial index on it, and a statement
			that tests the column.`,
		Silent: `when the plan names the spatial index, when it takes little time, and blind without a
			slow log or the tables' definitions.`,
	}
}

// Check looks for tests that no index serves.
func (r SpatialIndex) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	advised, err := advice.ForIndexes(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	var out []kasoku.Finding
	near, said := 0.0, "no statement tests geometries without a spatial index"
	seen := map[string]bool{}
	for i := range advised.Spatial {
		s := &advised.Spatial[i]
		q := c.Statements().QueryByID(s.QueryID)
		if q == nil || seen[s.Table] {
			continue
		}
		saved := s.Saved
		if s.Constant {
			saved += time.Duration(q.Calls) * roundTrip
		}
		impact := evidence.TimeImpact(c, saved, q)
		if impact.Share >= advice.IndexShare {
			seen[s.Table] = true
			out = append(out, r.finding(c, s, q, saved, impact))
			continue
		}
		if n := impact.Share / advice.IndexShare; n >= near {
			near, said = n, fmt.Sprintf("%s on %s takes %s %s; the threshold is %s", s.Function, s.Table,
				unit.Percent(impact.Share), impact.Of, unit.Percent(advice.IndexShare))
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, diagnose.Quiet(r.ID(), near, "%s", said)
}

func (r SpatialIndex) finding(c *diagnose.Case, s *indexes.Spatial, q *kasoku.Query, saved time.Duration,
	impact kasoku.Impact) kasoku.Finding {
	impact.Estimate = true
	note := fmt.Sprintf("%s, %s rows examined for %s sent", wording.Times(q.Calls), wording.Average(advice.ExaminedPerCall(q)),
		wording.Average(statements.RowsPerCall(q)))
	note += evidence.ByWords(c, q.ID)
	quotes := []kasoku.Evidence{evidence.Statement(c, q, unit.Duration(q.Total), note, q.Total.Seconds())}
	if p := advice.PlanOf(c, q.ID, s.Table); p != nil {
		quotes = append(quotes, advice.PlanEvidence(p, s.Table, q))
	}
	fix := kasoku.Fix{Text: r.does(s), Where: "the live database, and the file from which tables are made",
		Code: strings.Join(s.Steps, ";\n") + ";", Lang: "sql", Risk: kasoku.RiskNone}
	if s.Index != "" {
		fix.Edits = []kasoku.Edit{{Kind: kasoku.EditIndex, Do: s.Index, Undo: s.Undo}}
	}
	fixes := []kasoku.Fix{fix}
	if s.Case == "b" {
		fixes = append(fixes, kasoku.Fix{Text: "Then test the column, in one statement",
			Where: "where the statement is made", Risk: kasoku.RiskAppRestart,
			Note: fmt.Sprintf("The statement that lists rows of %s gets one more condition, %s(ST_GeomFromText(?), %s), "+
				"with the shape as its value; its order and limit stay.",
				indexes.QuoteName(s.Table), s.Function, indexes.QuoteName(s.Column))})
	}
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "table", Name: s.Table}, Severity: evidence.StatementSeverity(impact),
		Impact: impact, Interval: c.Focus.Interval,
		Title:  wording.Cut(r.title(s), wording.MaxTitle),
		Clause: fmt.Sprintf("%s on %s uses no spatial index", s.Function, wording.Cut(s.Table, 20)),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: !s.Constant, Lacks: "the statement tests a value that it was sent"}),
		Evidence: append(quotes, evidence.StatementTime(c, saved, impact, q)),
		Cause:    r.cause(c, s), Fixes: fixes,
		Expect: "the statement reads the rows near the shape instead of all", Verify: "EXPLAIN names the spatial index",
	}
}

func (SpatialIndex) title(s *indexes.Spatial) string {
	switch {
	case s.Case == "c":
		return fmt.Sprintf("The spatial index of %s is not used: %s "+
			"has no SRID", wording.Cut(s.Table, 16), wording.Cut(s.Column, 16))
	case s.Constant:
		return fmt.Sprintf("%s tests %s row by row: no spatial index", s.Function, wording.Cut(s.Table, 20))
	}
	return fmt.Sprintf("%s reads all of %s: no spatial index serves it", s.Function, wording.Cut(s.Table, 20))
}

func (SpatialIndex) does(s *indexes.Spatial) string {
	switch s.Case {
	case "a":
		return "Create a spatial index; its column must be NOT NULL"
	case "c":
		return "Bind the column to SRID 0, then make its index anew"
	}
	return "Store the point in a column, fill it, make it NOT NULL, index it, in this order"
}

func (SpatialIndex) cause(c *diagnose.Case, s *indexes.Spatial) string {
	switch {
	case s.Case == "a":
		return fmt.Sprintf("%s has no spatial index, so %s is worked out for each row.", s.Table+"."+s.Column,
			s.Function)
	case s.Case == "c":
		return fmt.Sprintf("%s uses a spatial index only when its column is bound to one reference system, and "+
			"%s is not.", c.Server(), s.Table+"."+s.Column)
	case s.Constant:
		return fmt.Sprintf("%s is asked for one point at a time, with a statement for each row of %s, as no column "+
			"holds the point that an index could find.", s.Function, s.Table)
	}
	return fmt.Sprintf("%s makes a point of %s for each row: an index is of a column, not of what a function "+
		"makes of it.", s.Function, wording.List(s.From, 3))
}
