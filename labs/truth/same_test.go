package truth_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/labs/truth"
)

// TestCompare: what one run has to 2 % and the other not at all differs; what is smaller there does not.
func TestCompare(t *testing.T) {
	of := func(id, object string, share float64) kasoku.Finding {
		f := problem(id, object)
		f.Impact.Share = share
		return f
	}
	remark := of("DBC-01", "x", 0.01)
	remark.Severity = kasoku.Info
	here := &kasoku.Diagnosis{Findings: []kasoku.Finding{of("IDX-04", "chair", 0.026), of("DBC-01", "x", 0.5), of("HW-01", "db", 0.4),
		of("POOL-01", "app", 0.3), of("APP-01", "log", 0.019)}}
	there := &kasoku.Diagnosis{Findings: []kasoku.Finding{of("IDX-04", "chair", 0.001), remark, of("POOL-01", "other", 0.3)}}
	var b strings.Builder
	runs := func(of ...*kasoku.Diagnosis) []*kasoku.Diagnosis { return of }
	pairs := truth.Pairs{truth.Compare(lab().Case(truth.All), runs(here), runs(there)),
		truth.Compare(lab().Case(truth.None), runs(here), runs(here))}
	if err := pairs.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	const want = "1 of 2 variants have the same findings.\n\n| lab | variant | here alone | there alone |\n|---|---|---|---|\n" +
		"| shop | all | POOL-01 table app 30.0 % | POOL-01 table other 30.0 % |\n"
	if b.String() != want {
		t.Errorf("got %q", b.String())
	}
}

// TestCompare_Most: of three runs what two have counts, on either side.
func TestCompare_Most(t *testing.T) {
	of := func(ids ...string) *kasoku.Diagnosis {
		var d kasoku.Diagnosis
		for _, id := range ids {
			f := problem(id, "x")
			f.Impact.Share = 0.04
			d.Findings = append(d.Findings, f)
		}
		return &d
	}
	here := []*kasoku.Diagnosis{of("IDX-04", "QRY-01", "POOL-06"), of("QRY-01", "POOL-06"), of("POOL-06", "DRV-01")}
	there := []*kasoku.Diagnosis{of("QRY-01"), of("QRY-01", "APP-01", "POOL-06"), of("APP-01")}
	got := truth.Compare(lab().Case(truth.All), here, there)
	if want := []string{"POOL-06 table x 4.0 %"}; !slices.Equal(got.Here, want) {
		t.Errorf("here %q, want %q: one of three has IDX-04 and DRV-01, and both sides have QRY-01", got.Here, want)
	}
	if want := []string{"APP-01 table x 4.0 %"}; !slices.Equal(got.There, want) {
		t.Errorf("there %q, want %q", got.There, want)
	}
}
