//go:build amd64 || arm64

package epollhttp

import (
	"net/netip"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system calls of the hot path. They are made without the knowledge of the runtime,
// which saves its bookkeeping but keeps the scheduler's processor: so none of
// them may block, but for a wait of at most [heldWait].
//
// Pointers are turned into uintptr in the call itself, as package unsafe demands.

const errAgain = syscall.EAGAIN

// recvFrom reads what has come. It does not block.
func recvFrom(fd int32, b []byte) (int, syscall.Errno) {
	n, _, e := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))),
		uintptr(len(b)), unix.MSG_DONTWAIT, 0, 0)
	return int(n), e
}

// A receiver reads with the time at which the kernel had the bytes. It is in one
// place in memory, whose address is given to the kernel once.
type receiver struct {
	buf     []byte
	msg     unix.Msghdr
	vec     unix.Iovec
	control [64]byte // one SCM_TIMESTAMPNS, 32 bytes
}

func (r *receiver) init(buf []byte) {
	r.buf = buf
	r.vec.Base = unsafe.SliceData(buf)
	r.vec.SetLen(len(buf))
	r.msg.Iov, r.msg.Iovlen = &r.vec, 1
	r.msg.Control = &r.control[0]
}

// recv reads what has come into buf, and when its last byte came: in nanoseconds
// of the wall clock, 0 when the kernel does not say. It does not block.
func (r *receiver) recv(fd int32) (n int, stamp int64, e syscall.Errno) {
	r.msg.Controllen = uint64(len(r.control))
	k, _, e := syscall.RawSyscall6(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&r.msg)), unix.MSG_DONTWAIT,
		0, 0, 0)
	if e != 0 {
		return 0, 0, e
	}
	if r.msg.Controllen >= unix.SizeofCmsghdr+16 {
		h := (*unix.Cmsghdr)(unsafe.Pointer(&r.control))
		if h.Level == unix.SOL_SOCKET && h.Type == unix.SO_TIMESTAMPNS {
			stamp = (*unix.Timespec)(unsafe.Pointer(&r.control[unix.SizeofCmsghdr])).Nano()
		}
	}
	return int(k), stamp, 0
}

// sleepFor sleeps, whatever comes meanwhile. A signal ends it.
func sleepFor(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_, _, _ = syscall.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, 0, uintptr(unsafe.Pointer(&ts)), 0,
		0, 0)
}

// sendTo writes what the socket takes. It does not block, and raises no SIGPIPE.
func sendTo(fd int32, b []byte) (int, syscall.Errno) {
	n, _, e := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))),
		uintptr(len(b)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	return int(n), e
}

// epollPwait2 waits for events for at most d. With hand the scheduler's processor is
// handed to other goroutines meanwhile.
func epollPwait2(ep int, events []unix.EpollEvent, d time.Duration, hand bool) (int, syscall.Errno) {
	ts := unix.NsecToTimespec(int64(d))
	var n uintptr
	var e syscall.Errno
	if hand {
		n, _, e = syscall.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(ep),
			uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), uintptr(unsafe.Pointer(&ts)), 0, 0)
	} else {
		n, _, e = syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(ep),
			uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), uintptr(unsafe.Pointer(&ts)), 0, 0)
	}
	return int(n), e
}

// epollPwait is pwait2 in whole milliseconds; below 0 it waits without an end.
func epollPwait(ep int, events []unix.EpollEvent, ms int, hand bool) (int, syscall.Errno) {
	var n uintptr
	var e syscall.Errno
	if hand {
		n, _, e = syscall.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(ep),
			uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), uintptr(ms), 0, 0)
	} else {
		n, _, e = syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(ep),
			uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), uintptr(ms), 0, 0)
	}
	return int(n), e
}

// epollAdd registers fd once and for all. The event comes back with slot and gen.
func epollAdd(ep int, fd int32, events uint32, slot, gen int32) syscall.Errno {
	ev := unix.EpollEvent{Events: events, Fd: slot, Pad: gen}
	_, _, e := syscall.RawSyscall6(unix.SYS_EPOLL_CTL, uintptr(ep), unix.EPOLL_CTL_ADD, uintptr(fd),
		uintptr(unsafe.Pointer(&ev)), 0, 0)
	return e
}

// A sockaddr is an address as the kernel takes it.
type sockaddr struct {
	raw    unix.RawSockaddrInet6 // large enough for both families
	size   uint8
	family uint8
}

func newSockaddr(a netip.AddrPort, zone uint32) sockaddr {
	var s sockaddr
	port := a.Port()<<8 | a.Port()>>8 // network order; amd64 and arm64 are little-endian
	ip := a.Addr().Unmap()
	if ip.Is4() {
		v4 := (*unix.RawSockaddrInet4)(unsafe.Pointer(&s.raw))
		v4.Family, v4.Port, v4.Addr = unix.AF_INET, port, ip.As4()
		s.size, s.family = unix.SizeofSockaddrInet4, unix.AF_INET
		return s
	}
	s.raw.Family, s.raw.Port, s.raw.Addr, s.raw.Scope_id = unix.AF_INET6, port, ip.As16(), zone
	s.size, s.family = unix.SizeofSockaddrInet6, unix.AF_INET6
	return s
}

func connectTo(fd int32, to *sockaddr) syscall.Errno {
	_, _, e := syscall.RawSyscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&to.raw)), uintptr(to.size))
	return e
}

func bindTo(fd int32, to *sockaddr) syscall.Errno {
	_, _, e := syscall.RawSyscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&to.raw)), uintptr(to.size))
	return e
}

// openSocket opens a stream socket that does not block.
func openSocket(family uint8) (int32, syscall.Errno) {
	fd, _, e := syscall.RawSyscall(unix.SYS_SOCKET, uintptr(family),
		unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	return int32(fd), e
}

// setInt sets a socket option that is a number.
func setInt(fd int32, level, name, value int32) syscall.Errno {
	_, _, e := syscall.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(fd), uintptr(level), uintptr(name),
		uintptr(unsafe.Pointer(&value)), unsafe.Sizeof(value), 0)
	return e
}

// closeSocket closes a socket, which does not block without SO_LINGER. What it
// says is of no use: the descriptor is free in any case.
func closeSocket(fd int32) {
	_, _, _ = syscall.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0)
}
