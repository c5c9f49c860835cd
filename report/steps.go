package report

import (
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

func StepsSection(r rec) Section {
	s := Section{ID: SectionSteps, Title: "Load steps", Short: "Steps", Count: len(r.Steps)}
	if len(r.Steps) == 0 || len(r.Seconds) == 0 {
		return s
	}
	s.Sub = "Latency counts from the moment a request was due, errors included."
	s.Blocks = []Block{stepTables{r}.stepTable()}
	if t := (stepTables{r}).targetsTable(); t != nil {
		s.Blocks = append(s.Blocks, t)
	}
	if t := (stepTables{r}).answerTable(); t != nil {
		s.Blocks = append(s.Blocks, t)
	}
	return s
}

// stepTables shows what came of each step of the load.
type stepTables struct{ rec }

// stepTable has a row for each step.
func (r stepTables) stepTable() *Table {
	tallies := make([]*kasoku.Tally, len(r.Steps))
	var ds []time.Duration
	for i, s := range r.Steps {
		tallies[i] = r.Tally(s.Number)
		ds = append(ds, tallies[i].Latency.Mean(), tallies[i].Latency.Quantile(0.99))
	}
	u := commonUnit(ds...)
	t := &Table{ID: "steps", Columns: r.stepColumns(unit.Name(u))}
	for i, s := range r.Steps {
		t.Rows = append(t.Rows, Row{Cells: r.stepCells(s, tallies[i], u)})
	}
	t.Note = r.stepNote(tallies)
	return t
}

func (r stepTables) stepColumns(u string) []Column {
	cores := "cores"
	if h := r.host(); h.Cores > 0 {
		cores = "of " + unit.Counted(h.Cores, "core", "cores")
	}
	connections := "max"
	if v, ok := r.Setting("mysql", "max_connections"); ok {
		connections = "max, limit " + v
	}
	return append(stepColumns(u),
		Column{Key: "cpu_cores", Head: "CPU", Unit: cores, Align: Decimal, Drop: 6},
		Column{Key: "connections_max", Head: "connections", Unit: connections, Align: Right, Drop: 7},
	)
}

func (r stepTables) stepCells(s kasoku.Step, t *kasoku.Tally, u time.Duration) []Cell {
	return append(stepCells(s, t, perSecond(t, s.Interval.Len()), u), r.stepCPU(s), r.stepConnections(s))
}

func (r stepTables) stepCPU(s kasoku.Step) Cell {
	used, ok := 0.0, false
	for _, name := range busyModes {
		if x := r.Find(kasoku.Key{Source: "host", Name: name}); x != nil {
			if d, has := x.PerSecond(s.Interval); has {
				used += d
				ok = true
			}
		}
	}
	if !ok {
		return none()
	}
	return number(used)
}

func (r stepTables) stepConnections(s kasoku.Step) Cell {
	x := r.Find(kasoku.Key{Source: "mysql", Name: "Threads_connected"})
	if x == nil {
		return none()
	}
	v, ok := x.Max(s.Interval)
	if !ok {
		return none()
	}
	return count(uint64(v))
}

// stepNote says between which steps the limit lies.
func (r stepTables) stepNote(ts []*kasoku.Tally) Prose {
	for i := range ts {
		if r.Steps[i].Number != r.brokenStep() {
			continue
		}
		if i == 0 {
			return Prose("The first step failed already: the limit lies below " + unit.PerSec(r.Steps[i].PerSec) + ".")
		}
		return Prose("The limit lies between " + unit.Plain(r.Steps[i-1].PerSec) + " and " +
			unit.PerSec(r.Steps[i].PerSec) + ".")
	}
	return ""
}

// answerTable counts the answers of each step by status code, and the messages of
// what failed; nil when every request got a 2xx.
func (r stepTables) answerTable() *Table {
	t := &Table{ID: "answers", Title: "Answers", Narrow: true, Columns: []Column{
		{Key: "step", Head: "step"},
		{Key: "answer", Head: "answer", Cut: true},
		{Key: "count", Head: "count", Align: Right},
		{Key: "ratio", Head: "share", Unit: "%", Align: Decimal},
	}}
	failed := false
	for _, s := range r.Steps {
		tally := r.Tally(s.Number)
		failed = failed || tally.Failed() > 0
		for _, a := range answers(tally) {
			n := count(a.Count)
			c := text(a.Message)
			if a.bad {
				c.Tone = Bad
			}
			t.Rows = append(t.Rows, Row{Cells: []Cell{text(unit.Count(s.Number)), c, n,
				percent(float64(a.Count) / float64(max(tally.Asked, 1)))}})
		}
	}
	if !failed {
		return nil
	}
	return t
}

// commandSection describes the child process of a recording.
func commandSection(r rec) Section {
	s := Section{ID: SectionCommand, Title: "Command"}
	c := r.Run.Command
	if c == nil {
		return s
	}
	t := &Table{ID: "command", Columns: []Column{
		{Key: "command", Head: "command", Code: true, Cut: true},
		{Key: "exit_code", Head: "exit code", Align: Right},
		{Key: "wall_s", Head: "wall", Unit: "s", Align: Decimal},
		{Key: "user_s", Head: "user", Unit: "s", Align: Decimal},
		{Key: "system_s", Head: "system", Unit: "s", Align: Decimal},
		{Key: "rss_bytes", Head: "memory", Unit: "max", Align: Right, Drop: 1},
		{Key: "voluntary_switches", Head: "switches", Unit: "own", Align: Right, Drop: 2},
		{Key: "forced_switches", Head: "switches", Unit: "forced", Align: Right, Drop: 2},
	}}
	exit := Cell{Text: unit.Count(c.ExitCode), Raw: strconv.Itoa(c.ExitCode)}
	if c.Signal != "" {
		exit = text("signal " + c.Signal)
	}
	if c.ExitCode != 0 {
		exit.Tone = Bad
	}
	t.Rows = []Row{{Cells: []Cell{
		text(strings.Join(c.Args, " ")), exit, duration(c.Wall, time.Second), duration(c.User, time.Second),
		duration(c.System, time.Second),
		{Text: unit.BytesIEC(c.MaxRSSBytes), Raw: strconv.FormatUint(c.MaxRSSBytes, 10)}, count(c.VoluntarySwitch),
		count(c.ForcedSwitch),
	}}}
	s.Blocks = []Block{t}
	return s
}
