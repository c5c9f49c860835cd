package rules

import "github.com/kasoku/kasoku/diagnose/internal/extract"

// databaseReads says what databaseRules read; false for other rules.
func databaseReads(id string) (extract.Keys, bool) {
	return extract.Keys{}, false
}
