package host

import (
	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
)

// The keys of the signals of the source "host".
const (
	CPUUser              = "cpu.user"
	CPUNice              = "cpu.nice"
	CPUSystem            = "cpu.system"
	CPUIdle              = "cpu.idle"
	CPUIowait            = "cpu.iowait"
	CPUIRQ               = "cpu.irq"
	CPUSoftIRQ           = "cpu.softirq"
	CPUSteal             = "cpu.steal"
	ContextSwitches      = "ctxt"
	Forks                = "forks"
	ProcsRunning         = "procs.running"
	ProcsBlocked         = "procs.blocked"
	Interrupts           = "intr"
	SoftIRQTimer         = "softirq.timer"
	SoftIRQNetTx         = "softirq.net_tx"
	SoftIRQNetRx         = "softirq.net_rx"
	SoftIRQBlock         = "softirq.block"
	SoftIRQTasklet       = "softirq.tasklet"
	SoftIRQSched         = "softirq.sched"
	SoftIRQRCU           = "softirq.rcu"
	MemTotal             = "mem.total"
	MemFree              = "mem.free"
	MemAvailable         = "mem.available"
	MemCached            = "mem.cached"
	MemBuffers           = "mem.buffers"
	MemAnon              = "mem.anon"
	MemShmem             = "mem.shmem"
	MemSlab              = "mem.slab"
	MemDirty             = "mem.dirty"
	MemWriteback         = "mem.writeback"
	MemSwapUsed          = "mem.swap_used"
	MemSwapTotal         = "mem.swap_total"
	VMPageFaults         = "vm.pgfault"
	VMMajorPageFaults    = "vm.pgmajfault"
	VMSwapIn             = "vm.pswpin"
	VMSwapOut            = "vm.pswpout"
	VMOOMKill            = "vm.oom_kill"
	VMRefaultFile        = "vm.refault_file"
	VMPagesScannedDirect = "vm.pgscan_direct"
	VMAllocStalls        = "vm.allocstall"
	VMPagesScanned       = "vm.pgscan"
	Load1                = "load.1"
	Tasks                = "tasks"
	TasksMax             = "tasks.max"
	PIDsMax              = "pids.max"
	DiskReads            = "disk.reads"
	DiskReadBytes        = "disk.read_bytes"
	DiskReadTime         = "disk.read_time"
	DiskWrites           = "disk.writes"
	DiskWriteBytes       = "disk.write_bytes"
	DiskWriteTime        = "disk.write_time"
	DiskBusy             = "disk.busy"
	DiskQueueTime        = "disk.queue_time"
	DiskInFlight         = "disk.in_flight"
	DiskFlushes          = "disk.flushes"
	DiskFlushTime        = "disk.flush_time"
	NetRxBytes           = "net.rx_bytes"
	NetRxPackets         = "net.rx_packets"
	NetTxBytes           = "net.tx_bytes"
	NetTxPackets         = "net.tx_packets"
	NetErrors            = "net.errors"
	NetDrops             = "net.drops"
	SoftnetProcessed     = "softnet.processed"
	SoftnetDropped       = "softnet.dropped"
	SoftnetSqueezed      = "softnet.squeezed"
	TCPActiveOpens       = "tcp.active_opens"
	TCPPassiveOpens      = "tcp.passive_opens"
	TCPAttemptFails      = "tcp.attempt_fails"
	TCPEstabResets       = "tcp.estab_resets"
	TCPInSegments        = "tcp.in_segments"
	TCPOutSegments       = "tcp.out_segments"
	TCPRetrans           = "tcp.retrans"
	TCPInErrors          = "tcp.in_errors"
	TCPOutResets         = "tcp.out_resets"
	TCPEstablished       = "tcp.established"
	UDPIn                = "udp.in"
	UDPNoPort            = "udp.no_port"
	UDPInErrors          = "udp.in_errors"
	UDPOut               = "udp.out"
	UDPReceiveFull       = "udp.receive_full"
	UDPSendFull          = "udp.send_full"
	TCPSyncookies        = "tcp.syncookies"
	TCPPrunes            = "tcp.prunes"
	TCPListenOverflows   = "tcp.listen_overflows"
	TCPListenDrops       = "tcp.listen_drops"
	TCPLostRetrans       = "tcp.lost_retrans"
	TCPTimeouts          = "tcp.timeouts"
	TCPBacklogDrops      = "tcp.backlog_drops"
	TCPTimeWaitOverflows = "tcp.time_wait_overflows"
	TCPSYNQueueDrops     = "tcp.syn_queue_drops"
	TCPMemoryAborts      = "tcp.memory_aborts"
	TCPTimeoutAborts     = "tcp.timeout_aborts"
	TCPSYNRetrans        = "tcp.syn_retrans"
	TCPReceiveQueueDrops = "tcp.receive_queue_drops"
	TCPTimeWait          = "tcp.time_wait"
	TCPOrphans           = "tcp.orphans"
	TCPAlloc             = "tcp.alloc"
	TCPMemoryPages       = "tcp.memory_pages"
	PressureCPUSome      = "psi.cpu.some"
	PressureIOSome       = "psi.io.some"
	PressureIOFull       = "psi.io.full"
	PressureMemorySome   = "psi.memory.some"
	PressureMemoryFull   = "psi.memory.full"
	PressureIRQFull      = "psi.irq.full"
	FilesOpen            = "files.open"
	FilesMax             = "files.max"
	ConntrackCount       = "conntrack.count"
	ConntrackMax         = "conntrack.max"
	ConntrackDrops       = "conntrack.drops"
)

// Declared describes the source.
var Declared = observe.Declaration{
	Name: Name,
	Role: observe.RoleHost,
	Records: "CPU by mode, of all and of each core; interrupts, softirqs by kind; run queue, forks, " +
		"threads; memory, swap, dirty pages; page faults, reclaim, kills for want of memory; " +
		"pressure of CPU, disk, memory, interrupts; each disk; each network interface with " +
		"errors and drops; packets that CPUs dropped or left (`softnet`); TCP and UDP counters; " +
		"tracked connections; open files",
	From:   "`/proc`",
	Rights: "none",
	Lost:   "everything of the machine: CPU, memory, disks, network",
	Signals: []observe.Signal{
		{Key: CPUUser, Unit: "s", Kind: kasoku.Counter, Entity: "core", Label: "user"},
		{Key: CPUNice, Unit: "s", Kind: kasoku.Counter, Entity: "core", Label: "user, low priority"},
		{Key: CPUSystem, Unit: "s", Kind: kasoku.Counter, Entity: "core", Label: "system"},
		{Key: CPUIdle, Unit: "s", Kind: kasoku.Counter, Entity: "core", Label: "idle"},
		{Key: CPUIowait, Unit: "s", Kind: kasoku.Counter, Entity: "core", Label: "idle, a disk is waited for"},
		{Key: CPUIRQ, Unit: "s", Kind: kasoku.Counter, Entity: "core", Label: "interrupts"},
		{Key: CPUSoftIRQ, Unit: "s", Kind: kasoku.Counter, Entity: "core", Label: "soft interrupts"},
		{Key: CPUSteal, Unit: "s", Kind: kasoku.Counter, Entity: "core", Label: "taken by the hypervisor"},
		{Key: ContextSwitches, Unit: "count", Kind: kasoku.Counter, Label: "context switches"},
		{Key: Forks, Unit: "count", Kind: kasoku.Counter, Label: "processes and threads started"},
		{Key: ProcsRunning, Unit: "count", Label: "threads that run or could"},
		{Key: ProcsBlocked, Unit: "count", Label: "threads that wait for a disk"},
		{Key: Interrupts, Unit: "count", Kind: kasoku.Counter, Label: "interrupts"},
		{Key: SoftIRQTimer, Unit: "count", Kind: kasoku.Counter, Label: "soft interrupts, timer"},
		{Key: SoftIRQNetTx, Unit: "count", Kind: kasoku.Counter, Label: "soft interrupts, packets sent"},
		{Key: SoftIRQNetRx, Unit: "count", Kind: kasoku.Counter, Label: "soft interrupts, packets received"},
		{Key: SoftIRQBlock, Unit: "count", Kind: kasoku.Counter, Label: "soft interrupts, disks"},
		{Key: SoftIRQTasklet, Unit: "count", Kind: kasoku.Counter, Label: "soft interrupts, tasklets"},
		{Key: SoftIRQSched, Unit: "count", Kind: kasoku.Counter, Label: "soft interrupts, scheduler"},
		{Key: SoftIRQRCU, Unit: "count", Kind: kasoku.Counter, Label: "soft interrupts, RCU"},
		{Key: MemTotal, Unit: "bytes", Label: "memory"},
		{Key: MemFree, Unit: "bytes", Label: "memory free"},
		{Key: MemAvailable, Unit: "bytes", Label: "memory available"},
		{Key: MemCached, Unit: "bytes", Label: "page cache"},
		{Key: MemBuffers, Unit: "bytes", Label: "buffers"},
		{Key: MemAnon, Unit: "bytes", Label: "memory of programs"},
		{Key: MemShmem, Unit: "bytes", Label: "shared memory"},
		{Key: MemSlab, Unit: "bytes", Label: "memory of the kernel's objects"},
		{Key: MemDirty, Unit: "bytes", Label: "dirty pages"},
		{Key: MemWriteback, Unit: "bytes", Label: "pages being written"},
		{Key: MemSwapUsed, Unit: "bytes", Label: "swap used"},
		{Key: MemSwapTotal, Unit: "bytes", Label: "swap"},
		{Key: VMPageFaults, Unit: "count", Kind: kasoku.Counter, Label: "page faults"},
		{Key: VMMajorPageFaults, Unit: "count", Kind: kasoku.Counter, Label: "major page faults"},
		{Key: VMSwapIn, Unit: "count", Kind: kasoku.Counter, Label: "pages swapped in"},
		{Key: VMSwapOut, Unit: "count", Kind: kasoku.Counter, Label: "pages swapped out"},
		{Key: VMOOMKill, Unit: "count", Kind: kasoku.Counter, Label: "processes killed for want of memory"},
		{Key: VMRefaultFile, Unit: "count", Kind: kasoku.Counter, Label: "file pages read again"},
		{Key: VMPagesScannedDirect, Unit: "count", Kind: kasoku.Counter, Label: "pages scanned by who wants memory"},
		{Key: VMAllocStalls, Unit: "count", Kind: kasoku.Counter, Label: "allocations that waited"},
		{Key: VMPagesScanned, Unit: "count", Kind: kasoku.Counter, Label: "pages scanned"},
		{Key: Load1, Unit: "count", Label: "load average of a minute"},
		{Key: Tasks, Unit: "count", Label: "threads"},
		{Key: TasksMax, Unit: "count", Label: "most threads"},
		{Key: PIDsMax, Unit: "count", Label: "largest process id"},
		{Key: DiskReads, Unit: "count", Kind: kasoku.Counter, Entity: "disk", Label: "reads"},
		{Key: DiskReadBytes, Unit: "bytes", Kind: kasoku.Counter, Entity: "disk", Label: "read"},
		{Key: DiskReadTime, Unit: "s", Kind: kasoku.Counter, Entity: "disk", Label: "time of reads"},
		{Key: DiskWrites, Unit: "count", Kind: kasoku.Counter, Entity: "disk", Label: "writes"},
		{Key: DiskWriteBytes, Unit: "bytes", Kind: kasoku.Counter, Entity: "disk", Label: "written"},
		{Key: DiskWriteTime, Unit: "s", Kind: kasoku.Counter, Entity: "disk", Label: "time of writes"},
		{Key: DiskBusy, Unit: "s", Kind: kasoku.Counter, Entity: "disk", Label: "busy"},
		{Key: DiskQueueTime, Unit: "s", Kind: kasoku.Counter, Entity: "disk", Label: "time of requests in the queue"},
		{Key: DiskInFlight, Unit: "count", Entity: "disk", Label: "requests in flight"},
		{Key: DiskFlushes, Unit: "count", Kind: kasoku.Counter, Entity: "disk", Label: "flushes"},
		{Key: DiskFlushTime, Unit: "s", Kind: kasoku.Counter, Entity: "disk", Label: "time of flushes"},
		{Key: NetRxBytes, Unit: "bytes", Kind: kasoku.Counter, Entity: "interface", Label: "received"},
		{Key: NetRxPackets, Unit: "count", Kind: kasoku.Counter, Entity: "interface", Label: "packets received"},
		{Key: NetTxBytes, Unit: "bytes", Kind: kasoku.Counter, Entity: "interface", Label: "sent"},
		{Key: NetTxPackets, Unit: "count", Kind: kasoku.Counter, Entity: "interface", Label: "packets sent"},
		{Key: NetErrors, Unit: "count", Kind: kasoku.Counter, Entity: "interface", Label: "errors"},
		{Key: NetDrops, Unit: "count", Kind: kasoku.Counter, Entity: "interface", Label: "drops"},
		{Key: SoftnetProcessed, Unit: "count", Kind: kasoku.Counter, Label: "packets that CPUs handled"},
		{Key: SoftnetDropped, Unit: "count", Kind: kasoku.Counter, Label: "packets that CPUs dropped"},
		{Key: SoftnetSqueezed, Unit: "count", Kind: kasoku.Counter, Label: "times that CPUs left packets for later"},
		{Key: TCPActiveOpens, Unit: "count", Kind: kasoku.Counter, Label: "connections opened"},
		{Key: TCPPassiveOpens, Unit: "count", Kind: kasoku.Counter, Label: "connections accepted"},
		{Key: TCPAttemptFails, Unit: "count", Kind: kasoku.Counter, Label: "connections that failed"},
		{Key: TCPEstabResets, Unit: "count", Kind: kasoku.Counter, Label: "connections reset"},
		{Key: TCPInSegments, Unit: "count", Kind: kasoku.Counter, Label: "segments received"},
		{Key: TCPOutSegments, Unit: "count", Kind: kasoku.Counter, Label: "segments sent"},
		{Key: TCPRetrans, Unit: "count", Kind: kasoku.Counter, Label: "segments sent again"},
		{Key: TCPInErrors, Unit: "count", Kind: kasoku.Counter, Label: "bad segments"},
		{Key: TCPOutResets, Unit: "count", Kind: kasoku.Counter, Label: "resets sent"},
		{Key: TCPEstablished, Unit: "count", Label: "connections established"},
		{Key: UDPIn, Unit: "count", Kind: kasoku.Counter, Label: "datagrams received"},
		{Key: UDPNoPort, Unit: "count", Kind: kasoku.Counter, Label: "datagrams to no listener"},
		{Key: UDPInErrors, Unit: "count", Kind: kasoku.Counter, Label: "bad datagrams"},
		{Key: UDPOut, Unit: "count", Kind: kasoku.Counter, Label: "datagrams sent"},
		{Key: UDPReceiveFull, Unit: "count", Kind: kasoku.Counter, Label: "datagrams dropped, buffer full"},
		{Key: UDPSendFull, Unit: "count", Kind: kasoku.Counter, Label: "datagrams not sent, buffer full"},
		{Key: TCPSyncookies, Unit: "count", Kind: kasoku.Counter, Label: "SYN cookies sent"},
		{Key: TCPPrunes, Unit: "count", Kind: kasoku.Counter, Label: "buffers pruned"},
		{Key: TCPListenOverflows, Unit: "count", Kind: kasoku.Counter, Label: "accept queue full"},
		{Key: TCPListenDrops, Unit: "count", Kind: kasoku.Counter, Label: "connections dropped by listeners"},
		{Key: TCPLostRetrans, Unit: "count", Kind: kasoku.Counter, Label: "retransmits lost"},
		{Key: TCPTimeouts, Unit: "count", Kind: kasoku.Counter, Label: "timeouts"},
		{Key: TCPBacklogDrops, Unit: "count", Kind: kasoku.Counter, Label: "backlog drops"},
		{Key: TCPTimeWaitOverflows, Unit: "count", Kind: kasoku.Counter, Label: "TIME_WAIT overflows"},
		{Key: TCPSYNQueueDrops, Unit: "count", Kind: kasoku.Counter, Label: "drops of half-open connections"},
		{Key: TCPMemoryAborts, Unit: "count", Kind: kasoku.Counter, Label: "connections aborted for want of memory"},
		{Key: TCPTimeoutAborts, Unit: "count", Kind: kasoku.Counter, Label: "connections aborted after timeouts"},
		{Key: TCPSYNRetrans, Unit: "count", Kind: kasoku.Counter, Label: "SYNs sent again"},
		{Key: TCPReceiveQueueDrops, Unit: "count", Kind: kasoku.Counter, Label: "receive queue drops"},
		{Key: TCPTimeWait, Unit: "count", Label: "connections in TIME_WAIT"},
		{Key: TCPOrphans, Unit: "count", Label: "sockets without a process"},
		{Key: TCPAlloc, Unit: "count", Label: "sockets"},
		{Key: TCPMemoryPages, Unit: "count", Label: "pages of socket buffers"},
		{Key: PressureCPUSome, Unit: "s", Kind: kasoku.Counter, Label: "some wait for CPU"},
		{Key: PressureIOSome, Unit: "s", Kind: kasoku.Counter, Label: "some wait for a disk"},
		{Key: PressureIOFull, Unit: "s", Kind: kasoku.Counter, Label: "all wait for a disk"},
		{Key: PressureMemorySome, Unit: "s", Kind: kasoku.Counter, Label: "some wait for memory"},
		{Key: PressureMemoryFull, Unit: "s", Kind: kasoku.Counter, Label: "all wait for memory"},
		{Key: PressureIRQFull, Unit: "s", Kind: kasoku.Counter, Label: "all wait for interrupts"},
		{Key: FilesOpen, Unit: "count", Label: "open files"},
		{Key: FilesMax, Unit: "count", Label: "most open files"},
		{Key: ConntrackCount, Unit: "count", Label: "tracked connections"},
		{Key: ConntrackMax, Unit: "count", Label: "most tracked connections"},
		{Key: ConntrackDrops, Unit: "count", Kind: kasoku.Counter, Label: "connections that could not be tracked"},
	},
}
