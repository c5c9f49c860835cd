package stacks

import (
	"slices"
	"strings"
	"sync"

	"github.com/kasoku/kasoku/trace/symbols"
)

// A Reason is what a thread or a goroutine waits for.
type Reason string

// The reasons.
const (
	Socket   Reason = "socket"    // the other end of a connection
	Accept   Reason = "accept"    // a new connection
	Events   Reason = "events"    // whatever comes first on many descriptors: idle, for an event loop
	Lock     Reason = "lock"      // a mutex, a condition, a semaphore
	Pool     Reason = "pool"      // a connection of a pool
	Channel  Reason = "channel"   // another goroutine
	Sleep    Reason = "sleep"     // a timer
	Disk     Reason = "disk"      // a block device, or what is on it
	Pipe     Reason = "pipe"      // the other end of a pipe
	Child    Reason = "child"     // a process that it has started
	FileLock Reason = "file lock" // of flock(2), fcntl(2)
	Memory   Reason = "memory"    // a page, or room for one
	Kernel   Reason = "kernel"    // a lock in the kernel
	Limit    Reason = "CPU limit" // of its control group
	Stopped  Reason = "stopped"   // by a signal or a debugger
	Idle     Reason = "idle"      // a thread or goroutine of a runtime that has nothing to do
	Ended    Reason = "ended"     // the thread has ended; it is not shown
	Other    Reason = "other"
)

// byKernel are the reasons by functions of the kernel; the first function, from the innermost,
// that is known decides. A name that ends with a star stands for all that begin so.
func byKernel() map[Reason][]string {
	return map[Reason][]string{
		Ended: {"do_exit", "do_task_dead"},
		Limit: {"throttle_cfs_rq_work"},
		Disk: {"io_schedule*", "blk_*", "submit_bio_wait", "folio_wait_*", "wait_on_page_bit*", "__wait_on_buffer", "wait_on_buffer",
			"jbd2_*", "xlog_*", "xfs_*log*", "btrfs_*", "ext4_sync*", "file_write_and_wait*", "filemap_fdatawait*", "wait_for_stable_page",
			"balance_dirty_pages*", "read_events", "dio_*", "iomap_dio_*", "__iomap_dio_rw"},
		Memory: {"__folio_lock_or_retry", "mem_cgroup_handle_over_high", "try_to_free_*", "userfaultfd_*", "migration_entry_wait*"},
		Lock:   {"futex_*", "__futex_*", "do_futex", "ksys_semtimedop", "do_semtimedop", "wq_sleep", "do_msgrcv"},
		Sleep:  {"do_nanosleep", "hrtimer_nanosleep", "common_nsleep*"},
		Events: {"ep_poll", "do_epoll_wait", "io_cqring_wait", "inotify_read", "signalfd_read*", "do_sigtimedwait", "eventfd_read",
			"timerfd_read*", "sigsuspend", "__x64_sys_pause"},
		Accept: {"inet_csk_accept", "inet_csk_wait_for_connect", "unix_accept"},
		Socket: {"sk_wait_data", "tcp_recvmsg*", "__skb_wait_for_more_packets", "unix_stream_*", "unix_wait_for_peer", "inet_wait_for_connect",
			"inet_stream_connect", "__inet_stream_connect", "sk_stream_wait_*", "sock_alloc_send_pskb", "sock_wait_for_wmem", "unix_dgram_*",
			"__unix_dgram_*", "sock_recvmsg", "sock_sendmsg", "do_wait_data", "tls_*"},
		Pipe:     {"pipe_read", "pipe_write", "anon_pipe_read", "anon_pipe_write", "pipe_wait_*", "fifo_open"},
		Child:    {"do_wait", "kernel_wait4", "wait_for_vfork_done", "__do_wait"},
		FileLock: {"flock_lock_inode_wait", "locks_lock_inode_wait", "posix_lock_inode_wait", "fcntl_setlk", "__break_lease"},
		Stopped:  {"do_signal_stop", "ptrace_stop", "do_jobctl_trap", "do_freezer_trap", "get_signal"},
		Kernel:   {"rwsem_*", "__mutex_lock*", "mutex_lock*", "down_*", "percpu_rwsem_*", "synchronize_*", "wait_for_completion*", "wait_rcu_gp*"},
	}
}

// kernelReasons are byKernel by name, made when they are first asked for.
var kernelReasons = sync.OnceValues(func() (names, starts map[string]Reason) {
	names, starts = map[string]Reason{}, map[string]Reason{}
	for reason, list := range byKernel() {
		for _, name := range list {
			if start, ok := strings.CutSuffix(name, "*"); ok {
				starts[start] = reason
			} else {
				names[name] = reason
			}
		}
	}
	return names, starts
})

// kernelReason returns the reason by one function of the kernel.
func kernelReason(name string) (Reason, bool) {
	names, starts := kernelReasons()
	if r, ok := names[name]; ok {
		return r, true
	}
	for i := len(name); i > 2; i-- {
		if r, ok := starts[name[:i]]; ok {
			return r, true
		}
	}
	return Other, false
}

// reasonOf returns why a thread left its processor, by the kernel's stack, innermost first. A
// poll is one for a socket where it is for one descriptor alone.
func reasonOf(kernel []symbols.Frame, r *record) Reason {
	for _, f := range kernel {
		if reason, ok := kernelReason(f.Name); ok {
			return reason
		}
		switch f.Name {
		case "do_sys_poll", "do_poll", "do_poll.constprop.0":
			if r.fd >= 0 {
				return Socket
			}
			return Events
		case "do_select", "core_sys_select":
			return Events
		}
	}
	return byCall(r)
}

// byCall is the reason by the system call alone.
func byCall(r *record) Reason {
	for reason, calls := range callReasons {
		if slices.Contains(calls, r.call) {
			return reason
		}
	}
	return Other
}

// trimmed returns the kernel's functions of a stack without those of the scheduler and of the
// programs that noted it.
func trimmed(kernel []symbols.Frame) []symbols.Frame {
	for i, f := range kernel {
		if f.Name == "schedule" || f.Name == "preempt_schedule_common" || f.Name == "preempt_schedule_irq" ||
			f.Name == "schedule_idle" || f.Name == "schedule_rtlock" {
			return kernel[i+1:]
		}
	}
	for i := len(kernel) - 1; i >= 0; i-- {
		if strings.HasPrefix(kernel[i].Name, "__schedule") {
			return kernel[i+1:]
		}
	}
	return kernel
}
