package loadreport

import (
	"time"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/load/carbon"
	"github.com/kasoku/kasoku/observe/graphite"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
)

// The sections of the document of a load of carbon, with [SectionGenerator] and
// [report.SectionTimeline].
const (
	SectionPoints = "points"
	SectionServer = "server"
)

// A Carbon is a load of carbon and what came of it.
type Carbon struct {
	Result   *carbon.Result
	Name     string // of the attack; may be empty
	Load     string // how the points were spread: "agents as haggar's"
	Readings []graphite.Reading
	Unseen   string // why there are no readings; empty when there are
	Stopped  bool   // before its end
}

// Tally adds up what the server reported.
func (c *Carbon) Tally() *graphite.Tally {
	t := new(graphite.Tally)
	for _, r := range c.Readings {
		t.Add(r)
	}
	return t
}

// CarbonDocument returns the document of a load of carbon.
func CarbonDocument(c *Carbon, o report.Options) *report.Document {
	r := c.Result
	target := r.Options.Address
	name := target
	if c.Name != "" {
		name = c.Name
	}
	d := &report.Document{
		Kind: report.KindAttack, Title: "attack " + name, Name: name,
		Head:    []string{name, string(r.Options.Protocol) + " protocol", c.Load, report.FormatDay(r.Started)},
		Verdict: c.Verdict(), Commands: o.Commands, Footer: report.FooterOf(o, ""), Alerts: c.alerts(),
		Facts: []report.Fact{{Label: "Target", Value: target}, {Label: "Load", Value: c.Load},
			{Label: "When", Value: report.FormatDay(r.Started)}},
	}
	d.PutSection(o, "points", c.pointsSection)
	d.PutSection(o, "time", c.timeSection)
	d.PutSection(o, "server", c.serverSection)
	d.PutSection(o, "generator", func() report.Section {
		return report.Section{ID: SectionGenerator, Title: "Generator",
			Blocks: []report.Block{&report.Notes{List: c.notes()}}}
	})
	return d
}

// Arrived is how many points the server's kernel has; over UDP those that were sent.
func (c *Carbon) Arrived() uint64 {
	if c.Result.Acknowledges() {
		return c.Result.Total.Acked
	}
	return c.Result.Total.Sent
}

// Length is how long points were due, at least what was done.
func (c *Carbon) Length() time.Duration {
	r := c.Result
	if r.Options.Duration > 0 && !r.Stopped {
		return r.Options.Duration
	}
	return r.Total.To
}

// Verdict describes in one sentence what was due and what became of it.
func (c *Carbon) Verdict() string {
	s := &c.Result.Total
	if s.Nominal == 0 {
		return "No point was due."
	}
	long := c.Length()
	text := unit.Counted(s.Nominal, "point", "points") + " were due over " + lasting(long) +
		", " + perSecondOf(s.Nominal, long) + ": "
	switch arrived := c.Arrived(); {
	case arrived == 0:
		text += "none arrived"
	case arrived == s.Nominal:
		text += "all arrived"
	default:
		text += unit.Percent(float64(arrived)/float64(s.Nominal)) + " arrived, " + perSecondOf(arrived, long)
	}
	t := c.Tally()
	received, ok := t.Sum(graphite.CountReceived)
	if committed, wrote := t.Sum(graphite.CountCommitted); ok && wrote {
		text += "; the server reports " + unit.Count(int64(received)) +
			" received and " + unit.Count(int64(committed)) + " written"
	}
	return text + "."
}

func perSecondOf(n uint64, long time.Duration) string {
	if long <= 0 {
		return unit.Missing
	}
	return unit.Sig3(float64(n)/long.Seconds()) + " a second"
}

// alerts are what spoils the load, and what limits the server.
func (c *Carbon) alerts() (out []report.Alert) {
	add := func(text, hint string) {
		out = append(out, report.Alert{Tone: report.Mark, Text: text, Hint: report.Prose(hint)})
	}
	s := &c.Result.Total
	if c.Stopped {
		add("The load was stopped before its end.", "")
	}
	for _, l := range c.Tally().Limits() {
		add(report.Sentence(l.Text)+".", l.Hint)
	}
	if n := s.Skipped; n > 0 {
		add(unit.Count(n)+" points were left out: the flush before them went on while they came due.", "")
	}
	if n := s.Lost; n > 0 {
		add(unit.Count(n)+" points were not sent: there was no connection, or it broke.", "")
	}
	if n := s.Outstanding; n > 0 {
		add(unit.Count(n)+" points that were due were not sent by the end: the server took them too slowly.", "")
	}
	if n := s.Unsure; n > 0 {
		add("Of "+unit.Count(n)+" points that were sent it is not known whether they arrived: their connection "+
			"ended before.", "")
	}
	return out
}

// pointsSection has a row for each that became of the points.
func (c *Carbon) pointsSection() report.Section {
	sec := report.Section{ID: SectionPoints, Title: "Points",
		Sub: "Acknowledged is by TCP: the server's kernel has them. Whether carbon wrote them, its own metrics say."}
	s, long := &c.Result.Total, c.Length()
	t := &report.Table{ID: "points", Narrow: true, Columns: []report.Column{{Key: "what"},
		{Key: "points", Head: "points", Align: report.Right}, {Key: "per_s", Head: "each second", Unit: "/s",
			Align: report.Decimal},
		{Key: "ratio", Head: "of what was due", Unit: "%", Align: report.Decimal}}}
	row := func(what string, n uint64) {
		cells := []report.Cell{cell.Text(what), cell.Count(n), cell.None(), cell.None()}
		if long > 0 {
			cells[2] = cell.Number(float64(n) / long.Seconds())
		}
		if s.Nominal > 0 {
			cells[3] = cell.Percent(float64(n) / float64(s.Nominal))
		}
		t.Rows = append(t.Rows, report.Row{Cells: cells})
	}
	row("due", s.Nominal)
	row("sent", s.Sent)
	if c.Result.Acknowledges() {
		row("acknowledged", s.Acked)
	}
	for _, x := range []struct {
		what string
		n    uint64
	}{{"not sent by the end", s.Outstanding}, {"left out", s.Skipped}, {"lost", s.Lost},
		{"not known to have arrived", s.Unsure}} {
		if x.n > 0 {
			row(x.what, x.n)
		}
	}
	sec.Blocks = []report.Block{t}
	return sec
}

// serverCounts are the rows of the server's section.
var serverCounts = []struct {
	count graphite.Count
	what  string
}{
	{graphite.CountReceived, "points received"}, {graphite.CountCommitted, "points written"},
	{graphite.CountUpdates, "writes"},
	{graphite.CountCreated, "series created"}, {graphite.CountDropped, "creates dropped"}, {graphite.CountOverflow,
		"points without room"},
}

// serverSection has what the server reported of itself.
func (c *Carbon) serverSection() report.Section {
	sec := report.Section{ID: SectionServer, Title: "Server",
		Sub: "What it reported of itself while the load went on, a value " +
			"for each of its intervals; the last one may be missing."}
	if len(c.Readings) == 0 {
		if c.Unseen != "" {
			sec.Blocks = []report.Block{report.Para{Text: report.Prose(c.Unseen), Tone: report.Dim}}
		}
		return sec
	}
	tally := c.Tally()
	t := &report.Table{ID: "server", Narrow: true, Columns: []report.Column{{Key: "what"}, {Key: "count",
		Head: "count", Align: report.Right}}}
	for _, x := range serverCounts {
		if v, ok := tally.Sum(x.count); ok {
			t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(x.what), cell.KnownCount(v)}})
		}
	}
	t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text("points in the cache, last"),
		cell.KnownCount(tally.Cached())}},
		report.Row{Cells: []report.Cell{cell.Text("points in the cache, most"), cell.KnownCount(tally.PeakCached())}})
	sec.Blocks = []report.Block{t}
	return sec
}

// notes describe who made the load and what it cost.
func (c *Carbon) notes() (out []report.Note) {
	add := func(label, text string) { out = append(out, report.Note{Sign: "·", Label: label, Text: text}) }
	r, s := c.Result, &c.Result.Total
	o := &r.Options
	add("Series", unit.Count(o.Metrics)+" of "+unit.Counted(o.Agents, "agent", "agents")+", a point of each every "+
		unit.Exact(o.Interval)+"; named "+string(o.Names))
	text := unit.Counted(r.Connections, "connection", "connections") + " made"
	if s.Failures > 0 {
		text += ", " + unit.Count(s.Failures) + " could not be made"
	}
	if s.Broken > 0 {
		text += ", " + unit.Count(s.Broken) + " broke"
	}
	if r.LastError != "" {
		text += "; the last error: " + r.LastError
	}
	add("Connections", text)
	if s.Blocked > 0 {
		add("Waited", "writes waited "+unit.Elapsed(s.Blocked)+" for the server, the sum of all connections; at most "+
			unit.Count(r.PeakOutstanding)+" points were outstanding")
	}
	if s.To > 0 {
		cost := unit.Sig3(s.CPU.Seconds()/s.To.Seconds()) + " cores"
		if s.Sent > 0 && s.CPU > 0 {
			cost += ", " + unit.Sig3(float64(s.Sent)/s.CPU.Seconds()/1e6) + " million points a second of CPU"
		}
		if s.Memory > 0 {
			cost += "; " + unit.Bytes(s.Memory) + " of memory at most"
		}
		add("Cost", cost)
	}
	return out
}
