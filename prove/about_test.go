package prove

import (
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

// TestRelate: what a trial is about, and what is noise of the host.
func TestRelate(t *testing.T) {
	const ms = time.Millisecond
	scan := &kasoku.Plan{Rows: []kasoku.PlanRow{{Table: "t", Access: "ALL", Rows: 29000, Extra: "Using where"}}}
	guess := &kasoku.Plan{Rows: []kasoku.PlanRow{{Table: "t", Access: "ALL", Rows: 28500, Extra: "Using where"}}}
	seek := &kasoku.Plan{Rows: []kasoku.PlanRow{{Table: "t", Access: "ref", Key: "by_a", Rows: 7}}}
	slow, quick, late := Timing{40 * ms, 41 * ms, 44 * ms}, Timing{1 * ms, 2 * ms, 1 * ms}, Timing{60 * ms, 70 * ms, 65 * ms}
	index := []kasoku.Edit{{Kind: kasoku.EditIndex}}
	both := append([]kasoku.Edit{{Kind: kasoku.EditVariable}}, index...)
	f := func(name string, edits []kasoku.Edit, s Sample, about, shown, unused bool, gain float64) {
		t.Helper()
		s.Query.Calls = 10
		r := Trial{Samples: []Sample{s}}
		r.relate(edits)
		r.gain()
		if got := r.Samples[0]; got.About != about || got.Shown != shown || r.Unused != unused || r.Gain-gain > 0.02 || gain-r.Gain > 0.02 {
			t.Errorf("%s: about %v, shown %v, unused %v, gain %v", name, got.About, got.Shown, r.Unused, r.Gain)
		}
	}
	f("the index is used", index, Sample{Before: slow, After: quick, PlanBefore: scan, PlanAfter: seek}, true, true, false, 0.976)
	f("used, and it is worse", index, Sample{Before: slow, After: late, PlanBefore: scan, PlanAfter: seek}, true, true, false, -0.585)
	f("the host was busy meanwhile", index, Sample{Before: slow, After: late, PlanBefore: scan, PlanAfter: guess}, false, true, true, 0)
	f("another plan, the same time", index, Sample{Before: slow, After: slow, PlanBefore: scan, PlanAfter: seek}, true, false, false, 0)
	f("no plan is known", index, Sample{Before: slow, After: quick}, true, true, false, 0.976)
	f("not run", index, Sample{Note: "it writes", PlanBefore: scan, PlanAfter: seek}, true, false, false, 0)
	f("a variable shows in no plan", both, Sample{Before: slow, After: quick, PlanBefore: scan, PlanAfter: scan}, true, true, false, 0.976)
	f("a variable without effect", both, Sample{Before: slow, After: slow, PlanBefore: scan, PlanAfter: scan}, false, false, false, 0)
}

// TestQuotes: statements that a finding quotes are run before others of the table.
func TestQuotes(t *testing.T) {
	index := kasoku.Edit{Kind: kasoku.EditIndex, Do: "CREATE INDEX by_a ON t (a)", Undo: "DROP INDEX by_a ON t"}
	f := &kasoku.Finding{Evidence: []kasoku.Evidence{{Text: "select b from t where a = ?…"}, {Text: ""}, {Text: "…"}}}
	tr := &trier{o: Options{Finding: f, Top: 1, Queries: []kasoku.Query{
		{ID: "long", Tables: []string{"t"}, Total: 9, Fingerprint: "select c from t", Raw: "SELECT c FROM t"},
		{ID: "quoted", Tables: []string{"t"}, Total: 1, Fingerprint: "select b from t where a = ? limit ?", Raw: "SELECT b FROM t WHERE a = 1 LIMIT 2"},
	}}}
	if s := tr.samples([]kasoku.Edit{index}); len(s) != 1 || s[0].Query.ID != "quoted" {
		t.Errorf("%+v", s)
	}
}
