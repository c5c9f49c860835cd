// Package host has the rules about the CPU and the memory of the hosts: who uses them, and
// whether the load has enough.
package host

import "github.com/kasoku/kasoku/diagnose"

// Rules returns the rules of the family, by their ids.
func Rules() []diagnose.Rule {
	return []diagnose.Rule{
		DBBound{},
		SharedCPU{},
		AppCPU{},
		Placement{},
		Generator{},
		Memory{},
		Burst{},
		MemoryBeside{},
		SerialClient{},
		OneCore{},
	}
}
