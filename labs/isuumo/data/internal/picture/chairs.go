package picture

import (
	"image"
	"image/color"
)

// A room is the colours of a picture of a chair.
type room struct {
	wall, floor color.NRGBA
	cloth       color.NRGBA // of the chair
	frame       color.NRGBA // wood or metal
}

func rooms() []room {
	return []room{
		{rgb(0xf3ede4), rgb(0xe2d6c4), rgb(0x2f7f79), rgb(0xa9713f)},
		{rgb(0xe6eef5), rgb(0xcfdbe6), rgb(0xd9694a), rgb(0x4a4f5a)},
		{rgb(0xf6f0dc), rgb(0xe5dab8), rgb(0x3d5a98), rgb(0x8a5a34)},
		{rgb(0xf4e7e6), rgb(0xe3cdca), rgb(0xc9a23b), rgb(0x5b4a42)},
	}
}

// chairShapes are the kinds of chairs that can be drawn.
func chairShapes() []func(c *canvas, r room) {
	return []func(c *canvas, r room){armchair, diningChair, officeChair, gamingChair, floorChair, hammock}
}

// Chairs is how many different pictures of chairs there are.
func Chairs() int { return len(chairShapes()) * len(rooms()) }

// Chair draws picture i, which is less than [Chairs].
func Chair(i int) image.Image {
	shapes := chairShapes()
	r := rooms()[i/len(shapes)]
	c := newCanvas()
	c.sky(lighter(r.wall, 0.3), r.wall, 150)
	c.rect(r.floor, 0, 0, 150, Width, 50)
	c.rect(lighter(r.floor, 0.45), 0, 0, 147, Width, 4) // skirting board
	shapes[i%len(shapes)](c, r)
	return c
}

// shade is the shadow that a chair throws on the floor.
func shade(c *canvas, r room, width float64) { c.oval(darker(r.floor, 0.16), 150, 179, width, 8) }

func armchair(c *canvas, r room) {
	shade(c, r, 84)
	c.line(r.frame, 8, 101, 162, 95, 178)
	c.line(r.frame, 8, 199, 162, 205, 178)
	c.rect(r.cloth, 30, 94, 50, 112, 104)
	c.rect(lighter(r.cloth, 0.12), 22, 106, 62, 88, 70)
	for _, x := range []float64{128, 150, 172} {
		c.oval(darker(r.cloth, 0.25), x, 88, 3, 3)
	}
	c.rect(darker(r.cloth, 0.12), 6, 92, 142, 116, 22)
	c.rect(lighter(r.cloth, 0.25), 12, 102, 116, 96, 32)
	c.rect(darker(r.cloth, 0.22), 0, 108, 144, 84, 3)
	c.rect(lighter(r.cloth, 0.06), 15, 78, 100, 32, 64)
	c.rect(lighter(r.cloth, 0.06), 15, 190, 100, 32, 64)
	c.oval(lighter(r.cloth, 0.2), 94, 114, 9, 9)
	c.oval(lighter(r.cloth, 0.2), 206, 114, 9, 9)
}

func diningChair(c *canvas, r room) {
	shade(c, r, 66)
	back := darker(r.frame, 0.25)
	c.line(back, 7, 120, 130, 117, 168)
	c.line(back, 7, 180, 130, 183, 168)
	c.line(r.frame, 8, 112, 36, 120, 124)
	c.line(r.frame, 8, 188, 36, 180, 124)
	for _, x := range []float64{134, 150, 166} {
		c.line(lighter(r.frame, 0.15), 5, x+(x-150)*0.2, 58, x, 118)
	}
	c.rect(r.frame, 10, 106, 30, 88, 26)
	c.rect(lighter(r.frame, 0.18), 6, 112, 34, 76, 7)
	c.line(r.frame, 9, 104, 134, 99, 178)
	c.line(r.frame, 9, 196, 134, 201, 178)
	c.line(back, 5, 104, 158, 196, 158)
	c.shape(darker(r.cloth, 0.2), 10, 114, 112, 186, 112, 206, 140, 94, 140)
	c.shape(r.cloth, 10, 114, 107, 186, 107, 206, 134, 94, 134)
	c.shape(lighter(r.cloth, 0.18), 8, 121, 111, 179, 111, 190, 123, 110, 123)
}

// star is the foot with five wheels of chairs that turn.
func star(c *canvas, r room) {
	metal := darker(r.frame, 0.45)
	shade(c, r, 66)
	c.rect(darker(r.frame, 0.2), 2, 145, 134, 10, 26)
	for _, x := range []float64{100, 126, 174, 200} {
		y := 174.0
		if x == 126 || x == 174 {
			y = 180
		}
		c.line(metal, 6, 150, 160, x, y-4)
		c.oval(darker(metal, 0.4), x, y, 6, 6)
	}
	c.rect(metal, 3, 142, 142, 16, 16)
}

func officeChair(c *canvas, r room) {
	star(c, r)
	metal := darker(r.frame, 0.45)
	c.line(metal, 6, 150, 132, 98, 128, 92, 102)
	c.line(metal, 6, 150, 132, 202, 128, 208, 102)
	c.rect(darker(r.cloth, 0.35), 5, 80, 94, 26, 9)
	c.rect(darker(r.cloth, 0.35), 5, 194, 94, 26, 9)
	c.rect(metal, 2, 145, 24, 10, 20)
	c.rect(r.cloth, 9, 122, 12, 56, 20)
	c.shape(metal, 22, 108, 34, 192, 34, 198, 108, 102, 108)
	c.shape(lighter(r.cloth, 0.3), 18, 114, 40, 186, 40, 191, 103, 109, 103)
	for y := 48.0; y < 100; y += 8 {
		c.line(r.cloth, 2.4, 120, y, 180, y)
	}
	c.rect(darker(r.cloth, 0.2), 11, 98, 116, 104, 22)
	c.rect(r.cloth, 10, 100, 112, 100, 19)
	c.rect(lighter(r.cloth, 0.2), 4, 112, 115, 76, 6)
}

func gamingChair(c *canvas, r room) {
	star(c, r)
	dark := rgb(0x2a2d38)
	c.line(dark, 6, 98, 130, 92, 106)
	c.line(dark, 6, 202, 130, 208, 106)
	c.rect(dark, 5, 80, 98, 26, 9)
	c.rect(dark, 5, 194, 98, 26, 9)
	c.shape(dark, 14, 122, 8, 178, 8, 186, 42, 202, 52, 192, 122, 108, 122, 98, 52, 114, 42)
	c.shape(r.cloth, 8, 104, 56, 117, 50, 124, 118, 111, 116)
	c.shape(r.cloth, 8, 196, 56, 183, 50, 176, 118, 189, 116)
	c.shape(lighter(dark, 0.12), 10, 126, 14, 174, 14, 180, 44, 172, 118, 128, 118, 120, 44)
	c.rect(r.cloth, 7, 130, 22, 40, 18)
	c.rect(lighter(dark, 0.5), 2, 136, 46, 10, 6)
	c.rect(lighter(dark, 0.5), 2, 154, 46, 10, 6)
	c.rect(r.cloth, 8, 126, 84, 48, 26)
	c.rect(lighter(r.cloth, 0.25), 3, 132, 88, 36, 5)
	c.rect(dark, 11, 94, 118, 112, 22)
	c.rect(r.cloth, 8, 96, 118, 20, 18)
	c.rect(r.cloth, 8, 184, 118, 20, 18)
	c.rect(lighter(dark, 0.12), 8, 118, 115, 64, 18)
}

// floorChair stands on tatami mats and has no legs.
func floorChair(c *canvas, r room) {
	mat, edge := rgb(0xcfd3a0), rgb(0x56704f)
	c.rect(mat, 0, 0, 150, Width, 50)
	for y := 153.0; y < Height; y += 5 {
		c.line(darker(mat, 0.08), 1, 0, y, Width, y)
	}
	c.shape(edge, 0, 28, 150, 34, 150, 12, 200, 4, 200)
	c.shape(edge, 0, 266, 150, 272, 150, 296, 200, 288, 200)
	c.oval(darker(mat, 0.22), 156, 178, 84, 8)
	c.shape(darker(r.cloth, 0.25), 14, 92, 62, 112, 56, 142, 158, 118, 170)
	c.shape(r.cloth, 14, 98, 58, 130, 52, 158, 150, 126, 164)
	for _, t := range []float64{0.25, 0.5, 0.75} {
		c.line(lighter(r.cloth, 0.3), 2.5, 102+28*t, 60+92*t, 126+28*t, 55+92*t)
	}
	c.rect(darker(r.cloth, 0.25), 10, 116, 158, 122, 20)
	c.rect(r.cloth, 13, 120, 142, 116, 26)
	c.rect(lighter(r.cloth, 0.22), 6, 136, 146, 88, 8)
	c.line(r.frame, 2, 48, 0, 48, 30) // a paper lamp
	c.rect(lighter(rgb(0xffe9b8), 0.2), 8, 32, 30, 32, 42)
	c.rect(r.frame, 2, 36, 27, 24, 4)
	c.rect(r.frame, 2, 36, 71, 24, 4)
}

func hammock(c *canvas, r room) {
	shade(c, r, 60)
	rope := lighter(r.frame, 0.3)
	c.line(rope, 3, 150, 0, 150, 20)
	c.line(rope, 3, 98, 44, 150, 18, 202, 44)
	c.oval(r.frame, 150, 19, 5, 5)
	c.shape(darker(r.cloth, 0.25), 34, 104, 46, 196, 46, 190, 112, 168, 154, 132, 154, 110, 112)
	c.shape(r.cloth, 30, 100, 46, 142, 46, 134, 110, 160, 152, 128, 154, 108, 116)
	c.shape(r.cloth, 30, 200, 46, 158, 46, 166, 110, 140, 152, 172, 154, 192, 116)
	for _, side := range []float64{-1, 1} {
		for _, at := range []float64{18, 27, 36} {
			c.line(lighter(r.cloth, 0.5), 3, 150+side*at*1.2, 48, 150+side*(at-3), 100, 150+side*at/2.4, 146)
		}
	}
	c.oval(lighter(r.cloth, 0.6), 150, 122, 30, 15)
	c.oval(lighter(r.cloth, 0.4), 150, 126, 24, 9)
	c.line(r.frame, 7, 94, 45, 206, 45)
}
