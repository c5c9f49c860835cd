package report

import (
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/runstore"
	"github.com/kasoku/kasoku/unit"
)

// KindList is a list of runs.
const KindList Kind = "list"

// List tells of the runs of a directory, in the order given.
func List(runs []runstore.Info, o Options) *Document {
	d := &Document{Kind: KindList, Title: "runs"}
	if len(runs) == 0 {
		d.Verdict = "No runs yet."
		d.Sections = []Section{{ID: "runs", Title: "start", Blocks: []Block{
			Para{Text: "`kasoku record -- COMMAND` makes one; `kasoku demo` makes two and compares them."}}}}
		return d
	}
	t := &Table{ID: "runs", Columns: []Column{
		{Key: "run", Head: "run"},
		{Key: "started", Head: "started", Drop: 2},
		{Key: "length_s", Head: "length", Unit: "s", Align: Right},
		{Key: "size_bytes", Head: "size", Align: Right, Drop: 3},
		{Key: "state", Head: "state", Drop: 1},
		{Key: "verdict", Head: "verdict", Cut: true},
	}}
	for _, r := range runs {
		t.Rows = append(t.Rows, Row{Cells: listCells(r, o.Location)})
	}
	d.Sections = []Section{{ID: "runs", Title: "runs", Count: len(runs), Blocks: []Block{t}}}
	return d
}

func listCells(r runstore.Info, loc *time.Location) []Cell {
	name := r.Label
	if name == "" {
		name = r.ID
	}
	if r.Err != nil {
		return []Cell{text(name), none(), none(), size(r.SizeBytes), text("unreadable").tone(Bad), text(r.Err.Error())}
	}
	started := r.Started
	if loc != nil {
		started = started.In(loc)
	}
	length := none()
	if r.Length > 0 {
		length = count(uint64(r.Length.Round(time.Second).Seconds()))
	}
	verdict := r.Verdict
	if verdict == "" {
		verdict = r.Note
	}
	state := text(string(r.State))
	if r.State != kasoku.Finished {
		state = state.tone(Mark)
	}
	return []Cell{text(name), {Text: started.Format("2 Jan 15:04:05"), Raw: started.Format(time.RFC3339)},
		length, size(r.SizeBytes), state, text(verdict)}
}

func size(bytes int64) Cell {
	return Cell{Text: unit.Bytes(uint64(bytes)), Raw: unit.Plain(float64(bytes))}
}
