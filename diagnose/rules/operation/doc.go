// Package operation has the rules about starting, initialising and restarting a service: what
// must be there again afterwards.
package operation

import "github.com/kasoku/kasoku/diagnose"

// Rules returns the rules of the family, by their ids.
func Rules() []diagnose.Rule {
	return []diagnose.Rule{
		StartLimit{},
		SlowInitialize{},
		TimeZone{},
		ImplicitOrder{},
		Repeatable{},
		NotRebuilt{},
		AnsweredSize{},
	}
}
