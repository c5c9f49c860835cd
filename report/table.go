package report

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/internal/unit"
)

// An Align defines how the cells of a column stand.
type Align uint8

// The alignments.
const (
	Left    Align = iota
	Right         // flush right, as printed
	Decimal       // on the decimal point
)

// A Column is a column of a table.
type Column struct {
	Key    string // for machines, with its unit: p99_s
	Head   string
	Unit   string // under the head
	Align  Align
	Code   bool // set in the fixed-width face
	Cut    bool // may be cut where there is no room; the text column
	Middle bool // is cut in the middle: the end says more
	Tag    bool // a verdict, set apart
	Least  int  // with Cut: it is cut to so many characters before other columns go; 0 waits for them
	Bars   bool // holds nothing but bars of Share, for the eye: machines and Markdown leave it out
	Strips bool // with Bars: holds strips, for a wide terminal; a page has charts
	Drop   int  // the largest goes first where there is no room; 0 never goes; from DropExtra on before text is cut
}

// DropExtra is the Drop of columns that are extra: nice to have where there is room.
const DropExtra = 9

// A Cell is one printed value.
type Cell struct {
	Text  string
	Small string // beside it, less important
	Raw   string // for machines, in the unit of the column's key; Text when empty
	Tone  Tone
	Share *float64  // 0..1 of one whole, drawn as a bar; good part first
	Strip []float64 // drawn small, one after another, before the text, which gives their largest
	Refs  []int     // numbers of findings
}

// A Row is one row. A row with a Group is a heading over those that follow.
type Row struct {
	Group string
	Cells []Cell
	Key   string // what the row is of, for a page that leads on from it; see [EndpointKey], [StatementKey], [RunsKey]
}

// EndpointKey is the key of a row of an endpoint: e=HOST METHOD ROUTE.
func EndpointKey(host, method, route string) string { return "e=" + host + " " + method + " " + route }

// StatementKey is the key of a row of a class of statements: q=HOST ID.
func StatementKey(host, id string) string { return "q=" + host + " " + id }

// RunsKey is the key of a row of runs: r=FILE,FILE …, their files without directory and extension.
func RunsKey(files []string) string {
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(filepath.Base(f), filepath.Ext(f))
	}
	return "r=" + strings.Join(names, ",")
}

// A Table is rows and columns.
type Table struct {
	ID         string
	Title      string // said only when a section has several
	Narrow     bool   // few short cells, which would be lost across a page
	Columns    []Column
	Rows       []Row
	More       string // what was left out: 31 more, 4.2 % of time
	NarrowHint string // where a terminal has no room for some columns it names them, and says this: -o tsv shows them
	Sortable   bool   // a page lets its reader sort the rows
	Note       Prose
}

// Toned returns the cell with another tone.
func (c Cell) Toned(t Tone) Cell { c.Tone = t; return c }

// WithoutEmpty leaves out the columns in which nothing was measured.
func (t *Table) WithoutEmpty() *Table {
	for k := len(t.Columns) - 1; k >= 0; k-- {
		if slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Cells[k].Text != unit.Missing }) {
			continue
		}
		t.Columns = slices.Delete(t.Columns, k, k+1)
		for i := range t.Rows {
			t.Rows[i].Cells = slices.Delete(t.Rows[i].Cells, k, k+1)
		}
	}
	return t
}

// RawNumber prints a number for machines, in nine digits: more than anything measured has.
func RawNumber(v float64) string { return strconv.FormatFloat(v, 'g', 9, 64) }
