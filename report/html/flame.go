package html

import (
	"strconv"
	"unicode/utf8"

	"github.com/kasoku/kasoku/report"
)

// A flame graph of the page. Each frame is an svg of its own inside the drawing, as
// wide as its share in percent: so the drawing scales to any width without script,
// text keeps its size, and what does not fit is clipped at the frame's edge.
type flame struct {
	*report.Flame
	Height int
	Frames []flameFrame
	Aria   string
}

type flameFrame struct {
	X, Width, Y string
	Class       string
	Name, Title string // no name where there is no room for one
}

const (
	flameRow = 19 // pixels
	// flameLetter is how wide a letter is at least on a page of usual width, in
	// percent of it; a name is written where three of them have room.
	flameLetter = 0.006
)

func flameView(f *report.Flame) flame {
	v := flame{Flame: f, Height: f.Depth * flameRow, Aria: f.Title + ", " + f.Total +
		"; the table above has the largest functions"}
	for _, x := range f.Frames {
		out := flameFrame{
			X: trim(100 * x.Left), Width: trim(100 * x.Width), Y: strconv.Itoa(x.Row * flameRow),
			Class: x.Class, Title: x.Title,
		}
		if x.Width > flameLetter*float64(min(3+1, 1+utf8.RuneCountInString(x.Name))) {
			out.Name = x.Name
		}
		v.Frames = append(v.Frames, out)
	}
	return v
}
