package machine

import (
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/recorded"
	"github.com/kasoku/kasoku/report/timeline"
)

// SectionMachine is the id of what used the machine: groups of processes, threads,
// disks, queues, programs in Go.
const SectionMachine = "machine"

// The tables of the machine are short: what used it most.
const (
	mostGroups    = 8
	mostListeners = 8
)

// Section shows who used the machine, and what queued on it. A table that
// would show nothing is left out.
func Section(r recorded.View) report.Section {
	s := report.Section{ID: SectionMachine, Title: "Machine",
		Sub: "Sums over the run; the largest value is that of one interval between two samples, of a group that of 3 s."}
	for _, m := range Machines(r.Recording) {
		before := ""
		if m.Host != "" {
			before = m.Host + ": "
		}
		for _, t := range []*report.Table{m.groupsTable(r.Length().Seconds()), m.threadsTable(), m.disksTable(),
			m.listenersTable(), programTable(m.Programs), poolTable(m.Programs)} {
			if len(t.Rows) > 0 {
				t.Title = before + t.Title
				s.Blocks = append(s.Blocks, t)
			}
		}
	}
	return s
}

// groupsTable shows which units, containers and programs used the CPU.
func (m *Machine) groupsTable(length float64) *report.Table {
	t := &report.Table{ID: "groups", Title: "CPU by unit, container and program", Narrow: true,
		Columns: []report.Column{
			{Key: "group", Head: "group"},
			{Key: "kind", Head: "kind"},
			{Key: "cpu_s", Head: "CPU time", Unit: "s", Align: report.Decimal},
			{Key: "peak_cores", Head: "CPU", Unit: "cores, max of 3 s", Align: report.Decimal},
		}}
	if len(m.Groups) > 0 && m.Groups[len(m.Groups)-1].Kind == kindNeighbours {
		t.Title = "CPU by member of the service"
	}
	shown := map[string]int{}
	for _, u := range m.Groups {
		if shown[u.Kind]++; shown[u.Kind] <= mostGroups {
			t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(u.Name), cell.Text(u.Kind),
				cell.Number(u.CPU), cell.KnownNumber(u.Peak)}})
		}
	}
	if m.Unattributed >= timeline.LeastShare*length {
		t.Note = report.Prose(unit.Sig3(m.Unattributed) +
			" s more were of processes that began and ended between two samples, or of none.")
	}
	return t
}

// threadsTable lists threads that filled a core.
func (m *Machine) threadsTable() *report.Table {
	t := &report.Table{ID: "threads", Title: "Threads that filled a core", Narrow: true, Columns: []report.Column{
		{Key: "thread", Head: "thread"},
		{Key: "cpu_s", Head: "CPU time", Unit: "s", Align: report.Decimal},
		{Key: "peak_cores", Head: "CPU", Unit: "cores, max", Align: report.Decimal},
		{Key: "wait_s", Head: "waited for a core", Unit: "s", Align: report.Decimal},
	}}
	for _, u := range m.Threads[:min(len(m.Threads), mostGroups)] {
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(u.Name), cell.Number(u.CPU),
			cell.Number(u.Peak), cell.KnownNumber(u.Waited)}})
	}
	return t
}

// disksTable shows how busy disks were and how long requests took.
func (m *Machine) disksTable() *report.Table {
	t := &report.Table{ID: "disks", Title: "Disks", Narrow: true, Columns: []report.Column{
		{Key: "disk", Head: "disk"},
		{Key: "busy_ratio", Head: "busy", Unit: "%", Align: report.Decimal},
		{Key: "busy_peak_ratio", Head: "busy", Unit: "%, max", Align: report.Decimal},
		{Key: "requests", Head: "requests", Align: report.Right},
		{Key: "read_await_ms", Head: "a read", Unit: "ms", Align: report.Decimal},
		{Key: "write_await_ms", Head: "a write", Unit: "ms", Align: report.Decimal},
		{Key: "flush_await_ms", Head: "a flush", Unit: "ms", Align: report.Decimal},
		{Key: "moved_bytes", Head: "moved", Align: report.Right},
	}}
	for _, d := range m.Disks {
		moved := cell.None()
		if n := d.Read + d.Written; n >= 0 {
			moved = report.Cell{Text: unit.Bytes(uint64(n)), Raw: report.RawNumber(n)}
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(d.Name), cell.Percent(d.Busy),
			cell.Percent(d.BusyPeak),
			cell.Count(uint64(d.Reads + d.Writes)),
			cell.KnownNumber(1e3 * d.ReadAwait), cell.KnownNumber(1e3 * d.WriteAwait), cell.KnownNumber(1e3 * d.FlushAwait), moved}})
	}
	return t
}

// listenersTable lists listeners whose connections had to wait to be accepted.
func (m *Machine) listenersTable() *report.Table {
	t := &report.Table{ID: "listeners", Title: "Connections that waited to be accepted", Narrow: true,
		Columns: []report.Column{
			{Key: "listener", Head: "listener"},
			{Key: "queue_max", Head: "waited", Unit: "max", Align: report.Right},
			{Key: "limit", Head: "limit", Align: report.Right},
			{Key: "drops", Head: "refused", Align: report.Right},
		}}
	for _, l := range m.Listeners[:min(len(m.Listeners), mostListeners)] {
		drops := cell.KnownCount(l.Drops)
		if l.Drops > 0 {
			drops.Tone = report.Bad
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(l.Name), cell.Count(uint64(l.QueueMax)),
			cell.KnownCount(l.Limit), drops}})
	}
	return t
}
