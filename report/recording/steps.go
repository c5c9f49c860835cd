package recording

import (
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/loadreport"
	"github.com/kasoku/kasoku/report/recorded"
	"github.com/kasoku/kasoku/report/timeline"
)

// StepsSection shows what came of each step of the load.
func StepsSection(r recorded.View) report.Section {
	s := report.Section{ID: report.SectionSteps, Title: "Load steps", Short: "Steps", Count: len(r.Steps)}
	if len(r.Steps) == 0 || len(r.Seconds) == 0 {
		return s
	}
	s.Sub = "Latency counts from the moment a request was due, errors included." + unjudged(r)
	s.Blocks = []report.Block{stepTables{r}.stepTable()}
	if t := (stepTables{r}).targetsTable(); t != nil {
		s.Blocks = append(s.Blocks, t)
	}
	if t := (stepTables{r}).answerTable(); t != nil {
		s.Blocks = append(s.Blocks, t)
	}
	return s
}

// unjudged says which seconds of the steps are not judged, of those with a trace.
func unjudged(r recorded.View) report.Prose {
	var parts []string
	for _, s := range r.Steps {
		if n := len(r.Unjudged(s)); n > 0 {
			parts = append(parts, unit.Counted(n, "second", "seconds")+" of step "+unit.Count(s.Number))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return report.Prose(" " + strings.Join(parts, " and ") + " had a trace: list, compare and proofs leave them out.")
}

// stepTables shows what came of each step of the load.
type stepTables struct{ recorded.View }

// stepTable has a row for each step.
func (r stepTables) stepTable() *report.Table {
	tallies := make([]*kasoku.Tally, len(r.Steps))
	var ds []time.Duration
	for i, s := range r.Steps {
		tallies[i] = r.Tally(s.Number)
		ds = append(ds, tallies[i].Latency.Mean(), tallies[i].Latency.Quantile(0.99))
	}
	u := cell.CommonUnit(ds...)
	t := &report.Table{ID: "steps", Columns: r.stepColumns(unit.Name(u))}
	for i, s := range r.Steps {
		t.Rows = append(t.Rows, report.Row{Cells: r.stepCells(s, tallies[i], u)})
	}
	t.Note = r.stepNote(tallies)
	return t
}

func (r stepTables) stepColumns(u string) []report.Column {
	cores := "cores"
	if h := r.Host(); h.Cores > 0 {
		cores = "of " + unit.Counted(h.Cores, "core", "cores")
	}
	connections := "max"
	if v, ok := r.Setting("mysql", "max_connections"); ok {
		connections = "max, limit " + v
	}
	return append(loadreport.StepColumns(u),
		report.Column{Key: "cpu_cores", Head: "CPU", Unit: cores, Align: report.Decimal, Drop: 6},
		report.Column{Key: "connections_max", Head: "connections", Unit: connections, Align: report.Right, Drop: 7},
	)
}

func (r stepTables) stepCells(s kasoku.Step, t *kasoku.Tally, u time.Duration) []report.Cell {
	return append(loadreport.StepCells(s, t, loadreport.PerSecond(t, r.Taken(s)), u), r.stepCPU(s),
		r.stepConnections(s))
}

func (r stepTables) stepCPU(s kasoku.Step) report.Cell {
	used, ok := 0.0, false
	for _, name := range timeline.BusyModes {
		if x := r.Find(kasoku.Key{Source: host.Name, Name: name}); x != nil {
			if d, has := x.PerSecond(s.Interval); has {
				used += d
				ok = true
			}
		}
	}
	if !ok {
		return cell.None()
	}
	return cell.Number(used)
}

func (r stepTables) stepConnections(s kasoku.Step) report.Cell {
	x := r.Find(kasoku.Key{Source: mysql.Name, Name: mysql.ThreadsConnected})
	if x == nil {
		return cell.None()
	}
	v, ok := x.Max(s.Interval)
	if !ok {
		return cell.None()
	}
	return cell.Count(uint64(v))
}

// stepNote says between which steps the limit lies, and what is no failure.
func (r stepTables) stepNote(ts []*kasoku.Tally) report.Prose {
	var refused uint64
	for _, t := range ts {
		refused += t.Refused
	}
	limit := r.limitNote(ts)
	if refused > 0 {
		limit += report.Prose(" " + unit.Counted(refused, "answer 503 refused a bot", "answers 503 refused bots") +
			", as is configured: no failures.")
	}
	return report.Prose(strings.TrimSpace(string(limit)))
}

func (r stepTables) limitNote(ts []*kasoku.Tally) report.Prose {
	for i := range ts {
		if r.Steps[i].Number != r.BrokenStep() {
			continue
		}
		if i == 0 && r.Steps[i].PerSec <= 0 {
			return "" // no rate was asked for
		}
		if i == 0 {
			return report.Prose("The first step failed already: the limit lies below " +
				unit.PerSec(r.Steps[i].PerSec) + ".")
		}
		return report.Prose("The limit lies between " + unit.Plain(r.Steps[i-1].PerSec) + " and " +
			unit.PerSec(r.Steps[i].PerSec) + ".")
	}
	return ""
}

// answerTable counts the answers of each step by status code, and the messages of
// what failed; nil when every request got a 2xx.
func (r stepTables) answerTable() *report.Table {
	t := &report.Table{ID: "answers", Title: "Answers", Narrow: true, Columns: []report.Column{
		{Key: "step", Head: "step"},
		{Key: "answer", Head: "answer", Cut: true},
		{Key: "count", Head: "count", Align: report.Right},
		{Key: "ratio", Head: "share", Unit: "%", Align: report.Decimal},
	}}
	failed := false
	for _, s := range r.Steps {
		tally := r.Tally(s.Number)
		failed = failed || tally.Failed() > 0
		for _, a := range loadreport.Answers(tally) {
			n := cell.Count(a.Count)
			c := cell.Text(a.Message)
			if a.Bad {
				c.Tone = report.Bad
			}
			t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(unit.Count(s.Number)), c, n,
				cell.Percent(float64(a.Count) / float64(max(tally.Asked, 1)))}})
		}
	}
	if !failed {
		return nil
	}
	return t
}

// commandSection describes the child process of a recording.
func commandSection(r recorded.View) report.Section {
	s := report.Section{ID: report.SectionCommand, Title: "Command"}
	c := r.Run.Command
	if c == nil {
		return s
	}
	t := &report.Table{ID: "command", Columns: []report.Column{
		{Key: "command", Head: "command", Code: true, Cut: true},
		{Key: "exit_code", Head: "exit code", Align: report.Right},
		{Key: "wall_s", Head: "wall", Unit: "s", Align: report.Decimal},
		{Key: "user_s", Head: "user", Unit: "s", Align: report.Decimal},
		{Key: "system_s", Head: "system", Unit: "s", Align: report.Decimal},
		{Key: "rss_bytes", Head: "memory", Unit: "max", Align: report.Right, Drop: 1},
		{Key: "voluntary_switches", Head: "switches", Unit: "own", Align: report.Right, Drop: 2},
		{Key: "forced_switches", Head: "switches", Unit: "forced", Align: report.Right, Drop: 2},
	}}
	exit := report.Cell{Text: unit.Count(c.ExitCode), Raw: strconv.Itoa(c.ExitCode)}
	if c.Signal != "" {
		exit = cell.Text("signal " + c.Signal)
	}
	if c.ExitCode != 0 {
		exit.Tone = report.Bad
	}
	t.Rows = []report.Row{{Cells: []report.Cell{
		cell.Text(strings.Join(c.Args, " ")), exit, cell.Duration(c.Wall, time.Second), cell.Duration(c.User,
			time.Second),
		cell.Duration(c.System, time.Second),
		{Text: unit.BytesIEC(c.MaxRSSBytes), Raw: strconv.FormatUint(c.MaxRSSBytes, 10)}, cell.Count(c.VoluntarySwitch),
		cell.Count(c.ForcedSwitch),
	}}}
	s.Blocks = []report.Block{t}
	if said := wordsTable(r); said != nil {
		s.Blocks = append(s.Blocks, said)
	}
	return s
}
