package record

import (
	"slices"
	"sync"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/record/thishost"
	"github.com/kasoku/kasoku/topology"
)

// subjects are the processes and units whose configuration is kept: those of members.
type subjects struct {
	members, servers []int
	units            []string
}

// foreignUnits run what others start: their files say nothing of a member.
var foreignUnits = []string{"cron.service", "crond.service", "atd.service", "ssh.service", "sshd.service",
	"docker.service", "containerd.service", "podman.service", "supervisor.service", "supervisord.service",
	"getty.service", "systemd-nspawn.service"}

// add adds the members of a service that are no guess, and returns those that are new.
func (s *subjects) add(service *kasoku.Service) (fresh subjects) {
	for i := range service.Members {
		m := &service.Members[i]
		if m.Sure == kasoku.Low {
			continue
		}
		known := slices.ContainsFunc(m.Processes, func(p kasoku.MemberProcess) bool { return slices.Contains(s.members, p.PID) })
		named := slices.ContainsFunc(m.Found, func(r kasoku.Reason) bool { return r.By == kasoku.ByDSN })
		for k, p := range m.Processes {
			const most = 2 // a leader and a worker: their limits may differ
			if known || k >= most || p.Ended != 0 {
				continue
			}
			fresh.members = append(fresh.members, p.PID)
			if named {
				fresh.servers = append(fresh.servers, p.PID)
			}
		}
		if m.Unit != "" && !slices.Contains(foreignUnits, m.Unit) && !slices.Contains(s.units, m.Unit) &&
			!slices.Contains(fresh.units, m.Unit) {
			fresh.units = append(fresh.units, m.Unit)
		}
	}
	s.members = append(s.members, fresh.members...)
	s.servers = append(s.servers, fresh.servers...)
	s.units = append(s.units, fresh.units...)
	return fresh
}

func (s *subjects) empty() bool { return len(s.members) == 0 && len(s.units) == 0 }

// hand has capture take what is configured for them.
func (s *subjects) hand(o *capture.Options) {
	o.Members, o.Servers, o.MemberUnits = s.members, s.servers, s.units
}

// unkept returns what is kept of no server since it is not known which of those that run
// here is the service's. Where the load comes in is known by the edge from it.
func (c *configuration) unkept() (out []kasoku.Unseen) {
	entered := slices.ContainsFunc(c.members.Edges, func(e kasoku.Edge) bool { return e.From == "" })
	if c.o.Capture == nil || entered && len(c.members.Unknown) == 0 {
		return nil
	}
	kept := func(kind string) bool {
		return slices.ContainsFunc(c.taken.Configs, func(t kasoku.Config) bool { return t.Kind == kind })
	}
	unseen := func(what, show string) {
		out = append(out, kasoku.Unseen{What: "the configuration of " + what, Show: show,
			Why: "which one of this host is the service's is not known, and of none it is kept"})
	}
	others := sync.OnceValue(func() []string { return thishost.Programs(c.subjects.members) })
	runs := func(programs []string) bool {
		return slices.ContainsFunc(others(), func(name string) bool { return slices.Contains(programs, name) })
	}
	if len(c.o.Capture.Nginx) == 0 && !kept(capture.KindNginx) && runs(topology.NginxPrograms) {
		unseen("nginx", "an access log or [service] in kasoku.toml names it")
	}
	if len(c.o.Capture.OptionFiles) == 0 && !kept(capture.KindMySQL) && len(c.subjects.servers) == 0 && c.o.MySQL == "" &&
		runs(topology.DatabasePrograms) {
		unseen("the database", "--mysql or --defaults-file names it")
	}
	return out
}
