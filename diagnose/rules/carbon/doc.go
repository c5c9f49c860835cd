// Package carbon has the rules about carbon and go-carbon, the servers of Graphite: what of the
// points that they receive they write, and which setting decides. They read what such a server
// reports of itself, each server by itself, and what publishes what it sends; they say nothing of
// runs without one.
package carbon

import "github.com/kasoku/kasoku/diagnose"

// Rules returns the rules of the family, by their ids.
func Rules() []diagnose.Rule {
	return []diagnose.Rule{
		SlowUpdates{},
		FewCreates{},
		BusyCache{},
		SharedDisk{},
		GrowingLoad{},
		FullCache{},
		FineSlots{},
		LostDestination{},
	}
}
