package sockets

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/kasoku/kasoku/observe/procfile"
)

// parseTable reads /proc/net/tcp or tcp6 and reports the sockets in the given
// states. The address is written as numbers of 32 bits in the machine's order; of a
// listener the second number of the queues is how many connections wait.
//
//	sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
//	 0: 0100007F:0CEA 00000000:0000 0A 00000000:00000003 00:00000000 00000000   109        0 23456 1 …
//
// Source: the kernel's Documentation/networking/proc_net_tcp.rst.
func parseTable(text []byte, states uint32, each func(*socket)) error {
	_, text, _ = procfile.Line(text) // heading
	for {
		line, rest, ok := procfile.Line(text)
		if !ok {
			return nil
		}
		text = rest
		var k socket
		if err := k.parse(line); err != nil {
			return err
		}
		if k.state < 32 && states&(1<<k.state) != 0 {
			each(&k)
		}
	}
}

func (s *socket) parse(line []byte) error {
	_, rest := procfile.Word(line)
	local, rest := procfile.Word(rest)
	remote, rest := procfile.Word(rest)
	state, rest := procfile.Word(rest)
	queues, rest := procfile.Word(rest)
	user, rest := procfile.Word(procfile.Skip(rest, 2))
	inode, _ := procfile.Word(procfile.Skip(rest, 1))
	st, ok1 := procfile.Hex(state)
	_, waiting, _ := bytes.Cut(queues, []byte{':'})
	queue, ok2 := procfile.Hex(waiting)
	number, ok3 := procfile.Uint(inode)
	a, ok4 := parseAddress(local)
	peer, ok5 := parseAddress(remote)
	uid, ok6 := procfile.Uint(user)
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || !ok6 || st > 255 || queue>>32 != 0 {
		return fmt.Errorf("bad line %q", line)
	}
	*s = socket{state: uint8(st), local: a, peer: peer.port, queue: uint32(queue), inode: uint32(number),
		user: uint32(uid)}
	return nil
}

// parseAddress reads 0100007F:0CEA, or the same with 32 digits before the colon.
func parseAddress(word []byte) (a address, ok bool) {
	ip, number, _ := bytes.Cut(word, []byte{':'})
	n, ok := procfile.Hex(number)
	if !ok || n > 1<<16-1 || len(ip) != 8 && len(ip) != 32 {
		return address{}, false
	}
	a.port, a.v6 = uint16(n), len(ip) == 32
	for i := 0; i < len(ip); i += 8 {
		v, ok := procfile.Hex(ip[i : i+8])
		if !ok {
			return address{}, false
		}
		binary.NativeEndian.PutUint32(a.ip[i/2:], uint32(v))
	}
	return a, true
}
