// Package picture draws small flat pictures of chairs and houses for the front end
// of isuumo, so that the repository holds no image files.
//
// A picture is 300 × 200 pixels. It is made of a few shapes with round corners in a
// few colours; all coordinates are pixels from the top left.
package picture

import (
	"image"
	"image/color"
	"math"
	"slices"
)

// The size of a picture in pixels.
const (
	Width  = 300
	Height = 200
)

// canvas is a picture that shapes are put on, the later ones above.
type canvas struct{ *image.NRGBA }

func newCanvas() *canvas { return &canvas{image.NewNRGBA(image.Rect(0, 0, Width, Height))} }

// rgb makes a colour of 0xRRGGBB.
func rgb(v uint32) color.NRGBA {
	return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 0xff}
}

// mix returns a colour between a, at share 0, and b, at share 1.
func mix(a, b color.NRGBA, share float64) color.NRGBA {
	part := func(a, b uint8) uint8 { return uint8(float64(a) + (float64(b)-float64(a))*share + 0.5) }
	return color.NRGBA{part(a.R, b.R), part(a.G, b.G), part(a.B, b.B), 0xff}
}

func darker(c color.NRGBA, share float64) color.NRGBA  { return mix(c, rgb(0x1b2333), share) }
func lighter(c color.NRGBA, share float64) color.NRGBA { return mix(c, rgb(0xffffff), share) }

// sky fills the picture from one colour at the top to another at the given height,
// which goes on below.
func (c *canvas) sky(top, bottom color.NRGBA, height int) {
	for y := range Height {
		line := mix(top, bottom, min(1, float64(y)/float64(height)))
		for x := range Width {
			c.SetNRGBA(x, y, line)
		}
	}
}

type point struct{ x, y float64 }

// shape fills a polygon, given as x, y, x, y …, with corners rounded by a radius.
func (c *canvas) shape(col color.NRGBA, radius float64, xy ...float64) {
	var corners []point
	for p := range slices.Chunk(xy, 2) {
		corners = append(corners, point{p[0], p[1]})
	}
	c.fill(col, soften(corners, radius))
}

// rect fills a rectangle.
func (c *canvas) rect(col color.NRGBA, radius, x, y, w, h float64) {
	c.shape(col, radius, x, y, x+w, y, x+w, y+h, x, y+h)
}

// oval fills an ellipse about a centre.
func (c *canvas) oval(col color.NRGBA, x, y, rx, ry float64) {
	const corners = 64
	path := make([]point, corners)
	for i := range path {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		path[i] = point{x + rx*cos, y + ry*sin}
	}
	c.fill(col, path)
}

// line draws along points, given as x, y, x, y …, with round ends.
func (c *canvas) line(col color.NRGBA, width float64, xy ...float64) {
	for i := 0; i+3 < len(xy); i += 2 {
		x, y, dx, dy := xy[i], xy[i+1], xy[i+2]-xy[i], xy[i+3]-xy[i+1]
		l := math.Hypot(dx, dy) * 2 / width
		nx, ny := -dy/l, dx/l
		c.shape(col, 0, x+nx, y+ny, x+dx+nx, y+dy+ny, x+dx-nx, y+dy-ny, x-nx, y-ny)
		c.oval(col, x, y, width/2, width/2)
		c.oval(col, x+dx, y+dy, width/2, width/2)
	}
}

// soften replaces each corner by a curve that begins and ends at most a radius away
// from it: a parabola (a Bézier curve of three points).
func soften(corners []point, radius float64) []point {
	if radius <= 0 {
		return corners
	}
	const steps = 8
	var out []point
	n := len(corners)
	for i, p := range corners {
		from, to := toward(p, corners[(i+n-1)%n], radius), toward(p, corners[(i+1)%n], radius)
		for s := range steps + 1 {
			t := float64(s) / steps
			a, b, c := (1-t)*(1-t), 2*t*(1-t), t*t
			out = append(out, point{a*from.x + b*p.x + c*to.x, a*from.y + b*p.y + c*to.y})
		}
	}
	return out
}

// toward returns the point so far from p on the way to q, at most half of it.
func toward(p, q point, distance float64) point {
	share := min(0.5, distance/math.Hypot(q.x-p.x, q.y-p.y))
	return point{p.x + (q.x-p.x)*share, p.y + (q.y-p.y)*share}
}

// scans is how many lines a row of pixels is cut into, to smooth edges.
const scans = 5

// fill paints the inside of an outline by the even-odd rule. Along a line coverage
// is exact, across lines it is sampled.
func (c *canvas) fill(col color.NRGBA, path []point) {
	low, high := path[0], path[0]
	for _, p := range path {
		low, high = point{min(low.x, p.x), min(low.y, p.y)}, point{max(high.x, p.x), max(high.y, p.y)}
	}
	left, right := max(0, int(low.x)), min(Width, int(high.x)+1)
	var cover [Width]float64
	var crossings []float64
	for y := max(0, int(low.y)); y < min(Height, int(high.y)+1); y++ {
		clear(cover[:])
		for s := range scans {
			crossings = crossingsAt(crossings[:0], path, float64(y)+(float64(s)+0.5)/scans)
			for i := 0; i+1 < len(crossings); i += 2 {
				addSpan(&cover, crossings[i], crossings[i+1])
			}
		}
		for x := left; x < right; x++ {
			if cover[x] > 0 {
				c.SetNRGBA(x, y, mix(c.NRGBAAt(x, y), col, min(1, cover[x]/scans)))
			}
		}
	}
}

// crossingsAt appends where an outline crosses a height, from left to right.
func crossingsAt(dst []float64, path []point, y float64) []float64 {
	for i, a := range path {
		b := path[(i+1)%len(path)]
		if (a.y > y) != (b.y > y) {
			dst = append(dst, a.x+(y-a.y)/(b.y-a.y)*(b.x-a.x))
		}
	}
	slices.Sort(dst)
	return dst
}

// addSpan adds to each pixel how much of it is between two places.
func addSpan(cover *[Width]float64, from, to float64) {
	from, to = max(from, 0), min(to, Width)
	for x := int(from); x < Width && float64(x) < to; x++ {
		cover[x] += min(to, float64(x+1)) - max(from, float64(x))
	}
}
