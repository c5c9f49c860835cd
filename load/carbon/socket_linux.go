package carbon

import (
	"errors"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// writeAll writes all of b. meter is notified when the socket takes no more, and when it
// takes something again.
func writeAll(conn net.Conn, b []byte, meter *blockMeter) (written int, err error) {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return 0, errors.New("a connection without a descriptor")
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return 0, err
	}
	defer meter.end()
	var failed error
	err = raw.Write(func(fd uintptr) bool {
		for written < len(b) {
			n, err := unix.Write(int(fd), b[written:])
			switch {
			case err == nil:
				meter.end()
				written += n
			case errors.Is(err, unix.EINTR):
			case errors.Is(err, unix.EAGAIN):
				meter.begin(time.Now())
				return false
			default:
				failed = &net.OpError{Op: "write", Net: "tcp", Addr: conn.RemoteAddr(), Err: err}
				return true
			}
		}
		return true
	})
	return written, errors.Join(failed, err)
}

// unackedBytes returns how many bytes the other side's kernel has not acknowledged.
//
// Source: tcp(7), SIOCOUTQ.
func unackedBytes(conn net.Conn) (n int, ok bool) {
	sc, ok := conn.(*net.TCPConn)
	if !ok {
		return 0, false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return 0, false
	}
	if ctl := raw.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) }); ctl != nil ||
		err != nil {
		return 0, false
	}
	return n, true
}
