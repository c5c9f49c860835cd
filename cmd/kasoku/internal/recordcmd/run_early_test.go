package recordcmd

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
)

// TestSayEarly: the first of several runs says at once what to do first, a later one what none
// before it put first; the last is summed up with the others.
func TestSayEarly(t *testing.T) {
	problem := func(id, table string) kasoku.Finding {
		return kasoku.Finding{ID: id, Title: id + " of " + table, Object: kasoku.Object{Kind: "table", Name: table}, Severity: kasoku.Problem}
	}
	remark := kasoku.Finding{ID: "NGX-01", Severity: kasoku.Info}
	runs := [][]kasoku.Finding{
		{remark, problem("IDX-01", "orders"), problem("QRY-05", "orders")}, // all
		{problem("IDX-01", "orders")},                                      // nothing new
		{problem("IDX-01", "users")},                                       // another table
		{remark},
		{problem("QRY-07", "items")}, // the last
	}
	for _, ab := range []bool{false, true} {
		var out bytes.Buffer
		s := &series{e: &cli.Env{Stdout: &out}, f: &runFlags{times: len(runs), ab: ab}}
		for i, findings := range runs {
			s.made = i + 1
			s.sayEarly(&kasoku.Recording{Diagnosis: &kasoku.Diagnosis{Verdict: "verdict " + string(rune('1'+i)), Findings: findings}})
		}
		want := "verdict  verdict 1\nfinding  IDX-01  IDX-01 of orders\nverdict  verdict 3\nfinding  IDX-01  IDX-01 of users\n"
		if ab {
			want = ""
		}
		if got := out.String(); strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("ab %v:\n%swant\n%s", ab, got, want)
		}
	}
}
