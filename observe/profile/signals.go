package profile

import "github.com/kasoku/kasoku/observe"

// Name is the word by which profiles are switched off.
const Name = "pprof"

// Declared describes the profiles, which are no series.
var Declared = observe.Declaration{
	Name:    Name,
	Title:   "profiles of programs in Go",
	Role:    observe.RoleApplication,
	Records: "profiles of programs in Go that are under load: CPU, memory, waits",
	Rights:  "their port",
	Lost:    "which functions use the CPU",
}
