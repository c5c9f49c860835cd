package digger

import (
	"container/heap"

	"github.com/kasoku/kasoku/labs/goldrush"
)

// A strip is n columns side by side with k treasures in them.
type strip struct{ x, y, n, k int }

// unknown is the k of a strip that was not asked for.
const unknown = -1

func (s strip) area(n int) goldrush.Area {
	return goldrush.Area{PosX: s.x, PosY: s.y, SizeX: n, SizeY: 1}
}

// A column is dug level by level.
type column struct {
	x, y  int
	depth int // that it was dug to
	left  int // treasures below
	worth float64
	order int // of finding, which decides between equals
}

// columns are those that wait for a dig, the one of most worth first.
type columns []column

// Len is for package heap.
func (c columns) Len() int { return len(c) }

// Less is for package heap.
func (c columns) Less(i, j int) bool {
	return c[i].worth > c[j].worth || c[i].worth == c[j].worth && c[i].order < c[j].order
}

// Swap is for package heap.
func (c columns) Swap(i, j int) { c[i], c[j] = c[j], c[i] }

// Push is for package heap.
func (c *columns) Push(x any) { *c = append(*c, x.(column)) }

// Pop is for package heap.
func (c *columns) Pop() any {
	last := len(*c) - 1
	x := (*c)[last]
	*c = (*c)[:last]
	return x
}

func (c *columns) add(x column) { heap.Push(c, x) }
func (c *columns) take() column { return heap.Pop(c).(column) }

// A find is a treasure that was dug and not cashed.
type find struct {
	text  string
	depth int
}

// A stock is what was found out and not used yet.
type stock struct {
	strips  []strip // with treasures; the last is split first
	columns columns
	finds   [maxDepth + 1][]find // by depth, the deepest is cashed first
	waiting int                  // finds that are worth cashing

	nextX, nextY int // the first column that was not asked for
	order        int
}

// addFind keeps a treasure for cashing.
func (s *stock) addFind(f find) {
	s.finds[f.depth] = append(s.finds[f.depth], f)
	s.waiting++
}

// takeFind takes the deepest of finds that has one.
func (s *stock) takeFind() find {
	for depth := maxDepth; ; depth-- {
		if q := s.finds[depth]; len(q) > 0 {
			s.finds[depth] = q[1:]
			s.waiting--
			return q[0]
		}
	}
}

// nextStrip is the next n columns of which nothing is known, fewer at the end of a row; n is 0
// where there are none.
func (s *stock) nextStrip(n, sizeX, sizeY int) strip {
	if s.nextY >= sizeY {
		return strip{}
	}
	out := strip{x: s.nextX, y: s.nextY, n: min(n, sizeX-s.nextX)}
	if s.nextX += out.n; s.nextX >= sizeX {
		s.nextX, s.nextY = 0, s.nextY+1
	}
	return out
}
