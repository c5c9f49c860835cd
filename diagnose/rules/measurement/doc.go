// Package measurement has the rules about the measurement itself: runs that differ in more
// than one thing, or not at all, and figures that do not hold.
package measurement

import "github.com/kasoku/kasoku/diagnose"

// Rules returns the rules of the family, by their ids.
func Rules() []diagnose.Rule {
	return []diagnose.Rule{
		Observation{},
		Unsettled{},
		SameWait{},
		RowCount{},
		Interval{},
		RootMessage{},
		Against{},
		Bundled{},
		ByDesign{},
	}
}
