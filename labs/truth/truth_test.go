package truth_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/labs/truth"
)

func lab() *truth.Lab {
	return &truth.Lab{Name: "shop", Defects: []kit.Defect{
		{ID: "IDX-01", Object: "orders", Brings: []string{"HW-11"}}, {ID: "QRY-04"}, {ID: "NGX-01"},
	}}
}

func problem(id, object string, explains ...string) kasoku.Finding {
	return kasoku.Finding{ID: id, Object: kasoku.Object{Kind: "table", Name: object}, Severity: kasoku.Problem, Explains: explains}
}

func TestJudge(t *testing.T) {
	info := problem("OPS-04", "orders")
	info.Severity = kasoku.Info
	d := &kasoku.Diagnosis{Findings: []kasoku.Finding{
		problem("APP-01", "log"), problem("HW-11", "program"),
		problem("IDX-01", "users"), problem("IDX-01", "orders"), problem("QRY-04", "GET /x", "DRV-01"), problem("DRV-01", "app"), info,
	}}
	r := truth.Judge(lab().Case(truth.All), d)
	if !slices.Equal(r.First5, []string{"IDX-01", "QRY-04"}) || len(r.First3) != 0 || !slices.Equal(r.Missed, []string{"NGX-01"}) || len(r.Wrong) != 0 {
		t.Errorf("found %v and %v, missed %v, wrong %v", r.First3, r.First5, r.Missed, r.Wrong)
	}
	if !slices.Equal(r.False, []string{"APP-01 table log", "IDX-01 table users"}) || r.Right != 4 || r.Infos != 1 {
		t.Errorf("false %v, right %d, infos %d", r.False, r.Right, r.Infos)
	}
	r = truth.Judge(lab().Case("IDX-01"), &kasoku.Diagnosis{Findings: d.Findings[2:3]})
	if !slices.Equal(r.Wrong, []string{"IDX-01 table users"}) || !slices.Equal(r.Missed, []string{"IDX-01"}) {
		t.Errorf("wrong %v, missed %v", r.Wrong, r.Missed)
	}
	small := problem("IDX-02", "orders")
	small.Severity = kasoku.Info
	l := lab()
	l.Defects[0].Also = "IDX-02"
	r = truth.Judge(l.Case("IDX-01"), &kasoku.Diagnosis{Findings: []kasoku.Finding{small}})
	if !slices.Equal(r.First5, []string{"IDX-01"}) || !slices.Equal(r.Remarked, []string{"IDX-01"}) {
		t.Errorf("a remark of the same signal: found %v, as remarks %v", r.First5, r.Remarked)
	}
	if r := truth.Judge(lab().Case(truth.None), d); len(r.Seeded) != 0 || len(r.False) != 6 {
		t.Errorf("of none: seeded %v, false %v", r.Seeded, r.False)
	}
}

// TestJudge_Slight: what costs too little is neither missed nor a false alarm with all, is not
// run alone, and is a false alarm where it is not seeded.
func TestJudge_Slight(t *testing.T) {
	l := lab()
	l.Defects[1] = kit.Defect{ID: "LCK-01", Object: "orders", Slight: "it is rare", Brings: []string{"DBC-08"}}
	found := &kasoku.Diagnosis{Findings: []kasoku.Finding{problem("IDX-01", "orders"), problem("LCK-01", "orders"),
		problem("DBC-08", "x"), problem("LCK-01", "users")}}
	r := truth.Judge(l.Case(truth.All), found)
	if !slices.Equal(r.Seeded, []string{"IDX-01", "NGX-01"}) ||
		!slices.Equal(r.False, []string{"LCK-01 table users"}) || r.Right != 3 {
		t.Errorf("with all: seeded %v, false %v, right %d", r.Seeded, r.False, r.Right)
	}
	if r := truth.Judge(l.Case(truth.None), found); len(r.False) != 4 {
		t.Errorf("of none: false %v", r.False)
	}
	if slices.Contains(l.Variants(), "LCK-01") {
		t.Errorf("it is run alone: %v", l.Variants())
	}
}

func TestTable(t *testing.T) {
	six := truth.Row{Lab: "shop", Variant: "all", Seeded: []string{"a", "b", "c", "d", "e", "f"}, First3: []string{"a"}, First5: []string{"a", "b", "c", "d"}, Missed: []string{"e", "f"}, Right: 4, False: []string{"X-01 y"}}
	table := truth.Table{six, {Lab: "shop", Variant: "none"}}
	if got := table.Recall(); got != 0.8 {
		t.Errorf("recall %v, want 4 of the 5 that can be there", got)
	}
	if got := table.Precision(); got != 0.8 {
		t.Errorf("precision %v", got)
	}
	var b strings.Builder
	if err := table.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| shop | all | 6 | 1 | 4 | – | e, f | – | X-01 y |", "Recall in the first five 80.0 % (4 of 5, 0 of them as remarks), precision 80.0 % (4 of 5)."} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("lacks %q:\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := table.WriteByID(&b); err != nil || !strings.Contains(b.String(), "| X-01 | 0 | 0 | 0 | 1 |") {
		t.Errorf("by id: %v\n%s", err, b.String())
	}
}

func TestVariants(t *testing.T) {
	if got := lab().Variants(); !slices.Equal(got, []string{"all", "IDX-01", "QRY-04", "NGX-01", "none"}) {
		t.Errorf("variants %v", got)
	}
}

// TestOf_Apart: what is seeded apart is run alone, and is not seeded with all.
func TestOf_Apart(t *testing.T) {
	l := &kit.Lab{Defects: []kit.Defect{{ID: "IDX-01"}, {ID: "APP-04", Apart: "it hides the other"}}}
	of := truth.Of(l)
	if got := of.Variants(); !slices.Equal(got, []string{"all", "IDX-01", "APP-04", "none"}) {
		t.Errorf("variants %v", got)
	}
	got := of.Case(truth.All).Seeded
	if !slices.Equal(got, []string{"IDX-01"}) || !slices.Equal(l.All(), kit.Set{"IDX-01"}) {
		t.Errorf("all seeds %v, and the lab %v", got, l.All())
	}
	if d, err := l.Parse("app-04"); err != nil || !slices.Equal(d, kit.Set{"APP-04"}) {
		t.Errorf("asked for: %v, %v", d, err)
	}
}
