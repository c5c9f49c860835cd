//go:build amd64 || arm64

package epollhttp

import (
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A dialer begins handshakes, whose ends are events of an epoll set.
type dialer struct {
	ep    int
	from  *address // nil: as the kernel chooses
	timed bool     // the kernel notes when answers come
}

// connect begins a handshake with the address whose turn it is.
//
// EPOLLOUT is asked for from the beginning. That is free: a socket that has
// always taken what it was given reports it with the other events only, and the
// kernel wakes no thread for it (SOCK_NOSPACE).
func (d *dialer) connect(c *conn) error {
	a := &c.host.addrs[c.addr]
	fd, e := openSocket(a.raw.family)
	if e != 0 {
		return d.wrap(c, "socket", e)
	}
	c.fd = fd
	if e := setInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); e != 0 {
		return d.wrap(c, "setsockopt", e)
	}
	if d.timed {
		// Where it is refused, answers are read when they come.
		_ = setInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	}
	if d.from != nil {
		if e := bindTo(fd, &d.from.raw); e != 0 {
			return d.wrap(c, "bind", e)
		}
	}
	if e := connectTo(fd, &a.raw); e != 0 && e != syscall.EINPROGRESS && e != syscall.EINTR {
		return d.wrap(c, "connect", e)
	}
	if e := epollAdd(d.ep, fd, unix.EPOLLIN|unix.EPOLLOUT|unix.EPOLLRDHUP|unix.EPOLLET, c.slot, c.gen); e != 0 {
		return d.wrap(c, "epoll_ctl", e)
	}
	return nil
}

// wrap words a failed dial as package net does.
func (d *dialer) wrap(c *conn, call string, e syscall.Errno) error {
	err := &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(c.host.addrs[c.addr].AddrPort),
		Err: os.NewSyscallError(call, e)}
	if d.from != nil {
		err.Source = net.TCPAddrFromAddrPort(d.from.AddrPort)
	}
	return err
}
