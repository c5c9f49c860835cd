package report

import (
	"strings"

	"github.com/kasoku/kasoku/internal/unit"
)

// A Flame is the stacks of a profile, drawn: each function stands below what called
// it and is as wide as its share, of two sides as the mean of both. Tables beside it list its largest functions, so
// that only pages draw it.
type Flame struct {
	ID     string
	Title  string // what is drawn: Stacks of CPU time
	Total  string // 7.97 s
	Read   string // how it is read
	Left   string // what is not drawn; empty: nothing
	Open   bool
	Depth  int // rows
	Frames []FlameFrame
	Legend []FlameClass // of those classes that are there
}

// A FlameFrame is a function in one stack.
type FlameFrame struct {
	Name  string  // as it is drawn
	Title string  // all that is known of it, in one line
	Class string  // a class of functions, or of how much it moved: less-2, same, more-3
	Row   int     // 0 is the outermost
	Left  float64 // 0..1 of the whole
	Width float64
}

// A FlameClass is a colour of a flame graph and its part of the whole, by what the
// functions used themselves.
type FlameClass struct {
	Class string
	Name  string
	Share string // empty where there is none
}

func (*Flame) block() {}

// A Trend is the figures of runs in the order in which they were made, evenly
// spaced.
type Trend struct {
	ID    string
	Title string // said only when there are several
	Name  string // of the figure: score
	Axis
	Points []TrendPoint
	Peak   string // max 18,138 (after)
}

// A TrendPoint is one step of a trend.
type TrendPoint struct {
	Number    int // of the step
	Name      string
	Text      string // its figure, printed
	Value     float64
	Low, High float64 // of its runs; both Value when it is one
	Record    bool    // no point before it was higher
}

// A Tale describes each step of a list in words.
type Tale struct{ List []Chapter }

// A Chapter is a paragraph on one step. Its text may hold what people typed.
type Chapter struct {
	Number     int
	Name, Text string
}

func (*Trend) block() {}

func (*Tale) block() {}

// Strips shows the single runs of both sides as dots, one strip a figure.
type Strips struct{ List []Strip }

// A Strip is one figure of all runs on a plain axis from its least to its most.
type Strip struct {
	Name, Unit    string
	Low, High     string // the ends of the axis
	Before, After []Dot
	Verdict       string // of the row
	Tone          Tone
}

// A Dot is one run.
type Dot struct {
	At     float64 // 0..1 of the axis
	Text   string  // its figure
	Run    string  // its name
	Middle bool    // it is the median, or one of the two beside it
}

func (*Strips) block() {}

// A Diff is how one text differs, as a unified diff.
type Diff struct {
	Name string // of the text: a path, a table
	What string // in few words: "+2 −1"
	Open bool   // shown unfolded where it can be folded
	// Lines of the diff; Sign is that of the diff, '@' at the head of a hunk.
	Lines []CodeLine
	More  string // what was left out
}

func (*Diff) block() {}

// unfolded is how many lines a diff that is shown unfolded has at most.
const unfolded = 25

// NewDiff makes a block of the hunks of a unified diff; left lines more were cut.
func NewDiff(name, what, hunks string, left int) *Diff {
	d := &Diff{Name: name, What: what}
	for line := range strings.Lines(hunks) {
		l := CodeLine{Sign: ' ', Text: strings.TrimRight(line, "\r\n")}
		if strings.IndexByte("+-@", line[0]) >= 0 {
			l.Sign = line[0]
		}
		d.Lines = append(d.Lines, l)
	}
	d.Open = len(d.Lines) <= unfolded
	if left > 0 {
		d.More = unit.Counted(left, "more line", "more lines")
	}
	return d
}
