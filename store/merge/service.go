package merge

import (
	"net"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
)

// joinServices returns the members of two recordings as one service. A member of the
// second whose id the first has too gets its host's name after it.
func joinServices(a, b *kasoku.Service) *kasoku.Service {
	switch {
	case a == nil:
		return copyService(b)
	case b == nil:
		return a
	}
	out, more := copyService(a), copyService(b)
	for i := range more.Members {
		m := &more.Members[i]
		if id := m.ID; out.Member(id) != nil {
			m.ID += " @" + m.Host
			for j := range more.Edges {
				e := &more.Edges[j]
				if e.From == id {
					e.From = m.ID
				}
				if e.To == id {
					e.To = m.ID
				}
			}
		}
	}
	out.Members = append(out.Members, more.Members...)
	out.Edges = append(out.Edges, more.Edges...)
	for _, u := range more.Unknown {
		if !slices.Contains(out.Unknown, u) {
			out.Unknown = append(out.Unknown, u)
		}
	}
	return out
}

// connect leads the edges that left their hosts to the members that listen there: at that address,
// else on all addresses at that port, where one member of another host alone does.
func connect(s *kasoku.Service) {
	if s == nil {
		return
	}
	for i := range s.Edges {
		e := &s.Edges[i]
		from := s.Member(e.From)
		if e.To != "" || e.At.Port() == 0 || from == nil {
			continue
		}
		to, why := listening(s, from.Host, &e.At)
		if to == nil {
			continue
		}
		e.To = to.ID
		e.Found = append(slices.Clone(e.Found), kasoku.Reason{By: kasoku.ByConnection,
			Text: "host " + to.Host + why + e.At.Address})
	}
}

// listening returns the one member of another host that listens where a member of a host calls.
func listening(s *kasoku.Service, host string, at *kasoku.Listener) (found *kasoku.Member, why string) {
	address, _, err := net.SplitHostPort(at.Address)
	if ip := net.ParseIP(address); err != nil || ip == nil || ip.IsLoopback() {
		return nil, ""
	}
	for i := range s.Members {
		m := &s.Members[i]
		if m.Host == host {
			continue
		}
		for _, l := range m.Listeners {
			name, _, _ := net.SplitHostPort(l.Address)
			ip := net.ParseIP(name)
			switch {
			case l.Private || l.Port() != at.Port() || ip == nil:
			case name == address:
				return m, " listens at "
			case !ip.IsUnspecified():
			case found != nil && found != m:
				return nil, "" // two may be meant
			default:
				found, why = m, " listens on all addresses, as does no other host of the run at the port of "
			}
		}
	}
	return found, why
}

// copyService returns a copy whose members and edges may be changed.
func copyService(s *kasoku.Service) *kasoku.Service {
	if s == nil {
		return nil
	}
	return &kasoku.Service{Members: slices.Clone(s.Members), Edges: slices.Clone(s.Edges),
		Unknown: slices.Clone(s.Unknown)}
}

// laterService moves the times of a service.
func laterService(s *kasoku.Service, d time.Duration) *kasoku.Service {
	out := copyService(s)
	if out == nil {
		return nil
	}
	for i := range out.Members {
		out.Members[i].Processes = each(out.Members[i].Processes, func(p *kasoku.MemberProcess) {
			if p.Ended != 0 {
				p.Ended += d
			}
		})
	}
	return out
}
