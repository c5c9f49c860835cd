package advice

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// What rules about indexes have in common.
const (
	// IndexShare of the requests' time is the least that an index is proposed for:
	// it is one more to keep, for each row that is written.
	IndexShare = 0.01
	// unaskedShare is the least that is more than a remark where no plan says how the server reads the
	// rows: which index it uses is known by its rows alone then, and what another would save is a guess.
	unaskedShare = 0.05
	// QuotedStatements of a finding are enough to see what it is about.
	QuotedStatements = 4
)

var errNoTables = errors.New("the tables' definitions were not recorded with the statements")

type proposed struct {
	advice *indexes.Advice
	err    error
}

// ForIndexes is the advice for a case. The error says why there is none.
func ForIndexes(c *diagnose.Case) (*indexes.Advice, error) {
	if err := evidence.CheckStatements(c); err != nil {
		return nil, err
	}
	if len(c.Tables) == 0 {
		return nil, errNoTables
	}
	a := diagnose.Once(c, "indexes", func() proposed {
		advice, err := indexes.Propose(c.Recording)
		return proposed{advice, err}
	})
	return a.advice, a.err
}

// An IndexRule is what distinguishes the rules that propose an index: the reason for
// which indexes are missing.
type IndexRule struct {
	ID   string
	Why  string
	None string // what to say when there is no such index to propose
	// Title and Cause word the finding about one table's proposals; a title has at most 70
	// characters.
	Title func(c *diagnose.Case, g IndexGroup) string
	Cause func(c *diagnose.Case, g IndexGroup) string
}

// An IndexGroup is the proposals of one reason for one table.
type IndexGroup struct {
	Table     string
	def       *kasoku.TableDef
	Proposals []*indexes.Proposal
	Served    []indexes.Served // of all, the most time first
	saved     time.Duration
}

// top is the statement that gains most.
func (g *IndexGroup) top(c *diagnose.Case) *kasoku.Query {
	return c.Statements().QueryByID(g.Served[0].QueryID)
}

// classes are those of the statements that the indexes serve.
func (g *IndexGroup) classes(c *diagnose.Case) []*kasoku.Query {
	var ids []string
	for _, s := range g.Served {
		ids = append(ids, s.QueryID)
	}
	return c.Statements().QueriesByID(ids)
}

// Check makes one finding for each table.
func (r IndexRule) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	advice, err := ForIndexes(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID, err)
	}
	var out []kasoku.Finding
	near, said := 0.0, r.None
	for _, g := range r.groups(c, advice) {
		impact := evidence.TimeImpact(c, g.saved, g.classes(c)...)
		if impact.Share >= IndexShare {
			out = append(out, r.finding(c, g, impact))
			continue
		}
		if n := impact.Share / IndexShare; n > near {
			near = n
			said = fmt.Sprintf("%s would save %s %s; the threshold is %s", g.Proposals[0].DDL,
				unit.Percent(impact.Share), impact.Of, unit.Percent(IndexShare))
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, diagnose.Quiet(r.ID, near, "%s", said)
}

// groups returns the proposals of the rule's reason by table.
func (r IndexRule) groups(c *diagnose.Case, advice *indexes.Advice) []IndexGroup {
	var out []IndexGroup
	for i := range advice.Proposals {
		p := &advice.Proposals[i]
		if p.Why != r.Why || len(p.Serves) == 0 || c.Statements().QueryByID(p.Serves[0].QueryID) == nil {
			continue
		}
		at := slices.IndexFunc(out, func(g IndexGroup) bool {
			return g.Table == p.Table && g.def != nil && g.def.Schema == p.Schema && g.def.Host == p.Host
		})
		if at < 0 {
			out = append(out, IndexGroup{Table: p.Table, def: tableDef(c, p.Host, p.Schema, p.Table)})
			at = len(out) - 1
		}
		g := &out[at]
		g.Proposals = append(g.Proposals, p)
		g.saved += p.Saved
		g.Served = append(g.Served, p.Serves...)
	}
	for i := range out {
		slices.SortStableFunc(out[i].Served,
			func(a, b indexes.Served) int { return int(b.Saved/time.Microsecond - a.Saved/time.Microsecond) })
	}
	return out
}

func tableDef(c *diagnose.Case, host, schema, name string) *kasoku.TableDef {
	for i := range c.Tables {
		if t := &c.Tables[i]; t.Host == host && t.Schema == schema && t.Name == name {
			return t
		}
	}
	return nil
}

func (r IndexRule) finding(c *diagnose.Case, g IndexGroup, impact kasoku.Impact) kasoku.Finding {
	impact.Estimate = true
	top := g.Served[0]
	planned, asked := diagnose.Signal{Blind: "the server's plan was not recorded"}, false
	if p := PlanOf(c, top.QueryID, g.Table); p != nil {
		asked = true
		planned = diagnose.Signal{Holds: p.Access == "ALL" || p.Access == "index" ||
			strings.Contains(p.Extra, "filesort") || strings.Contains(p.Extra, "temporary") || p.Rows > 2*top.After,
			Lacks: "the server's plan is not long"}
	}
	f := kasoku.Finding{
		ID: r.ID, Object: kasoku.Object{Kind: "table", Name: g.Table}, Title: wording.Cut(r.Title(c, g), wording.MaxTitle),
		Clause: r.clause(g), Severity: evidence.StatementSeverity(impact), Impact: impact, Interval: c.Focus.Interval,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: top.Before >= 10*top.After, Lacks: "an index would not save nine of ten rows"},
			planned),
		Evidence: g.evidence(c, impact), Cause: r.Cause(c, g), Fixes: g.warned(c, g.fixes()),
		Expect: fmt.Sprintf("the first statement reads about %s instead of %s; all together take about %s less",
			rowsLeft(top), wording.Average(top.Before), unit.Duration(g.saved)),
		Verify: "EXPLAIN names the index; `kasoku try` creates it, measures, and takes it back",
	}
	if f.Confidence.Level == kasoku.Low || !asked && impact.Share < unaskedShare {
		f.Severity = kasoku.Info // most rows are read as before, or nothing says how the server reads them
	}
	return f
}

// rowsLeft describes how many rows a statement reads with an index, those that its OFFSET skips among them.
func rowsLeft(s indexes.Served) string {
	rows := wording.Average(s.After) + " rows"
	if rows == "1 rows" {
		rows = "1 row"
	}
	switch {
	case s.Skips && s.Skipped > 0:
		return rows + ", " + wording.Average(s.Skipped) + " of them for its OFFSET,"
	case s.Skips:
		return rows + " and those that its OFFSET skips"
	}
	return rows
}

func (r IndexRule) clause(g IndexGroup) string {
	return fmt.Sprintf("statements on %s read rows that an index would spare", wording.Cut(g.Table, 30))
}

// PlanOf returns the row of a statement's plan that reads the table.
func PlanOf(c *diagnose.Case, id, table string) *kasoku.PlanRow {
	for i := range c.Plans {
		if c.Plans[i].QueryID != id {
			continue
		}
		rows := c.Plans[i].Rows
		for k := range rows {
			if strings.EqualFold(rows[k].Table, table) || len(rows) == 1 {
				return &rows[k]
			}
		}
	}
	return nil
}

func (g IndexGroup) evidence(c *diagnose.Case, impact kasoku.Impact) []kasoku.Evidence {
	var out []kasoku.Evidence
	var seen []string
	for _, s := range g.Served {
		q := c.Statements().QueryByID(s.QueryID)
		if q == nil || slices.Contains(seen, s.QueryID) || len(seen) == QuotedStatements {
			continue
		}
		seen = append(seen, s.QueryID)
		note := fmt.Sprintf("%s, %s rows examined for %s sent", wording.Times(q.Calls), wording.Average(ExaminedPerCall(q)),
			wording.Average(statements.RowsPerCall(q)))
		if s.Derived {
			note += " without those of the derived table"
		}
		note += evidence.ByWords(c, q.ID)
		out = append(out, evidence.Statement(c, q, unit.Duration(q.Total), note, q.Total.Seconds()))
		if p := PlanOf(c, s.QueryID, g.Table); p != nil && len(seen) == 1 {
			out = append(out, PlanEvidence(p, g.Table, q))
		}
	}
	e := evidence.StatementTime(c, g.saved, impact, g.classes(c)...)
	e.Text, e.Note = "time that the indexes would save", e.Note+", an estimate"
	return append(out, e)
}

// PlanEvidence quotes what the server says of how it reads a table.
func PlanEvidence(p *kasoku.PlanRow, table string, q *kasoku.Query) kasoku.Evidence {
	key := "no key"
	if p.Key != "" {
		key = "key " + p.Key
	}
	text := "EXPLAIN: " + table + ", type " + p.Access + ", " + key
	if p.Extra != "" {
		text += ", " + p.Extra
	}
	return kasoku.Evidence{Source: "plan", Text: wording.Cut(text, wording.MaxQuoted), Note: "rows as the server estimates them",
		Value: diagnose.Whole(p.Rows), Number: p.Rows,
		Strong: true, Interval: kasoku.Interval{From: q.First, To: q.Last}}
}

// ExaminedPerCall returns how many rows a call of the class examined, on average.
func ExaminedPerCall(q *kasoku.Query) float64 {
	return float64(q.RowsExamined) / max(float64(q.Calls), 1)
}

// fixes is one fix with all indexes of the table, and another for those that they
// make needless.
func (g IndexGroup) fixes() []kasoku.Fix {
	f := kasoku.Fix{Text: "Create the index", Where: "the live database, and the file from which tables are made",
		Lang: "sql", Risk: kasoku.RiskNone}
	if len(g.Proposals) > 1 {
		f.Text = fmt.Sprintf("Create the %d indexes", len(g.Proposals))
	}
	var code, served []string
	var write time.Duration
	for _, p := range g.Proposals {
		code = append(code, p.DDL+";")
		served = append(served, fmt.Sprintf("%s: %s", p.Name, unit.Counted(len(p.Serves), "class of statements",
			"classes of statements")))
		f.Edits = append(f.Edits, kasoku.Edit{Kind: kasoku.EditIndex, Do: p.DDL, Undo: p.Undo})
		write += p.WriteCost
	}
	f.Code = strings.Join(code, "\n")
	f.Note = "Serves " + wording.List(served, 6) + ". " + g.checkWords()
	if write > 0 {
		f.Note += fmt.Sprintf(" Writes of this run would take about %s longer.", unit.Duration(write))
	}
	out := []kasoku.Fix{f}
	var drop []string
	for _, p := range g.Proposals {
		for _, name := range p.Replaces {
			drop = append(drop, "DROP INDEX "+indexes.QuoteName(name)+" ON "+indexes.QuoteName(g.Table)+";")
		}
	}
	if len(drop) > 0 {
		out = append(out, kasoku.Fix{Text: "Then drop what the new ones begin with", Where: "the live database",
			Code: strings.Join(drop, "\n"), Lang: "sql", Risk: kasoku.RiskNone})
	}
	return out
}

// warned returns the fixes with a warning where the table has no primary key and statements
// send its rows as they come: one that an index serves sends them in that one's order from
// then on, so that answers change.
func (g IndexGroup) warned(c *diagnose.Case, fixes []kasoku.Fix) []kasoku.Fix {
	if g.def == nil {
		return fixes
	}
	of := statements.RestingOnOrder(c, g.def)
	if len(of) == 0 {
		return fixes
	}
	served := slices.ContainsFunc(of, func(q *kasoku.Query) bool {
		return slices.ContainsFunc(g.Served, func(s indexes.Served) bool { return s.QueryID == q.ID })
	})
	text := fmt.Sprintf(" First add ORDER BY to %s of %s (OPS-04): ", unit.Counted(len(of), "class of statements",
		"classes of statements"), g.Table)
	if !served {
		fixes[0].Note += text + "they send rows in the order in which the table, which has no primary key, stores them. " +
			"An index that the server takes for them changes that order."
		return fixes
	}
	fixes[0].Note += text + "the index serves one that sends rows in the order in which the table stores them, and " +
		"they come in the order of the index then. Dropping it later brings the old order back, dropping a primary key does not."
	fixes[0].Risk = kasoku.RiskSemantics
	return fixes
}

// ColumnsWords names the columns of a proposal that find rows.
func ColumnsWords(p *indexes.Proposal) string {
	var out []string
	for _, c := range p.Columns[:min(p.Seek, len(p.Columns))] {
		out = append(out, c.String())
	}
	return strings.Join(out, ", ")
}

// RowsWords describes how many rows are read for how many, by the statement that gains most
// of those that are seen to read more than they send: MySQL does not count what a derived
// table reads.
func (g IndexGroup) RowsWords(c *diagnose.Case) string {
	q := g.top(c)
	for _, s := range g.Served {
		x := c.Statements().QueryByID(s.QueryID)
		if x != nil && ExaminedPerCall(x) >= 2*max(statements.RowsPerCall(x), 1) {
			q = x
			break
		}
	}
	if first := g.Served[0]; first.Derived && q.ID == first.QueryID {
		return fmt.Sprintf("about %s rows for %s", diagnose.Whole(first.Before), wording.Average(statements.RowsPerCall(q)))
	}
	return fmt.Sprintf("%s rows for %s", diagnose.Whole(ExaminedPerCall(q)), wording.Average(statements.RowsPerCall(q)))
}

// ServesWords is the end of each cause: what the proposals serve.
func (g IndexGroup) ServesWords() string {
	n := len(g.Proposals)
	return fmt.Sprintf(" %s would serve %s of statements.", wording.Capital(unit.Counted(n, "index", "indexes")),
		unit.Counted(len(g.Served), "class", "classes"))
}
