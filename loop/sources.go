package loop

import (
	"os"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/cgroup"
	"github.com/kasoku/kasoku/observe/expvar"
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/logsize"
	"github.com/kasoku/kasoku/observe/nginx"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/observe/varnish"
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
		out = append(out, s.db.source, s.db.locks)
	}
	if len(s.o.Expvar) > 0 {
		out = append(out, expvar.New(s.o.Expvar...))
	}
	web, err := s.webSources()
	if err != nil {
		return nil, nil, err
	}
	out = append(out, web...)
	var paths []string
	for _, l := range s.logs {
		paths = append(paths, l.path)
	}
	if len(paths) > 0 {
		out = append(out, logsize.New(paths...))
	}
	return out, procs, nil
}

// webSources are those of the servers in front of the application.
func (s *session) webSources() (out []observe.Source, err error) {
	if s.o.Observers == kasoku.ObserversOff {
		return nil, nil
	}
	if s.o.NginxStatus != "" {
		page, err := nginx.New(s.o.NginxStatus)
		if err != nil {
			return nil, err
		}
		out = append(out, page)
	}
	if s.o.Varnish != nil {
		out = append(out, varnish.New(*s.o.Varnish))
	}
	return out, nil
}
