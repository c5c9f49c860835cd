package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli/clitest"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/store"
)

// keepScores writes one run for each score into a directory; they are a group when
// it has a name.
func keepScores(t *testing.T, dir, label, group, revision string, scores ...float64) {
	t.Helper()
	for i, s := range scores {
		rec := &kasoku.Recording{
			Run: kasoku.Run{
				ID: fmt.Sprintf("%s-%d", label, i+1), Project: "shop", Label: label, Load: "bench", Revision: revision, Version: "0.1.0",
				Started: time.Date(2026, 11, 20, 14, i, len(label), 0, time.UTC), Length: time.Minute, State: kasoku.Finished,
				Score: &kasoku.Score{Value: s, Outcome: kasoku.Passed},
			},
			Settings: []kasoku.Setting{{Scope: "mysql", Name: "version", Value: "10.11"}},
			Summary:  &kasoku.Summary{Source: "access log", Requests: 6000, Succeeded: 6000, PerSec: 100, CPU: time.Minute, LoadTime: time.Minute},
		}
		if group != "" {
			rec.Run.Group, rec.Run.Repeat = group, i+1
		}
		if err := store.Write(filepath.Join(dir, rec.Run.ID+store.Extension), rec); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCompareGroups(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("compares a dozen of groups; -short has one in TestCompareGroupsJSON")
	}
	dir := t.TempDir()
	keepScores(t, dir, "base", "g1", "main@1", 1000, 1010, 990, 1005, 995)
	keepScores(t, dir, "slow", "g2", "main@2", 900, 910, 890, 905, 895)
	keepScores(t, dir, "alone", "", "main@3", 1004)
	keepScores(t, dir, "other", "", "main@4", 700)
	for _, x := range []struct {
		args  string
		code  int
		wants []string
	}{
		{"base slow", cli.ExitGood, []string{"Worse: score 1,000 → 900.", "Medians of 5 runs against 5; score p 0.008.", "base 3"}},
		{"g1 g2", cli.ExitGood, []string{"Worse: score 1,000 → 900."}},
		{"base slow --fail-on worse", cli.ExitBad, []string{"score got worse: 1,000 → 900; 5 runs against 5: medians, Mann-Whitney test"}},
		{"slow base --fail-on worse", cli.ExitGood, []string{"Better: score 900 → 1,000."}},
		{"base alone", cli.ExitGood, []string{"5 runs against one: score 1,000 → 1,004."}},
		{"base-1,base-2,base-3,base-4 slow-1,slow-2,slow-3,slow-4", cli.ExitGood, []string{"4 runs against 4", "p 0.029"}},
		{"base-2 alone", cli.ExitGood, []string{"One run a side: no test of significance. Unchanged runs (5 of group base) differ by ±", "this is within it."}},
		{"alone other --fail-on worse", cli.ExitBad, []string{"this is beyond it.", "one run a side"}},
		{"base slow --price before=0.096,after=0.048 --currency USD", cli.ExitGood, []string{"score per USD an hour", "18,750", "2xx per CPU second"}},
		{"base slow -o md", cli.ExitGood, []string{"# Worse: score", "| before | base 1 | 1,000 |"}},
		{"base slow -o tsv", cli.ExitGood, []string{"before\tbase 1\t1000"}},
		{"base base-2,base-3", cli.ExitUsage, []string{`run "base-2.kasoku" is named twice`, `"base" is a group and means all its 5 runs; name one run by its file: `}},
		{"alone,alone other", cli.ExitUsage, []string{`run "alone-1.kasoku" is named twice`}},
		{"g1,base-4 slow", cli.ExitUsage, []string{`run "base-4.kasoku" is named twice`, `"g1" is a group and means all its 5 runs`}},
		{"base-1.kasoku,base-4 slow-1,slow-2", cli.ExitGood, []string{"2 runs against 2"}},
		{"base slow --fail-on better", cli.ExitUsage, []string{`--fail-on "better": want worse`}},
		{"base slow --price 0", cli.ExitUsage, []string{`--price "0": want more than 0`}},
		{"base slow --price now=1", cli.ExitUsage, []string{`want PRICE or before=PRICE,after=PRICE`}},
		{"base slow --price before=1,before=2", cli.ExitUsage, []string{"before is given twice"}},
		{"base slow --currency JPY", cli.ExitUsage, []string{`--currency "JPY" without --price`}},
		{"base slou", cli.ExitUsage, []string{`no run "slou"`, `did you mean "slow"`}},
	} {
		t.Run(x.args, func(t *testing.T) {
			e, out, errs := clitest.New()
			e.Color, e.Args = "never", append([]string{"compare", "--dir", dir}, strings.Fields(x.args)...)
			if code := run(e); code != x.code {
				t.Errorf("exit %d, want %d", code, x.code)
			}
			said := strings.Join(strings.Fields(out.String()+errs.String()), " ")
			for _, w := range x.wants {
				if !strings.Contains(said, strings.Join(strings.Fields(w), " ")) {
					t.Errorf("does not say %q:\n%s%s", w, out, errs)
				}
			}
		})
	}
}

// TestCompareTwiceHint: a group has the id of its first run; the hint names that file.
func TestCompareTwiceHint(t *testing.T) {
	dir := t.TempDir()
	keepScores(t, dir, "base", "base-1", "main@1", 1000, 1010, 990)
	keepScores(t, dir, "slow", "slow-1", "main@2", 900, 910, 890)
	e, _, errs := clitest.New()
	e.Color, e.Args = "never", []string{"compare", "--dir", dir, "base-1,base-3", "slow-1"}
	want := `"base-1" is a group and means all its 3 runs; name one run by its file: ` + filepath.Join(dir, "base-1.kasoku")
	if code := run(e); code != cli.ExitUsage || !strings.Contains(errs.String(), want) {
		t.Errorf("exit %d, want %q:\n%s", code, want, errs)
	}
	e, out, errs := clitest.New()
	e.Color, e.Args = "never", []string{"compare", "--dir", dir, filepath.Join(dir, "base-1.kasoku") + ",base-3", "slow-2,slow-3"}
	if code := run(e); code != cli.ExitGood || !strings.Contains(out.String(), "2 runs against 2") {
		t.Errorf("exit %d:\n%s%s", code, out, errs)
	}
}

func TestCompareGroupsJSON(t *testing.T) {
	dir := t.TempDir()
	keepScores(t, dir, "base", "g1", "main@1", 1000, 1010, 990, 1005, 995)
	keepScores(t, dir, "slow", "g2", "main@2", 900, 910, 890, 905, 895)
	e, out, _ := clitest.New()
	e.Args = []string{"compare", "--dir", dir, "base", "slow", "-o", "json"}
	if code := run(e); code != cli.ExitGood {
		t.Fatalf("exit %d", code)
	}
	var c encode.Comparison
	if err := json.Unmarshal(out.Bytes(), &c); err != nil {
		t.Fatal(err)
	}
	score := c.Groups[0].Rows[0]
	if c.Outcome != "worse" || c.Primary != "score" || c.Before.Runs != 5 || len(c.After.IDs) != 5 || score.Test == nil || score.Test.Effect != -1 || len(score.BeforeRuns) != 5 {
		t.Errorf("%+v\n%+v", c, score)
	}
	if len(c.Changes) != 1 || c.Changes[0].Kind != "code" {
		t.Errorf("changes %+v", c.Changes)
	}
}

// TestDiagnoseGroup: rules see the runs beside the one that is named.
func TestDiagnoseGroup(t *testing.T) {
	turn.Wait(t)
	dir := t.TempDir()
	keepScores(t, dir, "base", "g1", "main@1", 1000, 1010, 990, 1005, 995)
	keepScores(t, dir, "slow", "g2", "main@2", 1001, 1011, 991, 1006, 996)
	e, out, errs := clitest.New()
	e.Color, e.Args = "never", []string{"diagnose", "--dir", dir, "slow", "--baseline", "base"}
	if code := run(e); code != cli.ExitGood || !strings.Contains(out.String(), "MES-02") || !strings.Contains(out.String(), "Repeated runs show no difference in score") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
}
