package stacks

import (
	"encoding/binary"
	"errors"
)

// What the programs in the kernel write, and where its parts are. All numbers have the byte
// order of the machine, which is little-endian on those that kasoku runs on.
const (
	recordKind   = 0  // u32
	recordPID    = 4  // u32: the process
	recordThread = 8  // u32
	recordFD     = 12 // s32: the descriptor that a system call waits for; -1 without
	recordHash   = 16 // u64 of the stack
	recordReturn = 24 // u64: the word at the stack pointer, or the link register
	recordKernel = 32 // u32: bytes of the kernel's stack
	recordUser   = 36 // u32: bytes of the user's stack
	recordCall   = 40 // u64: number of the system call
	kernelAt     = 48
	kernelRoom   = 8 * 32
	userAt       = kernelAt + kernelRoom
	userRoom     = 8 * 127 // kernel.perf_event_max_stack
	recordRoom   = userAt + 1024
)

// Kinds of records.
const (
	kindCPU  = 1 // a sample of CPU time
	kindWait = 2 // a stack that waits and was not seen before
)

// A record is what a program in the kernel has written.
type record struct {
	kind         uint32
	pid, thread  int
	fd           int32
	hash         uint64
	ret          uint64
	call         uint64
	kernel, user []uint64 // innermost first
}

var errRecord = errors.New("a record that is cut off")

// parseRecord reads a record.
func parseRecord(b []byte) (r record, err error) {
	le := binary.LittleEndian
	if len(b) < userAt {
		return r, errRecord
	}
	r = record{
		kind: le.Uint32(b[recordKind:]), pid: int(le.Uint32(b[recordPID:])), thread: int(le.Uint32(b[recordThread:])),
		fd: int32(le.Uint32(b[recordFD:])), hash: le.Uint64(b[recordHash:]), ret: le.Uint64(b[recordReturn:]),
		call: le.Uint64(b[recordCall:]),
	}
	kernel, user := le.Uint32(b[recordKernel:]), le.Uint32(b[recordUser:])
	if kernel > kernelRoom || uint64(user) > uint64(len(b)-userAt) {
		return record{}, errRecord
	}
	r.kernel, r.user = words(b[kernelAt:kernelAt+kernel]), words(b[userAt:userAt+user])
	return r, nil
}

func words(b []byte) []uint64 {
	out := make([]uint64, len(b)/8)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return out
}

// A waitKey identifies a place that waits; the kernel's own layout.
type waitKey struct {
	Hash uint64
	PID  uint32
	FD   int32
}

// A waitSum is what a place has waited; the kernel's own layout.
type waitSum struct {
	Waited uint64 // nanoseconds until it could go on
	Queued uint64 // nanoseconds in which it could have run, and another did
	Count  uint64
	Forced uint64 // of those, times that it did not wait: another was given its CPU
}

// A waiting is a thread that does not run; the kernel's own layout.
type waiting struct {
	Since  uint64 // nanoseconds of the monotonic clock
	Woken  uint64 // 0 while it waits
	Key    waitKey
	Thread uint32
	_      uint32
}

// What the programs count, by place in the map of counters.
const (
	lostRecords = iota // no room in the ring buffer
	lostPlaces         // no room for a place that waits
	lostThreads        // no room for a thread that waits
	switches           // of threads of the service
	counters
)
