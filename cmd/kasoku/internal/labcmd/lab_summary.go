package labcmd

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/median"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/labs/isuumo/bench"
	"github.com/kasoku/kasoku/load/scenario"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/encode"
)

// The requests of the benchmark that the summary names.
const (
	stepInitialize = "POST /initialize"
	stepPolygon    = "POST /api/estate/nazotte"
)

// LabRun is a side in figures: medians over its runs that have them. The JSON of
// lab run is a list of them; docs/json.md has the fields.
type LabRun struct {
	Variant    string    `json:"variant"`
	Runs       int       `json:"runs"`
	Passed     int       `json:"passed"`
	Score      *float64  `json:"score"`
	Least      *float64  `json:"score_least"`
	Most       *float64  `json:"score_most"`
	Level      *float64  `json:"level"`
	Polygon    *float64  `json:"polygon_mean_s"`
	Initialize *float64  `json:"initialize_s"`
	Upload     *float64  `json:"upload_max_s"`    // the slowest of a run
	CPU        *float64  `json:"cpu_s_per_1000"`  // of app, database and nginx, for 1,000 requests of people that succeeded
	Messages   *float64  `json:"messages"`        // of errors
	Generator  *float64  `json:"generator_cores"` // that the benchmark took
	Ratio      *labRatio `json:"ratio,omitempty"` // against the first side
	TopLevel   []labP99  `json:"top_level"`       // each request at the level that was reached last
	Files      []string  `json:"files"`
}

// labRatio are the figures of a side over those of the first one.
type labRatio struct {
	Score   *float64 `json:"score"`
	Polygon *float64 `json:"polygon_mean"`
	CPU     *float64 `json:"cpu_per_1000"`
}

type labP99 struct {
	Step string   `json:"step"`
	P99  *float64 `json:"p99_s"`
}

// summaries are the sides that have runs, in figures.
func (r *labRuns) summaries() []LabRun {
	var out []LabRun
	for _, side := range r.sides {
		if len(side.runs) > 0 {
			out = append(out, side.summary())
		}
	}
	for i := range out[1:] {
		first, s := &out[0], &out[i+1]
		s.Ratio = &labRatio{ratioOf(s.Score, first.Score), ratioOf(s.Polygon, first.Polygon), ratioOf(s.CPU, first.CPU)}
	}
	return out
}

func (side *labSide) summary() LabRun {
	s := LabRun{Variant: side.name, Runs: len(side.runs), TopLevel: []labP99{}, Files: []string{}}
	for _, res := range side.runs {
		s.Files = append(s.Files, res.path)
		if res.bench != nil && res.bench.Pass {
			s.Passed++
		}
	}
	score := side.values(func(b *benchResult, _ *kasoku.Recording) (float64, bool) { return float64(b.Score), true })
	s.Score = medianOf(score)
	if len(score) > 0 {
		least, most := slices.Min(score), slices.Max(score)
		s.Least, s.Most = &least, &most
	}
	s.Level = medianOf(side.values(func(b *benchResult, _ *kasoku.Recording) (float64, bool) { return float64(b.Level), true }))
	s.Polygon = medianOf(side.step(scenario.Load, stepPolygon, func(x *scenario.StepLatency) float64 { return x.Mean }))
	s.Initialize = medianOf(side.step(scenario.Prepare, stepInitialize, func(x *scenario.StepLatency) float64 { return x.Max }))
	s.Upload = medianOf(side.values(slowestUpload))
	s.CPU = medianOf(side.values(cpuPer1000))
	s.Messages = medianOf(side.values(countMessages))
	s.Generator = medianOf(side.values(func(b *benchResult, _ *kasoku.Recording) (float64, bool) {
		return b.Generator.Cores, b.Generator.Cores > 0
	}))
	s.TopLevel = side.topLevel()
	return s
}

// values returns a figure of each run that has it.
func (side *labSide) values(of func(*benchResult, *kasoku.Recording) (float64, bool)) []float64 {
	var out []float64
	for _, res := range side.runs {
		if res.bench == nil || res.rec.Run.State != kasoku.Finished {
			continue
		}
		if v, ok := of(res.bench, res.rec); ok {
			out = append(out, v)
		}
	}
	return out
}

// step returns a latency of one kind of request, in seconds, of each run.
func (side *labSide) step(phase scenario.Phase, name string, of func(*scenario.StepLatency) float64) []float64 {
	return side.values(func(b *benchResult, _ *kasoku.Recording) (float64, bool) {
		i := slices.IndexFunc(b.Steps, func(x scenario.StepLatency) bool { return x.Phase == phase && x.Step == name })
		if i < 0 {
			return 0, false
		}
		return of(&b.Steps[i]) / 1e3, true
	})
}

// slowestUpload is the longest of all uploads.
func slowestUpload(b *benchResult, _ *kasoku.Recording) (float64, bool) {
	most := 0.0
	for _, x := range b.Steps {
		if x.Step == "POST /api/chair" || x.Step == "POST /api/estate" {
			most = max(most, x.Max/1e3)
		}
	}
	return most, most > 0
}

// countMessages is how many errors were reported.
func countMessages(b *benchResult, _ *kasoku.Recording) (float64, bool) {
	n := uint64(0)
	for _, m := range b.Messages {
		n += m.Count
	}
	return float64(n), true
}

// cpuPer1000 is the CPU time of service, database and nginx during the load, in
// seconds for 1,000 requests of people that succeeded.
func cpuPer1000(b *benchResult, rec *kasoku.Recording) (float64, bool) {
	if b.HumanRequests == 0 || len(rec.Steps) != 1 {
		return 0, false
	}
	var used float64
	load := rec.Steps[0].Interval
	for _, p := range compare.Processes(rec) {
		if !slices.Contains([]string{"isuumo", "mariadbd", "mysqld", "nginx"}, p.Name) || rec.Service.Known() && !p.Member {
			continue
		}
		for _, s := range []*kasoku.Series{p.User, p.System} {
			if s == nil {
				continue
			}
			if rate, ok := s.PerSecond(load); ok {
				used += rate * load.Len().Seconds()
			}
		}
	}
	return used / float64(b.HumanRequests) * 1000, used > 0
}

// topLevel is the p99 of each kind of request at the level that was reached last.
func (side *labSide) topLevel() []labP99 {
	values := map[string][]float64{}
	for _, res := range side.runs {
		if res.bench == nil || res.rec.Run.State != kasoku.Finished {
			continue
		}
		for _, x := range res.bench.TopLevel {
			if !bench.OfPeople(x.Step) {
				continue
			}
			values[x.Step] = append(values[x.Step], x.P99/1e3)
		}
	}
	out := []labP99{}
	for step, v := range values {
		out = append(out, labP99{step, medianOf(v)})
	}
	slices.SortFunc(out, func(a, b labP99) int { return strings.Compare(a.Step, b.Step) })
	return out
}

// medianOf returns the middle of the values, nil of none.
func medianOf(v []float64) *float64 {
	if len(v) == 0 {
		return nil
	}
	m := median.Of(v)
	return &m
}

func ratioOf(a, b *float64) *float64 {
	if a == nil || b == nil || *b == 0 {
		return nil
	}
	r := *a / *b
	return &r
}

// printSummary prints what came of the runs.
func (r *labRuns) printSummary() error {
	all := r.summaries()
	return r.f.out.Print(r.e, cli.Printer{
		Doc:  r.document(all),
		JSON: func(w io.Writer) error { return encode.JSON(w, all) },
	})
}

// document words the summary.
func (r *labRuns) document(all []LabRun) *report.Document {
	d := &report.Document{
		Kind: report.KindLab, Title: "isuumo", Project: "isuumo",
		Head: []string{"isuumo", r.load(), unit.Counted(r.made, "run", "runs")}, Verdict: labVerdict(all),
	}
	d.Sections = []report.Section{{ID: "variants", Title: "Variants", Sub: "Medians over the runs.", Blocks: []report.Block{variantTable(all)}}}
	if t := topLevelTable(all); len(t.Rows) > 0 {
		d.Sections = append(d.Sections, report.Section{
			ID: "top-level", Title: "p99 at the top level", Sub: "From the moment at which the last level " +
				"was reached.", Blocks: []report.Block{t},
		})
	}
	dir := ""
	if r.f.out.Dir != cli.RunsDir {
		dir = " " + r.f.out.Dir
	}
	d.Commands = []string{r.e.Name + " list" + dir}
	return d
}

// labVerdict describes what the last side came to against the first one.
func labVerdict(all []LabRun) string {
	last := &all[len(all)-1]
	score := func(s *LabRun) string {
		if s.Score == nil {
			return s.Variant + " did not come to a score"
		}
		return s.Variant + " scores " + unit.Plain(*s.Score)
	}
	if len(all) == 1 {
		return report.Sentence(score(last)) + "; " + passedOf(last) + " passed."
	}
	s := report.Sentence(score(&all[0])) + ", " + score(last)
	if last.Ratio.Score != nil {
		s += ", " + unit.Ratio(*last.Ratio.Score)
	}
	return s + "."
}

func passedOf(s *LabRun) string { return unit.Count(s.Passed) + " of " + unit.Count(s.Runs) }

// variantTable has a row for each side.
func variantTable(all []LabRun) *report.Table {
	t := &report.Table{ID: "variants", Columns: []report.Column{
		{Key: "variant", Head: "variant"},
		{Key: "passed", Head: "passed", Align: report.Right},
		{Key: "score", Head: "score", Align: report.Right},
		{Key: "score_ratio", Head: "ratio", Align: report.Right, Drop: 1},
		{Key: "level", Head: "level", Align: report.Right},
		{Key: "messages", Head: "errors", Align: report.Right, Drop: 3},
		{Key: "polygon_mean_ms", Head: "polygon", Unit: "mean, ms", Align: report.Decimal},
		{Key: "initialize_s", Head: "initialize", Unit: "s", Align: report.Decimal, Drop: 4},
		{Key: "upload_max_ms", Head: "upload", Unit: "max, ms", Align: report.Decimal, Drop: 2},
		{Key: "cpu_s_per_1000", Head: "CPU", Unit: "s/1,000", Align: report.Decimal},
		{Key: "generator_cores", Head: "generator", Unit: "cores", Align: report.Decimal, Drop: 5},
	}, Note: "CPU is what service, database and nginx took for 1,000 requests of people that succeeded."}
	for i := range all {
		s := &all[i]
		ratio := report.Cell{Text: unit.Missing}
		if s.Ratio != nil && s.Ratio.Score != nil {
			ratio = report.Cell{Text: unit.Ratio(*s.Ratio.Score), Raw: rawNumber(*s.Ratio.Score)}
		}
		passed := report.Cell{Text: passedOf(s)}
		if s.Passed < s.Runs {
			passed.Tone = report.Bad
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{
			{Text: s.Variant}, passed, figureCell(s.Score, 1, unit.Plain), ratio, figureCell(s.Level, 1, unit.Plain), figureCell(s.Messages, 1, unit.Plain),
			figureCell(s.Polygon, 1e3, unit.Sig3), figureCell(s.Initialize, 1, unit.Sig3), figureCell(s.Upload, 1e3, unit.Sig3),
			figureCell(s.CPU, 1, unit.Sig3), figureCell(s.Generator, 1, unit.Sig3),
		}})
	}
	return t
}

// topLevelTable has a row for each kind of request, a column for each side.
func topLevelTable(all []LabRun) *report.Table {
	t := &report.Table{ID: "top-level", Narrow: true, Columns: []report.Column{{Key: "step", Head: "request", Cut: true}}}
	var steps []string
	for i := range all {
		t.Columns = append(t.Columns, report.Column{Key: all[i].Variant + "_ms", Head: all[i].Variant, Unit: "ms", Align: report.Decimal})
		for _, x := range all[i].TopLevel {
			if !slices.Contains(steps, x.Step) {
				steps = append(steps, x.Step)
			}
		}
	}
	slices.Sort(steps)
	for _, step := range steps {
		cells := []report.Cell{{Text: step}}
		for i := range all {
			var p99 *float64
			if k := slices.IndexFunc(all[i].TopLevel, func(x labP99) bool { return x.Step == step }); k >= 0 {
				p99 = all[i].TopLevel[k].P99
			}
			cells = append(cells, figureCell(p99, 1e3, unit.Sig3))
		}
		t.Rows = append(t.Rows, report.Row{Cells: cells})
	}
	return t
}

// rawNumber prints a number for machines.
func rawNumber(v float64) string { return strconv.FormatFloat(v, 'g', 9, 64) }

// figureCell prints a figure in the unit of its column; a dash for what was not
// measured.
func figureCell(v *float64, scale float64, print func(float64) string) report.Cell {
	if v == nil {
		return report.Cell{Text: unit.Missing}
	}
	return report.Cell{Text: print(*v * scale), Raw: rawNumber(*v * scale)}
}
