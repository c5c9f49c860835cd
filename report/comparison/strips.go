package comparison

import (
	"slices"
	"strconv"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
)

// stripped are the rows that are drawn run by run, where they were measured.
var stripped = []string{"score", "throughput", "success", "latency.p50", "latency.p99", "cpu_per_success",
	"command.wall"}

// mostStrips are drawn at most.
const mostStrips = 4

// runsSection lists the single runs of which the medians are made.
func runsSection(c *compare.Comparison) report.Section {
	s := report.Section{ID: report.SectionRuns, Title: "Runs", Sub: "Each dot is one run. The table has their figures."}
	if c.Single() {
		return s
	}
	s.Count = len(c.Before.Runs) + len(c.After.Runs)
	strips := &report.Strips{}
	var rows []*compare.Row
	for _, id := range stripped {
		r := c.Row(id)
		if r == nil || !r.Before.OK || !r.After.OK {
			continue
		}
		rows = append(rows, r)
		if x, ok := strip(c, r); ok && len(strips.List) < mostStrips {
			strips.List = append(strips.List, x)
		}
	}
	if len(strips.List) > 0 {
		s.Blocks = append(s.Blocks, strips)
	}
	if len(rows) > 0 {
		s.Blocks = append(s.Blocks, runsTable(c, rows))
	}
	return s
}

// strip places the runs of a row; ok is false when all are equal.
func strip(c *compare.Comparison, r *compare.Row) (report.Strip, bool) {
	var all []float64
	for _, v := range slices.Concat(r.BeforeRuns, r.AfterRuns) {
		if v.OK {
			all = append(all, v.Value)
		}
	}
	if len(all) == 0 {
		return report.Strip{}, false
	}
	lo, hi := slices.Min(all), slices.Max(all)
	if lo >= hi {
		return report.Strip{}, false
	}
	m := move(*r, "")
	s := report.Strip{Name: r.Name, Unit: m.Unit, Low: figure(*r, lo), High: figure(*r, hi), Verdict: m.Verdict,
		Tone: m.Tone}
	dots := func(values []compare.Value, runs []kasoku.Run, middle float64) []report.Dot {
		var out []report.Dot
		for i, v := range values {
			if v.OK {
				out = append(out, report.Dot{At: (v.Value - lo) / (hi - lo), Text: figure(*r, v.Value),
					Run:    runName(runs, i),
					Middle: v.Value == middle})
			}
		}
		return out
	}
	s.Before, s.After = dots(r.BeforeRuns, c.Before.Runs, r.Before.Value),
		dots(r.AfterRuns, c.After.Runs, r.After.Value)
	return s, true
}

// figure prints one run's figure as the row prints its medians.
func figure(r compare.Row, v float64) string {
	r.Before.Value, r.Before.OK = v, true
	before, _, _ := printedIn(r, r.Scale())
	return before
}

// runName names a run of a side: its label with its place in the group, or its id.
func runName(runs []kasoku.Run, i int) string {
	r := runs[i]
	switch {
	case r.Label != "" && r.Repeat > 0:
		return r.Label + " " + strconv.Itoa(r.Repeat)
	case r.Label != "":
		return r.Label
	}
	return r.ID
}

// runsTable gives the figures of each run.
func runsTable(c *compare.Comparison, rows []*compare.Row) *report.Table {
	t := &report.Table{ID: "runs", Columns: []report.Column{{Key: "side", Head: "side"},
		{Key: "run", Head: "run", Cut: true}}}
	passes := c.Row("passes")
	for _, r := range rows {
		_, _, u := printed(*r)
		t.Columns = append(t.Columns, report.Column{Key: r.ID + "_" + string(r.Unit), Head: r.Name, Unit: u,
			Align: report.Decimal})
	}
	if passes != nil {
		t.Columns = append(t.Columns, report.Column{Key: "pass", Head: "outcome"})
	}
	for _, side := range []struct {
		name   string
		runs   []kasoku.Run
		values func(*compare.Row) []compare.Value
	}{
		{"before", c.Before.Runs, func(r *compare.Row) []compare.Value { return r.BeforeRuns }},
		{"after", c.After.Runs, func(r *compare.Row) []compare.Value { return r.AfterRuns }},
	} {
		for i := range side.runs {
			cells := []report.Cell{cell.Text(side.name), cell.Text(runName(side.runs, i))}
			for _, r := range rows {
				v := side.values(r)[i]
				if !v.OK {
					cells = append(cells, cell.None())
					continue
				}
				cells = append(cells, report.Cell{Text: figure(*r, v.Value), Raw: report.RawNumber(v.Value)})
			}
			if passes != nil {
				cells = append(cells, outcome(side.runs[i].Score))
			}
			t.Rows = append(t.Rows, report.Row{Cells: cells})
		}
	}
	return t
}

func outcome(s *kasoku.Score) report.Cell {
	switch {
	case s == nil || s.Outcome == kasoku.Unjudged:
		return report.Cell{Text: unit.Missing}
	case s.Outcome == kasoku.Failed:
		return report.Cell{Text: string(s.Outcome), Tone: report.Bad}
	}
	return report.Cell{Text: string(s.Outcome), Tone: report.Good}
}
