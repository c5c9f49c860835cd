package topology

import (
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/internal/pathwalk"
)

// Owners returns the processes of this host that listen at an address: host:port for the
// network tcp, a path for unix. The result is empty when there is none, when the address
// is not of this host, and when the kernel hides the owner of the socket.
func Owners(network, address string) (pids []int) { return Holders(Listening(network, address)) }

// Listening returns the kernel's numbers of the sockets of this host that take connections
// to an address, as [Owners] takes it, each once and in order.
func Listening(network, address string) (inodes []string) {
	for _, s := range (tree{}).sockets("/proc/net", func(string, error) {}) { // unread: none is seen there
		switch {
		case s.network != network:
		case network == "unix" && samePath(s.path, address), network == "tcp" && s.listens && accepts(s.local, address):
			inodes = append(inodes, s.inode)
		}
	}
	slices.Sort(inodes)
	return slices.Compact(inodes)
}

// maxHeld is how many open files of a process are looked at: whoever has an account can have
// a million in each of his.
const maxHeld = 20_000

// Holders returns the processes of this host that have one of the sockets open.
func Holders(inodes []string) (pids []int) {
	t := tree{}
	names, _ := t.names("/proc", -1) // without it none is found
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || len(inodes) == 0 {
			continue
		}
		fds, _ := t.names("/proc/"+name+"/fd", maxHeld) // hidden: not known
		if slices.ContainsFunc(fds, func(fd string) bool {
			to, err := t.link("/proc/" + name + "/fd/" + fd)
			inode, ok := strings.CutPrefix(to, "socket:[")
			return err == nil && ok && slices.Contains(inodes, strings.TrimSuffix(inode, "]"))
		}) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func samePath(a, b string) bool {
	if a == b {
		return true
	}
	real, err := pathwalk.Resolve(filepath.Dir(b)) // /var/run is a link to /run
	return err == nil && a == filepath.Join(real, filepath.Base(b))
}

// accepts reports whether a listener takes connections to host:port of this host.
func accepts(local netip.AddrPort, address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port != strconv.Itoa(int(local.Port())) {
		return false
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	to, err := netip.ParseAddr(host)
	if err != nil || !ofThisHost(to) {
		return false
	}
	return local.Addr().IsUnspecified() || local.Addr().Unmap() == to.Unmap()
}

func ofThisHost(to netip.Addr) bool {
	if to.IsLoopback() {
		return true
	}
	all, _ := net.InterfaceAddrs() // without them only loopback is
	return slices.ContainsFunc(all, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && prefix.Addr() == to.Unmap()
	})
}
