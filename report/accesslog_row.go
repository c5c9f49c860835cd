package report

import "github.com/kasoku/kasoku"

// An AccessRow is one row.
type AccessRow struct {
	kasoku.Endpoint
	Key []string
}
