package kernel

import (
	"encoding/binary"
	"time"

	"github.com/kasoku/kasoku/trace"
)

// parseEvent reads what a program put into the ring.
func parseEvent(raw []byte, e *trace.Event) bool {
	if len(raw) < eventHead {
		return false
	}
	u64 := func(at int) uint64 { return binary.NativeEndian.Uint64(raw[at:]) }
	u32 := func(at int) uint32 { return binary.NativeEndian.Uint32(raw[at:]) }
	thread := u64(eventThread)
	*e = trace.Event{
		Kind: trace.Kind(u32(eventKind)), At: time.Duration(u64(eventTime)), PID: int(thread >> 32), TID: int(uint32(thread)),
		Goid: u64(eventGoid), Parent: u64(eventParent), Start: u32(eventStart), FD: int(int32(u32(eventFD))), Took: time.Duration(u64(eventTook)),
		Total: int(int64(u64(eventTotal))),
	}
	n := min(int(u32(eventSize)), len(raw)-eventHead)
	e.Bytes = raw[eventHead : eventHead+n]
	return true
}
