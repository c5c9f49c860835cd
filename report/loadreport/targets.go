package loadreport

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
)

// TargetTable has a row for each target of a load.
func TargetTable(targets []AttackTarget, mean bool) *report.Table {
	var ds []time.Duration
	for _, x := range targets {
		ds = append(ds, x.Tally.Latency.Quantile(0.5), x.Tally.Latency.Quantile(0.99))
	}
	u := cell.CommonUnit(ds...)
	t := &report.Table{ID: "targets", Columns: []report.Column{
		{Key: "target", Head: "target", Cut: true},
		{Key: "requests", Head: "requests", Align: report.Right},
		{Key: "success_ratio", Head: "success", Unit: "%", Align: report.Decimal},
	}}
	if mean {
		t.Columns = append(t.Columns, report.Column{Key: "mean_s", Head: "mean", Unit: unit.Name(u),
			Align: report.Decimal, Drop: 1})
	}
	t.Columns = append(t.Columns,
		report.Column{Key: "p50_s", Head: "p50", Unit: unit.Name(u), Align: report.Decimal},
		report.Column{Key: "p95_s", Head: "p95", Unit: unit.Name(u), Align: report.Decimal, Drop: 1},
		report.Column{Key: "p99_s", Head: "p99", Unit: unit.Name(u), Align: report.Decimal},
		report.Column{Key: "max_s", Head: "max", Unit: unit.Name(u), Align: report.Decimal, Drop: 2},
		report.Column{Key: "errors", Head: "errors", Align: report.Right},
		report.Column{Key: "received_bytes", Head: "received", Align: report.Right, Drop: 3},
	)
	for _, x := range targets {
		t.Rows = append(t.Rows, report.Row{Cells: targetCells(x, mean, u)})
	}
	return t
}

func targetCells(x AttackTarget, mean bool, u time.Duration) []report.Cell {
	success, errors := cell.Percent(x.Tally.SuccessRatio()), cell.Count(x.Tally.Failed())
	if x.Tally.Failed() > 0 {
		success.Tone, errors.Tone = report.Bad, report.Bad
	}
	cells := []report.Cell{cell.Text(x.Name), cell.Count(x.Tally.Asked), success}
	if mean {
		cells = append(cells, cell.Duration(x.Tally.Latency.Mean(), u))
	}
	for _, q := range []float64{0.5, 0.95, 0.99} {
		cells = append(cells, cell.Duration(x.Tally.Latency.Quantile(q), u))
	}
	cells = append(cells, cell.Duration(x.Tally.Latency.Max(), u), errors)
	if x.Tally.Asked == 0 {
		for i := 2; i < len(cells); i++ {
			cells[i] = cell.None()
		}
	}
	return append(cells, report.Cell{Text: unit.Bytes(x.Tally.BytesIn), Raw: strconv.FormatUint(x.Tally.BytesIn, 10)})
}

// Targets are the targets of a run's steps with what was counted, those that took
// most time first.
func Targets(run *kasoku.Recording) []AttackTarget {
	byName := map[string]*kasoku.Tally{}
	var out []AttackTarget
	for i := range run.Seconds {
		s := &run.Seconds[i]
		if s.Step == 0 {
			continue
		}
		if byName[s.Target] == nil {
			byName[s.Target] = kasoku.NewTally()
			out = append(out, AttackTarget{s.Target, byName[s.Target]})
		}
		byName[s.Target].Add(s)
	}
	took := func(x AttackTarget) float64 {
		return float64(x.Tally.Latency.Mean()) * float64(x.Tally.Latency.Count())
	}
	slices.SortFunc(out, func(a, b AttackTarget) int {
		return cmp.Or(cmp.Compare(took(b), took(a)), cmp.Compare(a.Name, b.Name))
	})
	return out
}
