package members

import (
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/topology/scan"
)

// An index finds sockets.
type index struct {
	snap      *scan.Snapshot
	listeners map[uint16][]*scan.Socket // of TCP, by port
	paths     map[string][]*scan.Socket // Unix listeners
	pairs     map[pair][]*scan.Socket   // connections of TCP
	inodes    map[uint32]*scan.Socket   // Unix sockets
}

// A pair is both ends of a connection, as one of them sees them.
type pair struct{ local, remote netip.AddrPort }

func newIndex(s *scan.Snapshot) *index {
	x := &index{snap: s, listeners: map[uint16][]*scan.Socket{}, paths: map[string][]*scan.Socket{},
		pairs: make(map[pair][]*scan.Socket, len(s.Sockets)), inodes: map[uint32]*scan.Socket{}}
	for i := range s.Sockets {
		k := &s.Sockets[i]
		switch {
		case k.Network == "tcp" && k.State == scan.Listening:
			x.listeners[k.Local.Port()] = append(x.listeners[k.Local.Port()], k)
		case k.Network == "tcp":
			x.pairs[pair{k.Local, k.Remote}] = append(x.pairs[pair{k.Local, k.Remote}], k)
		default:
			if k.State == scan.Listening {
				x.paths[k.Path] = append(x.paths[k.Path], k)
			}
			if k.Inode != 0 {
				x.inodes[k.Inode] = k
			}
		}
	}
	return x
}

// serverEnd reports whether a connection came in: something listens at its own address.
func (x *index) serverEnd(k *scan.Socket) bool {
	if k.Network == "unix" {
		return k.Path != ""
	}
	return len(x.listening(k.NetNS, k.Local)) > 0
}

// listening returns what accepts connections to an address in a namespace: a socket at
// this very address goes before one at all addresses, as in the kernel.
func (x *index) listening(ns uint64, at netip.AddrPort) []*scan.Socket {
	var exact, any, both []*scan.Socket
	for _, k := range x.listeners[at.Port()] {
		local := k.Local.Addr()
		switch {
		case k.NetNS != ns:
		case local == at.Addr():
			exact = append(exact, k)
		case local.IsUnspecified() && local.Is4() == at.Addr().Is4():
			any = append(any, k)
		case local.IsUnspecified() && local.Is6() && k.Both:
			both = append(both, k)
		}
	}
	switch {
	case len(exact) > 0:
		return exact
	case len(any) > 0:
		return any
	}
	return both
}

// here reports whether an address is of a namespace's own host.
func (x *index) here(ns uint64, a netip.Addr) bool {
	if a.IsLoopback() || a.IsUnspecified() {
		return true
	}
	return ns == x.snap.NetNS && slices.Contains(x.snap.Addresses, a)
}

// parsePlace returns the addresses of a place of TCP.
func parsePlace(address string) []netip.AddrPort {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return nil
	}
	switch host {
	case "localhost":
		return []netip.AddrPort{netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(n)),
			netip.AddrPortFrom(netip.IPv6Loopback(), uint16(n))}
	case "", "0.0.0.0", "*":
		return []netip.AddrPort{netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(n))}
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		return nil
	}
	return []netip.AddrPort{netip.AddrPortFrom(a.Unmap(), uint16(n))}
}

// An answer is who is at a place.
type answer struct {
	instances []*instance
	at        *scan.Socket // one of its listeners; nil without
	elsewhere bool         // the place is not on this host
	private   bool         // found in another network namespace; with elsewhere: perhaps there
}

// isHome reports whether the paths of a process are those that kasoku sees. Where that is
// hidden they are taken for such.
func (w *wiring) isHome(p *scan.Process) bool { return p.MntNS == w.snap.MntNS || p.MntNS == 0 }

// atHome returns who listens at a place, seen from kasoku's own namespaces.
func (w *wiring) atHome(p Place) answer { return w.at(w.snap.NetNS, w.snap.MntNS, p) }

// at returns who listens at a place, seen from a namespace.
func (w *wiring) at(ns, mnt uint64, p Place) answer {
	if p.Network == "unix" {
		return w.atPath(mnt, p.Address)
	}
	where := parsePlace(p.Address)
	out := answer{elsewhere: true}
	for _, at := range where {
		found := w.index.listening(ns, at)
		if w.index.here(ns, at.Addr()) {
			out.elsewhere = false
		} else if len(found) > 0 && found[0].Local != at {
			continue // what listens at all addresses of this namespace does not at another's
		}
		if len(found) > 0 {
			out.at = found[0]
			out.instances = w.acceptors(found, func(k *scan.Socket) bool { return k.NetNS == ns && k.Local == at })
			out.elsewhere = false
			return out
		}
	}
	if !out.elsewhere {
		return out
	}
	return w.inOtherSpace(ns, where, out)
}

// inOtherSpace looks for a listener in the network namespaces of containers: in the one where
// a socket has the address as its local end.
func (w *wiring) inOtherSpace(ns uint64, where []netip.AddrPort, out answer) answer {
	for _, at := range where {
		var spaces []uint64
		for i := range w.snap.Sockets {
			k := &w.snap.Sockets[i]
			if k.NetNS == ns || k.Network != "tcp" || k.Local != at || w.strange(k) || slices.Contains(spaces, k.NetNS) {
				continue
			}
			spaces = append(spaces, k.NetNS)
		}
		if len(spaces) != 1 {
			continue // none, or two that have the same address
		}
		if found := w.index.listening(spaces[0], at); len(found) > 0 {
			out.at, out.elsewhere, out.private = found[0], false, true
			out.instances = w.acceptors(found, func(k *scan.Socket) bool { return k.NetNS == spaces[0] && k.Local == at })
		}
	}
	return out
}

// strange reports whether a socket is in a namespace that a user may have made: its
// addresses show nothing.
func (w *wiring) strange(k *scan.Socket) bool {
	return len(k.Owners) == 0 || slices.ContainsFunc(k.Owners, func(pid int) bool {
		p := w.procs[pid]
		return p == nil || p.Elsewhere
	})
}

// atPath returns who listens at the path of a Unix socket, as kasoku's own file system
// has it. A listener of another file system is another socket.
func (w *wiring) atPath(mnt uint64, path string) answer {
	var found []*scan.Socket
	for _, name := range []string{path, "/run" + cutPrefix(path, "/var/run")} {
		for _, k := range w.index.paths[name] {
			if w.sees(k, mnt) && !slices.Contains(found, k) {
				found = append(found, k)
			}
		}
	}
	if len(found) == 0 {
		return answer{}
	}
	ins := w.acceptors(found, func(k *scan.Socket) bool { return k.Network == "unix" && k.Path == found[0].Path })
	return answer{instances: ins, at: found[0]}
}

// cutPrefix returns a path without a directory before it; a name that is no path of its
// own when it does not lie there.
func cutPrefix(path, dir string) string {
	if rest, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rest) {
		return "/" + rest
	}
	return "\x00"
}

// sees reports whether a listener's holders have the file system mnt.
func (w *wiring) sees(k *scan.Socket, mnt uint64) bool {
	if mnt == 0 || len(k.Owners) == 0 {
		return true
	}
	return slices.ContainsFunc(k.Owners, func(pid int) bool {
		p := w.procs[pid]
		return p != nil && (p.MntNS == mnt || p.MntNS == 0)
	})
}

// acceptors returns the instances that take the connections of listeners: those that
// hold accepted ones, else those that hold the listeners.
func (w *wiring) acceptors(found []*scan.Socket, mine func(*scan.Socket) bool) []*instance {
	var out []*instance
	for i := range w.snap.Sockets {
		k := &w.snap.Sockets[i]
		if k.State != scan.Established || k.Network != found[0].Network || !mine(k) {
			continue
		}
		for _, in := range w.holders(k) {
			if !slices.Contains(out, in) {
				out = append(out, in)
			}
		}
	}
	if len(out) > 0 {
		return withoutHolders(w.within(out, found))
	}
	for _, k := range found {
		for _, in := range w.holders(k) {
			if !slices.Contains(out, in) {
				out = append(out, in)
			}
		}
	}
	return out
}

// within keeps, of those that hold accepted connections, the ones that hold the listener
// or descend from one that does; all when none does, as where the listener is hidden.
func (w *wiring) within(ins []*instance, found []*scan.Socket) []*instance {
	var kept []*instance
	for _, in := range ins {
		for at, n := in.leader, 0; at != nil && n < 64; at, n = w.procs[at.Parent], n+1 {
			if slices.ContainsFunc(found, func(k *scan.Socket) bool { return slices.Contains(k.Owners, at.PID) }) ||
				slices.ContainsFunc(in.listens, func(k *scan.Socket) bool { return slices.Contains(found, k) }) {
				kept = append(kept, in)
				break
			}
		}
	}
	if len(kept) == 0 {
		return ins
	}
	return kept
}

// holders returns the instances that hold a socket. One that has it from an ancestor that
// holds it too, as a shell that a server started, is left out; an init or a supervisor
// that opened the socket for its children is left out instead.
func (w *wiring) holders(k *scan.Socket) []*instance {
	var ins []*instance
	for _, pid := range k.Owners {
		in := w.byPID[pid]
		if in == nil {
			continue
		}
		if in = w.partAt(in, k); !slices.Contains(ins, in) {
			ins = append(ins, in)
		}
	}
	if len(ins) < 2 {
		return ins
	}
	ins = withoutHolders(ins)
	return slices.DeleteFunc(slices.Clone(ins), func(in *instance) bool {
		for at, n := w.procs[in.leader.Parent], 0; at != nil && n < 64; at, n = w.procs[at.Parent], n+1 {
			if up := w.byPID[at.PID]; up != in && slices.Contains(ins, up) {
				return true
			}
		}
		return false
	})
}

// withoutHolders leaves out those that open sockets for others, unless there are only such.
func withoutHolders(ins []*instance) []*instance {
	worked := slices.DeleteFunc(slices.Clone(ins), func(in *instance) bool { return opensForOthers(in.leader) })
	if len(worked) > 0 {
		return worked
	}
	return ins
}

// callerOf returns the instance at the other end of a connection that came in, nil when
// it is not known.
func (w *wiring) callerOf(k *scan.Socket) *instance {
	if k.Network == "unix" {
		if peer := w.index.inodes[k.Peer]; peer != nil {
			return first(w.holders(peer))
		}
		return nil
	}
	for _, other := range w.index.pairs[pair{k.Remote, k.Local}] {
		if other.NetNS == k.NetNS {
			return first(w.holders(other))
		}
	}
	return nil
}

func first(ins []*instance) *instance {
	if len(ins) == 0 {
		return nil
	}
	return ins[0]
}

// calleeOf returns who is at the other end of a connection that went out.
func (w *wiring) calleeOf(k *scan.Socket) answer {
	if k.Network == "unix" {
		peer := w.index.inodes[k.Peer]
		if peer == nil || peer.Path == "" {
			return answer{} // hidden, or a pair within a program
		}
		out := answer{instances: w.holders(peer), at: peer}
		at := w.index.paths[peer.Path]
		if len(at) > 0 {
			out.at = at[0]
		}
		if len(out.instances) == 0 && len(at) == 1 { // not accepted yet
			out.instances = w.acceptors(at, func(k *scan.Socket) bool { return k.Network == "unix" && k.Path == peer.Path })
		}
		return out
	}
	mirrored := w.index.pairs[pair{k.Remote, k.Local}]
	for _, other := range mirrored {
		if ins := w.holders(other); other.NetNS == k.NetNS && other != k && len(ins) > 0 { // else not accepted yet
			return answer{instances: ins, at: firstSocket(w.index.listening(k.NetNS, k.Remote), other)}
		}
	}
	out := w.at(k.NetNS, 0, Place{Network: "tcp", Address: k.Remote.String()})
	if out.at != nil && !out.private || !out.elsewhere && !out.private {
		return out
	}
	var ins []*instance
	var at *scan.Socket
	for _, other := range mirrored {
		if !w.strange(other) {
			at = firstSocket(w.index.listening(other.NetNS, k.Remote), other)
			for _, in := range w.holders(other) {
				if !slices.Contains(ins, in) {
					ins = append(ins, in)
				}
			}
		}
	}
	if len(ins) == 1 {
		return answer{instances: ins, at: at, private: true}
	}
	return answer{elsewhere: true, private: out.private || len(ins) > 0}
}

func firstSocket(all []*scan.Socket, or *scan.Socket) *scan.Socket {
	if len(all) > 0 {
		return all[0]
	}
	return or
}

// listener describes a listening socket.
func (w *wiring) listener(k *scan.Socket) kasoku.Listener {
	l := kasoku.Listener{Network: k.Network, Address: k.Path, Private: k.NetNS != w.snap.NetNS}
	if k.Network == "tcp" {
		l.Address = k.Local.String()
	}
	return l
}
