// Package cache has the rules about answers that are kept or could be: of the service, of a
// cache in front of it, of the database.
package cache

import "github.com/kasoku/kasoku/diagnose"

// Rules returns the rules of the family, by their ids.
func Rules() []diagnose.Rule {
	return []diagnose.Rule{
		SharedAnswer{},
		Passes{},
		KeptTooLong{},
		KeptOverInitialize{},
		PassedMemory{},
		Unvalidated{},
		QueryCache{},
	}
}
