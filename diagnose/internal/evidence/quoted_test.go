package evidence

import (
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// TestStatement_Source: in a merged run evidence names where the classes that it quotes are known
// from, and that alone.
func TestStatement_Source(t *testing.T) {
	rec := &kasoku.Recording{Queries: []kasoku.Query{{Host: "one", Fingerprint: "select a"},
		{Host: "two", Fingerprint: "select b"}},
		Warnings: []kasoku.Warning{{Host: "two", Code: kasoku.CodeDigests}}}
	c := diagnose.NewCase(rec, nil)
	one, two := &rec.Queries[0], &rec.Queries[1]
	for want, got := range map[string]kasoku.Evidence{
		"slow.log":          Statement(c, one, "", "", 0),
		"digests":           Statement(c, two, "", "", 0),
		"slow.log, digests": StatementTime(c, 0, kasoku.Impact{}, one, two),
	} {
		if got.Source != want {
			t.Errorf("%+v: want %q", got, want)
		}
	}
}
