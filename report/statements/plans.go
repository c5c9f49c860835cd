package statements

import (
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/recorded"
)

// The sections of plans.
const (
	SectionPlans  = "plans"
	SectionTables = "tables"
)

// Plans shows how a server runs the statements of a run or a log. Only its plans,
// tables and queries are looked at.
func Plans(run *kasoku.Recording, o report.Options) *report.Document {
	r := recorded.Of(run, o)
	d := &report.Document{Kind: report.KindPlans, Title: "plans of " + o.File, Name: o.File,
		Head:    []string{"plans of " + o.File},
		Verdict: planTables{r}.plansVerdict(), Footer: report.FooterOf(o, "")}
	d.PutSection(o, "plans", func() report.Section { return PlansSection(r) })
	d.PutSection(o, "tables", func() report.Section { return TablesSection(r) })
	return d
}

// plansVerdict counts the plans that read whole tables.
func (r planTables) plansVerdict() string {
	var explained, whole int
	for i := range r.Plans {
		p := &r.Plans[i]
		if len(p.Rows) > 0 {
			explained++
		}
		if slices.ContainsFunc(p.Rows, func(s kasoku.PlanRow) bool { return s.Access == "ALL" }) {
			whole++
		}
	}
	switch {
	case len(r.Plans) == 0:
		return "No statement to explain."
	case explained == 0:
		return "None of " + unit.Counted(len(r.Plans), "statement", "statements") + " could be explained."
	case whole == 0:
		return "None of " + unit.Counted(explained, "plan", "plans") + " reads a whole table."
	}
	return unit.Count(whole) + " of " + unit.Counted(explained, "plan", "plans") + " read a whole table."
}

// PlansSection shows the steps of each plan below its statement.
func PlansSection(r recorded.View) report.Section {
	s := report.Section{ID: SectionPlans, Title: "Plans", Count: len(r.Plans)}
	if len(r.Plans) == 0 {
		return s
	}
	s.Sub = "How the server runs the statements of the most total time: EXPLAIN of the slowest of each. Rows are " +
		"the server's estimate."
	t := &report.Table{ID: "plans", Columns: []report.Column{
		{Key: "table", Head: "table", Code: true},
		{Key: "access", Head: "access"},
		{Key: "key", Head: "index", Code: true},
		{Key: "rows", Head: "rows", Align: report.Decimal},
		{Key: "filtered", Head: "filtered", Unit: "%", Align: report.Decimal, Drop: 2},
		{Key: "possible_keys", Head: "possible", Code: true, Cut: true, Drop: 3},
		{Key: "extra", Head: "extra", Cut: true, Least: 30},
	}}
	for i := range r.Plans {
		p := &r.Plans[i]
		t.Rows = append(t.Rows, report.Row{Group: planTables{r}.statement(p.QueryID)})
		for j := range p.Rows {
			t.Rows = append(t.Rows, report.Row{Cells: planCells(&p.Rows[j])})
		}
		if p.Note != "" {
			cells := make([]report.Cell, len(t.Columns))
			cells[len(cells)-1] = cell.Text(p.Note)
			t.Rows = append(t.Rows, report.Row{Cells: cells})
		}
	}
	s.Blocks = []report.Block{t}
	return s
}

// planTables shows how the server runs the statements.
type planTables struct{ recorded.View }

// statement names a class: the end of its id, and its fingerprint.
func (r planTables) statement(id string) string {
	for i := range r.Queries {
		if r.Queries[i].ID == id {
			return StatementName(id, r.Queries[i].Fingerprint)
		}
	}
	return id
}

// StatementName names a class of statements: its [ShortID] and its fingerprint.
func StatementName(id, fingerprint string) string {
	return strings.TrimSpace(ShortID(id) + "  " + fingerprint)
}

func planCells(p *kasoku.PlanRow) []report.Cell {
	access, left, index := cell.Text(p.Access), cell.None(), cell.Text(p.Key)
	if p.Access == "ALL" || p.Access == "index" { // the whole table, the whole index
		access.Tone = report.Mark
	}
	if p.Filtered >= 0 {
		left = cell.Number(p.Filtered)
	}
	if p.Key == "" {
		index = cell.None()
	}
	return []report.Cell{cell.Text(p.Table), access, index, cell.Count(uint64(max(p.Rows, 0) + 0.5)), left,
		cell.Text(p.PossibleKeys),
		cell.Text(p.Extra)}
}

// TablesSection shows the tables that the statements read, with their indexes.
func TablesSection(r recorded.View) report.Section {
	s := report.Section{ID: SectionTables, Title: "Tables", Count: len(r.Tables)}
	if len(r.Tables) == 0 {
		return s
	}
	s.Sub = "Of the statements above. Rows, sizes and distinct values are the server's estimates."
	t := &report.Table{ID: "tables", Columns: []report.Column{
		{Key: "index", Head: "index", Code: true},
		{Key: "columns", Head: "columns", Code: true, Cut: true, Least: 20},
		{Key: "unique", Head: "unique", Drop: 2},
		{Key: "distinct", Head: "distinct values", Align: report.Right},
	}}
	for i := range r.Tables {
		d := &r.Tables[i]
		t.Rows = append(t.Rows, report.Row{Group: d.Schema + "." + d.Name + "  " + d.Engine + ", about " +
			unit.Counted(d.Rows, "row", "rows") +
			", data " + unit.Bytes(d.DataBytes) + ", other indexes " + unit.Bytes(d.IndexBytes)})
		for _, x := range d.Indexes {
			t.Rows = append(t.Rows, report.Row{Cells: indexCells(x)})
		}
	}
	s.Blocks = []report.Block{t}
	return s
}

func indexCells(x kasoku.IndexDef) []report.Cell {
	unique, distinct := "no", make([]string, len(x.Cardinality))
	if x.Unique {
		unique = "yes"
	}
	for i, n := range x.Cardinality {
		distinct[i] = unit.Missing
		if n >= 0 {
			distinct[i] = unit.Count(n)
		}
	}
	return []report.Cell{cell.Text(x.Name), cell.Text(strings.Join(x.Columns, ", ")), cell.Text(unique),
		cell.Text(strings.Join(distinct, " → "))}
}
