package stacks

// Where the registers of a thread are in struct pt_regs: the kernel's
// arch/arm64/include/asm/ptrace.h. Not run: assembled and held by tests alone.
const (
	regArg0   = 272  // orig_x0: x0 is overwritten by the result
	regArg1   = 8    // x1
	regCall   = 280  // syscallno, of 32 bits
	regStack  = 248  // sp
	regLink   = 240  // x30
	linkReg   = true // a call leaves its return address there
	callPoll  = -1   // there is none
	callPpoll = 73
)

// descriptorCalls are the system calls whose first argument is the descriptor that they wait
// for; those of registers_amd64.go by the numbers of asm-generic/unistd.h.
var descriptorCalls = []int32{63, 64, 67, 68, 65, 66, 71, 203, 202, 206, 207, 211, 212, 25, 32, 82, 83, 84, 242, 69, 70, 243, 269}

// callReasons are the reasons by system call, where the functions of the kernel have no names.
var callReasons = map[Reason][]uint64{
	Lock:     {98, 449, 454, 455},
	Sleep:    {101, 115},
	Events:   {22, 73, 72, 137, 426, 441},
	Disk:     {82, 83, 84, 81, 227, 267},
	Accept:   {202, 242},
	Socket:   {203, 206, 207, 211, 212, 243, 269},
	Child:    {95, 260},
	FileLock: {32},
}
