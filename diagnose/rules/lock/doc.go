// Package lock has the rules about locks of rows: queues of transactions, deadlocks, locks that
// are held while another service is asked.
package lock

import "github.com/kasoku/kasoku/diagnose"

// Rules returns the rules of the family, by their ids.
func Rules() []diagnose.Rule {
	return []diagnose.Rule{
		Queue{},
		Deadlocks{},
		OutsideCall{},
	}
}
