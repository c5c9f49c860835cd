package tenants

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Sessions by Unix sockets are looked at so often at most, so far apart: one that is busy at one
// time is idle at another.
const (
	socketLooks = 24
	looksApart  = 15 * time.Millisecond
)

// socketsOf returns those of some sockets at which idle sessions of a server wait, by
// connection id. threads lists the threads that serve sessions: one that is listed before
// and after it was looked at served the same session. A server in a container numbers its
// threads otherwise: of that nothing is known.
func socketsOf(ctx context.Context, threads func(context.Context) (map[uint64]int, error), pid int, some []uint32) map[uint64]uint32 {
	out := map[uint64]uint32{}
	if !ownNumbers(pid) {
		return out
	}
	for n := 0; n < socketLooks && len(out) < len(some); n++ {
		before, err := threads(ctx)
		if err != nil || len(before) == 0 {
			return out
		}
		seen := map[uint64]uint32{}
		for id, thread := range before {
			if inode := waitsAt(pid, thread); slices.Contains(some, inode) && out[id] == 0 {
				seen[id] = inode
			}
		}
		after, err := threads(ctx)
		if err != nil {
			return out
		}
		maps.DeleteFunc(seen, func(id uint64, _ uint32) bool { return after[id] != before[id] })
		maps.Copy(out, seen)
		select {
		case <-ctx.Done():
			return out
		case <-time.After(looksApart):
		}
	}
	return out
}

// ownNumbers reports whether a process knows its threads by the numbers that they have here.
//
// Source: proc_pid_status(5), NSpid.
func ownNumbers(pid int) bool {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(status), "\nNSpid:")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line) == strconv.Itoa(pid)
}

// waitsAt returns the inode of the socket that a thread waits for alone, by poll(2); 0 when it
// does not, or may not be seen.
//
// Source: proc_pid_syscall(5): the number of the call, and its arguments.
func waitsAt(pid, thread int) uint32 {
	process := "/proc/" + strconv.Itoa(pid)
	text, err := os.ReadFile(process + "/task/" + strconv.Itoa(thread) + "/syscall")
	if err != nil {
		return 0
	}
	var call int
	var at, many uint64
	if n, _ := fmt.Sscanf(string(text), "%d %v %v", &call, &at, &many); n != 3 || !isPoll(call) || many != 1 {
		return 0
	}
	var file [4]byte // the first field of a struct pollfd
	local := []unix.Iovec{{Base: &file[0]}}
	local[0].SetLen(len(file))
	remote := []unix.RemoteIovec{{Base: uintptr(at), Len: len(file)}}
	if n, err := unix.ProcessVMReadv(pid, local, remote, 0); err != nil || n != len(file) {
		return 0
	}
	to, err := os.Readlink(process + "/fd/" + strconv.Itoa(int(int32(binary.NativeEndian.Uint32(file[:])))))
	if err != nil {
		return 0
	}
	var inode uint32
	_, _ = fmt.Sscanf(to, "socket:[%d]", &inode) // 0: it is no socket
	return inode
}

// isPoll reports whether a call of the kernel is poll or ppoll; the former is not everywhere.
func isPoll(call int) bool {
	const poll = 7 // x86-64
	return call == unix.SYS_PPOLL || runtime.GOARCH == "amd64" && call == poll
}
