package faults

import "slices"

// Table lists all faults, and the liberties after them.
func Table() []Fault {
	return slices.Concat(
		contestFaults(), filterFaults(), orderFaults(), countFaults(), pageFaults(), staleFaults(), saleFaults(), lossFaults(), restartFaults(),
		polygonFaults(), fieldFaults(), cutFaults(), numberFaults(), statusFaults(), libertyFaults())
}
