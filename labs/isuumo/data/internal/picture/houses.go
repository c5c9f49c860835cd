package picture

import (
	"image"
	"image/color"
)

// A view is the colours of a picture of a house.
type view struct {
	top, horizon color.NRGBA // of the sky
	light        color.NRGBA // sun or moon
	hill, grass  color.NRGBA
	wall, roof   color.NRGBA
	glass, wood  color.NRGBA
	low          bool // the light stands low
}

func views() []view {
	return []view{
		{rgb(0xa9d6f0), rgb(0xe8f5fa), rgb(0xfff3c4), rgb(0xa9cfa4), rgb(0x7fb77e), rgb(0xfbf6ea), rgb(0xb5533c),
			rgb(0x8fc3dc), rgb(0x8a5a34), false},
		{rgb(0xf2a97e), rgb(0xfde7c8), rgb(0xfff0d0), rgb(0xb99a8c), rgb(0x8c9a68), rgb(0xf7e3cf), rgb(0x6d4a4f),
			rgb(0xffdf8e), rgb(0x7a4b33), true},
		{rgb(0x26345e), rgb(0x6c7fae), rgb(0xf6f1d5), rgb(0x36486e), rgb(0x33524f), rgb(0xaab2cc), rgb(0x2d3557),
			rgb(0xffd773), rgb(0x4a3d4d), false},
		{rgb(0x8fd0d6), rgb(0xeef8ee), rgb(0xfff8d8), rgb(0x93c7b0), rgb(0x6fae86), rgb(0xe7eef2), rgb(0x35607f),
			rgb(0x6fb2c9), rgb(0xb07b4a), false},
	}
}

// houseShapes are the kinds of houses that can be drawn.
func houseShapes() []func(c *canvas, v view) {
	return []func(c *canvas, v view){gableHouse, flatHouse, apartments, tower, oldHouse, terrace}
}

// Houses is how many different pictures of houses there are.
func Houses() int { return len(houseShapes()) * len(views()) }

// House draws picture i, which is less than [Houses].
func House(i int) image.Image {
	shapes := houseShapes()
	v := views()[i/len(shapes)]
	c := newCanvas()
	c.sky(v.top, v.horizon, 160)
	if v.low {
		c.oval(v.light, 236, 118, 22, 22)
	} else {
		c.oval(v.light, 254, 38, 16, 16)
	}
	c.oval(lighter(v.horizon, 0.5), 52, 42, 24, 8)
	c.oval(lighter(v.horizon, 0.5), 70, 36, 18, 9)
	c.oval(v.hill, 60, 186, 130, 52)
	c.oval(lighter(v.hill, 0.12), 250, 190, 120, 44)
	c.rect(v.grass, 0, 0, 168, Width, 32)
	shapes[i%len(shapes)](c, v)
	return c
}

// tree stands at x; size is its height in pixels.
func tree(c *canvas, v view, x, size float64) {
	leaf := darker(v.grass, 0.25)
	c.line(v.wood, 4, x, 172, x, 172-size*0.5)
	c.oval(leaf, x, 172-size*0.62, size*0.3, size*0.4)
	c.oval(lighter(leaf, 0.15), x-size*0.08, 172-size*0.7, size*0.17, size*0.24)
}

// window is glass in a frame, with a cross.
func window(c *canvas, v view, x, y, w, h float64) {
	frame := lighter(v.wall, 0.7)
	c.rect(frame, 2, x-2, y-2, w+4, h+4)
	c.rect(v.glass, 0, x, y, w, h)
	c.shape(lighter(v.glass, 0.35), 0, x, y, x+w*0.55, y, x, y+h*0.7)
	c.rect(frame, 0, x+w/2-1, y, 2, h)
	c.rect(frame, 0, x, y+h/2-1, w, 2)
}

// door is a door with a step; its foot is on the ground.
func door(c *canvas, v view, x, w, h float64) {
	c.rect(v.wood, 2, x, 172-h, w, h)
	c.rect(lighter(v.wood, 0.2), 2, x+4, 172-h+5, w-8, h*0.35)
	c.oval(lighter(v.light, 0.3), x+w-5, 172-h*0.45, 2, 2)
	c.rect(lighter(v.hill, 0.35), 1, x-4, 170, w+8, 5)
}

func gableHouse(c *canvas, v view) {
	tree(c, v, 48, 62)
	c.rect(darker(v.roof, 0.2), 0, 192, 52, 16, 36) // chimney
	c.rect(v.wall, 0, 86, 96, 128, 76)
	c.shape(v.wall, 0, 92, 98, 150, 48, 208, 98)
	c.shape(v.roof, 4, 70, 102, 150, 36, 230, 102, 218, 106, 150, 51, 82, 106)
	c.oval(lighter(v.wall, 0.7), 150, 80, 12, 12)
	c.oval(v.glass, 150, 80, 9, 9)
	window(c, v, 100, 116, 30, 28)
	window(c, v, 172, 116, 30, 28)
	door(c, v, 138, 26, 52)
	for x := 96.0; x < 136; x += 8 {
		c.oval(darker(v.grass, 0.2), x, 170, 6, 6)
	}
	tree(c, v, 252, 46)
}

func flatHouse(c *canvas, v view) {
	tree(c, v, 262, 70)
	c.rect(darker(v.wall, 0.08), 0, 66, 116, 180, 56)
	c.rect(v.wall, 0, 92, 58, 112, 60)
	c.rect(v.roof, 1, 84, 52, 132, 8)
	c.rect(v.roof, 1, 56, 112, 200, 8)
	c.rect(v.wood, 0, 176, 60, 28, 52)
	for x := 181.0; x < 204; x += 6 {
		c.rect(darker(v.wood, 0.2), 0, x, 60, 1.5, 52)
	}
	window(c, v, 102, 70, 62, 32)
	window(c, v, 78, 132, 58, 28)
	c.rect(darker(v.wall, 0.3), 2, 190, 130, 46, 42) // garage
	for y := 137.0; y < 170; y += 7 {
		c.rect(darker(v.wall, 0.4), 0, 190, y, 46, 1.5)
	}
	door(c, v, 150, 24, 46)
	c.oval(darker(v.grass, 0.2), 60, 168, 14, 10)
	c.oval(darker(v.grass, 0.12), 46, 170, 10, 7)
}

func apartments(c *canvas, v view) {
	tree(c, v, 52, 56)
	c.rect(v.wall, 0, 76, 40, 148, 132)
	c.rect(darker(v.wall, 0.12), 0, 196, 40, 28, 132) // stairs
	c.rect(v.roof, 1, 70, 34, 160, 8)
	for y := 52.0; y < 170; y += 30 {
		for x := 86.0; x < 190; x += 36 {
			c.rect(v.glass, 1, x, y, 28, 18)
			c.rect(lighter(v.wall, 0.7), 0, x+13, y, 2, 18)
			c.rect(v.roof, 1, x-3, y+15, 34, 8)
			c.rect(lighter(v.roof, 0.25), 0, x-3, y+15, 34, 2)
		}
		if y < 140 { // the door is below
			c.rect(v.glass, 1, 204, y+2, 12, 12)
		}
	}
	door(c, v, 198, 24, 32)
	tree(c, v, 250, 48)
	tree(c, v, 274, 38)
}

func tower(c *canvas, v view) {
	c.rect(mix(v.hill, v.roof, 0.35), 0, 40, 98, 40, 74)
	c.rect(mix(v.hill, v.roof, 0.25), 0, 214, 78, 44, 94)
	c.rect(darker(v.wall, 0.2), 0, 168, 22, 24, 150)
	c.rect(v.wall, 0, 110, 14, 60, 158)
	c.rect(v.roof, 1, 106, 10, 68, 6)
	c.rect(v.roof, 1, 168, 18, 28, 5)
	c.line(v.roof, 2, 140, 12, 140, 2)
	for y := 24.0; y < 148; y += 12 {
		for x := 116.0; x < 164; x += 13 {
			c.rect(v.glass, 1, x, y, 9, 7)
		}
		c.rect(darker(v.glass, 0.2), 1, 175, y+6, 11, 6)
	}
	c.rect(darker(v.wall, 0.1), 0, 92, 150, 118, 22)
	c.rect(v.roof, 1, 88, 146, 126, 6)
	c.rect(v.glass, 1, 100, 156, 34, 12)
	c.rect(v.glass, 1, 168, 156, 34, 12)
	door(c, v, 140, 22, 20)
	tree(c, v, 74, 40)
	tree(c, v, 232, 44)
}

// oldHouse has a tiled roof with turned up eaves, paper screens and a veranda.
func oldHouse(c *canvas, v view) {
	tree(c, v, 270, 76)
	c.rect(v.wall, 0, 106, 74, 88, 40)
	c.shape(v.roof, 6, 84, 82, 92, 74, 116, 54, 184, 54, 208, 74, 216, 82, 198, 80, 102, 80)
	c.rect(darker(v.roof, 0.25), 2, 112, 50, 76, 6)
	c.rect(v.wall, 0, 66, 118, 168, 50)
	c.shape(v.roof, 6, 40, 124, 54, 114, 92, 90, 208, 90, 246, 114, 260, 124, 236, 121, 64, 121)
	for x := 64.0; x < 240; x += 12 {
		c.line(darker(v.roof, 0.18), 1.4, 150+(x-150)*0.7, 93, x, 118)
	}
	c.rect(darker(v.roof, 0.25), 2, 88, 87, 124, 6)
	for _, x := range []float64{78, 114, 162, 198} {
		c.rect(v.wood, 0, x-2, 124, 28, 42)
		c.rect(lighter(v.glass, 0.55), 0, x, 126, 24, 38)
		for _, at := range []float64{8, 16} {
			c.rect(v.wood, 0, x+at-0.5, 126, 1, 38)
		}
		for _, at := range []float64{9, 19, 29} {
			c.rect(v.wood, 0, x, 126+at, 24, 1)
		}
	}
	c.rect(v.wood, 0, 142, 124, 16, 42)
	c.rect(lighter(v.wood, 0.25), 2, 58, 164, 184, 6)
	for _, x := range []float64{66, 122, 178, 232} {
		c.rect(v.wood, 0, x, 169, 5, 8)
	}
	c.oval(lighter(v.hill, 0.3), 150, 178, 16, 5)
	c.oval(darker(v.grass, 0.25), 40, 166, 16, 13)
}

// terrace is three narrow houses side by side.
func terrace(c *canvas, v view) {
	tree(c, v, 36, 50)
	walls := []color.NRGBA{v.wall, mix(v.wall, v.roof, 0.3), mix(v.wall, v.grass, 0.35)}
	for i, wall := range walls {
		x, top := 62+float64(i)*60, []float64{70, 58, 76}[i]
		c.rect(wall, 0, x, top, 58, 172-top)
		c.shape(wall, 0, x, top+1, x+29, top-26, x+58, top+1)
		c.shape(v.roof, 3, x-5, top+2, x+29, top-32, x+63, top+2, x+56, top+5, x+29, top-21, x+2, top+5)
		u := v
		u.wall = wall
		window(c, u, x+10, top+16, 14, 20)
		window(c, u, x+34, top+16, 14, 20)
		window(c, u, x+32, 132, 18, 24)
		door(c, u, x+8, 17, 38)
	}
	tree(c, v, 264, 58)
}
