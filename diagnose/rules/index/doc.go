// Package index has the rules about indexes of tables: missing ones, those in an order that
// does not serve, those that an initialize loses; about conditions that none can seek.
package index

import "github.com/kasoku/kasoku/diagnose"

// Rules returns the rules of the family, by their ids.
func Rules() []diagnose.Rule {
	return []diagnose.Rule{
		MissingIndex{},
		Order{},
		CompositeIndex{},
		GeneralIndex{},
		FixedRanges{},
		MixedOrder{},
		SpatialIndex{},
		LostIndex{},
		LikeScan{},
		WrappedColumn{},
		ConvertedColumn{},
	}
}
