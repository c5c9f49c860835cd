package rules

import "github.com/kasoku/kasoku/diagnose/internal/extract"

// indexReads says what indexRules read; false for other rules.
func indexReads(id string) (extract.Keys, bool) {
	return extract.Keys{}, false
}
