package html

import (
	"html/template"
	"io"

	"github.com/kasoku/kasoku/report"
)

// A Site is what a page has that a server sends and a file has not: style and scripts are files of the server, so
// that its policy allows nothing inline, there is a way to other pages, and rows lead on.
type Site struct {
	Style   string   // its address
	Scripts []string // their addresses, in order
	Links   []Link   // to other pages
	Run     string   // the name of the run that it is of; empty for none
	Running bool     // it is being recorded
	Length  int      // of the run, in seconds
	State   string   // of what the page shows, to be compared with what the server has later
	Panels  template.HTML
	Lang    string
}

// A Link leads to another page.
type Link struct {
	Text, Address string
	Here          bool // it is this page
}

// Style attributes are inline style to a policy: in the templates of a page of a server they are data. A script
// sets them one by one, which a policy allows (CSP 3, 6.7.3.3).
const (
	inlineStyle   = ` style="`
	scriptedStyle = ` data-css="`
)

// Styles and Script are the files that a [Site] has to send; its own come after them.
func Styles() string { return styleText }

// Script is the script that all pages have.
func Script() string { return scriptText }

// WriteSite writes the document as a page of a server.
func WriteSite(w io.Writer, d *report.Document, s *Site) error {
	return (&renderer{doc: d, site: s}).write(w, "page")
}

// WriteSections writes only the sections of a document, for a page that has the rest.
func WriteSections(w io.Writer, d *report.Document, s *Site) error {
	return (&renderer{doc: d, site: s}).write(w, "sections")
}

// WriteAside writes a document that stands beside another one.
func WriteAside(w io.Writer, d *report.Document, s *Site) error {
	return (&renderer{doc: d, site: s, beside: true}).write(w, "aside")
}
