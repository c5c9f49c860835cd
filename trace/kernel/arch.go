package kernel

import "fmt"

// An arch is what the programs know of a processor: where the kernel keeps the registers of a
// thread that has made a system call (struct pt_regs), and the numbers of the calls.
type arch struct {
	name string
	// args is the offset of the 24 bytes that hold the first three arguments; arg is where
	// in them each begins.
	args int32
	arg  [3]int16
	// first is the offset of the first argument that is there when the call has returned, number
	// that of the number of the call.
	first, number int32
	g             int32 // offset of the register that holds Go's goroutine
	nr            map[int32]op
}

// An op is what a system call does, as the programs distinguish it.
type op int32

const (
	opNone op = iota
	opRead
	opReceive
	opReadv
	opReceiveMessage
	opWrite
	opSend
	opWritev
	opSendMessage
	opAccept
	opConnect
	opClose
	opShutdown
	opSync
	opUring
)

// What a call begins is seen when it begins, what it brings when it has returned; a sync is timed.
var (
	beginning = []op{opWrite, opSend, opWritev, opSendMessage, opConnect, opClose, opSync, opUring}
	returning = []op{opRead, opReceive, opReadv, opReceiveMessage, opAccept, opSync}
)

// archs are the processors that the programs are made for. The offsets are those of struct
// pt_regs in arch/x86/include/asm/ptrace.h and arch/arm64/include/asm/ptrace.h, the numbers those of
// arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h, the
// register that of Go's ABIInternal: R14 and R28.
var archs = map[string]*arch{
	"amd64": {
		name: "amd64", args: 96, arg: [3]int16{16, 8, 0}, first: 112, number: 120, g: 8,
		nr: map[int32]op{
			0: opRead, 45: opReceive, 19: opReadv, 47: opReceiveMessage, 1: opWrite, 44: opSend, 20: opWritev,
			46: opSendMessage, 43: opAccept, 288: opAccept, 42: opConnect, 3: opClose, 48: opShutdown, 74: opSync,
			75: opSync, 426: opUring,
		},
	},
	"arm64": {
		name: "arm64", args: 0, arg: [3]int16{0, 8, 16}, first: 272, number: 280, g: 28 * 8,
		nr: map[int32]op{
			63: opRead, 207: opReceive, 65: opReadv, 212: opReceiveMessage, 64: opWrite, 206: opSend, 66: opWritev,
			211: opSendMessage, 202: opAccept, 242: opAccept, 203: opConnect, 57: opClose, 210: opShutdown,
			82: opSync, 83: opSync, 426: opUring,
		},
	},
}

func archOf(name string) (*arch, error) {
	a := archs[name]
	if a == nil {
		return nil, fmt.Errorf("no tracing programs are made for %s", name)
	}
	return a, nil
}
