package rules

import "github.com/kasoku/kasoku/diagnose"

// queryRules are the rules about statements and who runs them.
func queryRules() []diagnose.Rule {
	return []diagnose.Rule{
		UnusedRows{},
		QueryEachPoint{},
		QueryEachRow{},
		NestedQueries{},
		Aggregate{},
		Recount{},
		GrowingRows{},
		PreparedLoop{},
		SingleInserts{},
		OpaqueCommit{},
		NeedlessTransaction{},
		ImplicitOrder{},
	}
}
