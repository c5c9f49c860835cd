package showcmd

import (
	"fmt"
	"io"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/split"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
)

// A splitView is a plan being printed.
type splitView struct {
	plan *split.Plan
	rec  *kasoku.Recording
	path string
	rtt  time.Duration
}

func (v *splitView) printer() cli.Printer {
	return cli.Printer{Doc: v.document(), JSON: func(w io.Writer) error { return v.json(w) }}
}

// verdict is one sentence.
func (v *splitView) verdict() string {
	p := v.plan
	if p.First < 0 {
		if p.Service.Load.Open {
			return "No member is worth moving: the rate that the hosts can take hardly grows."
		}
		return "No member is worth moving: no layout gains 2 %. The limit is " + limitWords(&p.Now) + "."
	}
	x := &p.Layouts[p.First]
	what := p.MoveWords(x.Layout)[0]
	m := &p.Service.Members[p.Moved(x.Layout)[0]]
	text := fmt.Sprintf("Move %s first (%s): %s", m.Name, what, v.gainWords(x))
	if p.Service.Score > 0 {
		text += fmt.Sprintf(", score %s to %s instead of %s", unit.Sig3(x.Score.Low), unit.Sig3(x.Score.High),
			unit.Sig3(p.Service.Score))
	}
	return text + ". The limit is then " + limitWords(x) + "."
}

func (v *splitView) gainWords(x *split.Prediction) string {
	of := "the throughput"
	if v.plan.Service.Load.Open {
		of = "the rate that the hosts can take"
	}
	return fmt.Sprintf("×%s (%s to %s) %s", unit.Sig3(x.Gain.Mid), unit.Sig3(x.Gain.Low), unit.Sig3(x.Gain.High), of)
}

func limitWords(x *split.Prediction) string {
	switch {
	case x.At >= 0 && x.At < len(x.Busy) && x.Busy[x.At] >= 0.98:
		return x.Limit + " (always busy)"
	case x.At >= 0 && x.At < len(x.Busy):
		return fmt.Sprintf("%s (%s busy)", x.Limit, unit.Percent(x.Busy[x.At]))
	}
	return x.Limit
}

func (v *splitView) document() *report.Document {
	s := v.plan.Service
	load := "closed load"
	switch {
	case s.Load.Open:
		load = "open load"
	case s.Load.Given:
		load += " of " + unit.Sig3(s.Load.Clients) + " clients"
	}
	head := []string{v.path, unit.Counted(s.Seconds, "second", "seconds") + " of load",
		unit.Sig3(s.Load.PerSec) + " req/s", load}
	d := &report.Document{Title: "kasoku split", Verdict: v.verdict(), Head: head, File: v.path}
	d.Sections = append(d.Sections, v.measured(), v.layouts())
	if x := v.endpoints(); len(x.Blocks) > 0 {
		d.Sections = append(d.Sections, x)
	}
	d.Sections = append(d.Sections, v.notes())
	return d
}

// measured is what each member took.
func (v *splitView) measured() report.Section {
	s := v.plan.Service
	t := &report.Table{ID: "members", Columns: []report.Column{
		{Key: "member", Head: "member", Cut: true, Least: 12}, {Key: "host", Head: "host", Cut: true, Least: 6},
		{Key: "cores", Head: "CPU", Unit: "cores", Align: report.Decimal},
		{Key: "cpu_per_request_s", Head: "each request", Unit: "ms", Align: report.Decimal},
		{Key: "share_ratio", Head: "of its host", Unit: "%", Align: report.Decimal},
		{Key: "memory_bytes", Head: "memory", Align: report.Right, Drop: 3},
		{Key: "stays", Head: "stays, since", Cut: true, Drop: 2},
	}}
	for i := range s.Members {
		m := &s.Members[i]
		memory := cell.None()
		if m.RSS > 0 {
			memory = cell.Size(float64(m.RSS))
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(m.Name), cell.Text(s.Hosts[m.Host].Name),
			cell.Number(m.Cores),
			cell.Duration(cell.AsDuration(m.CPU), time.Millisecond),
			cell.Percent(min(m.Cores/s.Hosts[m.Host].Cores, 1)), memory, cell.Text(m.Fixed)}})
	}
	return report.Section{ID: "members", Title: "Measured", Blocks: []report.Block{t.WithoutEmpty()}}
}

// layouts is what each layout would give.
func (v *splitView) layouts() report.Section {
	p := v.plan
	s := p.Service
	perSec := "req/s"
	if s.Load.Open {
		perSec = "at most"
	}
	t := &report.Table{ID: "layouts", Columns: []report.Column{
		{Key: "layout", Head: "layout", Cut: true, Least: 24},
		{Key: "moves", Head: "moves", Align: report.Right, Drop: 4},
		{Key: "gain_ratio", Head: "gain", Unit: "×", Align: report.Decimal},
		{Key: "gain_low_ratio", Head: "least", Unit: "×", Align: report.Decimal},
		{Key: "gain_high_ratio", Head: "most", Unit: "×", Align: report.Decimal},
		{Key: "requests_per_s", Head: perSec, Align: report.Decimal},
		{Key: "score", Head: "score", Align: report.Decimal},
		{Key: "p50_s", Head: "p50", Unit: "ms", Align: report.Decimal, Drop: 3},
		{Key: "limit", Head: "limit then", Cut: true, Least: 16, Drop: 2},
		{Key: "memory", Head: "memory", Drop: 3},
	}}
	for i := range len(p.Layouts) + 1 {
		x := &p.Now
		if i > 0 {
			x = &p.Layouts[i-1]
		}
		words := cell.Text(p.Words(x.Layout))
		if i == 0 {
			words.Small = "now"
		}
		if i > 0 && i-1 == p.First {
			words.Tone = report.Strong
		}
		score, p50 := cell.None(), cell.None()
		if s.Score > 0 {
			score = cell.Number(x.Score.Mid)
		}
		if x.Known50 {
			p50 = cell.Duration(x.P50, time.Millisecond)
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{words, cell.Count(uint64(x.Moves)),
			cell.Number(x.Gain.Mid),
			cell.Number(x.Gain.Low), cell.Number(x.Gain.High), cell.Number(x.PerSec.Mid), score, p50,
			cell.Text(limitWords(x)),
			fitCell(x.Fits)}})
	}
	return report.Section{ID: "layouts", Title: "Layouts", Blocks: []report.Block{t.WithoutEmpty()}}
}

func fitCell(f split.Fit) report.Cell {
	switch f {
	case split.FitYes:
		return report.Cell{Text: "fits", Tone: report.Good}
	case split.FitNo:
		return report.Cell{Text: "too little", Tone: report.Bad}
	}
	return cell.None()
}

// mostEndpoints is how many are shown.
const mostEndpoints = 10

// endpoints is what the network would add to each, were the database elsewhere.
func (v *splitView) endpoints() (out report.Section) {
	t := &report.Table{ID: "endpoints", Columns: []report.Column{
		{Key: "endpoint", Head: "endpoint", Cut: true, Least: 20}, {Key: "requests", Head: "requests",
			Align: report.Right},
		{Key: "time_s", Head: "mean", Unit: "ms", Align: report.Decimal},
		{Key: "statements", Head: "statements", Unit: "each", Align: report.Decimal},
		{Key: "network_s", Head: "network", Unit: "+ms", Align: report.Decimal},
	}}
	for _, e := range v.plan.Service.Endpoints {
		if e.Statements < 0 || len(t.Rows) == mostEndpoints {
			continue
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(e.Name), cell.Count(e.Requests),
			cell.Duration(e.Time, time.Millisecond), cell.Number(e.Statements),
			cell.Duration(cell.AsDuration(e.Statements*v.plan.Assume.Trip.Mid), time.Millisecond)}})
	}
	if len(t.Rows) == 0 {
		return out
	}
	t.Note = "What the network adds where the database is on another host, each statement a round trip after the other."
	return report.Section{ID: "endpoints", Title: "Endpoints", Blocks: []report.Block{t}}
}

// notes say what is assumed, and what was not measured.
func (v *splitView) notes() report.Section {
	notes := &report.Notes{}
	for _, text := range v.assumed() {
		notes.List = append(notes.List, report.Note{Sign: "·", Text: text})
	}
	for _, text := range v.plan.Service.Blind {
		notes.List = append(notes.List, report.Note{Sign: "!", Tone: report.Mark, Text: text})
	}
	return report.Section{ID: "assumed", Title: "Assumed, and not measured", Blocks: []report.Block{notes}}
}

func (v *splitView) assumed() (out []string) {
	p := v.plan
	trip := p.Assume.Trip
	from := "assumed"
	if v.rtt > 0 {
		from = "said"
	}
	ms := func(s float64) string { return unit.Sig3(s * 1000) }
	out = append(out, fmt.Sprintf("a round trip between hosts takes %s ms (%s to %s), %s, and %s µs of CPU at each end",
		ms(trip.Mid), ms(trip.Low), ms(trip.High), from, unit.Sig3(p.Assume.CPU.Mid*1e6)),
		"the mix of requests stays; a core of an added host does what one of the present does",
		"CPU by endpoint is not measured, and what members wait for beside CPU (disks, locks, other hosts) stays "+
			"as it was")
	for i := range p.Hosts {
		if h := &p.Hosts[i]; !h.Present {
			out = append(out, fmt.Sprintf("%s has %s", h.Name, diagnoseCores(h.Cores)))
		}
	}
	if p.Service.Levels {
		out = append(out, "clients come with the score: a layout has as many more as it gains, but for the lower "+
			"end of its interval")
	}
	return out
}

func diagnoseCores(n float64) string {
	if n == 1 {
		return "1 core"
	}
	return unit.Sig3(n) + " cores"
}
