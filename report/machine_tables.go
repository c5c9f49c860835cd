package report

import (
	"github.com/kasoku/kasoku/internal/unit"
)

// SectionMachine is the id of what used the machine: groups of processes, threads,
// disks, queues, programs in Go.
const SectionMachine = "machine"

// The tables of the machine are short: what used it most.
const (
	mostGroups    = 8
	mostListeners = 8
)

// MachineSection shows who used the machine, and what queued on it. A table that
// would show nothing is left out.
func MachineSection(r rec) Section {
	s := Section{ID: SectionMachine, Title: "Machine",
		Sub: "Sums over the run; the largest value is that of one interval between two samples, of a group that of 3 s."}
	for _, m := range Machines(r.Recording) {
		before := ""
		if m.Host != "" {
			before = m.Host + ": "
		}
		for _, t := range []*Table{m.groupsTable(r.length().Seconds()), m.threadsTable(), m.disksTable(),
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
func (m *Machine) groupsTable(length float64) *Table {
	t := &Table{ID: "groups", Title: "CPU by unit, container and program", Narrow: true, Columns: []Column{
		{Key: "group", Head: "group"},
		{Key: "kind", Head: "kind"},
		{Key: "cpu_s", Head: "CPU time", Unit: "s", Align: Decimal},
		{Key: "peak_cores", Head: "CPU", Unit: "cores, max of 3 s", Align: Decimal},
	}}
	shown := map[string]int{}
	for _, u := range m.Groups {
		if shown[u.Kind]++; shown[u.Kind] <= mostGroups {
			t.Rows = append(t.Rows, Row{Cells: []Cell{text(u.Name), text(u.Kind), number(u.CPU), number(u.Peak)}})
		}
	}
	if m.Unattributed >= leastShare*length {
		t.Note = Prose(unit.Sig3(m.Unattributed) +
			" s more were of processes that began and ended between two samples, or of none.")
	}
	return t
}

// threadsTable lists threads that filled a core.
func (m *Machine) threadsTable() *Table {
	t := &Table{ID: "threads", Title: "Threads that filled a core", Narrow: true, Columns: []Column{
		{Key: "thread", Head: "thread"},
		{Key: "cpu_s", Head: "CPU time", Unit: "s", Align: Decimal},
		{Key: "peak_cores", Head: "CPU", Unit: "cores, max", Align: Decimal},
		{Key: "wait_s", Head: "waited for a core", Unit: "s", Align: Decimal},
	}}
	for _, u := range m.Threads[:min(len(m.Threads), mostGroups)] {
		t.Rows = append(t.Rows, Row{Cells: []Cell{text(u.Name), number(u.CPU), number(u.Peak), numberOf(u.Waited)}})
	}
	return t
}

// disksTable shows how busy disks were and how long requests took.
func (m *Machine) disksTable() *Table {
	t := &Table{ID: "disks", Title: "Disks", Narrow: true, Columns: []Column{
		{Key: "disk", Head: "disk"},
		{Key: "busy_ratio", Head: "busy", Unit: "%", Align: Decimal},
		{Key: "busy_peak_ratio", Head: "busy", Unit: "%, max", Align: Decimal},
		{Key: "requests", Head: "requests", Align: Right},
		{Key: "read_await_ms", Head: "a read", Unit: "ms", Align: Decimal},
		{Key: "write_await_ms", Head: "a write", Unit: "ms", Align: Decimal},
		{Key: "flush_await_ms", Head: "a flush", Unit: "ms", Align: Decimal},
		{Key: "moved_bytes", Head: "moved", Align: Right},
	}}
	for _, d := range m.Disks {
		moved := none()
		if n := d.Read + d.Written; n >= 0 {
			moved = Cell{Text: unit.Bytes(uint64(n)), Raw: raw(n)}
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{text(d.Name), percent(d.Busy), percent(d.BusyPeak),
			count(uint64(d.Reads + d.Writes)),
			numberOf(1e3 * d.ReadAwait), numberOf(1e3 * d.WriteAwait), numberOf(1e3 * d.FlushAwait), moved}})
	}
	return t
}

// listenersTable lists listeners whose connections had to wait to be accepted.
func (m *Machine) listenersTable() *Table {
	t := &Table{ID: "listeners", Title: "Connections that waited to be accepted", Narrow: true, Columns: []Column{
		{Key: "listener", Head: "listener"},
		{Key: "queue_max", Head: "waited", Unit: "max", Align: Right},
		{Key: "limit", Head: "limit", Align: Right},
		{Key: "drops", Head: "refused", Align: Right},
	}}
	for _, l := range m.Listeners[:min(len(m.Listeners), mostListeners)] {
		drops := countOf(l.Drops)
		if l.Drops > 0 {
			drops.Tone = Bad
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{text(l.Name), count(uint64(l.QueueMax)), countOf(l.Limit), drops}})
	}
	return t
}
