package mine

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/kasoku/kasoku/labs/goldrush"
)

// A column is a bit for each treasure that is still buried, by depth, and in the topmost
// bits how deep it was dug.
type column uint16

const (
	dugShift = 12
	buried   = column(1)<<dugShift - 1
)

func (c column) count() int { return bits.OnesCount16(uint16(c & buried)) }
func (c column) dug() int   { return int(c >> dugShift) }

// blockSize is how many columns of a row are counted together, so that a look at the whole
// world costs the server little more than one at a place.
const blockSize = 64

// A world is the map.
type world struct {
	sizeX, sizeY, depth int
	columns             []column
	blocks              []uint16 // treasures by row and block
	perRow              int      // blocks
	skipped             int      // treasures whose place was taken
}

// newWorld places the treasures.
func newWorld(r *goldrush.Rules, rng *rand.Rand) *world {
	w := &world{sizeX: r.SizeX, sizeY: r.SizeY, depth: r.Depth, perRow: (r.SizeX + blockSize - 1) / blockSize}
	w.columns = make([]column, w.sizeX*w.sizeY)
	w.blocks = make([]uint16, w.perRow*w.sizeY)
	for range r.Treasures {
		x, y := rng.IntN(w.sizeX), rng.IntN(w.sizeY)
		c, bit := w.at(x, y), column(1)<<rng.IntN(w.depth)
		if *c&bit != 0 {
			w.skipped++
			continue
		}
		*c |= bit
		w.blocks[w.block(x, y)]++
	}
	return w
}

func (w *world) at(x, y int) *column { return &w.columns[y*w.sizeX+x] }

func (w *world) block(x, y int) int { return y*w.perRow + x/blockSize }

// explore counts the treasures of an area that are buried.
func (w *world) explore(a goldrush.Area) (n int, err *goldrush.Answer) {
	lastX, lastY := a.PosX+a.SizeX-1, a.PosY+a.SizeY-1
	switch {
	case lastX < a.PosX || lastX >= w.sizeX:
		return 0, wrongCoord("X %d-%d is outside the allowed range 0-%d", a.PosX, lastX, w.sizeX-1)
	case lastY < a.PosY || lastY >= w.sizeY:
		return 0, wrongCoord("Y %d-%d is outside the allowed range 0-%d", a.PosY, lastY, w.sizeY-1)
	}
	for y := a.PosY; y <= lastY; y++ {
		n += w.countRow(y, a.PosX, lastX+1)
	}
	return n, nil
}

// countRow counts the treasures of a row in [from, to).
func (w *world) countRow(y, from, to int) (n int) {
	row := w.columns[y*w.sizeX : (y+1)*w.sizeX]
	for from < to {
		if from%blockSize == 0 && from+blockSize <= to {
			n += int(w.blocks[w.block(from, y)])
			from += blockSize
			continue
		}
		n += row[from].count()
		from++
	}
	return n
}

// dig goes one level deeper, and reports whether there was a treasure.
func (w *world) dig(h goldrush.Hole) (found bool, err *goldrush.Answer) {
	switch {
	case h.Depth > w.depth:
		return false, wrongCoord("depth=%d > %d", h.Depth, w.depth)
	case h.PosX >= w.sizeX:
		return false, wrongCoord("x=%d >= %d", h.PosX, w.sizeX)
	case h.PosY >= w.sizeY:
		return false, wrongCoord("y=%d >= %d", h.PosY, w.sizeY)
	}
	c := w.at(h.PosX, h.PosY)
	if want := c.dug() + 1; h.Depth != want {
		return false, refuse(422, goldrush.CodeWrongDepth,
			fmt.Sprintf("wrong depth: %d (should be %d)", h.Depth, want))
	}
	*c += 1 << dugShift
	bit := column(1) << (h.Depth - 1)
	if *c&bit == 0 {
		return false, nil
	}
	*c &^= bit
	w.blocks[w.block(h.PosX, h.PosY)]--
	return true, nil
}

// holds reports whether a treasure is still buried at a place of the world.
func (w *world) holds(p place) bool { return *w.at(p.x, p.y)&(1<<(p.depth-1)) != 0 }

func wrongCoord(format string, args ...any) *goldrush.Answer {
	return refuse(422, goldrush.CodeWrongCoord, "wrong coordinates: "+fmt.Sprintf(format, args...))
}

func refuse(status, code int, message string) *goldrush.Answer {
	a := goldrush.Refuse(status, code, message)
	return &a
}
