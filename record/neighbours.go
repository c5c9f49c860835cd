package record

import (
	"context"
	"slices"

	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/record/mask"
	"github.com/kasoku/kasoku/topology/find"
)

// ownNames returns what may be named of processes, programs, units, containers and sockets as the service is
// known by now, and of processes of kasoku; nil: nothing is known of it. Of the others numbers and what they
// used are kept.
func (s *session) ownNames(own ...int) *mask.Names {
	names := mask.OwnNames(s.service.known(), slices.Concat(own, s.o.PIDs, s.o.Watched), s.o.Command, diagnose.HasRole)
	if names != nil {
		names.KeepPort(mysqlflags.Address(s.o.MySQL))
	}
	return names
}

// nameNeighbours gives the file the names that the cover held in memory, of what turned out to be the service's.
func (s *session) nameNeighbours() error {
	if s.service.bug != nil {
		return s.cover.Uncover(s.store, nil)
	}
	return s.cover.Uncover(s.store, s.ownNames(s.changes.ownPIDs()...))
}

// Nameless returns a sink for what is sampled that hands it on to another without the names of
// neighbours, where the options name the service and a look finds it.
func (l *Live) Nameless(ctx context.Context, to observe.Sink) observe.Sink {
	ask := askService(l.o)
	if ask.Loaded = false; len(ask.URLs)+len(ask.User)+len(ask.PIDs)+len(ask.Units) == 0 {
		return to
	}
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	seen, err := find.Look(ctx, ask)
	if err != nil {
		return to
	}
	names := mask.OwnNames(&seen.Service, slices.Concat(l.o.PIDs, l.o.Watched), l.o.Command, diagnose.HasRole)
	if names != nil {
		names.KeepPrograms()
		names.KeepPort(mysqlflags.Address(l.o.MySQL))
	}
	return names.Sink(to)
}
