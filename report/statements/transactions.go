package statements

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
)

// SectionTransactions is what the statements of a log were part of.
const SectionTransactions = "transactions"

// TransactionsSection shows classes of transactions, those of the most total time
// first, at most so many. The queries name what their shapes consist of.
func TransactionsSection(ts []kasoku.Transaction, queries []kasoku.Query, most int) report.Section {
	s := report.Section{ID: SectionTransactions, Title: "Transactions", Count: len(ts)}
	if len(ts) == 0 {
		return s
	}
	s.Sub = "From BEGIN to the end of COMMIT, those of the most total time first. Statements that repeat in a row " +
		"are named once. Of a log in whole seconds times are the least that is sure."
	ts = slices.Clone(ts)
	slices.SortStableFunc(ts, func(a, b kasoku.Transaction) int { return cmp.Compare(b.Total, a.Total) })
	shown := ts[:min(most, len(ts))]
	var all, rest time.Duration
	var ds, totals []time.Duration
	for i := range ts {
		all += ts[i].Total
		if i >= len(shown) {
			rest += ts[i].Total
			continue
		}
		ds, totals = append(ds, ts[i].Max, MeanOf(&ts[i])), append(totals, ts[i].Total)
	}
	u, ut := cell.CommonUnit(ds...), cell.CommonUnit(totals...)
	t := &report.Table{ID: "transactions", Sortable: true, Columns: []report.Column{
		{Key: "transaction", Head: "transaction", Code: true, Cut: true, Least: 24},
		{Key: "count", Head: "count", Align: report.Right},
		{Key: "total_s", Head: "total", Unit: unit.Name(ut), Align: report.Decimal, Drop: 3},
		{Key: "statements", Head: "statements", Unit: "each", Align: report.Decimal},
		{Key: "mean_s", Head: "mean", Unit: unit.Name(u), Align: report.Decimal},
		{Key: "max_s", Head: "max", Unit: unit.Name(u), Align: report.Decimal, Drop: 2},
		{Key: "rolled_back", Head: "rolled", Unit: "back", Align: report.Right, Drop: 4},
		{Key: "access", Head: "access", Drop: 1},
	}}
	named := NamesOf(queries)
	for i := range shown {
		t.Rows = append(t.Rows, report.Row{Cells: transactionCells(&shown[i], named, u, ut)})
	}
	if n := len(ts) - len(shown); n > 0 {
		t.More = unit.Count(n) + " more, " + unit.Percent(float64(rest)/float64(max(all, 1))) + " of time"
	}
	s.Blocks = []report.Block{t}
	return s
}

// MeanOf returns the mean time of a transaction of the class, 0 when none was counted.
func MeanOf(t *kasoku.Transaction) time.Duration {
	return t.Total / time.Duration(max(t.Count, 1))
}

// PerTransaction returns how many statements a transaction of the class has on average.
func PerTransaction(t *kasoku.Transaction) float64 {
	return float64(t.Statements) / float64(max(t.Count, 1))
}

func transactionCells(t *kasoku.Transaction, named map[string]string, u, ut time.Duration) []report.Cell {
	rolled, access := cell.Count(t.RolledBack), cell.Text("read write")
	if t.RolledBack > 0 {
		rolled.Tone = report.Mark
	}
	if t.ReadOnly { // BEGIN and COMMIT cost two round trips and protect nothing
		access = cell.Text("read only").Toned(report.Mark)
	}
	return []report.Cell{
		cell.Text(TransactionName(t, named)), cell.Count(t.Count), cell.Duration(t.Total,
			ut), cell.Number(PerTransaction(t)),
		cell.Duration(MeanOf(t), u), cell.Duration(t.Max, u), rolled, access,
	}
}

// NamesOf gives each class of statements a short name: its verb and first table.
func NamesOf(queries []kasoku.Query) map[string]string {
	out := map[string]string{}
	for i := range queries {
		q := &queries[i]
		name := q.Verb
		if len(q.Tables) > 0 && name != "" {
			name += " " + q.Tables[0]
		}
		out[q.ID] = name
	}
	return out
}

// TransactionName distinguishes a class of transactions from others: "SELECT stock, UPDATE
// stock /* buy */". Where a statement has no name the verbs are all there is.
func TransactionName(t *kasoku.Transaction, named map[string]string) string {
	var parts []string
	for _, id := range t.Shape {
		if named[id] == "" {
			parts = nil
			break
		}
		parts = append(parts, named[id])
	}
	name := t.Verbs
	if len(parts) > 0 {
		name = strings.Join(parts, ", ")
		if strings.HasSuffix(t.Verbs, "…") {
			name += ", …"
		}
	}
	if name == "" {
		name = "(no statement)"
	}
	if t.Tag != "" {
		name += " /* " + t.Tag + " */"
	}
	return name
}
