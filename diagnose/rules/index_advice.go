package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/internal/unit"
)

// What rules about indexes have in common.
const (
	// indexShare of the requests' time is the least that an index is proposed for:
	// it is one more to keep, for each row that is written.
	indexShare = 0.01
	// quotedStatements of a finding are enough to see what it is about.
	quotedStatements = 4
)

var errNoTables = errors.New("the tables' definitions were not recorded with the statements")

type proposed struct {
	advice *indexes.Advice
	err    error
}

// indexAdvice is the advice for a case. The error says why there is none.
func indexAdvice(c *diagnose.Case) (*indexes.Advice, error) {
	if err := noStatements(c); err != nil {
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

// An indexRule is what distinguishes the rules that propose an index: the reason for
// which indexes are missing.
type indexRule struct {
	id   string
	why  string
	none string // what to say when there is no such index to propose
	// title and cause say it of the table's proposals; title has at most 70 characters.
	title func(c *diagnose.Case, g indexGroup) string
	cause func(c *diagnose.Case, g indexGroup) string
}

// An indexGroup is the proposals of one reason for one table.
type indexGroup struct {
	table     string
	def       *kasoku.TableDef
	proposals []*indexes.Proposal
	served    []indexes.Served // of all, the most time first
	saved     time.Duration
}

// top is the statement that gains most.
func (g *indexGroup) top(c *diagnose.Case) *kasoku.Query { return c.QueryByID(g.served[0].QueryID) }

// check makes one finding for each table.
func (r indexRule) check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	advice, err := indexAdvice(c)
	if err != nil {
		return nil, diagnose.Blind(r.id, err)
	}
	var out []kasoku.Finding
	near, said := 0.0, r.none
	for _, g := range r.groups(c, advice) {
		impact := timeImpact(c, g.saved)
		if impact.Share >= indexShare {
			out = append(out, r.finding(c, g, impact))
			continue
		}
		if n := impact.Share / indexShare; n > near {
			near = n
			said = fmt.Sprintf("%s would save %s %s; the threshold is %s", g.proposals[0].DDL,
				unit.Percent(impact.Share), impact.Of, unit.Percent(indexShare))
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, diagnose.Quiet(r.id, near, "%s", said)
}

// groups returns the proposals of the rule's reason by table.
func (r indexRule) groups(c *diagnose.Case, advice *indexes.Advice) []indexGroup {
	var out []indexGroup
	for i := range advice.Proposals {
		p := &advice.Proposals[i]
		if p.Why != r.why || len(p.Serves) == 0 || c.QueryByID(p.Serves[0].QueryID) == nil {
			continue
		}
		at := slices.IndexFunc(out, func(g indexGroup) bool {
			return g.table == p.Table && g.def != nil && g.def.Schema == p.Schema && g.def.Host == p.Host
		})
		if at < 0 {
			out = append(out, indexGroup{table: p.Table, def: tableDef(c, p.Host, p.Schema, p.Table)})
			at = len(out) - 1
		}
		g := &out[at]
		g.proposals = append(g.proposals, p)
		g.saved += p.Saved
		g.served = append(g.served, p.Serves...)
	}
	for i := range out {
		slices.SortStableFunc(out[i].served,
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

func (r indexRule) finding(c *diagnose.Case, g indexGroup, impact kasoku.Impact) kasoku.Finding {
	impact.Estimate = true
	top := g.served[0]
	planned := diagnose.Signal{Blind: "the server's plan was not recorded"}
	if p := planOf(c, top.QueryID, g.table); p != nil {
		planned = diagnose.Signal{Holds: p.Access == "ALL" || p.Access == "index" ||
			strings.Contains(p.Extra, "filesort") || strings.Contains(p.Extra, "temporary") || p.Rows > 2*top.After,
			Lacks: "the server's plan is not long"}
	}
	return kasoku.Finding{
		ID: r.id, Object: kasoku.Object{Kind: "table", Name: g.table}, Title: cut(r.title(c, g), maxTitle),
		Clause: r.clause(g), Severity: severityOf(impact.Share), Impact: impact, Interval: c.Focus.Interval,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: top.Before >= 10*top.After, Lacks: "an index would not save nine of ten rows"},
			planned),
		Evidence: g.evidence(c, impact), Cause: r.cause(c, g), Fixes: g.fixes(),
		Expect: fmt.Sprintf("the first statement reads about %s rows instead of %s; all together take about %s less",
			perWords(top.After), perWords(top.Before), unit.Duration(g.saved)),
		Verify: "EXPLAIN names the index; `kasoku try` creates it, measures, and takes it back",
	}
}

func (r indexRule) clause(g indexGroup) string {
	return fmt.Sprintf("statements on %s read rows that an index would spare", cut(g.table, 30))
}

// planOf returns the row of a statement's plan that reads the table.
func planOf(c *diagnose.Case, id, table string) *kasoku.PlanRow {
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

func (g indexGroup) evidence(c *diagnose.Case, impact kasoku.Impact) []kasoku.Evidence {
	var out []kasoku.Evidence
	var seen []string
	for _, s := range g.served {
		q := c.QueryByID(s.QueryID)
		if q == nil || slices.Contains(seen, s.QueryID) || len(seen) == quotedStatements {
			continue
		}
		seen = append(seen, s.QueryID)
		note := fmt.Sprintf("%s, %s rows examined for %s sent", calls(q.Calls), perWords(examinedPerCall(q)),
			perWords(rowsPerCall(q)))
		if x := surest(c, q.ID); x != nil {
			note += ", by " + x.Endpoint()
		}
		out = append(out, statementEvidence(q, unit.Duration(q.Total), note, q.Total.Seconds()))
		if p := planOf(c, s.QueryID, g.table); p != nil && len(seen) == 1 {
			out = append(out, planEvidence(p, g.table, q))
		}
	}
	e := timeEvidence(c, g.saved, impact)
	e.Text, e.Note = "time that the indexes would save", e.Note+", an estimate"
	return append(out, e)
}

// planEvidence quotes what the server says of how it reads a table.
func planEvidence(p *kasoku.PlanRow, table string, q *kasoku.Query) kasoku.Evidence {
	key := "no key"
	if p.Key != "" {
		key = "key " + p.Key
	}
	text := "EXPLAIN: " + table + ", type " + p.Access + ", " + key
	if p.Extra != "" {
		text += ", " + p.Extra
	}
	return kasoku.Evidence{Source: "plan", Text: cut(text, maxQuoted), Note: "rows as the server estimates them",
		Value: diagnose.Whole(p.Rows), Number: p.Rows,
		Strong: true, Interval: kasoku.Interval{From: q.First, To: q.Last}}
}

func examinedPerCall(q *kasoku.Query) float64 {
	return float64(q.RowsExamined) / max(float64(q.Calls), 1)
}

// fixes is one fix with all indexes of the table, and another for those that they
// make needless.
func (g indexGroup) fixes() []kasoku.Fix {
	f := kasoku.Fix{Text: "Create the index", Where: "the live database, and the file from which tables are made",
		Lang: "sql", Risk: kasoku.RiskNone}
	if len(g.proposals) > 1 {
		f.Text = fmt.Sprintf("Create the %d indexes", len(g.proposals))
	}
	var code, served []string
	var write time.Duration
	for _, p := range g.proposals {
		code = append(code, p.DDL+";")
		served = append(served, fmt.Sprintf("%s: %s", p.Name, unit.Counted(len(p.Serves), "class of statements",
			"classes of statements")))
		f.Edits = append(f.Edits, kasoku.Edit{Kind: kasoku.EditIndex, Do: p.DDL, Undo: p.Undo})
		write += p.WriteCost
	}
	f.Code = strings.Join(code, "\n")
	f.Note = "Serves " + list(served, 6) + "."
	if write > 0 {
		f.Note += fmt.Sprintf(" Writes of this run would take about %s longer.", unit.Duration(write))
	}
	out := []kasoku.Fix{f}
	var drop []string
	for _, p := range g.proposals {
		for _, name := range p.Replaces {
			drop = append(drop, "DROP INDEX "+name+" ON "+g.table+";")
		}
	}
	if len(drop) > 0 {
		out = append(out, kasoku.Fix{Text: "Then drop what the new ones begin with", Where: "the live database",
			Code: strings.Join(drop, "\n"), Lang: "sql", Risk: kasoku.RiskNone})
	}
	return out
}

// columnsWords names the columns of a proposal that find rows.
func columnsWords(p *indexes.Proposal) string {
	var out []string
	for _, c := range p.Columns[:min(p.Seek, len(p.Columns))] {
		out = append(out, c.String())
	}
	return strings.Join(out, ", ")
}

// readFor says how many rows are read for how many.
func (g indexGroup) readFor(c *diagnose.Case) string {
	q := g.top(c)
	return fmt.Sprintf("%s rows for %s", diagnose.Whole(examinedPerCall(q)), perWords(rowsPerCall(q)))
}

// saying is the end of each cause: what the proposals serve.
func (g indexGroup) saying() string {
	n := len(g.proposals)
	return fmt.Sprintf(" %s would serve %s of statements.", capital(unit.Counted(n, "index", "indexes")),
		unit.Counted(len(g.served), "class", "classes"))
}
