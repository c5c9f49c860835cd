package record

import (
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/topology"
)

// codeUnasked is the code of the warning that the service's database was not asked.
const codeUnasked = "database-unasked"

// unasked returns the warning that the service has a database which kasoku could ask and was
// given no way to: no statements, no counters, none of the rules about them. It names where it
// is reached; that of a container's own network, or of another host, is not known from here.
func unasked(s *kasoku.Service) (w kasoku.Warning, ok bool) {
	for i := range s.Members {
		m := &s.Members[i]
		if m.Role != kasoku.RoleDatabase || m.Sure == kasoku.Low || !slices.Contains(topology.DatabasePrograms, m.Program) {
			continue
		}
		at := m.Listeners
		for j := range s.Edges {
			if s.Edges[j].To == m.ID && s.Edges[j].At.Address != "" {
				at = slices.Insert(slices.Clone(at), 0, s.Edges[j].At) // the application gets in there
			}
		}
		reached := slices.IndexFunc(at, func(l kasoku.Listener) bool { return reachable(m, l) })
		if reached < 0 {
			continue
		}
		dsn := "USER@" + at[reached].Network + "(" + anywhere.Replace(at[reached].Address) + ")/"
		return kasoku.Warning{Code: codeUnasked,
			Text: m.ID + " was not asked: of its statements, counters and settings nothing is known, and the rules about them are blind",
			Hint: "`--mysql '" + dsn + "'`, with a password better an option file by `--defaults-file`, or dsn = '" + dsn +
				"' in [mysql] of kasoku.toml; `kasoku doctor` with the same says which rights are missing"}, true
	}
	return w, false
}

// anywhere are the addresses that stand for all of a host.
var anywhere = strings.NewReplacer("0.0.0.0:", "127.0.0.1:", "[::]:", "127.0.0.1:", "*:", "127.0.0.1:")

// reachable reports whether statements can be sent to an endpoint of a database from here:
// not to one of a container's own network or files, nor to one of the X Protocol.
func reachable(m *kasoku.Member, l kasoku.Listener) bool {
	const xPort = 33060 // mysqlx_port
	return !l.Private && (l.Network == "tcp" && l.Port() != xPort ||
		l.Network == "unix" && m.Container == "" && !strings.Contains(l.Address, "mysqlx"))
}
