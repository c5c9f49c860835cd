package expvar

import (
	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
)

// The keys of the signals of the source "expvar".
const (
	MaxOpenConnections = "MaxOpenConnections"
	OpenConnections    = "OpenConnections"
	InUse              = "InUse"
	Idle               = "Idle"
	WaitCount          = "WaitCount"
	WaitDuration       = "WaitDuration"
	MaxIdleClosed      = "MaxIdleClosed"
	MaxIdleTimeClosed  = "MaxIdleTimeClosed"
	MaxLifetimeClosed  = "MaxLifetimeClosed"
	HeapAlloc          = "HeapAlloc"
	HeapInuse          = "HeapInuse"
	HeapIdle           = "HeapIdle"
	HeapReleased       = "HeapReleased"
	HeapObjects        = "HeapObjects"
	StackInuse         = "StackInuse"
	System             = "Sys"
	NextGC             = "NextGC"
	TotalAlloc         = "TotalAlloc"
	Mallocs            = "Mallocs"
	Frees              = "Frees"
	NumGC              = "NumGC"
	NumForcedGC        = "NumForcedGC"
	PauseTotal         = "PauseTotal"
	GCCPUFraction      = "GCCPUFraction"
	PauseMax           = "PauseMax"
)

// Those of clients of services with limits, and of their operations.
const (
	InFlight      = "InFlight"
	InFlightTime  = "InFlightTime"
	Sent          = "Sent"
	Refused       = "Refused"
	Waiting       = "Waiting"
	Permits       = "Permits"
	PermitsMost   = "PermitsMost"
	PermitsAsked  = "PermitsAsked"
	PermitsFailed = "PermitsFailed"
	PermitWait    = "PermitWait"
	UseWait       = "UseWait"
	UsesMost      = "UsesMost"
	QuestionsHash = "QuestionsHash"
	AnswersHash   = "AnswersHash"
	Gained        = "Gained"
	Answers       = "Answers"
	AnswerTime    = "AnswerTime"
	ServiceTime   = "ServiceTime"
	Size          = "Size"
)

// Those of who sends points, lines or events; Sent is shared with clients.
const (
	Due          = "Due"
	Acknowledged = "Acknowledged"
	Outstanding  = "Outstanding"
	Lost         = "Lost"
	Blocked      = "Blocked"
	Connections  = "Connections"
)

// Numbers that programs publish of their goroutines, and of package runtime/metrics
// under its own names; ".p99" and ".max" are of a histogram.
const (
	Goroutines         = "goroutines"
	RuntimeGoroutines  = "/sched/goroutines:goroutines"
	RuntimeLatencyP99  = "/sched/latencies:seconds.p99"
	RuntimePauseMax    = "/sched/pauses/total/gc:seconds.max"
	RuntimeOldPauseMax = "/gc/pauses:seconds.max" // before Go 1.22
	RuntimeHeapObjects = "/memory/classes/heap/objects:bytes"
	RuntimeHeapGoal    = "/gc/heap/goal:bytes"
	RuntimeGCCycles    = "/gc/cycles/total:gc-cycles"
	RuntimeGCCPU       = "/cpu/classes/gc/total:cpu-seconds"
)

// Declared describes the source. Programs name their own numbers as they like.
var Declared = observe.Declaration{
	Name:  Name,
	Title: "programs in Go",
	Role:  observe.RoleApplication,
	Records: "what [programs in Go](profiles.md) publish of themselves with package expvar: memory, collections, " +
		"goroutines, pools",
	Rights: "their port",
	Lost:   "waits for connections of the application's pools",
	Open:   true,
	Signals: []observe.Signal{
		{Key: MaxOpenConnections, Unit: "count", Entity: "pool", Label: "most connections"},
		{Key: OpenConnections, Unit: "count", Entity: "pool", Label: "open"},
		{Key: InUse, Unit: "count", Entity: "pool", Label: "in use"},
		{Key: Idle, Unit: "count", Entity: "pool", Label: "idle"},
		{Key: WaitCount, Unit: "count", Kind: kasoku.Counter, Entity: "pool", Label: "waits"},
		{Key: WaitDuration, Unit: "s", Kind: kasoku.Counter, Entity: "pool", Label: "time of waits"},
		{Key: MaxIdleClosed, Unit: "count", Kind: kasoku.Counter, Entity: "pool", Label: "closed, too many idle"},
		{
			Key: MaxIdleTimeClosed, Unit: "count",
			Kind: kasoku.Counter, Entity: "pool", Label: "closed, idle for too long",
		},
		{Key: MaxLifetimeClosed, Unit: "count", Kind: kasoku.Counter, Entity: "pool", Label: "closed, too old"},
		{Key: HeapAlloc, Unit: "bytes", Entity: "program", Label: "heap"},
		{Key: HeapInuse, Unit: "bytes", Entity: "program", Label: "heap in use"},
		{Key: HeapIdle, Unit: "bytes", Entity: "program", Label: "heap idle"},
		{Key: HeapReleased, Unit: "bytes", Entity: "program", Label: "heap given back"},
		{Key: HeapObjects, Unit: "count", Entity: "program", Label: "objects"},
		{Key: StackInuse, Unit: "bytes", Entity: "program", Label: "stacks"},
		{Key: System, Unit: "bytes", Entity: "program", Label: "memory of the runtime"},
		{Key: NextGC, Unit: "bytes", Entity: "program", Label: "heap of the next collection"},
		{Key: TotalAlloc, Unit: "bytes", Kind: kasoku.Counter, Entity: "program", Label: "allocated"},
		{Key: Mallocs, Unit: "count", Kind: kasoku.Counter, Entity: "program", Label: "allocations"},
		{Key: Frees, Unit: "count", Kind: kasoku.Counter, Entity: "program", Label: "objects freed"},
		{Key: NumGC, Unit: "count", Kind: kasoku.Counter, Entity: "program", Label: "collections"},
		{Key: NumForcedGC, Unit: "count", Kind: kasoku.Counter, Entity: "program", Label: "collections asked for"},
		{Key: PauseTotal, Unit: "s", Kind: kasoku.Counter, Entity: "program", Label: "pauses"},
		{Key: GCCPUFraction, Unit: "ratio", Entity: "program", Label: "CPU of collections"},
		{Key: PauseMax, Unit: "s", Entity: "program", Label: "longest pause"},
		{Key: InFlight, Unit: "count", Entity: "client", Label: "in flight"},
		{Key: InFlightTime, Unit: "s", Kind: kasoku.Counter, Entity: "client", Label: "in flight, mean"},
		{Key: Sent, Unit: "count", Kind: kasoku.Counter, Entity: "client", Label: "sent"},
		{Key: Refused, Unit: "count", Kind: kasoku.Counter, Entity: "client", Label: "refused"},
		{Key: Waiting, Unit: "count", Entity: "client", Label: "waiting in queues"},
		{Key: Permits, Unit: "count", Entity: "client", Label: "permits"},
		{Key: PermitsMost, Unit: "count", Entity: "client", Label: "most permits"},
		{Key: PermitsAsked, Unit: "count", Kind: kasoku.Counter, Entity: "client", Label: "permits asked for"},
		{Key: PermitsFailed, Unit: "count", Kind: kasoku.Counter, Entity: "client", Label: "permits not given"},
		{Key: PermitWait, Unit: "s", Kind: kasoku.Counter, Entity: "client", Label: "wait for permits"},
		{Key: UseWait, Unit: "s", Kind: kasoku.Counter, Entity: "client", Label: "wait for permits in use"},
		{Key: UsesMost, Unit: "count", Entity: "client", Label: "most uses of a permit at once"},
		{Key: QuestionsHash, Unit: "count", Entity: "client", Label: "hash of its first questions"},
		{Key: AnswersHash, Unit: "count", Entity: "client", Label: "hash of the answers to them"},
		{Key: Gained, Unit: "count", Kind: kasoku.Counter, Entity: "client", Label: "gained"},
		{Key: Answers, Unit: "count", Kind: kasoku.Counter, Entity: "operation", Label: "answers"},
		{Key: AnswerTime, Unit: "s", Kind: kasoku.Counter, Entity: "operation", Label: "time of answers"},
		{Key: ServiceTime, Unit: "s", Kind: kasoku.Counter, Entity: "operation", Label: "time of the service"},
		{Key: Size, Unit: "count", Entity: "operation", Label: "size"},
		{Key: Due, Unit: "count", Kind: kasoku.Counter, Entity: "sender", Label: "due"},
		{Key: Acknowledged, Unit: "count", Kind: kasoku.Counter, Entity: "sender", Label: "acknowledged"},
		{Key: Outstanding, Unit: "count", Entity: "sender", Label: "due and not sent"},
		{Key: Lost, Unit: "count", Kind: kasoku.Counter, Entity: "sender", Label: "lost or left out"},
		{Key: Blocked, Unit: "s", Kind: kasoku.Counter, Entity: "sender", Label: "time of writes that waited"},
		{Key: Connections, Unit: "count", Entity: "sender", Label: "connections that have begun"},
		{Key: Goroutines, Unit: "count", Entity: "program", Label: "goroutines"},
		{Key: RuntimeGoroutines, Unit: "count", Entity: "program", Label: "goroutines"},
		{Key: RuntimeLatencyP99, Unit: "s", Entity: "program", Label: "wait of goroutines, p99"},
		{Key: RuntimePauseMax, Unit: "s", Entity: "program", Label: "longest pause"},
		{Key: RuntimeOldPauseMax, Unit: "s", Entity: "program", Label: "longest pause"},
		{Key: RuntimeHeapObjects, Unit: "bytes", Entity: "program", Label: "heap"},
		{Key: RuntimeHeapGoal, Unit: "bytes", Entity: "program", Label: "heap of the next collection"},
		{Key: RuntimeGCCycles, Unit: "count", Kind: kasoku.Counter, Entity: "program", Label: "collections"},
		{Key: RuntimeGCCPU, Unit: "s", Kind: kasoku.Counter, Entity: "program", Label: "CPU of collections"},
	},
}
