package topology

import (
	"encoding/binary"
	"encoding/hex"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// A socket is one line of /proc/net/tcp, tcp6 or unix.
type socket struct {
	network       string // tcp, unix
	listens       bool
	local, remote netip.AddrPort
	path          string // of a unix socket
	uid           int    // who made it; -1 for unix, where it is not reported
	inode         string
}

// States of include/net/tcp_states.h and flags of include/linux/net.h.
const (
	tcpEstablished = "01"
	tcpListen      = "0A"
	unixAccepts    = 0x10000 // __SO_ACCEPTCON
)

// parseTCP reads the listening and established sockets of /proc/net/tcp or tcp6.
// Lines that it does not understand are left out.
//
// Source: the kernel's Documentation/networking/proc_net_tcp.rst.
func parseTCP(text []byte) []socket {
	var out []socket
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 10 || f[3] != tcpListen && f[3] != tcpEstablished {
			continue
		}
		local, ok1 := parseEndpoint(f[1])
		remote, ok2 := parseEndpoint(f[2])
		if !ok1 || !ok2 {
			continue
		}
		out = append(out, socket{network: "tcp", listens: f[3] == tcpListen, local: local, remote: remote,
			uid: number(f[7]), inode: f[9]})
	}
	return out
}

// parseEndpoint reads 0100007F:1F90: the address as 32-bit words in the order of
// the machine's bytes, the port in hexadecimal.
func parseEndpoint(s string) (netip.AddrPort, bool) {
	words, port, ok := strings.Cut(s, ":")
	raw, err := hex.DecodeString(words)
	n, err2 := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil || err2 != nil || len(raw) != net.IPv4len && len(raw) != net.IPv6len {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(raw); i += 4 {
		binary.NativeEndian.PutUint32(raw[i:], binary.BigEndian.Uint32(raw[i:]))
	}
	addr, _ := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(addr.Unmap(), uint16(n)), true
}

// parseUnix reads the listening sockets of /proc/net/unix that have a path.
//
// Source: proc_net(5): Num RefCount Protocol Flags Type St Inode Path.
func parseUnix(text []byte) []socket {
	var out []socket
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 8 || !strings.HasPrefix(f[7], "/") {
			continue
		}
		flags, err := strconv.ParseUint(f[3], 16, 32)
		if err != nil || flags&unixAccepts == 0 {
			continue
		}
		out = append(out, socket{network: "unix", listens: true, path: f[7], uid: -1, inode: f[6]})
	}
	return out
}

// A connection is an established one of a process to another port.
type connection struct {
	pid           int
	local, remote netip.AddrPort
}

// sockets reads the sockets of each network namespace once, through a process
// that is in it; the key is its identity. Processes whose namespace cannot be
// determined count as being in kasoku's own.
func (v *view) sockets(procs []*process) map[string][]socket {
	own, err := v.tree.link("/proc/self/ns/net")
	if err != nil {
		own = ""
	}
	out := map[string][]socket{own: v.readSockets("/proc/net")}
	for _, p := range procs {
		if p.netns == "" {
			p.netns = own
		}
		if _, ok := out[p.netns]; !ok && v.ctx.Err() == nil {
			out[p.netns] = v.readSockets("/proc/" + strconv.Itoa(p.pid) + "/net")
		}
	}
	return out
}

func (v *view) readSockets(dir string) []socket {
	return v.tree.sockets(dir, func(path string, err error) { v.unreadable(path, err) })
}

// sockets reads the tables of a namespace by their directory. failed is called for one that
// cannot be read.
//
// The name of a Unix socket may hold line breaks, and what follows one looks like a line of the
// table, with any path and the number of any other socket. So a number is believed of a Unix
// socket that no other line of the tables has.
func (t tree) sockets(dir string, failed func(path string, err error)) []socket {
	var out []socket
	lines := map[string]int{} // by the number of a socket
	for _, name := range []string{"tcp", "tcp6", "unix"} {
		text, err := t.read(dir + "/" + name)
		if err != nil {
			failed(dir+"/"+name, err)
			continue
		}
		if name == "unix" {
			countInodes(text, unixInode, lines)
			out = append(out, parseUnix(text)...)
		} else {
			countInodes(text, tcpInode, lines)
			out = append(out, parseTCP(text)...)
		}
	}
	return slices.DeleteFunc(out, func(s socket) bool { return s.network == "unix" && lines[s.inode] > 1 })
}

// Columns of the numbers of sockets.
const (
	tcpInode  = 9
	unixInode = 6
)

// countInodes counts the lines with each number of a socket but 0, which a connection has whose
// process has gone.
func countInodes(text []byte, column int, lines map[string]int) {
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > column && f[column] != "0" {
			lines[f[column]]++
		}
	}
}

// listener describes a listening socket.
func (s socket) listener(private bool) Listener {
	if s.network == "unix" {
		return Listener{Network: "unix", Address: s.path, Loopback: true, Private: private}
	}
	return Listener{
		Network: "tcp", Address: s.local.String(), Port: int(s.local.Port()), Loopback: s.local.Addr().IsLoopback(),
		Private: private,
	}
}
