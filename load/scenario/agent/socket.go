package agent

import (
	"errors"
	"syscall"
)

// advance goes on with the exchange until there is something to report: n bytes that
// were read, an error, the end of the connection, or a request that the socket has
// not taken. It fails when the deadline of reading has passed, and may be called
// again then.
//
// All is done in one wait for the socket, which first forgets what the kernel said
// of it before. Then one look finds a connection that the server has closed while
// it was idle, before anything is sent; and after the sending there is no need to
// look whether an answer is there, for the kernel says so.
func (c *conn) advance() error { return c.raw.Read(c.run) }

// step takes the next steps of an exchange. It returns false to wait until there
// is something to read.
func (c *conn) step(fd uintptr) bool {
	switch c.phase {
	case checking:
		if c.receive(fd) {
			return true
		}
		c.phase = sending
		fallthrough
	case sending:
		if !c.send(fd) {
			return true
		}
		c.phase = receiving
		return false
	default:
		return c.receive(fd)
	}
}

// send writes the request. It returns false when the socket has not taken all.
func (c *conn) send(fd uintptr) bool {
	for len(c.out) > 0 || len(c.bulk) > 0 {
		part := &c.out
		if len(*part) == 0 {
			part = &c.bulk
		}
		n, err := syscall.Write(int(fd), *part)
		switch e := errnoOf(err); e {
		case 0:
			c.wrote = true
			*part = (*part)[n:]
		case syscall.EAGAIN:
			return false
		case syscall.EINTR:
		default:
			c.errno = e
			return false
		}
	}
	return true
}

// receive reads. It returns false when there is nothing to read yet.
func (c *conn) receive(fd uintptr) bool {
	for {
		n, err := syscall.Read(int(fd), c.in)
		switch e := errnoOf(err); e {
		case 0:
			c.n = n
			return true
		case syscall.EAGAIN:
			return false
		case syscall.EINTR:
		default:
			c.errno = e
			return true
		}
	}
}

// errnoOf returns the number of a failed system call, 0 for nil.
func errnoOf(err error) syscall.Errno {
	if err == nil {
		return 0
	}
	e, _ := errors.AsType[syscall.Errno](err)
	return e
}
