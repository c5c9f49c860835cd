// Package query has the rules about the statements of a service: rows that no answer needs,
// loops of lookups, what is counted again and again.
package query

import "github.com/kasoku/kasoku/diagnose"

// Rules returns the rules of the family, by their ids.
func Rules() []diagnose.Rule {
	return []diagnose.Rule{
		UnusedRows{},
		CountExistence{},
		WideStar{},
		EachPoint{},
		EachRow{},
		NestedQueries{},
		Aggregate{},
		Recount{},
		GrowingRows{},
		SettingsRows{},
		FoundRows{},
		WideDistinct{},
		NeedlessJoin{},
	}
}
