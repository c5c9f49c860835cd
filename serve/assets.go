package serve

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

// What pages fetch: a style sheet and two scripts, without a build step. The first script is that of reports, with
// cursor, keys, sorting and copying; the second asks the server again. Both are plain JavaScript that makes no text
// into HTML but what the server sent.

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

// address is where browsers fetch a file.
func address(base string) string { return "/assets/" + files()[base].name }

// AssetBytes is how large the files are together, not compressed.
func AssetBytes() (n int) {
	for _, f := range files() {
		n += len(f.text)
	}
	return n
}

// assetOf returns the text of a file and its media type.
func assetOf(name string) (text, kind string, ok bool) {
	for _, f := range files() {
		if f.name == name {
			return f.text, f.kind, true
		}
	}
	return "", "", false
}
