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

// TestSayWarnings: what any run of a group left or spoiled is printed at its end, whatever the run
// before it warned of; a warning that was printed is not printed again.
func TestSayWarnings(t *testing.T) {
	left := kasoku.Warning{Code: "not-restored", Text: "slow_query_log is ON", Hint: "`kasoku restore`"}
	late := kasoku.Warning{Code: "late-generator", Text: "late by 12 ms", Hint: "less load"}
	later := kasoku.Warning{Code: "late-generator", Text: "late by 34 ms", Hint: "less load"}
	blind := kasoku.Warning{Code: "log-lacks", Text: "no times", Hint: "log_format\nx"}
	partial := kasoku.Warning{Code: "mysql-partial", Text: "some are missing"}
	runs := []*kasoku.Recording{{Warnings: []kasoku.Warning{late, partial}}, {Warnings: []kasoku.Warning{later, left}},
		{Warnings: []kasoku.Warning{late, blind}}}
	said := func(early *kasoku.Recording, least kasoku.Weight) string {
		var out bytes.Buffer
		s := &series{e: &cli.Env{Name: "kasoku", Stdout: &out}}
		if early != nil {
			s.sayWarnings([]*kasoku.Recording{early}, least)
			out.Reset()
		}
		for _, rec := range runs {
			cli.CountBefore(s.e, rec.Warnings) // of the runs before
		}
		s.sayWarnings(runs, least)
		return out.String()
	}
	const leftSaid, lateSaid = "warning  slow_query_log is ON\nhint     `kasoku restore`\n", "warning  late by 12 ms\n"
	const laterSaid, less = "warning  late by 34 ms\n", "hint     less load\n"
	const blindSaid = "warning  no times\nhint     `kasoku doctor` has what to write where\n"
	for want, got := range map[string]string{
		leftSaid + lateSaid + less + laterSaid + blindSaid: said(nil, kasoku.Blind),
		leftSaid + lateSaid + less + laterSaid:             said(nil, kasoku.Spoiled),
		leftSaid + laterSaid + less + blindSaid:            said(runs[0], kasoku.Blind),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
