package scan

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/foreign"
)

// addresses reads those of this host.
func (t *taker) addresses() {
	all, _ := net.InterfaceAddrs() // without them only loopback is of this host
	for _, a := range all {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			t.out.Addresses = append(t.out.Addresses, prefix.Addr().Unmap())
		}
	}
}

// sockets reads those of each network namespace, each once.
func (t *taker) sockets() {
	seen := map[uint64]bool{t.out.NetNS: true}
	t.space(t.out.NetNS, t.out.Self)
	for i := range t.out.Processes {
		p := &t.out.Processes[i]
		if p.NetNS == 0 || seen[p.NetNS] || t.ctx.Err() != nil {
			continue
		}
		if len(seen) >= maxSpaces {
			t.cut("network namespaces beyond the first " + strconv.Itoa(maxSpaces))
			return
		}
		seen[p.NetNS] = true
		t.space(p.NetNS, p.PID)
	}
}

// space reads the sockets of the network namespace that a process is in, and reports whether
// all of them were read.
func (t *taker) space(ns uint64, pid int) bool {
	fd, err := t.open(ns, pid)
	if err == nil {
		d := &dump{fd: fd, buf: make([]byte, 64<<10)}
		err = d.all(func(s Socket) { t.keep(ns, s) })
		_ = unix.Close(fd) // it was only asked
	}
	if err == nil {
		return len(t.out.Sockets) < maxSockets
	}
	before, whole := len(t.out.Sockets), true
	for _, name := range []string{"tcp", "tcp6", "unix"} {
		text, err := t.readTable(t.proc + "/" + strconv.Itoa(pid) + "/net/" + name)
		switch {
		case err != nil:
			whole = whole && name == "tcp6" // which a host without IPv6 has not
		case name == "unix":
			parseUnix(text, func(s Socket) { t.keep(ns, s) })
		default:
			parseTCP(text, func(s Socket) { t.keep(ns, s) })
		}
	}
	if len(t.out.Sockets) == before && errors.Is(err, unix.EPERM) {
		t.unseen("sockets in the network namespace of pid " + strconv.Itoa(pid) + ": " + err.Error())
	}
	t.unseen("other ends of Unix sockets, and how long connections were idle, in the network namespace of pid " +
		strconv.Itoa(pid))
	return whole && len(t.out.Sockets) < maxSockets
}

// open opens a netlink socket in a network namespace.
func (t *taker) open(ns uint64, pid int) (int, error) {
	if ns != t.out.NetNS {
		return foreign.OpenSocketDiag(t.ctx, pid)
	}
	return foreign.NewSocketDiag()
}

// keep keeps one socket.
func (t *taker) keep(ns uint64, s Socket) {
	if len(t.out.Sockets) >= maxSockets {
		t.cut("sockets beyond the first " + strconv.Itoa(maxSockets))
		return
	}
	s.NetNS = ns
	t.out.Sockets = append(t.out.Sockets, s)
}

// Lengths and places of questions and answers.
//
// Kernel: include/uapi/linux/inet_diag.h, unix_diag.h, tcp.h (struct tcp_info).
const (
	head            = unix.NLMSG_HDRLEN
	tcpQuestion     = 56 // struct inet_diag_req_v2
	allTCP          = 18 // TCPDIAG_GETSOCK
	tcpBothQuestion = 60 // struct inet_diag_req
	tcpAnswer       = 72 // struct inet_diag_msg
	tcpInfo         = 2  // INET_DIAG_INFO
	tcpOnlyV6       = 11 // INET_DIAG_SKV6ONLY
	lastSent        = 44 // tcpi_last_data_sent, ms
	lastReceived    = 52 // tcpi_last_data_recv, ms
	unixQuestion    = 24 // struct unix_diag_req
	unixAnswer      = 16 // struct unix_diag_msg
	unixName        = 0
	unixPeer        = 2
	closeWait       = 8
)

// A dump asks a netlink socket for all sockets of its namespace.
type dump struct {
	fd  int
	seq uint32
	buf []byte
}

// all calls each for every TCP and Unix socket that listens or is connected.
func (d *dump) all(each func(Socket)) error {
	answered := false
	tcp := func(b []byte) {
		answered = true
		if s, ok := readTCP(b); ok {
			each(s)
		}
	}
	if err := d.ask(allTCP, tcpBoth(), tcp); err != nil {
		if answered {
			return err
		}
		for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
			if err := d.ask(unix.SOCK_DIAG_BY_FAMILY, tcpOf(family), tcp); err != nil {
				return err
			}
		}
	}
	q := make([]byte, head+unixQuestion)
	q[head] = unix.AF_UNIX
	binary.NativeEndian.PutUint32(q[head+4:], 1<<Established|1<<Listening)
	binary.NativeEndian.PutUint32(q[head+12:], 1|4) // UDIAG_SHOW_NAME, UDIAG_SHOW_PEER
	return d.ask(unix.SOCK_DIAG_BY_FAMILY, q, func(b []byte) {
		if s, ok := readUnix(b); ok {
			each(s)
		}
	})
}

// tcpStates are those of TCP that are asked for.
const tcpStates = 1<<Established | 1<<Listening | 1<<closeWait

// tcpOf asks for the sockets of one family.
func tcpOf(family byte) []byte {
	q := make([]byte, head+tcpQuestion)
	q[head], q[head+1], q[head+2] = family, unix.IPPROTO_TCP, 1<<(tcpInfo-1)
	binary.NativeEndian.PutUint32(q[head+4:], tcpStates)
	return q
}

// tcpBoth asks for those of IPv4 and IPv6 at once, as ss does: the kernel goes through its table
// of all connections for each question, which has room for far more than there are. What does not
// know it is asked for each.
//
// Kernel: struct inet_diag_req, inet_diag_dump_compat in net/ipv4/inet_diag.c, since Linux 2.6.14.
func tcpBoth() []byte {
	q := make([]byte, head+tcpBothQuestion)
	q[head], q[head+3] = unix.AF_INET, 1<<(tcpInfo-1)
	binary.NativeEndian.PutUint32(q[head+52:], tcpStates)
	return q
}

// ask sends a question and reads the answers to their end.
func (d *dump) ask(kind uint16, q []byte, each func(body []byte)) error {
	d.seq++
	binary.NativeEndian.PutUint32(q, uint32(len(q)))
	binary.NativeEndian.PutUint16(q[4:], kind)
	binary.NativeEndian.PutUint16(q[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	binary.NativeEndian.PutUint32(q[8:], d.seq)
	if _, err := unix.Write(d.fd, q); err != nil {
		return fmt.Errorf("ask for sockets: %w", err)
	}
	for {
		n, err := unix.Read(d.fd, d.buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("ask for sockets: %w", err)
		}
		if done, err := d.answers(d.buf[:n], each); done || err != nil {
			return err
		}
	}
}

var errShort = errors.New("ask for sockets: an answer is cut short")

// answers reports the bodies of one block of answers; done at the end of all.
func (d *dump) answers(block []byte, each func(body []byte)) (done bool, err error) {
	for len(block) >= head {
		length := int(binary.NativeEndian.Uint32(block))
		if length < head || length > len(block) {
			return true, errShort
		}
		kind, seq := binary.NativeEndian.Uint16(block[4:]), binary.NativeEndian.Uint32(block[8:])
		body := block[head:length]
		block = block[min((length+3)&^3, len(block)):]
		switch {
		case seq != d.seq:
		case kind == unix.NLMSG_DONE || kind == unix.NLMSG_ERROR:
			if len(body) >= 4 {
				if code := int32(binary.NativeEndian.Uint32(body)); code < 0 {
					return true, fmt.Errorf("ask for sockets: %w", unix.Errno(-code))
				}
			}
			return true, nil
		default:
			each(body)
		}
	}
	return false, nil
}

// readTCP reads a struct inet_diag_msg with its attributes.
func readTCP(b []byte) (s Socket, ok bool) {
	if len(b) < tcpAnswer {
		return s, false
	}
	s = Socket{Network: "tcp", State: State(b[1]), Idle: -1, Inode: binary.NativeEndian.Uint32(b[68:])}
	if s.State == closeWait {
		s.State = Established
	}
	s.Local = endpoint(b[0], b[8:24], binary.BigEndian.Uint16(b[4:]))
	s.Remote = endpoint(b[0], b[24:40], binary.BigEndian.Uint16(b[6:]))
	s.Both = b[0] == unix.AF_INET6 && s.State == Listening && s.Local.Addr().IsUnspecified()
	attributes(b[tcpAnswer:], func(kind uint16, value []byte) {
		switch {
		case kind == tcpInfo && len(value) >= lastReceived+4 && s.State == Established:
			ms := min(binary.NativeEndian.Uint32(value[lastSent:]), binary.NativeEndian.Uint32(value[lastReceived:]))
			s.Idle = time.Duration(ms) * time.Millisecond
		case kind == tcpOnlyV6 && len(value) >= 1 && value[0] != 0:
			s.Both = false
		}
	})
	return s, s.State == Established || s.State == Listening
}

func endpoint(family byte, ip []byte, port uint16) netip.AddrPort {
	if family == unix.AF_INET {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(ip[:4])), port)
	}
	return netip.AddrPortFrom(netip.AddrFrom16([16]byte(ip[:16])).Unmap(), port)
}

// readUnix reads a struct unix_diag_msg with its attributes; false for datagrams.
func readUnix(b []byte) (s Socket, ok bool) {
	if len(b) < unixAnswer || b[1] == unix.SOCK_DGRAM {
		return s, false
	}
	s = Socket{Network: "unix", State: State(b[2]), Idle: -1, Inode: binary.NativeEndian.Uint32(b[4:])}
	attributes(b[unixAnswer:], func(kind uint16, value []byte) {
		switch {
		case kind == unixName && len(value) > 0:
			s.Path = socketName(value)
		case kind == unixPeer && len(value) >= 4:
			s.Peer = binary.NativeEndian.Uint32(value)
		}
	})
	return s, s.State == Established || s.State == Listening
}

// socketName returns the name of a Unix socket: a path, or with @ before it one that is
// no file.
func socketName(name []byte) string {
	if name[0] == 0 {
		return "@" + strings.TrimRight(string(name[1:]), "\x00")
	}
	path, _, _ := strings.Cut(string(name), "\x00")
	return path
}

// attributes calls each for the attributes of an answer.
func attributes(b []byte, each func(kind uint16, value []byte)) {
	for len(b) >= 4 {
		length := int(binary.NativeEndian.Uint16(b))
		if length < 4 || length > len(b) {
			return
		}
		each(binary.NativeEndian.Uint16(b[2:]), b[4:length])
		b = b[min((length+3)&^3, len(b)):]
	}
}

// parseTCP reads /proc/PID/net/tcp or tcp6.
//
// Source: the kernel's Documentation/networking/proc_net_tcp.rst.
func parseTCP(text []byte, each func(Socket)) {
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 10 {
			continue
		}
		state, err := strconv.ParseUint(f[3], 16, 8)
		if state == closeWait {
			state = uint64(Established)
		}
		local, ok1 := parseEndpoint(f[1])
		remote, ok2 := parseEndpoint(f[2])
		inode, err2 := strconv.ParseUint(f[9], 10, 32)
		s := Socket{Network: "tcp", State: State(state), Local: local, Remote: remote, Inode: uint32(inode), Idle: -1}
		if err == nil && err2 == nil && ok1 && ok2 && (s.State == Established || s.State == Listening) {
			s.Both = s.State == Listening && strings.HasPrefix(f[1], strings.Repeat("0", 32))
			each(s)
		}
	}
}

// parseEndpoint reads 0100007F:1F90: words of 32 bits in the machine's order, a port.
func parseEndpoint(text string) (netip.AddrPort, bool) {
	words, port, ok := strings.Cut(text, ":")
	raw, err := hex.DecodeString(words)
	n, err2 := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil || err2 != nil || len(raw) != 4 && len(raw) != 16 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(raw); i += 4 {
		binary.NativeEndian.PutUint32(raw[i:], binary.BigEndian.Uint32(raw[i:]))
	}
	addr, _ := netip.AddrFromSlice(raw) // of a length that fits
	return netip.AddrPortFrom(addr.Unmap(), uint16(n)), true
}

// parseUnix reads the listening sockets of /proc/PID/net/unix: other ends do not stand
// there. A name may hold line breaks, and what follows one looks like a line of any other
// socket: a number that two lines have is believed of none.
//
// Source: proc_net(5): Num RefCount Protocol Flags Type St Inode Path.
func parseUnix(text []byte, each func(Socket)) {
	const accepts = 0x10000 // __SO_ACCEPTCON
	lines := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 6 {
			lines[f[6]]++
		}
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 8 || lines[f[6]] > 1 {
			continue
		}
		flags, err := strconv.ParseUint(f[3], 16, 32)
		inode, err2 := strconv.ParseUint(f[6], 10, 32)
		if err == nil && err2 == nil && flags&accepts != 0 {
			each(Socket{Network: "unix", State: Listening, Path: f[7], Inode: uint32(inode), Idle: -1})
		}
	}
}
