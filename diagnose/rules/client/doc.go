// Package client has the rules about programs that use a service with limits: quotas of
// requests, permits such as licences, leases or slots, a CPU that all calls share. They read
// what such a program publishes of itself, and say nothing of runs without one.
package client

import "github.com/kasoku/kasoku/diagnose"

// Rules returns the rules of the family, by their ids.
func Rules() []diagnose.Rule {
	return []diagnose.Rule{
		OneByOne{},
		FewPermits{},
		PermitWait{},
		UseByUse{},
		FootOfStep{},
		RefusedCalls{},
		SendingControl{},
		KnownAnswers{},
		SpentService{},
	}
}
