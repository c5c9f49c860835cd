package merge

import (
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
	out.Unknown = append(out.Unknown, more.Unknown...)
	return out
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
