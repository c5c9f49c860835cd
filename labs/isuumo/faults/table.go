package faults

import "slices"

// Table lists all faults, and the liberties after them.
func Table() []Fault {
	return slices.Concat(
		contest(), filters(), orders(), counts(), pages(), staleness(), sales(), losses(), restarts(),
		polygons(), fields(), cuts(), numbers(), statuses(), liberties())
}
