package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/mysql"
)

func (r rec) stepsSection() Section {
	s := Section{ID: SectionSteps, Title: "Load steps", Short: "Steps", Count: len(r.Steps)}
	if len(r.Steps) == 0 || len(r.Seconds) == 0 {
		return s
	}
	s.Sub = "Latency counts from the moment a request was due, errors included."
	s.Blocks = []Block{r.stepTable()}
	if t := r.targetsTable(); t != nil {
		s.Blocks = append(s.Blocks, t)
	}
	if t := r.answerTable(); t != nil {
		s.Blocks = append(s.Blocks, t)
	}
	return s
}

// stepTable has a row for each step.
func (r rec) stepTable() *Table {
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

func (r rec) stepColumns(u string) []Column {
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

// stepColumns are those that the load alone fills.
func stepColumns(u string) []Column {
	cols := []Column{
		{Key: "step", Head: "step"},
		{Key: "asked_per_s", Head: "asked", Unit: "/s", Align: Decimal},
		{Key: "reached_per_s", Head: "reached", Unit: "2xx/s", Align: Decimal, Drop: 2},
		{Key: "success_ratio", Head: "success", Unit: "%", Align: Decimal},
	}
	for _, q := range []string{"mean", "p50", "p95", "p99", "max"} {
		// Of the percentiles, p99 stays the longest.
		drop := map[string]int{"mean": 5, "p50": 1, "p95": 3, "max": 4}[q]
		cols = append(cols, Column{Key: q + "_s", Head: q, Unit: u, Align: Decimal, Drop: drop})
	}
	return append(cols,
		Column{Key: "errors", Head: "errors", Align: Right},
		Column{Key: "success", Head: "2xx", Align: Right, Drop: 8},
		Column{Key: "requests", Head: "requests", Align: Right, Drop: 9},
	)
}

func (r rec) stepCells(s kasoku.Step, t *kasoku.Tally, u time.Duration) []Cell {
	return append(stepCells(s, t, perSecond(t, s.Interval.Len()), u), r.stepCPU(s), r.stepConnections(s))
}

// stepCells fills [stepColumns]; perSec is what was reached.
func stepCells(s kasoku.Step, t *kasoku.Tally, perSec float64, u time.Duration) []Cell {
	step := Cell{Text: unit.Count(s.Number), Raw: strconv.Itoa(s.Number)}
	if s.Partial() {
		step.Small = unit.Plain(math.Round(s.Interval.Len().Seconds()*10)/10) + " of " + unit.Exact(s.Planned)
		step.Tone = Dim
	}
	reached := none()
	if !math.IsNaN(perSec) {
		reached = fixed1(perSec)
	}
	success := percent(t.SuccessRatio())
	share := t.SuccessRatio()
	success.Share = &share
	if t.Failed() > 0 && !s.Partial() {
		success.Tone = Bad
	}
	errors := count(t.Failed())
	if t.Failed() > 0 {
		errors.Tone = success.Tone
	}
	cells := []Cell{step, askedCell(s), reached, success}
	if t.Latency.Count() == 0 {
		cells = append(cells, none(), none(), none(), none(), none())
	} else {
		cells = append(cells, duration(t.Latency.Mean(), u), duration(t.Latency.Quantile(0.50), u),
			duration(t.Latency.Quantile(0.95), u), duration(t.Latency.Quantile(0.99), u), duration(t.Latency.Max(), u))
	}
	return append(cells, errors, count(t.Success), count(t.Asked))
}

// askedCell is the rate of a step; of a ramp, that at its start and at its end.
func askedCell(s kasoku.Step) Cell {
	switch {
	case s.PerSecTo > 0 && s.PerSecTo != s.PerSec:
		return Cell{Text: unit.Plain(s.PerSec) + " → " + unit.Plain(s.PerSecTo), Raw: raw((s.PerSec + s.PerSecTo) / 2)}
	case s.PerSec <= 0:
		return none()
	}
	return Cell{Text: unit.Plain(s.PerSec), Raw: raw(s.PerSec)}
}

func (r rec) stepCPU(s kasoku.Step) Cell {
	used, ok := 0.0, false
	for _, name := range busyModes {
		if x := r.Find(kasoku.Key{Source: host.Name, Name: name}); x != nil {
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

func (r rec) stepConnections(s kasoku.Step) Cell {
	x := r.Find(kasoku.Key{Source: mysql.Name, Name: mysql.ThreadsConnected})
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
func (r rec) stepNote(ts []*kasoku.Tally) Prose {
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

// mostErrors is how many messages of a step are listed.
const mostErrors = 5

// answerTable counts the answers of each step by status code, and the messages of
// what failed; nil when every request got a 2xx.
func (r rec) answerTable() *Table {
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

type answer struct {
	kasoku.ErrorCount
	bad bool
}

// answers lists the status codes of a tally and then its most frequent error
// messages that are more than the text of a status.
func answers(t *kasoku.Tally) []answer {
	var out []answer
	codes := slices.SortedFunc(maps.Keys(t.Codes), func(a, b int) int { return cmp.Compare(t.Codes[b], t.Codes[a]) })
	for _, code := range codes {
		if code != 0 && t.Codes[code] > 0 {
			out = append(out, answer{kasoku.ErrorCount{Message: statusText(code, t), Count: t.Codes[code]},
				code < 200 || code >= 400})
		}
	}
	var left uint64
	shown := 0
	for _, e := range t.TopErrors() {
		if isStatus(e.Message, t) {
			continue
		}
		if shown++; shown > mostErrors {
			left += e.Count
			continue
		}
		out = append(out, answer{e, true})
	}
	if left > 0 {
		out = append(out, answer{kasoku.ErrorCount{Message: "other errors", Count: left}, true})
	}
	return out
}

// statusText returns the text that the load gave for a status, else the code.
func statusText(code int, t *kasoku.Tally) string {
	c := strconv.Itoa(code)
	for m := range t.Errors {
		if strings.HasPrefix(m, c+" ") && isStatus(m, t) {
			return m
		}
	}
	return c
}

// isStatus reports whether an error message is the text of a status that came.
func isStatus(m string, t *kasoku.Tally) bool {
	head, _, _ := strings.Cut(m, " ")
	code, err := strconv.Atoi(head)
	return err == nil && code >= 100 && code <= 999 && t.Codes[code] > 0
}

// commandSection describes the child process of a recording.
func (r rec) commandSection() Section {
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
