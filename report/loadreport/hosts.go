package loadreport

import (
	"strconv"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
)

// SectionHosts are the generators of a load from many machines.
const SectionHosts = "generators"

// An AttackHost is one of the machines that sent a load.
type AttackHost struct {
	Name          string
	Due, Reported uint64        // requests; Due is 0 in a closed loop
	Offset, Bound time.Duration // of its clock to that of who coordinates at the start, and how wrong that can be
	Drift         *time.Duration
	P99, MaxDelay time.Duration // between due and sent
	Cores         int
	PeakCores     float64
	Lost          string // why its share was not sent to the end; empty: it was
}

// hostsSection is what became of each machine's share.
func (a *Attack) hostsSection() report.Section {
	s := report.Section{ID: SectionHosts, Title: "Generators", Count: len(a.Hosts)}
	if len(a.Hosts) == 0 {
		return s
	}
	shares := "Each sent every " + ordinal(len(a.Hosts)) + " request of one schedule"
	if a.closed() {
		shares = "The users are shared out to them"
	}
	s.Sub = report.Prose(shares + "; counts and histograms are added, percentiles never. Their starts differed by " + unit.Duration(a.Skew) + " at most, as their clocks show.")
	t := &report.Table{ID: SectionHosts, Columns: []report.Column{
		{Key: "generator", Head: "generator", Cut: true, Middle: true},
		{Key: "due", Head: "due", Align: report.Right},
		{Key: "reported", Head: "reported", Align: report.Right},
		{Key: "p99_delay_s", Head: "sent late p99", Unit: "ms", Align: report.Decimal},
		{Key: "max_delay_s", Head: "max", Unit: "ms", Align: report.Decimal},
		{Key: "clock_offset_s", Head: "clock", Unit: "ms", Align: report.Decimal},
		{Key: "clock_bound_s", Head: "±", Unit: "ms", Align: report.Decimal},
		{Key: "drift_s", Head: "drift", Unit: "ms", Align: report.Decimal},
		{Key: "peak_cores", Head: "cores", Align: report.Decimal},
	}}
	var notes []report.Note
	for i := range a.Hosts {
		h := &a.Hosts[i]
		due, drift := cell.None(), cell.None()
		if h.Due > 0 {
			due = cell.Count(h.Due)
		}
		if h.Drift != nil {
			drift = cell.Duration(*h.Drift, time.Millisecond)
		}
		reported := cell.Count(h.Reported)
		if h.Lost != "" {
			reported.Tone = report.Bad
			notes = append(notes, report.Note{Sign: "!", Tone: report.Mark, Label: h.Name, Text: h.Lost})
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(h.Name), due, reported,
			cell.Duration(h.P99, time.Millisecond), cell.Duration(h.MaxDelay, time.Millisecond),
			cell.Duration(h.Offset, time.Millisecond), cell.Duration(h.Bound, time.Millisecond), drift,
			cell.Number(h.PeakCores)}})
	}
	s.Blocks = []report.Block{t}
	if len(notes) > 0 {
		s.Blocks = append(s.Blocks, &report.Notes{List: notes})
	}
	return s
}

// ordinal is such as 4th.
func ordinal(n int) string {
	ends := map[int]string{1: "st", 2: "nd", 3: "rd"}
	if n%100/10 == 1 || ends[n%10] == "" {
		return strconv.Itoa(n) + "th"
	}
	return strconv.Itoa(n) + ends[n%10]
}
