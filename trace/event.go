package trace

import (
	"time"

	"golang.org/x/sys/unix"
)

// A Kind is what an event reports.
type Kind uint32

// The kinds of events.
const (
	Read      Kind = 1 + iota // a client sent bytes
	Answered                  // an answer begins
	Asked                     // a command goes to a database
	Called                    // a request goes to another service
	Replied                   // bytes of what was asked for, or called, came
	Greeted                   // a database greeted
	LoggedIn                  // the answer to that; its first 36 bytes, without names
	Connected                 // a connection is opened; the bytes are its address
	Closed                    // a connection is closed
	Foreign                   // a client speaks a protocol that is not read, TLS among them
	Synced                    // a file was written to its disk
	Secured                   // a connection to another process is encrypted
	Started                   // a process was made, whose number is in FD
	Executed                  // a process that was made runs a program; the bytes are its name
)

// An Event is one system call of a process of the service, as it was seen.
type Event struct {
	Kind   Kind
	At     time.Duration // on CLOCK_MONOTONIC
	PID    int
	TID    int
	Goid   uint64 // number of the goroutine; 0 where the program is not Go's, and of Replied
	Parent uint64 // of the goroutine that started it; 0 when unknown
	Start  uint32 // which function the goroutine began with, as Parent: the low half of its address
	FD     int
	Took   time.Duration // of Replied since it was asked, of Synced the call's time
	Total  int           // bytes that were moved
	Bytes  []byte        // the first of them; valid until the next event
}

// Now is the time on CLOCK_MONOTONIC, the clock of the programs in the kernel.
func Now() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // it does not fail
	return time.Duration(t.Nano())
}
