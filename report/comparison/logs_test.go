package comparison

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/findings"
	"github.com/kasoku/kasoku/report/internal/sample"
	"github.com/kasoku/kasoku/report/statements"
)

func comparing(t *testing.T, before, after []*kasoku.Recording) *report.Document {
	t.Helper()
	c, err := compare.Compare(before, after, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return Compare(c, report.Options{Location: sample.JST})
}

// What a side has not is not reported: files of older versions have no plans, transactions
// and advice, which did not go away.
func TestCompareOlderRun(t *testing.T) {
	before, after := sample.Analysed()
	before.Slowest, before.Transactions, before.Plans, before.Tables, before.Advice = nil, nil, nil, nil, nil
	d := comparing(t, []*kasoku.Recording{before}, []*kasoku.Recording{after})
	for _, id := range []string{statements.SectionTransactions, statements.SectionPlans, findings.SectionAdvice} {
		if d.Section(id) != nil {
			t.Errorf("section %s is reported of one side alone", id)
		}
	}
	for _, id := range []string{report.SectionEndpoints, report.SectionQueries} {
		if d.Section(id) == nil {
			t.Errorf("section %s is left out", id)
		}
	}
}

// A run against itself has no plan that differs and no advice that came or went.
func TestCompareWithItself(t *testing.T) {
	before, _ := sample.Analysed()
	d := comparing(t, []*kasoku.Recording{before}, []*kasoku.Recording{before})
	if p, ok := d.Section(statements.SectionPlans).Blocks[0].(report.Para); !ok || p.Text != "No plan differs, of 3 that both sides have." {
		t.Errorf("plans %+v", d.Section(statements.SectionPlans).Blocks)
	}
	for _, n := range d.Section(findings.SectionAdvice).Blocks[0].(*report.Notes).List {
		if !strings.HasPrefix(n.Text, "Still there. ") {
			t.Errorf("advice: %s", n.Text)
		}
	}
}

// TestCompareGroupsOfLogs: of several runs a side, the tables say which one they are of.
func TestCompareGroupsOfLogs(t *testing.T) {
	var before, after []*kasoku.Recording
	for i := range 3 {
		b, a := sample.Analysed()
		b.Run.Score, a.Run.Score = &kasoku.Score{Value: float64(100 + i)}, &kasoku.Score{Value: float64(200 + i)}
		b.Endpoints[0].Count, a.Endpoints[0].Count = uint64(1000+i), uint64(2000+i)
		if i == 1 {
			a.Plans = nil // the newest with plans is taken instead
		}
		before, after = append(before, b), append(after, a)
	}
	d := comparing(t, before, after)
	for _, id := range []string{report.SectionEndpoints, report.SectionQueries, statements.SectionTransactions, findings.SectionAdvice} {
		if s := d.Section(id); !strings.HasSuffix(string(s.Sub), " Of the run in the middle of each side.") {
			t.Errorf("%s: %q", id, s.Sub)
		}
	}
	row := d.Section(report.SectionEndpoints).Blocks[0].(*report.Table).Rows[0]
	if row.Cells[1].Text != "1,001" || row.Cells[2].Text != "2,001" {
		t.Errorf("requests %s and %s, want those of the run in the middle", row.Cells[1].Text, row.Cells[2].Text)
	}
	if s := d.Section(statements.SectionPlans); s == nil || s.Count != 1 || !strings.Contains(string(s.Sub), "or the newest with plans") {
		t.Errorf("plans %+v", s)
	}
}

// A request that passes two hosts is in two logs: each route is a share of its own.
func TestLogTotals(t *testing.T) {
	e := func(host string, total time.Duration) *kasoku.Endpoint {
		return &kasoku.Endpoint{Host: host, Total: total, Latency: histogram.New()}
	}
	a, b, c, d := e("web", 3), e("app", 2), e("web", 1), e("web", 40)
	got := logTotals([]compare.Both[kasoku.Endpoint]{{Before: a, After: d}, {Before: b}, {Before: c}})
	if got[a] != 4 || got[b] != 2 || got[c] != 4 || got[d] != 40 {
		t.Errorf("totals %v %v %v %v, want 4 2 4 40", got[a], got[b], got[c], got[d])
	}
}

func TestPlanMoved(t *testing.T) {
	row := func(access, key, length, extra string) *kasoku.PlanRow {
		return &kasoku.PlanRow{Table: "t", Access: access, Key: key, KeyLen: length, Extra: extra, Rows: 7}
	}
	for _, x := range []struct {
		before, after *kasoku.PlanRow
		want          string
	}{
		{row("ALL", "", "", "Using where; Using filesort"), row("ref", "k", "4", "Using where"), "t|ALL → ref|– → k|7|−Using filesort; Using where"},
		{row("ref", "k", "4", ""), row("ref", "k", "12", "Using index"), "t|ref|k:4 → k:12|7|+Using index"},
		{row("ref", "k", "4", "Using where"), row("ref", "k", "4", "Using where"), "t|ref|k|7|Using where"},
		{nil, row("ref", "k", "4", "Using where"), "t|– → ref|– → k|– → 7|Using where"},
		{row("ALL", "", "", ""), nil, "t|ALL → –|–|7 → –|"},
	} {
		var got []string
		for _, c := range planMoved(compare.PlanMoved{Both: compare.Both[kasoku.PlanRow]{Before: x.before, After: x.after}, Moved: true}) {
			got = append(got, c.Text)
		}
		if s := strings.Join(got, "|"); s != x.want {
			t.Errorf("%q, want %q", s, x.want)
		}
	}
}
