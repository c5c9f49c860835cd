package topology

import (
	"slices"
	"strings"
	"unicode"

	"github.com/kasoku/kasoku"
)

// Reached returns the first MySQL or MariaDB of a service to which statements can be sent from
// here, and its address in a DSN, tcp(127.0.0.1:3306): where the application gets in, else where
// it listens. That of a container's own network, or of another host, is not known from here.
func Reached(s *kasoku.Service) (m *kasoku.Member, address string, ok bool) {
	for i := range s.Members {
		m = &s.Members[i]
		if m.Role != kasoku.RoleDatabase || m.Sure == kasoku.Low || !slices.Contains(DatabasePrograms, m.Program) {
			continue
		}
		at := slices.Clone(m.Listeners)
		for j := range s.Edges {
			if s.Edges[j].To == m.ID && s.Edges[j].At.Address != "" {
				at = slices.Insert(at, 0, s.Edges[j].At)
			}
		}
		k := slices.IndexFunc(at, func(l kasoku.Listener) bool { return reachable(m, l) })
		if k >= 0 {
			return m, at[k].Network + "(" + anywhere.Replace(at[k].Address) + ")", true
		}
	}
	return nil, "", false
}

// anywhere are the addresses that stand for all of a host.
var anywhere = strings.NewReplacer("0.0.0.0:", "127.0.0.1:", "[::]:", "127.0.0.1:", "*:", "127.0.0.1:")

// reachable reports whether statements can be sent to an endpoint of a database from here:
// not to one of a container's own network or files, nor to one of the X Protocol. Whoever made a
// socket gave it its path: one that a shell or TOML would read as more than a name is left out.
func reachable(m *kasoku.Member, l kasoku.Listener) bool {
	const xPort = 33060 // mysqlx_port
	odd := func(r rune) bool { return unicode.IsControl(r) || strings.ContainsRune("'`\"\\()", r) }
	return !l.Private && !strings.ContainsFunc(l.Address, odd) && (l.Network == "tcp" && l.Port() != xPort ||
		l.Network == "unix" && m.Container == "" && !strings.Contains(l.Address, "mysqlx"))
}
