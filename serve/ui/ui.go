// Package ui is what the pages of kasoku serve fetch: a style sheet and two scripts, without a build step.
//
// The one idea: pages are complete as they are sent. The first script is that of reports, with cursor, keys, sorting
// and copying; the second asks the server again: for the seconds under the brush, for an endpoint's drawer, for what
// came since. Both are modules' worth of plain JavaScript that makes no text into HTML but what the server sent.
package ui

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"strings"
	"sync"

	"github.com/kasoku/kasoku/report/html"
)

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

// The names of the files, with {} for a sum of the text: another text is another name, so that browsers may keep
// them for ever.
const (
	styleFile  = "page-{}.css"
	reportFile = "report-{}.js"
	pageFile   = "page-{}.js"
)

// A file of the page.
type file struct{ name, kind, text string }

// files are made when the first page is asked for: a kasoku that serves nothing has no use for them.
var files = sync.OnceValue(func() map[string]file {
	out := map[string]file{}
	for _, f := range []file{
		{styleFile, "text/css; charset=utf-8", html.Styles() + pageStyle},
		{reportFile, "text/javascript; charset=utf-8", html.Script()},
		{pageFile, "text/javascript; charset=utf-8", pageScript},
	} {
		sum := sha256.Sum256([]byte(f.text))
		base := f.name
		f.name = strings.Replace(base, "{}", hex.EncodeToString(sum[:6]), 1)
		out[base] = f
	}
	return out
})

// Style, Report and Page are the names of the files.
func Style() string  { return files()[styleFile].name }
func Report() string { return files()[reportFile].name }
func Page() string   { return files()[pageFile].name }

// File returns the text of a file and its media type.
func File(name string) (text, kind string, ok bool) {
	for _, f := range files() {
		if f.name == name {
			return f.text, f.kind, true
		}
	}
	return "", "", false
}
