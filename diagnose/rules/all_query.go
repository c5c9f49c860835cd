package rules

import "github.com/kasoku/kasoku/diagnose"

// queryRules are the rules about statements and who runs them.
func queryRules() []diagnose.Rule {
	return []diagnose.Rule{
		QueryEachPoint{},
		QueryEachRow{},
		NestedQueries{},
	}
}
