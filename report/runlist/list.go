package runlist

import (
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/store"
)

// ListOptions configure how a list of runs is shown.
type ListOptions struct {
	report.Options
	Limit   int  // how many steps are shown, the newest; 0 is all
	Reverse bool // the newest first

	// Changes says what was changed between two runs, for the words on each step;
	// nil leaves that out.
	Changes func(before, after store.Info) []compare.Changed
}

// List returns the story of the runs: what was changed, what came of it, and what
// held it up then. Runs that repeat one another are one step of it. It reads from
// the top, as it happened.
func List(runs []store.Info, o ListOptions) *report.Document {
	d := &report.Document{Kind: report.KindList, Title: "runs", Footer: report.FooterOf(o.Options, "")}
	if len(runs) == 0 {
		d.Verdict = "No runs yet."
		d.Sections = []report.Section{{ID: "runs", Title: "start", Blocks: []report.Block{
			report.Para{Text: "`kasoku record -- COMMAND` makes one; `kasoku demo` makes two and compares them."}}}}
		return d
	}
	steps := listSteps(runs)
	d.Fill("verdict", func() { d.Verdict = listVerdict(steps) })
	s := report.Section{ID: "runs", Title: "Runs", Count: len(runs)}
	shown := o.newest(steps)
	turned := o.turn(shown)
	for _, part := range []struct {
		name string
		make func()
	}{
		{"trends", func() {
			for _, t := range trends(shown) {
				s.Blocks = append(s.Blocks, t)
			}
		}},
		{"table of runs", func() { s.Blocks = append(s.Blocks, listTable(turned, o)) }},
		{"tale", func() { s.Blocks = append(s.Blocks, tale(turned, o)) }},
		{"remarks", func() {
			if n := remarks(turned); len(n.List) > 0 {
				s.Blocks = append(s.Blocks, n)
			}
		}},
	} {
		d.Fill(part.name, part.make)
	}
	d.Sections = []report.Section{s}
	return d
}

// newest are the steps that are shown. They are compared with all others all the
// same.
func (o ListOptions) newest(steps []*listStep) []*listStep {
	if o.Limit > 0 && len(steps) > o.Limit {
		return steps[len(steps)-o.Limit:]
	}
	return steps
}

func (o ListOptions) turn(steps []*listStep) []*listStep {
	if o.Reverse {
		steps = slices.Clone(steps)
		slices.Reverse(steps)
	}
	return steps
}

// A ListStep is one step of a list, for machines.
type ListStep struct {
	Number      int
	Runs        []store.Info // the oldest first
	Verdict     string       // against the step before
	AgainstBest string       // against the best so far; empty when there is nothing to compare
}

// ListSteps returns the steps that [List] lists, in its order and with its words.
func ListSteps(runs []store.Info, o ListOptions) []ListStep {
	var out []ListStep
	for _, s := range o.turn(o.newest(listSteps(runs))) {
		x := ListStep{Number: s.number, Runs: s.runs, Verdict: s.verdict().Text}
		if len(s.values) > 0 {
			x.AgainstBest = s.againstBest().Text
		}
		out = append(out, x)
	}
	return out
}

// listVerdict sums up all steps in one sentence, by the measure that most steps share; empty
// when they share none.
func listVerdict(steps []*listStep) string {
	lines := measured(steps)
	if len(lines) == 0 {
		if slices.ContainsFunc(steps, (*listStep).failed) {
			return "Nothing can be compared: no run succeeded."
		}
		return ""
	}
	line := slices.MaxFunc(lines, func(a, b []*listStep) int { return len(a) - len(b) })
	others := othersSentence(lines, line)
	if len(line) < 2 {
		return strings.TrimSpace(others)
	}
	first, best := line[0], line[0]
	for _, s := range line {
		if s.highest() {
			best = s
		}
	}
	what := figureWords(first)
	if first == best {
		return what + ": " + figureText(first.figure.Median) + " at first (" + first.name +
			"), and no step went above it." + others
	}
	way := ", median of repeated runs."
	if len(first.values) == 1 || len(best.values) == 1 {
		way = ", one run against one."
		if len(first.values) != len(best.values) {
			way = ", one run against several."
		}
	}
	return what + ": " + figureText(first.figure.Median) + " at first (" + first.name + "), " +
		figureText(best.figure.Median) +
		" at best (" + best.name + "), " + unit.Change(first.figure.Median, best.figure.Median) + way + others
}

// othersSentence says that there are figures that are not compared with those of a line,
// and what sets them apart.
func othersSentence(lines [][]*listStep, line []*listStep) string {
	n := len(lines) - 1
	if n < 1 {
		return ""
	}
	var why []string
	for _, l := range lines {
		if w := l[0].other; w != "" && !slices.Contains(why, w) {
			why = append(why, w)
		}
	}
	text := " Not compared with one another: "
	if len(line) > 1 {
		text = " Not compared with these: "
		n = 0
		for _, l := range lines {
			if l[0] != line[0] {
				n += len(l)
			}
		}
		text += unit.Counted(n, "step", "steps")
	} else {
		text += unit.Counted(len(lines), "step", "steps")
	}
	if len(why) > 0 {
		text += " (" + strings.Join(why, ", ") + ")"
	}
	return text + "."
}

func figureWords(s *listStep) string {
	if s.scored {
		return "Score"
	}
	return "Successful requests a second"
}

// figureText prints a score or a rate.
func figureText(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return unit.Count(int64(v))
	}
	return unit.Sig3(v)
}

func figureCell(v float64) report.Cell {
	return report.Cell{Text: figureText(v), Raw: report.RawNumber(v)}
}

// measured returns the steps that have figures, those together that may be
// compared, in the order of their first.
func measured(steps []*listStep) [][]*listStep {
	var out [][]*listStep
	at := map[int]int{}
	for _, s := range steps {
		if len(s.values) == 0 {
			continue
		}
		i, ok := at[s.series]
		if !ok {
			i = len(out)
			at[s.series] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], s)
	}
	return out
}

// remarks describes why files cannot be read, and what stopped runs early.
func remarks(steps []*listStep) *report.Notes {
	n := &report.Notes{}
	for _, s := range steps {
		for _, r := range s.runs {
			switch {
			case r.Err != nil:
				n.List = append(n.List, report.Note{Sign: "!", Tone: report.Mark, Code: true, Label: r.Path,
					Text: cause(r.Err)})
			case r.State == kasoku.Incomplete && r.StopReason != "":
				n.List = append(n.List, report.Note{Sign: "!", Tone: report.Mark, Code: true, Label: s.name,
					Text: "stopped early: " + r.StopReason})
			}
		}
	}
	return n
}

// cause is an error without the step and the file, which stand beside it.
func cause(err error) string {
	var e *store.Error
	if errors.As(err, &e) {
		err = e.Err
	}
	return err.Error()
}

// A listColumn is a column of the list with how its cells are made.
type listColumn struct {
	report.Column
	cell func(s *listStep) report.Cell
}

// key names the files of a step's runs; it is empty where one cannot be read.
func (s *listStep) key() string {
	var files []string
	for _, r := range s.runs {
		if r.Err != nil {
			return ""
		}
		files = append(files, r.Path)
	}
	return report.RunsKey(files)
}

// listTable lists the steps. Columns of which no step has anything are left out.
func listTable(steps []*listStep, o ListOptions) *report.Table {
	t := &report.Table{ID: "runs"}
	columns := listColumns(steps, o)
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Column)
	}
	for _, s := range steps {
		row := report.Row{Key: s.key()}
		for _, c := range columns {
			x := c.cell(s)
			if s.first().Checkpoint() {
				x.Tone = report.Dim
			}
			row.Cells = append(row.Cells, x)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func listColumns(steps []*listStep, o ListOptions) []listColumn {
	has := func(f func(*listStep) bool) bool { return slices.ContainsFunc(steps, f) }
	out := []listColumn{
		{report.Column{Key: "step", Align: report.Right, Drop: 14},
			func(s *listStep) report.Cell { return cell.Count(uint64(s.number)) }},
		{report.Column{Key: "run", Head: "run"}, nameCell},
		{report.Column{Key: "started", Head: "started", Drop: 12},
			func(s *listStep) report.Cell { return startedCell(s, o.Location) }},
	}
	if has(func(s *listStep) bool { return s.first().Project != steps[0].first().Project && s.first().Err == nil }) {
		out = append(out, listColumn{report.Column{Key: "project", Head: "project", Drop: 11},
			func(s *listStep) report.Cell { return cell.Text(s.first().Project) }})
	}
	out = append(out, figureColumns(steps, has)...)
	out = append(out, listColumn{report.Column{Key: "verdict", Head: "run before", Tag: true, Drop: 1},
		(*listStep).verdict})
	if has(func(s *listStep) bool { return s.best != nil || s.failures().Failures > 0 }) {
		out = append(out, listColumn{report.Column{Key: "against_best", Head: "best so far", Drop: 8},
			(*listStep).againstBest})
	}
	if has(func(s *listStep) bool { _, of := s.passed(); return of > 0 }) {
		out = append(out, listColumn{report.Column{Key: "passed", Head: "passed", Align: report.Right, Drop: 4},
			passedCell})
	}
	if c, ok := p99Column(steps); ok {
		out = append(out, c)
	}
	out = append(out, listColumn{report.Column{Key: "note", Head: "note", Cut: true, Least: leastNote, Drop: 2},
		func(s *listStep) report.Cell { return cell.Text(s.last().Note) }})
	if has(func(s *listStep) bool { return s.bottleneck() != "" }) {
		out = append(out, listColumn{report.Column{Key: "bottleneck", Head: "bottleneck", Cut: true, Least: leastLimit,
			Drop: 3}, func(s *listStep) report.Cell {
			return cell.Text(s.moved())
		}})
	}
	if has(func(s *listStep) bool { return !s.observed() }) {
		out = append(out, listColumn{report.Column{Key: "observers", Head: "observers", Drop: 5}, observersCell})
	}
	out = append(out, spreadColumns(steps, has)...)
	if has(func(s *listStep) bool { return s.first().Revision != "" }) {
		out = append(out, listColumn{report.Column{Key: "revision", Head: "revision", Code: true, Drop: 13},
			func(s *listStep) report.Cell { return cell.Text(revision(s.first())) }})
	}
	return out
}

// p99Column is left out where no p99 is known.
func p99Column(steps []*listStep) (c listColumn, ok bool) {
	var all []time.Duration
	for _, s := range steps {
		if v, ok := s.median(p99Of); ok {
			all = append(all, cell.AsDuration(v))
		}
	}
	u := cell.CommonUnit(all...)
	return listColumn{report.Column{Key: "p99_s", Head: "p99", Unit: unit.Name(u), Align: report.Decimal, Drop: 7},
		func(s *listStep) report.Cell {
			if v, ok := s.median(p99Of); ok {
				return cell.Duration(cell.AsDuration(v), u)
			}
			return cell.None()
		}}, len(all) > 0
}

func observersCell(s *listStep) report.Cell {
	if s.first().Err != nil || s.first().Checkpoint() {
		return cell.None()
	}
	return cell.Text(strings.TrimPrefix(s.observers(), "observers "))
}

// The narrowest that text columns get before others go; cut further they say
// nothing.
const (
	leastNote  = 16
	leastLimit = 14 // mysqld 1.84 o…
)

// figureColumns are the score, or the rate where no run has one. Where some have a
// score and others are judged by their rate both stand in front.
func figureColumns(steps []*listStep, has func(func(*listStep) bool) bool) []listColumn {
	scored := has(func(s *listStep) bool { return s.scored })
	main := report.Column{Key: "req_per_s", Head: "req/s", Align: report.Decimal}
	if scored {
		main = report.Column{Key: "score", Head: "score", Align: report.Decimal}
	}
	top := map[int]float64{} // of each series: bars of different ones are not to be compared
	for _, s := range steps {
		top[s.series] = max(top[s.series], s.figure.Median)
	}
	out := []listColumn{
		{main, func(s *listStep) report.Cell {
			switch {
			case s.scored != scored:
				return cell.None()
			case len(s.values) > 0:
				return figureCell(s.figure.Median)
			}
			if v, ok := s.value(s.last()); ok && s.last().State != kasoku.Running {
				return figureCell(v).Toned(report.Dim)
			}
			return cell.None()
		}},
		{report.Column{Bars: true, Drop: 6}, func(s *listStep) report.Cell {
			var c report.Cell
			if top := top[s.series]; len(s.values) > 0 && top > 0 && s.scored == scored {
				share := max(s.figure.Median/top, 0)
				c.Share = &share
			}
			return c
		}},
	}
	if scored && has((*listStep).rated) {
		out = append(out, rateColumn(1))
	}
	return out
}

// rated reports whether the step is judged by its rate.
func (s *listStep) rated() bool { return !s.scored && len(s.values) > 0 }

func rateColumn(drop int) listColumn {
	return listColumn{report.Column{Key: "req_per_s", Head: "req/s", Align: report.Decimal, Drop: drop},
		func(s *listStep) report.Cell {
			if v, ok := s.median(perSecOf); ok {
				return figureCell(v)
			}
			return cell.None()
		}}
}

// spreadColumns are what stands after the figure: the range of repeats, and the
// rate where all runs have a score.
func spreadColumns(steps []*listStep, has func(func(*listStep) bool) bool) []listColumn {
	scored := has(func(s *listStep) bool { return s.scored })
	var out []listColumn
	if has(func(s *listStep) bool { return len(s.values) > 1 }) {
		spread := func(f func(*listStep) float64) func(*listStep) report.Cell {
			return func(s *listStep) report.Cell {
				switch {
				case s.scored != scored || len(s.values) == 0:
					return cell.None()
				case len(s.values) == 1:
					return figureCell(f(s)).Toned(report.Dim)
				}
				return figureCell(f(s))
			}
		}
		out = append(out,
			listColumn{report.Column{Key: "lowest", Head: "lowest", Align: report.Decimal, Drop: 9},
				spread(func(s *listStep) float64 { return s.figure.Least })},
			listColumn{report.Column{Key: "highest", Head: "highest", Align: report.Decimal, Drop: 9},
				spread(func(s *listStep) float64 { return s.figure.Most })})
	}
	if scored && !has((*listStep).rated) && has(func(s *listStep) bool { _, ok := s.median(perSecOf); return ok }) {
		out = append(out, rateColumn(10))
	}
	return out
}

func p99Of(s *kasoku.Summary) float64    { return s.P99.Seconds() }
func perSecOf(s *kasoku.Summary) float64 { return s.PerSec }

func nameCell(s *listStep) report.Cell {
	c := cell.Text(s.name)
	if n := len(s.runs); n > 1 {
		c.Small = "×" + unit.Count(n)
		if done := s.finished(); done > 0 && slices.ContainsFunc(s.runs,
			func(r store.Info) bool { return r.State == kasoku.Incomplete }) {
			c.Small += ", " + unit.Count(done) + " complete"
		}
	}
	return c
}

func startedCell(s *listStep, loc *time.Location) report.Cell {
	r := s.first()
	if r.Err != nil {
		return cell.None()
	}
	at := r.Started
	if loc != nil {
		at = at.In(loc)
	}
	return report.Cell{Text: at.Format("2 Jan 15:04"), Raw: at.Format(time.RFC3339)}
}

func passedCell(s *listStep) report.Cell {
	n, of := s.passed()
	switch {
	case of == 0:
		return cell.None()
	case n < of:
		return cell.Text(unit.Count(n) + " of " + unit.Count(of)).Toned(report.Bad)
	}
	return cell.Text(unit.Count(n) + " of " + unit.Count(of))
}
