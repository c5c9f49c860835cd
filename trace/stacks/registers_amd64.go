package stacks

// Where the registers of a thread are in struct pt_regs: the kernel's
// arch/x86/include/uapi/asm/ptrace.h.
const (
	regArg0   = 112 // di
	regArg1   = 104 // si
	regCall   = 120 // orig_ax
	regStack  = 152 // sp
	regLink   = 0
	linkReg   = false // a call leaves its return address at the stack pointer
	callPoll  = 7
	callPpoll = 271
)

// descriptorCalls are the system calls whose first argument is the descriptor that they wait
// for: read, write, pread64, pwrite64, readv, writev, sendfile, connect, accept, sendto,
// recvfrom, sendmsg, recvmsg, fcntl, flock, fsync, fdatasync, sync_file_range, accept4,
// preadv, pwritev, recvmmsg, sendmmsg.
var descriptorCalls = []int32{0, 1, 17, 18, 19, 20, 40, 42, 43, 44, 45, 46, 47, 72, 73, 74, 75, 277, 288, 295, 296, 299, 307}

// callReasons are the reasons by system call, where the functions of the kernel have no names.
var callReasons = map[Reason][]uint64{
	Lock:     {202, 449, 454, 455},
	Sleep:    {35, 230},
	Events:   {7, 271, 23, 270, 232, 281, 441, 34, 128, 426},
	Disk:     {74, 75, 26, 162, 277, 306},
	Accept:   {43, 288},
	Socket:   {42, 44, 45, 46, 47, 299, 307},
	Child:    {61, 247},
	FileLock: {73},
}
