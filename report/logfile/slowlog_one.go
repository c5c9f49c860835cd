package logfile

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/statements"
)

// SlowClass shows all that is known of one class of statements. Masked hides the
// values of its slowest statement.
func SlowClass(l *SlowLog, c *slowlog.Class, masked bool, o SlowOptions) *report.Document {
	t, err := newSlowTable(l, o)
	if err != nil { // the sort does not matter for one row
		o.Sort = ""
		t, _ = newSlowTable(l, o)
	}
	d := &report.Document{
		Kind: report.KindSlowLog, Title: "statement " + c.ID, Name: c.ID, Head: []string{l.name(),
			statements.Item(&c.Query), c.ID},
		Verdict: l.classVerdict(t, c), Commands: o.Commands, Footer: report.FooterOf(o.Options, ""),
	}
	add := func(label, value string, code bool) {
		if value != "" {
			d.Facts = append(d.Facts, report.Fact{Label: label, Value: value, Code: code})
		}
	}
	add("Id", c.ID, true)
	add("Short", strings.ToUpper(c.ID[max(0, len(c.ID)-16):])+", as pt-query-digest before 3.0.11 had it", false)
	add("Tag", c.Tag, true)
	add("Users", countsText(c.Users), false)
	add("Hosts", countsText(c.Hosts), false)
	add("Schemas", countsText(c.Schemas), false)
	add("Tags", countsText(c.Tags), false)
	one := *l
	one.Classes = []slowlog.Class{*c}
	one.Transactions, one.Saves, one.Logs = nil, nil, nil
	single, _ := newSlowTable(&one, SlowOptions{Options: o.Options, Machine: true})
	d.PutSection(o.Options, "figures", func() report.Section {
		return report.Section{ID: report.SectionQueries, Title: "Figures",
			Blocks: []report.Block{figuresOf(t, single, c)}}
	})
	d.PutSection(o.Options, "shapes", one.shapesSection)
	d.PutSection(o.Options, "timeline", func() report.Section { return one.timelineSection(o.Options) })
	d.PutSection(o.Options, "statement", func() report.Section { return statementSection(c, masked) })
	return d
}

func (l *SlowLog) classVerdict(t *slowTable, c *slowlog.Class) string {
	what := "time"
	if t.total == 0 {
		what = "calls"
	}
	return fmt.Sprintf("%s: %s, %s of the %s.", statements.Item(&c.Query), unit.Counted(c.Calls, "call", "calls"),
		unit.Percent(t.share(c)), what)
}

// countsText is a list of values with how often they came.
func countsText(counts []slowlog.Count) string {
	var parts []string
	for i, v := range counts {
		if i == 8 {
			parts = append(parts, unit.Count(len(counts)-i)+" more")
			break
		}
		parts = append(parts, v.Value+" "+unit.Count(v.N))
	}
	return strings.Join(parts, ", ")
}

// figuresOf is a table of one figure a row.
func figuresOf(all, single *slowTable, c *slowlog.Class) *report.Table {
	out := &report.Table{ID: "figures", Narrow: true, Columns: []report.Column{{Key: "figure", Head: "figure"},
		{Key: "value", Head: "value", Align: report.Right}, {Key: "unit", Head: "unit"}}}
	units := single.units([]*slowlog.Class{c})
	for i, col := range single.columns {
		v := col.value(single, c)
		if col.name == "share" {
			v = all.share(c)
		}
		shown := col.cell(v, units[i])
		if shown.Text == unit.Missing {
			continue
		}
		out.Rows = append(out.Rows, report.Row{Cells: []report.Cell{cell.Text(col.head), shown,
			cell.Text(cmp.Or(col.unit, units[i].name))}})
	}
	return out
}

// mostStatement is how much of a statement is shown, in bytes.
const mostStatement = 4 << 10

// statementSection shows the fingerprint, the slowest statement and what the log
// says of its plan.
func statementSection(c *slowlog.Class, masked bool) report.Section {
	notes := &report.Notes{}
	add := func(label, s string) {
		if s != "" {
			notes.List = append(notes.List, report.Note{Sign: "·", Label: label, Text: s})
		}
	}
	add("fingerprint", c.Fingerprint)
	add("slowest", SlowStatement(c, masked))
	w := &c.Worst
	if !w.Start.IsZero() {
		add("when", w.Start.Format(time.RFC3339)+", "+unit.Duration(w.QueryTime))
	}
	add("where", fmt.Sprintf("line %d, byte %d", w.Line, w.Offset))
	for _, row := range c.Explain {
		add("explain", strings.ReplaceAll(row, "\t", "  "))
	}
	return report.Section{ID: "statement", Title: "Statement", Blocks: []report.Block{notes}}
}

// SlowStatement is the slowest statement of a class in one line, cut where it is
// long, with its values hidden when asked for.
func SlowStatement(c *slowlog.Class, masked bool) string {
	sql := []byte(c.Worst.Statement)
	if masked {
		sql = sqlshape.AppendMasked(nil, sql, mostStatement)
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(sql[:min(len(sql), mostStatement)]), "�")), " ")
}
