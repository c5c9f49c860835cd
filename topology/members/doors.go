package members

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/topology/internal/programs"
	"github.com/kasoku/kasoku/topology/scan"
)

// A Door is a place at which a load can come in.
type Door struct {
	Place Place
	Host  string // of a site of a web server that is known by its name; empty else
	PID   int    // of the program that listens
	Web   bool   // it is a web server
}

// Doors returns the places at which web servers, caches, forwarders and applications
// listen. Of a web server whose configuration is known, each site is one. Programs of the
// system, and those that are not believed, have none.
func Doors(s *scan.Snapshot, webs map[int]Web) []Door {
	w := newWiring(s)
	var out []Door
	for _, in := range w.all {
		role := kind(in).Role
		front := role == kasoku.RoleWeb || role == kasoku.RoleCache || role == kasoku.RoleApplication ||
			role == kasoku.RoleForwarder
		if !front || in.self || in.system() || isInit(in.leader) || isShell(programs.Name(in.leader.Exe)) || in.doubt() != "" {
			continue
		}
		for _, door := range w.doorsOf(in, webs[in.leader.PID]) {
			if door.Web = role == kasoku.RoleWeb; !slices.Contains(out, door) {
				out = append(out, door)
			}
		}
	}
	return out
}

// doorsOf lists the doors of one program.
func (w *wiring) doorsOf(in *instance, web Web) (out []Door) {
	for _, k := range in.listens {
		if k.Network != "tcp" || k.NetNS != w.snap.NetNS {
			continue
		}
		sites := 0
		for _, at := range web.addresses(k.Local) {
			group, _ := web.at(arrival{at: at})
			sites += len(group)
			out = append(out, siteDoors(group, at, in.leader.PID)...)
		}
		if sites == 0 {
			out = append(out, Door{Place: placeAt(k.Local), PID: in.leader.PID})
		}
	}
	return out
}

// addresses returns those at which blocks are asked by way of a listening socket, each once.
func (w Web) addresses(socket netip.AddrPort) (out []netip.AddrPort) {
	seen := map[netip.AddrPort]bool{}
	for i := range w.Blocks {
		for _, l := range w.Blocks[i].Listens {
			addr := l.At.Addr()
			any := socket.Addr().IsUnspecified() && (addr.Is4() == socket.Addr().Is4() || l.Both)
			if !l.hasPort(socket.Port()) || !any && addr != socket.Addr() && addr.IsValid() {
				continue
			}
			if !addr.IsValid() {
				addr = socket.Addr()
			}
			at := netip.AddrPortFrom(reachable(addr), socket.Port())
			if !seen[at] {
				seen[at] = true
				out = append(out, at)
			}
		}
	}
	return out
}

// siteDoors returns the doors of the sites at one address: by their names, and without one that
// of the default. By the others no request is known to come in.
func siteDoors(sites []site, at netip.AddrPort, pid int) (out []Door) {
	for i := range sites {
		door := Door{Place: placeAt(at), PID: pid}
		if k := slices.IndexFunc(sites[i].Names, isHost); k >= 0 {
			door.Host = sites[i].Names[k]
			door.Place.Host = door.Host
		} else if standard(sites).index != sites[i].index {
			continue
		}
		out = append(out, door)
	}
	return out
}

// placeAt returns the place by which this host reaches an address, asked by that alone.
func placeAt(at netip.AddrPort) Place {
	host := reachable(at.Addr()).String()
	return Place{Network: "tcp", Address: net.JoinHostPort(host, strconv.Itoa(int(at.Port()))), Host: host}
}

// reachable returns the address by which this host reaches a listener.
func reachable(a netip.Addr) netip.Addr {
	if a.IsUnspecified() {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return a.Unmap()
}

// isHost reports whether a server_name is that of one host.
func isHost(name string) bool {
	return name != "" && name != "_" && !strings.ContainsAny(name, "*~$\"'") && !strings.HasPrefix(name, ".")
}
