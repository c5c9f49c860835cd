package scan

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/foreign"
)

// A Server is where a program listens in kasoku's own network namespace.
type Server struct {
	TCP  []netip.AddrPort
	Unix []string
}

// Add adds a listener of a member; of a private one, in another namespace, nothing is known.
func (s *Server) Add(network, address string, private bool) {
	switch at, err := netip.ParseAddrPort(address); {
	case private:
	case network == "unix":
		s.Unix = append(s.Unix, address)
	case err == nil:
		s.TCP = append(s.TCP, netip.AddrPortFrom(at.Addr().Unmap(), at.Port()))
	}
}

// accepts reports whether the server's end of a connection has an address at which it listens.
func (s *Server) accepts(local netip.AddrPort) bool {
	return slices.ContainsFunc(s.TCP, func(at netip.AddrPort) bool {
		return at.Port() == local.Port() && (at.Addr() == local.Addr() || at.Addr().IsUnspecified())
	})
}

// A Caller is a connection to a server by a program of this host.
type Caller struct {
	Port   uint16 // of TCP, at the caller's end; 0 of a Unix socket
	Inode  uint32 // of the caller's end; 0 when it is not known
	Accept uint32 // of the server's end of a Unix socket; 0 where it has not accepted it yet
}

// Callers returns the connections to a server that are there now.
func Callers(ctx context.Context, s Server) (out []Caller, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	fd, err := foreign.NewSocketDiag()
	if err != nil {
		return nil, fmt.Errorf("ask for sockets: %w", err)
	}
	defer func() { _ = unix.Close(fd) }() // it was only asked
	type ends struct{ local, remote netip.AddrPort }
	accepted := map[ends]bool{}
	var calling []Socket
	d := &dump{fd: fd, buf: make([]byte, 64<<10)}
	err = d.all(func(k Socket) {
		switch {
		case k.State != Established:
		case k.Network == "unix":
			if slices.Contains(s.Unix, k.Path) {
				out = append(out, Caller{Inode: k.Peer, Accept: k.Inode})
			}
		case s.accepts(k.Local):
			accepted[ends{k.Local, k.Remote}] = true
		case s.accepts(k.Remote):
			calling = append(calling, k)
		}
	})
	for _, k := range calling {
		if accepted[ends{k.Remote, k.Local}] {
			out = append(out, Caller{Port: k.Local.Port(), Inode: k.Inode})
		}
	}
	return out, err
}

// HoldersOf returns which of some processes hold which sockets.
func HoldersOf(pids []int) map[uint32][]int {
	out := map[uint32][]int{}
	buf := make([]byte, 16<<10)
	var link [64]byte
	for _, pid := range pids {
		dir, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			continue // it has gone, or may not be seen
		}
		looked := 0
		_ = eachName(dir, buf, func(name string) error {
			if looked++; looked > mostHeld {
				return errEnough
			}
			n, err := unix.Readlinkat(dir, name, link[:])
			if err != nil {
				return nil // it was closed
			}
			if inode, ok := socketInode(link[:n]); ok {
				out[inode] = append(out[inode], pid)
			}
			return nil
		})
		_ = unix.Close(dir) // it was only listed
	}
	return out
}

// mostHeld bounds the descriptors of one process that HoldersOf looks at.
const mostHeld = 4096
