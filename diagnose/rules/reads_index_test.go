package rules

import (
	"slices"

	"github.com/kasoku/kasoku/diagnose/internal/extract"
)

// indexReads describes what indexRules read; false for other rules.
func indexReads(id string) (extract.Keys, bool) {
	if !slices.Contains([]string{"IDX-01", "IDX-02", "IDX-03", "IDX-04", "IDX-05", "IDX-06", "IDX-07", "IDX-09", "IDX-10", "IDX-11", "QRY-02", "QRY-03"}, id) {
		return extract.Keys{}, false
	}
	return extract.Keys{Settings: []string{"version", "version_comment", "sql_mode"}, Queries: true, Plans: true, Callers: true}, true
}
