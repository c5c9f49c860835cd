package cgroup

import (
	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
)

// The keys of the signals of the source "cgroup".
const (
	PIDsCurrent         = "pids.current"
	PIDsMax             = "pids.max"
	PIDsEventsMax       = "pids.events.max"
	CPUUsage            = "cpu.usage"
	CPUUser             = "cpu.user"
	CPUSystem           = "cpu.system"
	CPUMax              = "cpu.max"
	CPUPeriods          = "cpu.periods"
	CPUThrottledPeriods = "cpu.throttled_periods"
	CPUThrottled        = "cpu.throttled"
	MemoryCurrent       = "memory.current"
	MemoryMax           = "memory.max"
	MemoryHigh          = "memory.high"
	MemoryPeak          = "memory.peak"
	MemoryAnon          = "memory.anon"
	MemoryFile          = "memory.file"
	MemoryKernel        = "memory.kernel"
	MemoryEventsHigh    = "memory.events.high"
	MemoryEventsMax     = "memory.events.max"
	MemoryEventsOOM     = "memory.events.oom"
	MemoryEventsOOMKill = "memory.events.oom_kill"
	IOReadBytes         = "io.read_bytes"
	IOWriteBytes        = "io.write_bytes"
	IOReads             = "io.reads"
	IOWrites            = "io.writes"
	PressureCPUSome     = "psi.cpu.some"
	PressureCPUFull     = "psi.cpu.full"
	PressureIOSome      = "psi.io.some"
	PressureIOFull      = "psi.io.full"
	PressureMemorySome  = "psi.memory.some"
	PressureMemoryFull  = "psi.memory.full"
)

// Declared describes the source.
var Declared = observe.Declaration{
	Name: Name,
	Role: observe.RoleProcess,
	Records: "of the groups of those processes, and of groups above them with a limit: CPU with " +
		"throttling, memory with what it is made of and the events of its limits, tasks, input " +
		"and output, pressure; version 2 and 1",
	From:   "cgroupfs",
	Rights: "none",
	Lost:   "limits of units and containers that were hit: CPU quota, tasks, memory",
	Signals: []observe.Signal{
		{Key: PIDsCurrent, Unit: "count", Entity: "group", Label: "tasks"},
		{Key: PIDsMax, Unit: "count", Entity: "group", Label: "most tasks"},
		{Key: PIDsEventsMax, Unit: "count", Kind: kasoku.Counter, Entity: "group", Label: "tasks refused"},
		{Key: CPUUsage, Unit: "s", Kind: kasoku.Counter, Entity: "group", Label: "CPU"},
		{Key: CPUUser, Unit: "s", Kind: kasoku.Counter, Entity: "group", Label: "CPU, user"},
		{Key: CPUSystem, Unit: "s", Kind: kasoku.Counter, Entity: "group", Label: "CPU, system"},
		{Key: CPUMax, Unit: "cores", Entity: "group", Label: "most cores"},
		{Key: CPUPeriods, Unit: "count", Kind: kasoku.Counter, Entity: "group", Label: "periods"},
		{Key: CPUThrottledPeriods, Unit: "count", Kind: kasoku.Counter, Entity: "group", Label: "periods throttled"},
		{Key: CPUThrottled, Unit: "s", Kind: kasoku.Counter, Entity: "group", Label: "time throttled"},
		{Key: MemoryCurrent, Unit: "bytes", Entity: "group", Label: "memory"},
		{Key: MemoryMax, Unit: "bytes", Entity: "group", Label: "most memory"},
		{Key: MemoryHigh, Unit: "bytes", Entity: "group", Label: "memory from which it is throttled"},
		{Key: MemoryPeak, Unit: "bytes", Entity: "group", Label: "most memory used"},
		{Key: MemoryAnon, Unit: "bytes", Entity: "group", Label: "memory of programs"},
		{Key: MemoryFile, Unit: "bytes", Entity: "group", Label: "page cache"},
		{Key: MemoryKernel, Unit: "bytes", Entity: "group", Label: "memory of the kernel"},
		{
			Key: MemoryEventsHigh, Unit: "count",
			Kind: kasoku.Counter, Entity: "group", Label: "times above memory.high",
		},
		{Key: MemoryEventsMax, Unit: "count", Kind: kasoku.Counter, Entity: "group", Label: "times at memory.max"},
		{Key: MemoryEventsOOM, Unit: "count", Kind: kasoku.Counter, Entity: "group", Label: "times out of memory"},
		{
			Key: MemoryEventsOOMKill, Unit: "count",
			Kind: kasoku.Counter, Entity: "group", Label: "processes killed for want of memory",
		},
		{Key: IOReadBytes, Unit: "bytes", Kind: kasoku.Counter, Entity: "group", Label: "read"},
		{Key: IOWriteBytes, Unit: "bytes", Kind: kasoku.Counter, Entity: "group", Label: "written"},
		{Key: IOReads, Unit: "count", Kind: kasoku.Counter, Entity: "group", Label: "reads"},
		{Key: IOWrites, Unit: "count", Kind: kasoku.Counter, Entity: "group", Label: "writes"},
		{Key: PressureCPUSome, Unit: "s", Kind: kasoku.Counter, Entity: "group", Label: "some wait for CPU"},
		{Key: PressureCPUFull, Unit: "s", Kind: kasoku.Counter, Entity: "group", Label: "all wait for CPU"},
		{Key: PressureIOSome, Unit: "s", Kind: kasoku.Counter, Entity: "group", Label: "some wait for a disk"},
		{Key: PressureIOFull, Unit: "s", Kind: kasoku.Counter, Entity: "group", Label: "all wait for a disk"},
		{Key: PressureMemorySome, Unit: "s", Kind: kasoku.Counter, Entity: "group", Label: "some wait for memory"},
		{Key: PressureMemoryFull, Unit: "s", Kind: kasoku.Counter, Entity: "group", Label: "all wait for memory"},
	},
}
