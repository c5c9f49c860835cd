package kit

import (
	"context"
	"fmt"
	"os"

	"github.com/kasoku/kasoku/sandbox/quota"
)

// HostCores is what each host of a split has: little, so that a client on the same machine is no limit.
const HostCores = 0.4

// split puts the servers on so many hosts, which are groups of processes with a quota of CPU.
func (s *Stack) split(context.Context) error {
	pids := make([][]int, s.o.Hosts)
	on := func(host, pid int) {
		if host = min(host, len(pids)-1); host >= 0 && pid > 0 {
			pids[host] = append(pids[host], pid)
		}
	}
	on(0, s.app.Pid())
	if s.beside != nil {
		on(0, s.beside.Pid())
	}
	on(1, s.DB.Pid())
	if s.Nginx != nil {
		on(frontHost(s.o.Hosts), s.Nginx.Pid())
	}
	if s.Varnish != nil {
		on(frontHost(s.o.Hosts), s.Varnish.Pid())
	}
	for i, members := range pids {
		g, err := quota.New(fmt.Sprintf("lab-%d-%d", os.Getpid(), i+1))
		if err != nil {
			return err
		}
		s.hosts = append(s.hosts, g)
		for _, pid := range members {
			if err := g.Take(pid); err != nil {
				return err
			}
		}
		if err := g.Limit(HostCores); err != nil {
			return err
		}
	}
	return nil
}

// frontHost is the host of what stands in front of the application.
func frontHost(hosts int) int {
	if hosts > 2 {
		return 2
	}
	return 0
}
