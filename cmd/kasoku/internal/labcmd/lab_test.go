package labcmd

import (
	"bytes"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/bench"
	"github.com/kasoku/kasoku/load/scenario"
	"github.com/kasoku/kasoku/report/terminal"
)

// TestDefectsAreDocumented: both pages have each defect of isuumo, and no other.
func TestDefectsAreDocumented(t *testing.T) {
	var want []string
	for _, d := range isuumo.Known() {
		want = append(want, d.ID)
	}
	for _, page := range []string{"../../../../docs/lab-isuumo.md", "../../../../docs/ja/lab-isuumo.md"} {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(string(b)) {
			cells := strings.Split(line, "|")
			if len(cells) < 5 || !strings.Contains(cells[1], "-") || strings.Trim(cells[1], " -*") == "" || strings.Contains(cells[1], "`") {
				continue
			}
			got = append(got, strings.TrimSpace(cells[1]))
		}
		if got = slices.DeleteFunc(got, func(s string) bool { return strings.ToUpper(s) != s }); !slices.Equal(got, want) {
			t.Errorf("%s has the defects %v, want %v", page, got, want)
		}
	}
}

// labSample is a run with these figures: ten seconds of load, in which the processes
// took cpu seconds in all.
func labSample(score int64, pass bool, polygon, cpu float64) *labRunResult {
	series := func(instance string, per float64) kasoku.Series {
		return kasoku.Series{Key: kasoku.Key{Source: "process", Name: "cpu.user", Instance: instance}, Kind: kasoku.Counter,
			Points: []kasoku.Point{{At: 0, Value: 1}, {At: 10 * time.Second, Value: 1 + per}}}
	}
	step := func(phase scenario.Phase, name string, mean float64) scenario.StepLatency {
		return scenario.StepLatency{Phase: phase, Step: name, Mean: mean, P99: 2 * mean, Max: 3 * mean}
	}
	outcome := kasoku.Failed
	if pass {
		outcome = kasoku.Passed
	}
	return &labRunResult{
		path: "runs/x.kasoku",
		rec: &kasoku.Recording{
			Run:    kasoku.Run{State: kasoku.Finished, Length: 10 * time.Second, Score: &kasoku.Score{Value: float64(score), Outcome: outcome}},
			Steps:  []kasoku.Step{{Number: 1, Interval: kasoku.Interval{To: 10 * time.Second}}},
			Series: []kasoku.Series{series("12 isuumo", cpu/4), series("13 mariadbd", cpu/2), series("14 nginx", cpu/4), series("15 kasoku", 5)},
		},
		bench: &benchResult{
			&scenario.Result{Pass: pass, Score: score, Level: int(score / 300), Steps: []scenario.StepLatency{
				step(scenario.Prepare, stepInitialize, 500), step(scenario.Load, stepPolygon, polygon), step(scenario.Load, "POST /api/chair", 20),
			}, Messages: []scenario.Message{{Text: "timeout", Count: 2}}},
			bench.Figures{HumanRequests: 2000, TopLevel: []scenario.StepLatency{
				step(scenario.Load, stepPolygon, polygon), step(scenario.Load, "GET /api/chair/:id (bot)", 1), step(scenario.Load, "GET /api/chair/:id (refused)", 1),
			}},
		},
	}
}

func TestLabSummary(t *testing.T) {
	r := &labRuns{e: &cli.Env{Name: "kasoku"}, f: &labRunFlags{duration: time.Minute, times: 3}, made: 6, sides: []*labSide{
		{name: "initial", runs: []*labRunResult{labSample(300, true, 100, 8), labSample(330, true, 400, 12), labSample(290, false, 200, 10)}},
		{name: "tuned", runs: []*labRunResult{labSample(3000, true, 2, 0.4), {rec: &kasoku.Recording{}, path: "y"}, labSample(3600, true, 4, 0.4)}},
	}}
	all := r.summaries()
	near := func(name string, got *float64, want float64) {
		t.Helper()
		if got == nil || math.Abs(*got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	first, second := &all[0], &all[1]
	near("score", first.Score, 300)
	near("least", first.Least, 290)
	near("most", first.Most, 330)
	near("polygon", first.Polygon, 0.2)
	near("initialize", first.Initialize, 1.5)
	near("upload", first.Upload, 0.06)
	near("CPU", first.CPU, 5)
	near("messages", first.Messages, 2)
	near("score of two of three", second.Score, 3300)
	near("ratio", second.Ratio.Score, 11)
	near("ratio of polygon", second.Ratio.Polygon, 0.015)
	near("ratio of CPU", second.Ratio.CPU, 0.04)
	if first.Passed != 2 || first.Runs != 3 || second.Passed != 2 || second.Runs != 3 || first.Ratio != nil {
		t.Errorf("passed %d of %d and %d of %d", first.Passed, first.Runs, second.Passed, second.Runs)
	}
	if len(first.TopLevel) != 1 || first.TopLevel[0].Step != stepPolygon {
		t.Errorf("at the top level %+v, want what people asked for", first.TopLevel)
	}
	var b bytes.Buffer
	if err := terminal.Write(&b, r.document(all), terminal.Options{Width: 100}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Initial scores 300, tuned scores 3,300, ×11.0.", "2 of 3", "×11.0", "p99 at the top level", "again  kasoku list"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("lacks %q:\n%s", want, b.String())
		}
	}
	if err := r.judge(); err == nil || !strings.Contains(err.Error(), "failed in 1 of 6 runs") {
		t.Errorf("judged %v", err)
	}
}
