package record

import (
	"io"
	"os"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/cgroup"
	"github.com/kasoku/kasoku/observe/expvar"
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/logsize"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/observe/sockets"
)

// sources is the list of all that a run watches. There is no source of processes
// without observers.
func (s *sampling) sources() ([]observe.Source, *process.Source, error) {
	out, procs, err := s.hostSources()
	if err != nil {
		return nil, nil, err
	}
	if s.db != nil {
		s.db.detail.Of.Others = s.db.tenants.IsOthersClass
		if s.service != nil && s.o.Observers != kasoku.ObserversOff { // who looks for members asks whose they are
			s.db.detail.Of.Ready = s.db.tenants.HasAsked
		}
		out = append(out, s.db.source, s.db.detail.Replication, s.db.detail.Digests, s.db.detail.Tables)
		if s.o.on(mysql.Name) {
			out = append(out, s.db.locks) // the status says when to look
		}
	}
	if s.db != nil && s.db.slowOn {
		s.space = s.changes.brake()
		out = append(out, s.space)
	}
	if len(s.o.Expvar) > 0 {
		out = append(out, expvar.New(s.o.Expvar...))
	}
	web, err := s.o.servers()
	if err != nil {
		return nil, nil, err
	}
	out = append(out, web...)
	var paths []string
	for _, l := range s.logs.files {
		paths = append(paths, l.path)
	}
	if len(paths) > 0 {
		out = append(out, logsize.New(paths...))
	}
	return s.o.wanted(out), procs, nil
}

// growth describes how fast the slow log grows; empty while it does not.
func (s *sampling) growth() string {
	if s.space == nil || s.space.Growth() == 0 {
		return ""
	}
	return "slow log grows by " + unit.Bytes(s.space.Growth()) + " a second"
}

// hostSources are those of this machine and its processes.
func (s *sampling) hostSources() (out []observe.Source, procs *process.Source, err error) {
	if s.o.on(host.Name) {
		machine, err := host.New(host.Options{})
		if err != nil {
			return nil, nil, err
		}
		out = append(out, machine)
	}
	if s.o.Observers == kasoku.ObserversOff {
		return out, nil, nil
	}
	if s.o.on(process.Name) {
		procs, err = process.New(process.Options{
			PIDs: append([]int{os.Getpid()}, s.o.PIDs...), NoGroups: !s.o.on(process.GroupsName),
			NoThreads: !s.o.on(process.ThreadsName),
		})
		if err != nil {
			return nil, nil, err
		}
		for _, pid := range s.o.Watched {
			procs.Add(pid)
		}
		out = append(out, procs)
		if s.o.on(cgroup.Name) {
			groups := cgroup.Options{PIDs: procs.Watched}
			if s.service.named() {
				groups.PIDs = s.service.appendPIDs
			}
			out = append(out, cgroup.New(groups))
		}
	}
	if s.o.on(sockets.Name) {
		var listeners sockets.Options
		if s.service.named() {
			listeners.Wanted = s.service.listens
		}
		out = append(out, sockets.New(listeners))
	}
	return out, procs, nil
}

// on reports whether a source is to be read.
func (o *Options) on(source string) bool { return !slices.Contains(o.Off, source) }

// wanted leaves out the sources that are not to be read, and closes them.
func (o *Options) wanted(all []observe.Source) []observe.Source {
	return slices.DeleteFunc(all, func(src observe.Source) bool {
		if o.on(src.Name()) {
			return false
		}
		if c, ok := src.(io.Closer); ok {
			_ = c.Close() // it was not used
		}
		return true
	})
}

// every returns the intervals of the sources that have one of their own.
func (o *Options) every() map[string]time.Duration {
	if !o.Fast {
		return nil
	}
	return map[string]time.Duration{host.Name: config.FastInterval, process.Name: config.FastInterval}
}

// Servers returns the sources of the servers that a kasoku.toml names, without the
// application and its database. The caller closes them.
func Servers(c *config.Config) ([]observe.Source, error) {
	var o Options
	o.configureServers(c)
	return o.servers()
}

// servers are the sources of the servers beside the application and its database.
func (o *Options) servers() (out []observe.Source, err error) {
	if o.Observers == kasoku.ObserversOff {
		return nil, nil
	}
	for _, table := range o.Servers {
		server, err := table.Open()
		if err != nil {
			return nil, err
		}
		out = append(out, server)
	}
	return out, nil
}
