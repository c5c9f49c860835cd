package store

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kasoku/kasoku"
)

// Whoever writes a run file decides how long its titles and notes are: they are cut
// when they are read, and the text says so. Samples and files stay whole.
func TestHostileTextsAreCut(t *testing.T) {
	t.Parallel()
	ofRunes := func(n int) *row { return &row{vals: []any{strings.Repeat("é", n)}} }
	most := 0
	for _, n := range []int{mostText, 10 * mostText, 100 * mostText} {
		got := ofRunes(n).text()
		if !utf8.ValidString(got) || !strings.Contains(got, "[cut: ") {
			t.Fatalf("%d bytes end with %q", len(got), got[len(got)-40:])
		}
		if most == 0 {
			most = len(got)
		}
		if len(got) > most+16 {
			t.Errorf("of %d runes %d bytes are kept, %d of fewer", n, len(got), most)
		}
	}
	if got := ofRunes(mostText / 2).text(); len(got) != mostText {
		t.Errorf("%d bytes are left of %d", len(got), mostText)
	}
	if got := ofRunes(10 * mostText).long(); len(got) != 20*mostText {
		t.Errorf("%d bytes are left of a sample of %d", len(got), 20*mostText)
	}
	var f kasoku.Finding
	r := &row{vals: []any{`"` + strings.Repeat("x", mostLong) + `"`}}
	if r.json(&f.Title); r.err == nil || f.Title != "" {
		t.Error("JSON without bound was read")
	}
}
