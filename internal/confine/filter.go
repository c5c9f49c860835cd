package confine

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// denied are the system calls that change a host or another process, none of which a
// recording makes once all is open. They fail with EPERM.
func denied() []uint32 {
	return []uint32{
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MKNODAT,
		unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
		unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_SETNS, unix.SYS_UNSHARE,
		unix.SYS_OPEN_BY_HANDLE_AT,
		unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD,
		unix.SYS_KEXEC_FILE_LOAD,
		unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL,
		unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
		unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	}
}

// starting are those that start a program.
var starting = []uint32{unix.SYS_EXECVE, unix.SYS_EXECVEAT}

// architectures are the kernel's numbers for what this program is built for.
var architectures = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// x32 is the bit of the calls of amd64's second interface, which would go round a list
// of numbers: it is refused as a whole, and so is 32-bit code.
const x32 = 0x40000000

// denyCalls installs the filter on all threads. On other architectures there is none.
func denyCalls(programs bool) error {
	arch, ok := architectures[runtime.GOARCH]
	if !ok {
		return nil
	}
	calls := denied()
	if !programs {
		calls = append(calls, starting...)
	}
	code := filter(arch, calls)
	program := &unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER,
		uintptr(unsafe.Pointer(program)))
	if errno != 0 {
		return fmt.Errorf("filter system calls: %w", errno)
	}
	return nil
}

// filter returns the program: seccomp_data has the call's number at offset 0 and the
// architecture at 4.
func filter(arch uint32, calls []uint32) []unix.SockFilter {
	const (
		load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equals = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		least  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		answer = unix.BPF_RET | unix.BPF_K
	)
	code := []unix.SockFilter{
		{Code: load, K: 4},
		{Code: equals, K: arch, Jt: 1},
		{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: load, K: 0},
		{Code: least, K: x32, Jt: uint8(len(calls) + 1)},
	}
	for i, call := range calls {
		code = append(code, unix.SockFilter{Code: equals, K: call, Jt: uint8(len(calls) - i)})
	}
	return append(code,
		unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)})
}
