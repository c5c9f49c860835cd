// Package durability has the rules about what commits cost: the redo log, the binary log, the
// disk under them, and transactions that are not needed.
package durability

import "github.com/kasoku/kasoku/diagnose"

// Rules returns the rules of the family, by their ids.
func Rules() []diagnose.Rule {
	return []diagnose.Rule{
		CommitSync{},
		Binlog{},
		SlowDisk{},
		OpaqueCommit{},
		NeedlessTransaction{},
	}
}
