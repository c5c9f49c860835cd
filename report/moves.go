package report

// Moves is what moved between two sides, with intervals that can be drawn.
type Moves struct {
	ID     string
	Label  string // how sure this is: one run a side …
	Groups []MoveGroup
	Note   Prose
	Legend Prose // what the words of the last column mean
	Tested bool  // several runs: there is a p
	Floor  bool  // the noise of unchanged runs is known
}

// A MoveGroup is rows that share an axis.
type MoveGroup struct {
	Title string
	Ticks []Tick // places on the axis, 0..1
	Zero  float64
	Rows  []Move
}

// A Move is one figure of both sides.
type Move struct {
	ID            string
	Name, Unit    string
	Before, After string
	Change        string
	Interval      string // – when there is none
	P             string // of the test; – when there was none
	Noise         string // ±5.2 %: what two unchanged runs differ by; – when it is not known
	Verdict       string // better, worse, unsure, noise, different; – when it is not judged
	Tone          Tone
	Mark          *Interval
	RawBefore     string // for machines, in the row's own unit; empty when it was not measured
	RawAfter      string
}

// An Interval is drawn as a dot with its ends, at places 0..1 of its group's axis.
type Interval struct {
	At, Low, High float64
	Ends          bool // Low and High are known
	Filled        bool // better or worse; hollow is unsure
	Beyond        int  // -1 and 1: off the axis on that side
}

// Table gives the rows as a table.
func (m *Moves) Table() *Table {
	t := &Table{ID: m.ID, Note: m.Note, Columns: []Column{
		{Key: "metric", Head: "metric"},
		{Key: "before", Head: "before", Align: Right},
		{Key: "after", Head: "after", Align: Right},
		{Key: "change", Head: "change", Align: Right},
		{Key: "interval", Head: "95 % interval", Align: Right, Drop: 1},
	}}
	if m.Tested {
		t.Columns = append(t.Columns, Column{Key: "p", Head: "p", Align: Right, Drop: 2})
	}
	if m.Floor {
		t.Columns = append(t.Columns, Column{Key: "noise", Head: "noise", Align: Right, Drop: 3})
	}
	t.Columns = append(t.Columns, Column{Key: "direction", Tag: true})
	for _, g := range m.Groups {
		t.Rows = append(t.Rows, Row{Group: g.Title})
		for _, x := range g.Rows {
			name := x.Name
			if x.Unit != "" {
				name += ", " + x.Unit
			}
			before, after := Cell{Text: x.Before, Raw: x.RawBefore}, Cell{Text: x.After, Raw: x.RawAfter}
			cells := []Cell{{Text: name}, before, after, {Text: x.Change, Tone: Strong}, {Text: x.Interval, Tone: Dim}}
			if m.Tested {
				cells = append(cells, Cell{Text: x.P, Tone: Dim})
			}
			if m.Floor {
				cells = append(cells, Cell{Text: x.Noise, Tone: Dim})
			}
			t.Rows = append(t.Rows, Row{Cells: append(cells, Cell{Text: x.Verdict, Tone: x.Tone})})
		}
	}
	return t
}
