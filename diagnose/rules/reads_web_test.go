package rules

import "github.com/kasoku/kasoku/diagnose/internal/extract"

// webReads says what webRules read; false for other rules.
func webReads(id string) (extract.Keys, bool) {
	return extract.Keys{}, false
}
