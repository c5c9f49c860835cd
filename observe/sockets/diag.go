package sockets

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// bufBytes holds one answer of the kernel, which gives at most 32 KiB at a time.
const bufBytes = 1 << 16

// The states of a TCP connection, as bits of a question.
//
// Kernel: include/net/tcp_states.h.
const (
	established = 1
	synSent     = 2
	timeWait    = 6
	closeWait   = 8
	listen      = 10

	listening uint32 = 1 << listen
	connected uint32 = 1<<established | 1<<synSent | 1<<timeWait | 1<<closeWait
)

// The types and lengths of questions and answers.
//
// Kernel: include/uapi/linux/inet_diag.h, unix_diag.h, sock_diag.h. The question for
// TCP is the older one, which alone gives both families in one walk.
const (
	typeTCP      = 18 // TCPDIAG_GETSOCK
	tcpQuestion  = 60 // struct inet_diag_req
	tcpAnswer    = 72 // struct inet_diag_msg
	memoryAttr   = 7  // INET_DIAG_SKMEMINFO
	memoryDrops  = 8  // SK_MEMINFO_DROPS, a place among 32-bit numbers
	unixQuestion = 24 // struct unix_diag_req
	unixAnswer   = 16 // struct unix_diag_msg
	unixShow     = 1 | 0x10 | 0x40
	unixName     = 0 // UNIX_DIAG_NAME
	unixQueue    = 4 // UNIX_DIAG_RQLEN
	unixUser     = 7 // UNIX_DIAG_UID, since Linux 5.3
	headBytes    = unix.NLMSG_HDRLEN
)

// An address is where something listens.
type address struct {
	ip   [16]byte
	v6   bool
	port uint16
}

// A socket is what the kernel reports of one.
type socket struct {
	state    uint8
	local    address
	peer     uint16
	queue    uint32 // of a listener: connections that wait
	limit    uint32 // of a listener: how many may
	inode    uint32
	user     uint32 // who made it; of a Unix socket 0 where the kernel does not say it
	drops    uint32
	hasLimit bool
	hasDrops bool
	name     []byte // of a Unix socket; valid while the callback runs
}

// A diag is a netlink socket that asks for sockets.
type diag struct {
	fd       int
	seq      uint32
	question [headBytes + tcpQuestion]byte
	noUnix   bool
	one      socket // the one being reported
}

func openDiag() (*diag, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, fmt.Errorf("open netlink: %w", err)
	}
	limit := unix.Timeval{Usec: 500_000}
	err = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit)
	if err == nil {
		err = unix.Connect(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
	}
	if err != nil {
		_ = unix.Close(fd) // nothing was sent
		return nil, fmt.Errorf("open netlink: %w", err)
	}
	return &diag{fd: fd}, nil
}

func (d *diag) close() { _ = unix.Close(d.fd) } // nothing is lost

// tcp asks for the TCP sockets in the given states and calls each for every one.
func (d *diag) tcp(states uint32, buf []byte, each func(*socket)) error {
	q := d.question[:headBytes+tcpQuestion]
	clear(q)
	q[headBytes] = unix.AF_INET // any: the older question gives both
	if states == listening {
		q[headBytes+3] = 1 << (memoryAttr - 1)
	}
	binary.NativeEndian.PutUint32(q[headBytes+52:], states)
	return d.ask(typeTCP, q, buf, each)
}

// unix asks for the listening Unix sockets that have a name.
func (d *diag) unix(buf []byte, each func(*socket)) error {
	q := d.question[:headBytes+unixQuestion]
	clear(q)
	q[headBytes] = unix.AF_UNIX
	binary.NativeEndian.PutUint32(q[headBytes+4:], listening)
	binary.NativeEndian.PutUint32(q[headBytes+12:], unixShow)
	return d.ask(unix.SOCK_DIAG_BY_FAMILY, q, buf, each)
}

// ask sends a question and reads the answers to their end.
func (d *diag) ask(kind uint16, q, buf []byte, each func(*socket)) error {
	d.seq++
	binary.NativeEndian.PutUint32(q, uint32(len(q)))
	binary.NativeEndian.PutUint16(q[4:], kind)
	binary.NativeEndian.PutUint16(q[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	binary.NativeEndian.PutUint32(q[8:], d.seq)
	if _, err := unix.Write(d.fd, q); err != nil {
		return fmt.Errorf("ask for sockets: %w", err)
	}
	for {
		n, err := unix.Read(d.fd, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("ask for sockets: %w", err)
		}
		done, err := d.answers(buf[:n], each)
		if done || err != nil {
			return err
		}
	}
}

// errShort means that an answer ends before what it announces.
var errShort = errors.New("ask for sockets: an answer is cut short")

// answers reports the sockets of one block of answers. done is true at the end of
// all. Answers to an earlier question are passed over.
func (d *diag) answers(block []byte, each func(*socket)) (done bool, err error) {
	for len(block) >= headBytes {
		length := int(binary.NativeEndian.Uint32(block))
		if length < headBytes || length > len(block) {
			return true, errShort
		}
		kind, seq := binary.NativeEndian.Uint16(block[4:]), binary.NativeEndian.Uint32(block[8:])
		body := block[headBytes:length]
		block = block[min(aligned(length), len(block)):]
		if seq != d.seq {
			continue
		}
		switch kind {
		case unix.NLMSG_DONE:
			// A dump that fails after it began, as without the module tcp_diag, ends so.
			if len(body) >= 4 {
				if code := int32(binary.NativeEndian.Uint32(body)); code < 0 {
					return true, fmt.Errorf("ask for sockets: %w", unix.Errno(-code))
				}
			}
			return true, nil
		case unix.NLMSG_ERROR:
			if len(body) < 4 {
				return true, errShort
			}
			if code := int32(binary.NativeEndian.Uint32(body)); code != 0 {
				return true, fmt.Errorf("ask for sockets: %w", unix.Errno(-code))
			}
		case typeTCP:
			if err := d.one.readTCP(body); err != nil {
				return true, err
			}
			each(&d.one)
		case unix.SOCK_DIAG_BY_FAMILY:
			if err := d.one.readUnix(body); err != nil {
				return true, err
			}
			each(&d.one)
		}
	}
	return false, nil
}

func aligned(n int) int { return (n + 3) &^ 3 }

// readTCP reads a struct inet_diag_msg and its attributes.
func (s *socket) readTCP(body []byte) error {
	if len(body) < tcpAnswer {
		return errShort
	}
	*s = socket{state: body[1]}
	s.local.v6 = body[0] == unix.AF_INET6
	s.local.port, s.peer = binary.BigEndian.Uint16(body[4:]), binary.BigEndian.Uint16(body[6:])
	copy(s.local.ip[:], body[8:24])
	s.queue, s.limit = binary.NativeEndian.Uint32(body[56:]), binary.NativeEndian.Uint32(body[60:])
	s.user = binary.NativeEndian.Uint32(body[64:])
	s.inode, s.hasLimit = binary.NativeEndian.Uint32(body[68:]), true
	if !s.local.v6 {
		clear(s.local.ip[4:])
	}
	for rest := body[tcpAnswer:]; ; {
		kind, value, more, ok := attribute(rest)
		if !ok {
			return nil
		}
		rest = more
		if kind == memoryAttr && len(value) >= 4*(memoryDrops+1) {
			s.drops, s.hasDrops = binary.NativeEndian.Uint32(value[4*memoryDrops:]), true
		}
	}
}

// readUnix reads a struct unix_diag_msg and its attributes.
func (s *socket) readUnix(body []byte) error {
	if len(body) < unixAnswer {
		return errShort
	}
	*s = socket{state: body[2], inode: binary.NativeEndian.Uint32(body[4:])}
	for rest := body[unixAnswer:]; ; {
		kind, value, more, ok := attribute(rest)
		if !ok {
			return nil
		}
		rest = more
		switch {
		case kind == unixName:
			s.name = value
		case kind == unixQueue && len(value) >= 8:
			s.queue, s.limit = binary.NativeEndian.Uint32(value), binary.NativeEndian.Uint32(value[4:])
			s.hasLimit = true
		case kind == unixUser && len(value) >= 4:
			s.user = binary.NativeEndian.Uint32(value)
		}
	}
}

// attribute cuts one attribute off: its length with head, its kind, its value.
func attribute(b []byte) (kind uint16, value, rest []byte, ok bool) {
	const head = 4
	if len(b) < head {
		return 0, nil, nil, false
	}
	length := int(binary.NativeEndian.Uint16(b))
	if length < head || length > len(b) {
		return 0, nil, nil, false
	}
	return binary.NativeEndian.Uint16(b[2:]), b[head:length], b[min(aligned(length), len(b)):], true
}
