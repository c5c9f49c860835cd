// Package lock has the rules about locks: queues of transactions for rows, deadlocks, rows and tables that are
// locked where less would do, locks that are held while another service is asked.
package lock

import "github.com/kasoku/kasoku/diagnose"

// Rules returns the rules of the family, by their ids.
func Rules() []diagnose.Rule {
	return []diagnose.Rule{
		Queue{},
		Deadlocks{},
		TakenRows{},
		LockedTables{},
		OutsideCall{},
	}
}
