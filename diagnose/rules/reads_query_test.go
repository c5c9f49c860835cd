package rules

import "github.com/kasoku/kasoku/diagnose/internal/extract"

// queryReads says what queryRules read; false for other rules.
func queryReads(id string) (extract.Keys, bool) {
	return extract.Keys{}, false
}
