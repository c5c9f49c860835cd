package index

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/diagnose/internal/advice"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// Thresholds of the rules about conditions that no index can seek.
const (
	// scannedRows examined a call are work that shows, and scannedShare of the table's rows are
	// all of them, as far as the server's estimate of these goes.
	scannedRows  = 1000
	scannedShare = 0.5
	// scannedPerRow of the rows examined go for one that is sent: else most would be read
	// with any index.
	scannedPerRow = 10
	// smallShare of the table's rows are few: so many may a join begin with.
	smallShare = 0.1
	// leastPart of the rows that a plan counts on are most of what a statement with a subquery of
	// two tables for each row does.
	leastPart = 0.25
	// leastWhole of a table's rows are all of them, when those of other tables are left out;
	// otherWhole is how many there may be at most where another table is read whole before.
	leastWhole, otherWhole = 0.95, 1.25
)

// A scan is a class of statements that reads a whole table for a condition that no index can
// seek.
type scan struct {
	query  *kasoku.Query
	read   indexes.Read
	hidden []indexes.Hidden
	plan   *kasoku.PlanRow // of the table; nil when it was not recorded
	part   bool            // other conditions leave a part of the table, and that is read
	impact kasoku.Impact
}

// scansOf returns those with conditions that are wanted, the most time first, and how near
// the nearest other came.
func scansOf(c *diagnose.Case, advised *indexes.Advice, want func(*indexes.Hidden) bool) (out []scan,
	near float64, said string) {
	for _, read := range advised.Reads() {
		q := c.Statements().QueryByID(read.QueryID)
		if q == nil || q.Verb != "SELECT" || q.Calls == 0 {
			continue
		}
		s := scan{query: q, read: read}
		for i := range read.Hidden {
			if want(&read.Hidden[i]) {
				s.hidden = append(s.hidden, read.Hidden[i])
			}
		}
		if len(s.hidden) == 0 || !s.readsTable(c) {
			continue
		}
		s.impact = evidence.TimeImpact(c, c.Statements().QueryTime(q), q)
		s.impact.Estimate = true
		examined := advice.ExaminedPerCall(q)
		n := min(examined/scannedRows, examined/(scannedPerRow*max(statements.RowsPerCall(q), 1)),
			s.impact.Share/evidence.SmallShare)
		if !s.part {
			n = min(n, examined/(scannedShare*float64(max(read.Table.Rows, 1))))
		}
		if n >= 1 {
			out = append(out, s)
		} else if n >= near {
			near = n
			said = fmt.Sprintf("%s examines %s rows of %s for %s sent, and takes %s %s; the thresholds are %d rows, half "+
				"of the table, %d for each that is sent and %s",
				s.condition(), wording.Average(examined), read.Table.Name, wording.Average(statements.RowsPerCall(q)),
				unit.Percent(s.impact.Share), s.impact.Of, scannedRows, scannedPerRow, unit.Percent(evidence.SmallShare))
		}
	}
	slices.SortStableFunc(out, func(a, b scan) int { return int((b.query.Total - a.query.Total).Microseconds()) })
	return out, near, said
}

// readsTable finds the table's part of the plan, and reports whether all of the table is read.
// Without a plan a statement of one table does when it examines its rows.
func (s *scan) readsTable(c *diagnose.Case) bool {
	for i := range c.Plans {
		if c.Plans[i].QueryID != s.query.ID {
			continue
		}
		steps := c.Plans[i].Rows
		at := slices.IndexFunc(steps, func(r kasoku.PlanRow) bool {
			return strings.EqualFold(r.Table, cmp.Or(s.read.Alias, s.read.Table.Name))
		})
		if at < 0 && s.read.Alone && len(steps) > 0 {
			at = 0
		}
		if at < 0 {
			return false
		}
		s.plan = &steps[at]
		if isWhole(s.plan) || s.plan.Access == "ref" && s.joinsAll(c, steps, at) {
			return true
		}
		// One row that is looked up by a unique key is read for that of another table.
		s.part = len(s.hidden) > 0 && s.plan.Access != "eq_ref" && s.plan.Access != "const" &&
			slices.Contains([]string{indexes.LikeFunction, indexes.RegexpFunction, indexes.ListFunction},
				s.hidden[0].Function) &&
			!strings.HasPrefix(s.plan.Select, "DEPENDENT") && partOfRows(steps, at) >= leastPart
		return s.part
	}
	return s.read.Alone
}

// partOfRows returns which part of the rows that a plan counts on are read at one of its steps. A
// dependent subquery is run for each row of the statement's own tables, another one once.
func partOfRows(steps []kasoku.PlanRow, at int) float64 {
	prefix, own, sum, there := 1.0, 1.0, 0.0, 0.0
	for i := range steps {
		p, first := &steps[i], i == 0 || steps[i].Select != steps[i-1].Select
		switch {
		case !first:
		case strings.HasPrefix(p.Select, "DEPENDENT"):
			prefix = own
		default:
			prefix = 1
		}
		rows := prefix * max(p.Rows, 1)
		sum += rows
		if i == at {
			there = rows
		}
		left := 1.0
		if p.Filtered >= 0 {
			left = p.Filtered / 100
		}
		prefix = max(prefix*max(p.Rows, 1)*left, 1)
		if p.Select == "PRIMARY" || p.Select == "SIMPLE" {
			own = prefix
		}
	}
	return there / max(sum, 1)
}

// isWhole reports whether a step of a plan reads all of its table.
func isWhole(r *kasoku.PlanRow) bool { return r.Access == "ALL" || r.Access == "index" }

// joinsAll reports whether as many rows are examined of the table, which is read at this step, as
// it has: it is read whole as well where its rows are found through a join that begins with all
// rows of a small table, also by way of another table that is then read whole. What other steps
// may have examined is left out.
func (s *scan) joinsAll(c *diagnose.Case, steps []kasoku.PlanRow, at int) bool {
	rows, rest, prefix := float64(s.read.Table.Rows), advice.ExaminedPerCall(s.query), 1.0
	if at == 0 || !isWhole(&steps[0]) || steps[0].Rows > smallShare*rows {
		return false
	}
	most := 2 * rows // the server's estimate of a table's rows is not exact
	for i := range at {
		prefix *= max(steps[i].Rows, 1)
		if prefix <= smallShare*rows {
			rest -= prefix
			continue
		}
		other, known := s.rowsOf(c, steps[i].Table)
		if !known {
			return false // those may be the rows
		}
		rest -= max(prefix, other)
		most = otherWhole * rows
	}
	looked := 1.0
	for i := at + 1; i < len(steps); i++ {
		switch {
		case steps[i].Access == "const", steps[i].Access == "system":
		case steps[i].Select == "MATERIALIZED" && steps[i].Rows <= smallShare*rows:
			rest -= steps[i].Rows // once, before the join
		case steps[i].Access == "eq_ref":
			looked++ // one row at most for each of the table's
		default:
			return false
		}
	}
	return rest >= leastWhole*rows && rest <= most && rest >= scannedShare*rows*looked
}

// rowsOf returns how many rows a table of the statement's schema has, by the name that it has in
// the plan; not known where that is another one.
func (s *scan) rowsOf(c *diagnose.Case, name string) (rows float64, known bool) {
	for i := range c.Tables {
		if t := &c.Tables[i]; strings.EqualFold(t.Name, name) && t.Schema == s.read.Table.Schema && t.Host == s.read.Table.Host {
			return float64(t.Rows), true
		}
	}
	return 0, false
}

// rowsRead is how many rows of the table a call reads: what is examined, other tables' left out.
func (s *scan) rowsRead() float64 {
	examined := advice.ExaminedPerCall(s.query)
	if s.read.Alone {
		return examined
	}
	return min(examined, float64(max(s.read.Table.Rows, 1)))
}

// counts reports whether the one row that a call sends is how many match, and none of those.
func (s *scan) counts() bool {
	of := statements.Of(s.query)
	return of.CountsAll && !of.Grouped && statements.RowsPerCall(s.query) <= 1
}

// condition words the first condition.
func (s *scan) condition() string {
	switch h := s.hidden[0]; h.Function {
	case indexes.LikeFunction, indexes.RegexpFunction:
	case indexes.ConversionFunction:
		return "the conversion of " + h.Column
	default:
		return h.Function + "(" + h.Column + ")"
	}
	return s.hidden[0].Column + " " + s.hidden[0].Function
}

// indexed reports whether an index of the table begins with the column.
func (s *scan) indexed(column string) bool {
	return slices.ContainsFunc(s.read.Table.Indexes, func(x kasoku.IndexDef) bool {
		return len(x.Columns) > 0 && strings.EqualFold(x.Columns[0], column)
	})
}

func (s *scan) evidence(c *diagnose.Case) []kasoku.Evidence {
	q := s.query
	note := fmt.Sprintf("%s, %s rows examined for %s sent", wording.Times(q.Calls),
		wording.Average(advice.ExaminedPerCall(q)), wording.Average(statements.RowsPerCall(q)))
	if s.counts() {
		note = fmt.Sprintf("%s, %s rows examined for a count", wording.Times(q.Calls),
			wording.Average(advice.ExaminedPerCall(q)))
	}
	note += evidence.ByWords(c, q.ID)
	out := []kasoku.Evidence{evidence.Statement(c, q, unit.Duration(q.Total), note, q.Total.Seconds())}
	if s.plan != nil {
		out = append(out, advice.PlanEvidence(s.plan, s.read.Table.Name, q))
	}
	return append(out, kasoku.Evidence{Source: "schema", Text: "rows of " + s.read.Table.Name,
		Note:  "as the server estimates them",
		Value: unit.Count(s.read.Table.Rows), Number: float64(s.read.Table.Rows), Interval: c.Whole()},
		evidence.StatementTime(c, c.Statements().QueryTime(q), s.impact, q))
}

// planned is the signal that the server says so too.
func (s *scan) planned() diagnose.Signal {
	if s.plan == nil {
		return diagnose.Signal{Blind: "the server's plan was not recorded"}
	}
	return diagnose.Signal{Holds: true}
}

// which words the rows of the table that are read.
func (s *scan) which() string {
	if s.part {
		return "each row that is left of"
	}
	return "all rows of"
}

// finding is what both rules have in common.
func (s *scan) finding(c *diagnose.Case, id, title string) kasoku.Finding {
	t := s.read.Table.Name
	return kasoku.Finding{
		ID: id, Object: kasoku.Object{Kind: "table", Name: t}, Severity: evidence.StatementSeverity(s.impact), Impact: s.impact,
		Interval: c.Focus.Interval,
		Title:    wording.Cut(title, wording.MaxTitle),
		Clause:   fmt.Sprintf("%s reads %s %s", wording.Cut(s.condition(), 30), s.which(), wording.Cut(t, 30)),
		Evidence: s.evidence(c),
		Verify:   "rows examined a call of the statement; EXPLAIN names the index",
	}
}
