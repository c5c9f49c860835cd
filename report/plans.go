package report

import (
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// The sections of plans.
const (
	SectionPlans  = "plans"
	SectionTables = "tables"
)

// Plans shows how a server runs the statements of a run or a log. Only its plans,
// tables and queries are looked at.
func Plans(run *kasoku.Recording, o Options) *Document {
	r := viewOf(run, o)
	d := &Document{Kind: KindPlans, Title: "plans of " + o.File, Name: o.File, Head: []string{"plans of " + o.File},
		Verdict: planTables{r}.plansVerdict(), Footer: footer(o, "")}
	d.put(o, "plans", func() Section { return PlansSection(r) })
	d.put(o, "tables", func() Section { return TablesSection(r) })
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
func PlansSection(r rec) Section {
	s := Section{ID: SectionPlans, Title: "Plans", Count: len(r.Plans)}
	if len(r.Plans) == 0 {
		return s
	}
	s.Sub = "How the server runs the statements of the most total time: EXPLAIN of the slowest of each. Rows are the server's estimate."
	t := &Table{ID: "plans", Columns: []Column{
		{Key: "table", Head: "table", Code: true},
		{Key: "access", Head: "access"},
		{Key: "key", Head: "index", Code: true},
		{Key: "rows", Head: "rows", Align: Decimal},
		{Key: "filtered", Head: "filtered", Unit: "%", Align: Decimal, Drop: 2},
		{Key: "possible_keys", Head: "possible", Code: true, Cut: true, Drop: 3},
		{Key: "extra", Head: "extra", Cut: true, Least: 30},
	}}
	for i := range r.Plans {
		p := &r.Plans[i]
		t.Rows = append(t.Rows, Row{Group: planTables{r}.statement(p.QueryID)})
		for j := range p.Rows {
			t.Rows = append(t.Rows, Row{Cells: planCells(&p.Rows[j])})
		}
		if p.Note != "" {
			cells := make([]Cell, len(t.Columns))
			cells[len(cells)-1] = text(p.Note)
			t.Rows = append(t.Rows, Row{Cells: cells})
		}
	}
	s.Blocks = []Block{t}
	return s
}

// planTables shows how the server runs the statements.
type planTables struct{ rec }

// statement names a class: the end of its id, and its fingerprint.
func (r planTables) statement(id string) string {
	for i := range r.Queries {
		if r.Queries[i].ID == id {
			return statementName(id, r.Queries[i].Fingerprint)
		}
	}
	return id
}

func statementName(id, fingerprint string) string {
	return strings.TrimSpace(id[max(0, len(id)-8):] + "  " + fingerprint)
}

func planCells(p *kasoku.PlanRow) []Cell {
	access, left, index := text(p.Access), none(), text(p.Key)
	if p.Access == "ALL" || p.Access == "index" { // the whole table, the whole index
		access.Tone = Mark
	}
	if p.Filtered >= 0 {
		left = number(p.Filtered)
	}
	if p.Key == "" {
		index = none()
	}
	return []Cell{text(p.Table), access, index, count(uint64(max(p.Rows, 0) + 0.5)), left, text(p.PossibleKeys),
		text(p.Extra)}
}

// TablesSection shows the tables that the statements read, with their indexes.
func TablesSection(r rec) Section {
	s := Section{ID: SectionTables, Title: "Tables", Count: len(r.Tables)}
	if len(r.Tables) == 0 {
		return s
	}
	s.Sub = "Of the statements above. Rows, sizes and distinct values are the server's estimates."
	t := &Table{ID: "tables", Columns: []Column{
		{Key: "index", Head: "index", Code: true},
		{Key: "columns", Head: "columns", Code: true, Cut: true, Least: 20},
		{Key: "unique", Head: "unique", Drop: 2},
		{Key: "distinct", Head: "distinct values", Align: Right},
	}}
	for i := range r.Tables {
		d := &r.Tables[i]
		t.Rows = append(t.Rows, Row{Group: d.Schema + "." + d.Name + "  " + d.Engine + ", about " +
			unit.Counted(d.Rows, "row", "rows") +
			", data " + unit.Bytes(d.DataBytes) + ", other indexes " + unit.Bytes(d.IndexBytes)})
		for _, x := range d.Indexes {
			t.Rows = append(t.Rows, Row{Cells: indexCells(x)})
		}
	}
	s.Blocks = []Block{t}
	return s
}

func indexCells(x kasoku.IndexDef) []Cell {
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
	return []Cell{text(x.Name), text(strings.Join(x.Columns, ", ")), text(unique), text(strings.Join(distinct, " → "))}
}
