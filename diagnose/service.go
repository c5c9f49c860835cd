package diagnose

import (
	"slices"
	"strconv"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/process"
)

// Member returns the surest member of the service with a role, nil when none is known.
// What is a guess is none.
func (c *Case) Member(role kasoku.MemberRole) *kasoku.Member {
	if all := c.Service.Of(role); len(all) > 0 {
		return all[0]
	}
	return nil
}

// Knows reports whether the members of the service on a host are known: what is none of
// them is a neighbour then. An empty host is any.
func (c *Case) Knows(host string) bool {
	if c.Service == nil {
		return false
	}
	return slices.ContainsFunc(c.Service.Members, func(m kasoku.Member) bool {
		return sameHost(m.Host, host) && m.Sure != kasoku.Low
	})
}

// sameHost compares names of hosts; an empty one is any.
func sameHost(a, b string) bool { return a == b || a == "" || b == "" }

// memberOf returns the member that a process of a host belongs to, nil without one.
func (c *Case) memberOf(host, pid string) *kasoku.Member {
	n, err := strconv.Atoi(pid)
	if err != nil || c.Service == nil {
		return nil
	}
	for i := range c.Service.Members {
		if m := &c.Service.Members[i]; sameHost(m.Host, host) && m.Sure != kasoku.Low && m.Has(n) {
			return m
		}
	}
	return nil
}

// roleOf is the role of a member's processes.
func roleOf(m *kasoku.Member) Role {
	if m.Role == kasoku.RoleDatabase {
		return Database
	}
	return Other
}

// NeighbourCores returns how many cores of a host were used by processes outside of the
// service, kasoku and the load's generator left out, while the focus's load ran: all that
// the host was busy with but for what is known. It is false when the members of the
// service are not known, or seem to have used more than the host was busy with: what a child
// used before the load counts when it ends.
func (c *Case) NeighbourCores(host string) (cores float64, ok bool) {
	if !c.Knows(host) {
		return 0, false
	}
	busy, _, err := c.Hosts().BusyOn(host)
	if err != nil {
		return 0, false
	}
	programs, err := c.Processes().Programs()
	if err != nil {
		return 0, false
	}
	rest := busy
	for _, p := range programs {
		if p.Host == host && p.Role != Neighbour && p.Role != Kernel {
			rest -= p.Cores + c.childCores(p)
		}
	}
	return max(rest, 0), rest >= -overdrawn*busy
}

// overdrawn is by how much of what the host was busy with its programs may seem to have used more, as not
// all are looked at in the same instant.
const overdrawn = 0.1

// childCores returns the CPU of a program's children that ended, where its own has not
// got it.
func (c *Case) childCores(p Program) float64 {
	cores := 0.0
	if slices.ContainsFunc(p.Keys, func(k kasoku.Key) bool { return k.Name == process.TreeCPU }) {
		return 0
	}
	for _, k := range p.Keys {
		k.Name = process.CPUChildren
		if perSec, err := c.Counters().UnderLoad(k); err == nil && perSec > 0 {
			cores += perSec
		}
	}
	return cores
}
