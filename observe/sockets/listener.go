package sockets

import (
	"bytes"
	"net/netip"
	"strconv"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/procfile"
)

// A listener is what listens at one address.
type listener struct {
	network  string // tcp or unix
	address  string
	instance string // address and owner
	inode    uint32 // of the first of its sockets
	user     uint32 // who made it
	looked   bool   // whether its owner was looked for
	owned    bool
	tick     uint64 // at which it was last reported

	sockets      int
	queue, limit uint32 // of the fullest socket
	drops        uint64 // of all its sockets
	dropsBefore  uint64 // at the tick before
	dropsGone    uint64 // of sockets that went
	hasLimit     bool
	hasDrops     bool
}

// listens takes note of a TCP socket that listens.
func (s *Source) listens(k *socket) {
	if k.state != listen {
		return
	}
	l := s.tcp[k.local]
	if l == nil {
		if l = s.newListener("tcp", k.local.String(), k.user); l == nil {
			return
		}
		s.tcp[k.local] = l
	}
	l.add(k, s.tick)
}

// listensAt takes note of a Unix socket that listens.
func (s *Source) listensAt(k *socket) {
	if k.state != listen || len(k.name) == 0 {
		return
	}
	l := s.paths[string(k.name)]
	if l == nil {
		if l = s.newListener("unix", pathOf(k.name), k.user); l == nil {
			return
		}
		s.paths[string(k.name)] = l
	}
	l.add(k, s.tick)
}

// newListener returns nil when there are too many. Those that have gone make room, and
// those of a user other than root who has more than half of them: whoever may listen must
// not hide the listeners of others by many of his own.
func (s *Source) newListener(network, address string, user uint32) *listener {
	if len(s.order) >= s.most.listeners {
		s.forget(func(l *listener) bool { return l.tick+1 < s.tick })
	}
	if len(s.order) >= s.most.listeners {
		s.full = true
		s.warn("there are more than "+strconv.Itoa(s.most.listeners)+" listeners",
			"the first ones are recorded, of a user other than root half of them where others have more")
		last := s.lastOfMost(user)
		if last == nil {
			return nil
		}
		s.forget(func(l *listener) bool { return l == last })
	}
	l := &listener{network: network, address: address, instance: address, user: user}
	s.order = append(s.order, l)
	s.held[user]++
	return l
}

// lastOfMost returns the last listener of a user, other than root and than the given one,
// who has more than half of all; nil when there is none.
func (s *Source) lastOfMost(but uint32) (last *listener) {
	most := uint32(0)
	for user, n := range s.held {
		if 2*n > s.most.listeners {
			most = user
		}
	}
	if most == 0 || most == but {
		return nil
	}
	for _, l := range s.order {
		if l.user == most {
			last = l
		}
	}
	return last
}

// forget drops listeners.
func (s *Source) forget(gone func(*listener) bool) {
	for k, l := range s.tcp {
		if gone(l) {
			delete(s.tcp, k)
		}
	}
	for k, l := range s.paths {
		if gone(l) {
			delete(s.paths, k)
		}
	}
	kept := s.order[:0]
	for _, l := range s.order {
		if !gone(l) {
			kept = append(kept, l)
			continue
		}
		if s.held[l.user]--; s.held[l.user] == 0 {
			delete(s.held, l.user)
		}
	}
	clear(s.order[len(kept):])
	s.order = kept
}

// add adds a socket to its listener; the first one of a tick begins it anew.
func (l *listener) add(k *socket, tick uint64) {
	if l.tick != tick {
		if l.inode != k.inode {
			l.inode, l.looked, l.owned, l.instance = k.inode, false, false, l.address
		}
		l.tick, l.sockets, l.queue, l.limit, l.drops = tick, 0, 0, 0, 0
		l.hasLimit, l.hasDrops = k.hasLimit, k.hasDrops
	}
	l.sockets++
	if k.queue >= l.queue {
		l.queue, l.limit = k.queue, k.limit
	}
	l.drops += uint64(k.drops)
}

// emit appends the series of a listener, once a tick. The drops of a socket that went
// stay in the sum.
func (l *listener) emit(f *kasoku.Frame) {
	f.Gauge(AcceptQueue, l.instance, "count", float64(l.queue))
	if l.hasLimit {
		f.Gauge(AcceptLimit, l.instance, "count", float64(l.limit))
	}
	if l.sockets > 1 {
		f.Gauge(AcceptSockets, l.instance, "count", float64(l.sockets))
	}
	if l.hasDrops {
		if l.drops < l.dropsBefore {
			l.dropsGone += l.dropsBefore - l.drops
		}
		l.dropsBefore = l.drops
		f.Counter(AcceptDrops, l.instance, "count", float64(l.dropsGone+l.drops))
	}
}

// String returns the address as ss(8) prints it.
func (a address) String() string {
	ip := netip.AddrFrom16(a.ip)
	if !a.v6 {
		ip = netip.AddrFrom4([4]byte(a.ip[:4]))
	}
	return netip.AddrPortFrom(ip.Unmap(), a.port).String()
}

// pathOf returns the name of a Unix socket: a path, or with @ before it a name that
// is no file.
func pathOf(name []byte) string {
	if name[0] == 0 {
		return "@" + procfile.Printable(bytes.TrimRight(name[1:], "\x00"))
	}
	path, _, _ := bytes.Cut(name, []byte{0})
	return procfile.Printable(path)
}
