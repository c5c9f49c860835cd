package record

import (
	"context"
	"errors"
	"slices"

	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/observe/sockets"
	"github.com/kasoku/kasoku/record/mask"
	"github.com/kasoku/kasoku/topology/find"
)

// nameNeighbours takes the names of neighbours' processes, programs, units and containers out of
// the series of processes, and the places at which they listen out of those of sockets, where the
// members are known. Their numbers and what they used stay.
func (s *session) nameNeighbours() error {
	pids := slices.Concat(s.changes.ownPIDs(), s.o.PIDs, s.o.Watched)
	names := mask.OwnNames(s.service.known(), pids, s.o.Command, diagnose.HasRole)
	if names == nil || s.service.bug != nil {
		return nil
	}
	names.KeepPort(mysqlflags.Address(s.o.MySQL))
	return errors.Join(s.store.RenameInstances(process.Name, names.Instance), s.store.RenameInstances(sockets.Name, names.Socket))
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
