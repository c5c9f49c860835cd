package members

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
)

// A Listen is one place at which a server block is asked.
type Listen struct {
	At      netip.AddrPort // of TCP; without an address where the name in the configuration has none that is known
	Last    uint16         // of its ports, where there are several
	Path    string         // of a Unix socket
	Both    bool           // at [::], and takes IPv4 too
	Default bool           // it answers names that no block has
}

// hasPort reports whether a port of TCP is one of its.
func (l Listen) hasPort(port uint16) bool {
	return l.Path == "" && l.At.Port() <= port && port <= max(l.At.Port(), l.Last)
}

// An arrival is where requests come in at a web server, and the name that they ask for.
type arrival struct {
	at   netip.AddrPort
	path string
	host string // empty: not known
}

// answering returns the server blocks that answer the load's requests, and whether these are
// known. Where they are not, it returns those that may, of these the ones that write the logs
// that are read.
func (d *decision) answering(f *found, web Web) (blocks []Block, known bool) {
	arrivals := d.arrivals(f)
	may := make([]bool, len(web.Blocks))
	known = len(arrivals) > 0 || len(may) < 2
	for _, a := range arrivals {
		some, certain := d.answers(f, web, a)
		known = known && certain
		for _, s := range some {
			may[s.index] = true
		}
	}
	for i, b := range web.Blocks {
		if may[i] || len(arrivals) == 0 {
			blocks = append(blocks, b)
		}
	}
	if known {
		return blocks, known
	}
	logging := slices.DeleteFunc(slices.Clone(blocks), func(b Block) bool {
		return !slices.ContainsFunc(b.Logs, func(log string) bool { return slices.Contains(d.q.Logs, log) })
	})
	if len(logging) > 0 {
		return logging, len(logging) == 1
	}
	return blocks, false
}

// arrivals returns where the load comes in at a web server: at the places that were named, with
// a name where one of them has one; else where the load and the members are connected to it.
func (d *decision) arrivals(f *found) []arrival {
	if named := d.named(f); len(named) > 0 {
		return named
	}
	var out []arrival
	add := func(a arrival) {
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	for _, k := range f.accepted {
		if from := d.wires.callerOf(k); from != nil && from.load {
			add(arrival{at: unmapped(k.Local), path: k.Path})
		}
	}
	for _, e := range d.draft.edges {
		if e.to != f || e.from == nil {
			continue
		}
		a := arrival{path: e.At.Address}
		if e.At.Network == "tcp" {
			at, _ := netip.ParseAddrPort(e.At.Address)
			a = arrival{at: unmapped(at)}
		}
		asked := []arrival{{}} // by a name that is not known: it may be another than its own
		if e.from.role == kasoku.RoleForwarder {
			asked = append(d.named(e.from), asked...)[:max(1, len(d.named(e.from)))] // it passes on what it gets
		}
		for _, o := range asked {
			a.host = o.host
			add(a)
		}
	}
	return out
}

// named returns the places that were named and at which a member listens. Those of which no
// name is known count where no other is.
func (d *decision) named(f *found) (out []arrival) {
	for _, p := range append(slices.Clone(d.q.Targets), d.q.User...) {
		if !slices.Contains(d.wires.atHome(p).instances, f.instance) {
			continue
		}
		if p.Network == "unix" {
			out = append(out, arrival{path: p.Address, host: p.Host})
		}
		all := parsePlace(p.Address)
		for _, at := range all { // localhost has two
			if len(all) == 1 || len(d.wires.index.listening(d.wires.snap.NetNS, at)) > 0 {
				out = append(out, arrival{at: at, host: p.Host})
			}
		}
	}
	if slices.ContainsFunc(out, func(a arrival) bool { return a.host != "" }) {
		out = slices.DeleteFunc(out, func(a arrival) bool { return a.host == "" })
	}
	return out
}

func unmapped(at netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// answers returns the sites that answer requests that come in somewhere, as nginx chooses: of
// those at that very address, else at all addresses of the port, the one that has the name. It
// is not known where the address or the name is not, or may be meant by what is not understood
// here.
func (d *decision) answers(f *found, web Web, a arrival) (sites []site, known bool) {
	sites, known = web.at(a)
	if len(sites) < 2 {
		return sites, true
	}
	if !known || a.host == "" {
		return sites, false
	}
	own := ""
	if d.wires.isHome(f.leader) {
		own = d.wires.snap.Host
	}
	sites = bestNamed(sites, a.host, own)
	return sites, !slices.ContainsFunc(sites, func(s site) bool { return s.index != sites[0].index })
}

// Answering returns the blocks that answer requests at a place, and whether that is known: of some
// texts of a configuration alone, where it was not seen what the web server has read. Others of its
// may come first there, so that none answers for being the first.
func (w Web) Answering(p Place) (out []Block, known bool) {
	known = true
	asked := []arrival{{path: p.Address, host: p.Host}}
	if p.Network == "tcp" {
		asked = nil
		for _, at := range parsePlace(p.Address) {
			asked = append(asked, arrival{at: at, host: p.Host})
		}
	}
	for _, a := range asked {
		sites, sure := w.at(a)
		if sites, sure = apartFromFirst(sites, a.host, sure); !sure {
			known = false
		}
		for _, s := range sites {
			if !slices.ContainsFunc(out, func(b Block) bool { return b.At == s.At }) {
				out = append(out, s.Block)
			}
		}
	}
	return out, known && len(out) > 0
}

// apartFromFirst returns the site that answers a host, of some that may not be all. One that is alone
// is taken for it unless it has names and the host is another.
func apartFromFirst(sites []site, host string, sure bool) ([]site, bool) {
	if !sure || len(sites) == 0 {
		return sites, sure
	}
	_, err := netip.ParseAddr(host)
	if len(sites) == 1 && (host == "" || err == nil || !slices.ContainsFunc(sites[0].Names, isHost)) {
		return sites, true
	}
	if host == "" {
		return sites, false
	}
	if !slices.ContainsFunc(sites, func(s site) bool { return s.by.Default }) {
		sites = append([]site{{index: -1}}, sites...)
	}
	sites = bestNamed(sites, host, "")
	for _, s := range sites {
		sure = sure && s.index >= 0 && s.index == sites[0].index
	}
	return sites, sure
}

// A site is a server block with the Listen by which it is asked.
type site struct {
	Block
	index int // of the block in its configuration
	by    Listen
}

// at returns the sites at an address, and whether no others may be.
//
// Source: nginx's documentation, "How nginx processes a request" and the directive listen.
func (w Web) at(a arrival) (out []site, known bool) {
	var ranked [3][]site // at this very address, at all of its family, at all of both
	var all []site
	known = true
	for i, b := range w.Blocks {
		for _, l := range b.Listens {
			s, addr := site{b, i, l}, l.At.Addr()
			switch {
			case a.path != "":
				if l.Path == a.path {
					ranked[0] = append(ranked[0], s)
				}
				continue
			case !l.hasPort(a.at.Port()):
				continue
			case !addr.IsValid():
				known = false
			case addr == a.at.Addr():
				ranked[0] = append(ranked[0], s)
			case a.at.Addr().IsUnspecified() && (addr.Is4() == a.at.Addr().Is4() || l.Both):
				known = false // of the address that is asked only the socket is known
			case addr.IsUnspecified() && addr.Is4() == a.at.Addr().Is4():
				ranked[1] = append(ranked[1], s)
			case addr.IsUnspecified() && l.Both:
				ranked[2] = append(ranked[2], s)
			default:
				continue
			}
			all = append(all, s)
		}
	}
	if !known {
		return all, false
	}
	for _, out := range ranked {
		if len(out) > 0 {
			return out, true
		}
	}
	return nil, true
}

// standard returns the site that answers names that none has.
func standard(sites []site) site {
	if i := slices.IndexFunc(sites, func(s site) bool { return s.by.Default }); i >= 0 {
		return sites[i]
	}
	return sites[0] // nginx: the first
}

// bestNamed returns the site that answers a host, in nginx's order: the name itself, the
// longest "*.x", the longest "x.*", the first regular expression, the default; several where
// a regular expression before is not understood here. own is the name of the web server's host.
//
// Source: nginx's documentation, "Server names".
func bestNamed(sites []site, host, own string) []site {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	names := namedSites{host: host, seen: map[string]bool{}}
	for _, s := range sites {
		for _, name := range s.Names {
			if name = strings.ToLower(name); name == "$hostname" {
				name = strings.ToLower(own)
			}
			names.add(s, name)
		}
	}
	if names.rank > 0 {
		return []site{names.best}
	}
	return byPattern(sites, host)
}

// namedSites is the best of the names for a host so far.
type namedSites struct {
	host string
	seen map[string]bool
	best site
	rank int // 3 the name itself, 2 "*.x", 1 "x.*"
	long int
}

// add adds a name. ".x" stands for "x" and "*.x". A name that was there before is ignored, as
// nginx does; of ".x" then both.
func (n *namedSites) add(s site, name string) {
	names := []string{name}
	if bare, both := strings.CutPrefix(name, "."); both {
		names = []string{bare, "*" + name}
	}
	if slices.ContainsFunc(names, func(name string) bool { return n.seen[name] }) {
		return
	}
	for _, name := range names {
		n.seen[name] = true
		rank := 0
		switch {
		case name == n.host:
			rank = 3
		case strings.HasPrefix(name, "*.") && strings.HasSuffix(n.host, name[1:]):
			rank = 2
		case strings.HasSuffix(name, ".*") && strings.HasPrefix(n.host, name[:len(name)-1]):
			rank = 1
		}
		if rank > n.rank || rank == n.rank && rank > 0 && len(name) > n.long {
			n.best, n.rank, n.long = s, rank, len(name)
		}
	}
}

// byPattern returns the site of the first regular expression that matches a host, else the
// default, and those before it whose expressions are not understood here.
func byPattern(sites []site, host string) (out []site) {
	read := 0
	for _, s := range sites {
		for _, name := range s.Names {
			text, ok := strings.CutPrefix(name, "~")
			if !ok {
				continue
			}
			if read++; read > mostPatterns {
				return append(out, sites...)
			}
			matched, known := matchesPattern(text, host)
			if matched {
				return append(out, s)
			}
			if !known {
				out = append(out, s)
			}
		}
	}
	return append(out, standard(sites))
}

// mostPatterns is how many regular expressions are read for a host, and mostPattern how long one
// may be: longer ones may take seconds.
const (
	mostPatterns = 128
	mostPattern  = 256
)

// matchesPattern reports whether a server_name's regular expression, which ignores case,
// matches a host. It is not known where Go's syntax is another than PCRE's, as with look-ahead.
func matchesPattern(text, host string) (matched, known bool) {
	if len(text) > mostPattern {
		return false, false
	}
	re, err := regexp.Compile("(?i)" + text)
	return err == nil && re.MatchString(host), err == nil
}
