// Package pool has the rules about the pool of connections between a program and its database.
package pool

import "github.com/kasoku/kasoku/diagnose"

// Rules returns the rules of the family, by their ids.
func Rules() []diagnose.Rule {
	return []diagnose.Rule{
		IdlePool{},
		Refused{},
		IdleControl{},
		TwoLimits{},
		SmallPool{},
	}
}
