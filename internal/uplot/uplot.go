// Package uplot is uPlot, a small and fast chart of time series, as it is
// published: one script and one stylesheet, to be put into a page. The files are
// not changed; the licence lies beside them and goes along with them.
//
// Source: dist/ of the npm package uplot 1.6.32, https://github.com/leeoniya/uPlot.
package uplot

import _ "embed" // of the files

// Version is that of the files.
const Version = "1.6.32"

//go:embed uPlot.iife.min.js
var script string

//go:embed uPlot.min.css
var style string

//go:embed LICENSE
var license string

// Script returns the script, which defines uPlot. It has no "</script" in it.
func Script() string { return script }

// Style returns the stylesheet.
func Style() string { return style }

// License returns the text of the licence, MIT.
func License() string { return license }
