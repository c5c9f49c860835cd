// Package indexes proposes indexes for the statements of a run, and names those
// that nobody uses.
package indexes

import (
	_ "github.com/pingcap/tidb/pkg/parser"             // the grammar
	_ "github.com/pingcap/tidb/pkg/parser/test_driver" // values
)
