package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/test/golden"
)

func ids(d *kasoku.Diagnosis) []string {
	var out []string
	for _, f := range d.Findings {
		out = append(out, f.ID)
	}
	return out
}

// TestStory: the design's own run gives its own verdict.
func TestStory(t *testing.T) {
	d := diagnose.Diagnose(story().alone(), All())
	const want = "At 1,000 req/s only 30.5 % of requests succeed: the app opens a database connection per request and MariaDB refuses all beyond 151."
	if d.Verdict != want {
		t.Errorf("verdict %q, want %q", d.Verdict, want)
	}
	order := []string{"POOL-01", "POOL-02", "DRV-04", "DRV-01", "DRV-05", "MES-07", "POOL-04"}
	got := ids(d)
	for _, id := range order {
		if !slices.Contains(got, id) {
			t.Errorf("no %s among %v", id, got)
		}
	}
	if len(got) < 2 || got[0] != "POOL-01" || got[1] != "POOL-02" {
		t.Errorf("order %v, want POOL-01 and POOL-02 first", got)
	}
	golden.CheckString(t, "testdata/story.golden", text(d))
}

// TestHealthy: a run in which nothing broke has no finding and says so.
func TestHealthy(t *testing.T) {
	b := ladder()
	b.RowChecks = []kasoku.RowCheck{{Table: "orders", After: 11100, Successes: 11100}}
	d := diagnose.Diagnose(b.accessLog().alone(), All())
	if len(d.Findings) > 0 {
		t.Errorf("findings %v", ids(d))
	}
	golden.CheckString(t, "testdata/healthy.golden", text(d))
}

// TestNamesOfEvidenceOnly: with all that a recording names renamed, no text
// speaks of the old names.
func TestNamesOfEvidenceOnly(t *testing.T) {
	d := diagnose.Diagnose(story().alone(), All())
	for _, name := range []string{"users", "userapi", "/users", "testdb", "8080", "3306"} {
		if strings.Contains(text(d), name) {
			t.Errorf("the diagnosis names %q", name)
		}
	}
}

// TestTextRules: what the house's words demand of every finding.
func TestTextRules(t *testing.T) {
	for _, f := range diagnose.Diagnose(story().alone(), All()).Findings {
		if n := len([]rune(f.Title)); n > 70 {
			t.Errorf("%s: title has %d characters", f.ID, n)
		}
		if strings.HasSuffix(f.Title, ".") || strings.Contains(f.Title, f.ID) {
			t.Errorf("%s: title %q", f.ID, f.Title)
		}
		if f.Cause == "" || f.Expect == "" || f.Verify == "" || len(f.Fixes) == 0 || f.Object.Kind == "" || f.Impact.Of == "" {
			t.Errorf("%s: a part is missing: %+v", f.ID, f)
		}
		for _, x := range f.Fixes {
			if x.Risk == "" || x.Text == "" || x.Code != "" && x.Lang == "" && x.Where != "the DSN" {
				t.Errorf("%s: fix %+v", f.ID, x)
			}
		}
		for _, e := range f.Evidence {
			if e.Text == "" || e.Value == "" && e.Source != "slow.log" || e.Source == "" {
				t.Errorf("%s: evidence %+v", f.ID, e)
			}
		}
		for _, bad := range []string{"!", "please", "oops", "successfully", "simply", "insight"} {
			if strings.Contains(strings.ToLower(f.Title+f.Cause+f.Expect+f.Verify), bad) {
				t.Errorf("%s: says %q", f.ID, bad)
			}
		}
	}
}
