// Package web holds the pages of the shop: what a person sees of isuumo.
//
// They are plain files, HTML and ES modules, that nginx serves as they are. One page
// is one view, and what it shows is in its address: a search is the query string of
// the API itself, an area that was drawn on the map is in the fragment. So links,
// the way back and a reload need no script of their own. All else comes from the
// API on the same origin: /api, and the pictures below /images. Texts of the API
// are set as text, never as HTML, and each page's security policy refuses what is
// not of its origin.
//
// [FS] is to be written below nginx's root, with the pictures beside it.
package web

import (
	"embed"
	"io/fs"
)

//go:embed pages
var files embed.FS

// FS returns the files: index.html and the other pages, style.css, icon.svg, and
// the modules below js.
func FS() fs.FS {
	sub, err := fs.Sub(files, "pages")
	if err != nil {
		panic(err) // the directory is embedded
	}
	return sub
}
