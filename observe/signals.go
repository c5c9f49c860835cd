package observe

import (
	"github.com/kasoku/kasoku"
)

// The keys of the signals of the source "self".
const (
	SelfCPUUser    = "cpu.user"
	SelfCPUSystem  = "cpu.system"
	SelfRSS        = "rss"
	SelfIORead     = "io.read"
	SelfIOWrite    = "io.write"
	SelfPID        = "pid"
	SelfTickLate   = "tick.late"
	SelfClockDrift = "clock.drift"
	SelfCostSink   = "cost.sink"
)

// SelfCostPrefix and the name of a source are the key of the CPU time of that source.
const SelfCostPrefix = "cost."

// DeclaredSelf describes the source that the sampler adds.
var DeclaredSelf = Declaration{
	Name:   SelfName,
	Role:   RoleSelf,
	Always: true,
	Records: "what kasoku itself takes, in all and for each source; how late ticks were; how far the " +
		"wall clock was set",
	From:   "`getrusage`",
	Rights: "none; always read",
	Open:   true,
	Signals: []Signal{
		{Key: SelfCPUUser, Unit: "s", Kind: kasoku.Counter, Label: "CPU, user"},
		{Key: SelfCPUSystem, Unit: "s", Kind: kasoku.Counter, Label: "CPU, system"},
		{Key: SelfRSS, Unit: "bytes", Label: "memory"},
		{Key: SelfIORead, Unit: "bytes", Kind: kasoku.Counter, Label: "read"},
		{Key: SelfIOWrite, Unit: "bytes", Kind: kasoku.Counter, Label: "written"},
		{Key: SelfPID, Unit: "count", Label: "process id"},
		{Key: SelfTickLate, Unit: "s", Label: "how late the tick was"},
		{Key: SelfClockDrift, Unit: "s", Label: "how far the wall clock moved"},
		{Key: SelfCostSink, Unit: "s", Kind: kasoku.Counter, Label: "CPU of writing the file"},
	},
}
