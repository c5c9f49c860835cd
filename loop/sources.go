package loop

import (
	"os"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/cgroup"
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/logsize"
	"github.com/kasoku/kasoku/observe/process"
)

// sources is the list of all that a run watches. There is no source of processes
// without observers.
func (s *session) sources() ([]observe.Source, *process.Source, error) {
	machine, err := host.New(host.Options{})
	if err != nil {
		return nil, nil, err
	}
	out := []observe.Source{machine}
	var procs *process.Source
	if s.o.Observers != kasoku.ObserversOff {
		if procs, err = process.New(process.Options{PIDs: append([]int{os.Getpid()}, s.o.PIDs...)}); err != nil {
			return nil, nil, err
		}
		out = append(out, procs, cgroup.New(cgroup.Options{PIDs: procs.Watched}))
	}
	if s.db != nil {
		out = append(out, s.db.source)
	}
	var paths []string
	for _, l := range s.logs {
		paths = append(paths, l.path)
	}
	if len(paths) > 0 {
		out = append(out, logsize.New(paths...))
	}
	return out, procs, nil
}
