package host

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/split/splittest"
)

// TestSplitWords: HW-02 and HW-03 say what the command split predicts, where the run holds what that takes, and
// nothing of it else.
func TestSplitWords(t *testing.T) {
	f := func(rule diagnose.Rule, o splittest.Shop, fix, want string) {
		t.Helper()
		found, quiet := rule.Check(diagnose.NewCase(o.Recording(), nil))
		if len(found) != 1 {
			t.Fatalf("%s is silent: %+v", rule.ID(), quiet)
		}
		i := slices.IndexFunc(found[0].Fixes, func(x kasoku.Fix) bool { return strings.Contains(x.Text, fix) })
		if i < 0 || !strings.Contains(found[0].Fixes[i].Note, want) {
			t.Errorf("%s: %+v, want %q", rule.ID(), found[0].Fixes, want)
		}
	}
	o := splittest.Shop{Cores: 1, Web: 0.001, App: 0.004, DB: 0.005, PerSec: 100, Took: 200 * time.Millisecond,
		Questions: 3}
	f(SharedCPU{}, o, "Move the database", "`kasoku split` predicts ×1.90 (1.63 to 1.90) the throughput; the "+
		"limit is then the CPU of web: shop, nginx.")
	o.Open = true
	f(SharedCPU{}, o, "Move the database", "×1.99 (1.98 to 2.00) the rate that the hosts can take")
	o.Open, o.App, o.DB = false, 0.008, 0.001
	f(AppCPU{}, o, "over a second host", "`kasoku split` predicts ×1.")

	rec := o.Recording()
	rec.Endpoints = nil // no request was counted
	found, _ := AppCPU{}.Check(diagnose.NewCase(rec, nil))
	for _, x := range found {
		for _, fix := range x.Fixes {
			if strings.Contains(fix.Note, "split") {
				t.Errorf("a figure without requests: %+v", fix)
			}
		}
	}
}
