package process

import (
	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
)

// The keys of the signals of the source "process".
const (
	CPUUser         = "cpu.user"
	CPUSystem       = "cpu.system"
	CPUChildren     = "cpu.children"
	CPUExited       = "cpu.exited"
	TreeCPU         = "tree.cpu"
	FaultsMajor     = "faults.major"
	RSS             = "rss"
	Threads         = "threads"
	FDs             = "fds"
	FDsLimit        = "fds_limit"
	IOReadBytes     = "io.read_bytes"
	IOWriteBytes    = "io.write_bytes"
	IOWriteCalls    = "io.write_calls"
	SwitchVoluntary = "switch.voluntary"
	SwitchForced    = "switch.forced"
	TasksUser       = "tasks_user"
	TasksLimit      = "tasks_limit"
	Size            = "size"
	SizeLimit       = "size_limit"
	CPUUnattributed = "cpu.unattributed"
	Count           = "count"
)

// The keys of the signals of the source "groups".
const (
	ExeCPU             = "exe.cpu"
	ExeRSS             = "exe.rss"
	ExeProcesses       = "exe.processes"
	ExeThreads         = "exe.threads"
	UnitCPU            = "unit.cpu"
	UnitRSS            = "unit.rss"
	UnitProcesses      = "unit.processes"
	UnitThreads        = "unit.threads"
	ContainerCPU       = "container.cpu"
	ContainerRSS       = "container.rss"
	ContainerProcesses = "container.processes"
	ContainerThreads   = "container.threads"
)

// The keys of the signals of the source "threads".
const (
	ThreadCPU  = "thread.cpu"
	ThreadWait = "thread.wait"
)

// Declared describes the source.
var Declared = observe.Declaration{
	Name: Name,
	Role: observe.RoleProcess,
	Records: "of the named processes and the ten busiest: CPU, memory, major faults, threads, " +
		"switches, I/O, open files, and the limits that are set",
	From:   "`/proc/PID`",
	Rights: "I/O and open files of other users' processes: root (`CAP_SYS_PTRACE`)",
	Lost:   "which process used the machine",
	Signals: []observe.Signal{
		{Key: CPUUser, Unit: "s", Kind: kasoku.Counter, Entity: "process", Label: "CPU, user"},
		{Key: CPUSystem, Unit: "s", Kind: kasoku.Counter, Entity: "process", Label: "CPU, system"},
		{Key: CPUChildren, Unit: "s", Kind: kasoku.Counter, Entity: "process", Label: "CPU of children that ended"},
		{
			Key: CPUExited, Unit: "s",
			Kind: kasoku.Counter, Entity: "process", Label: "CPU of processes that no tick saw",
		},
		{
			Key: TreeCPU, Unit: "s",
			Kind: kasoku.Counter, Entity: "process", Label: "CPU with all that it starts",
		},
		{Key: FaultsMajor, Unit: "count", Kind: kasoku.Counter, Entity: "process", Label: "major faults"},
		{Key: RSS, Unit: "bytes", Entity: "process", Label: "memory"},
		{Key: Threads, Unit: "count", Entity: "process", Label: "threads"},
		{Key: FDs, Unit: "count", Entity: "process", Label: "open files"},
		{Key: FDsLimit, Unit: "count", Entity: "process", Label: "most open files"},
		{Key: IOReadBytes, Unit: "bytes", Kind: kasoku.Counter, Entity: "process", Label: "read"},
		{Key: IOWriteBytes, Unit: "bytes", Kind: kasoku.Counter, Entity: "process", Label: "written"},
		{Key: IOWriteCalls, Unit: "count", Kind: kasoku.Counter, Entity: "process", Label: "write calls"},
		{Key: SwitchVoluntary, Unit: "count", Kind: kasoku.Counter, Entity: "process", Label: "waits"},
		{Key: SwitchForced, Unit: "count", Kind: kasoku.Counter, Entity: "process", Label: "preemptions"},
		{Key: TasksUser, Unit: "count", Entity: "process", Label: "threads of the user"},
		{Key: TasksLimit, Unit: "count", Entity: "process", Label: "most threads of the user"},
		{Key: Size, Unit: "bytes", Entity: "process", Label: "address space"},
		{Key: SizeLimit, Unit: "bytes", Entity: "process", Label: "largest address space"},
		{Key: CPUUnattributed, Unit: "s", Kind: kasoku.Counter, Label: "CPU that no process accounts for"},
		{Key: Count, Unit: "count", Label: "processes"},
	},
}

// DeclaredGroups describes the sums of processes, a part of the source that can be switched off.
var DeclaredGroups = observe.Declaration{
	Name: GroupsName,
	Role: observe.RoleProcess,
	Of:   Name,
	Records: "CPU, memory, processes and threads of all processes, by executable, systemd unit and " +
		"container",
	From:   "`/proc/PID/exe`, `/proc/PID/cgroup`",
	Rights: "executables of other users: root; else the kernel's short name",
	Lost:   "what short-lived processes used, by program, unit and container",
	Signals: []observe.Signal{
		{Key: ExeCPU, Unit: "s", Kind: kasoku.Counter, Entity: "program", Label: "CPU"},
		{Key: ExeRSS, Unit: "bytes", Entity: "program", Label: "memory"},
		{Key: ExeProcesses, Unit: "count", Entity: "program", Label: "processes"},
		{Key: ExeThreads, Unit: "count", Entity: "program", Label: "threads"},
		{Key: UnitCPU, Unit: "s", Kind: kasoku.Counter, Entity: "unit", Label: "CPU"},
		{Key: UnitRSS, Unit: "bytes", Entity: "unit", Label: "memory"},
		{Key: UnitProcesses, Unit: "count", Entity: "unit", Label: "processes"},
		{Key: UnitThreads, Unit: "count", Entity: "unit", Label: "threads"},
		{Key: ContainerCPU, Unit: "s", Kind: kasoku.Counter, Entity: "container", Label: "CPU"},
		{Key: ContainerRSS, Unit: "bytes", Entity: "container", Label: "memory"},
		{Key: ContainerProcesses, Unit: "count", Entity: "container", Label: "processes"},
		{Key: ContainerThreads, Unit: "count", Entity: "container", Label: "threads"},
	},
}

// DeclaredThreads describes the busy threads, a part of the source that can be switched off.
var DeclaredThreads = observe.Declaration{
	Name: ThreadsName,
	Role: observe.RoleProcess,
	Of:   Name,
	Records: "of the three busiest processes: threads that took a fifth of a core, and how long they " +
		"waited for one",
	From:   "`/proc/PID/task/TID/schedstat`",
	Rights: "none",
	Lost:   "which thread filled a core",
	Signals: []observe.Signal{
		{Key: ThreadCPU, Unit: "s", Kind: kasoku.Counter, Entity: "thread", Label: "CPU"},
		{Key: ThreadWait, Unit: "s", Kind: kasoku.Counter, Entity: "thread", Label: "wait for a core"},
	},
}
