package rules

import "github.com/kasoku/kasoku/diagnose"

// indexRules are the rules about indexes of tables.
func indexRules() []diagnose.Rule {
	return []diagnose.Rule{
		MissingIndex{},
		IndexOrder{},
		CompositeIndex{},
		GeneralIndex{},
		FixedRanges{},
		MixedOrder{},
		SpatialIndex{},
		CountExistence{},
		WideStar{},
	}
}
