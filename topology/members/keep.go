package members

import (
	"cmp"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
)

// Follow returns what is known of a service after a second look at it: a member that was
// restarted is the same one with other processes, one that is not there now stays. at is
// when the second look was.
func Follow(before, now kasoku.Service, at time.Duration) kasoku.Service {
	return follow(before, now, func(p *kasoku.MemberProcess) { p.Ended = cmp.Or(p.Ended, at) })
}

// Join returns what is known of a service after the sockets of its members were looked at again.
// A process that is not in now still runs, as far as is known: which do was not looked at.
func Join(before, now kasoku.Service) kasoku.Service {
	return follow(before, now, func(*kasoku.MemberProcess) {})
}

// follow calls gone for each process that now does not have.
func follow(before, now kasoku.Service, gone func(*kasoku.MemberProcess)) kasoku.Service {
	if len(before.Members) == 0 {
		return now
	}
	out := kasoku.Service{Edges: slices.Clone(before.Edges), Unknown: now.Unknown}
	if len(now.Members) < len(before.Members) {
		out.Unknown = before.Unknown // something is down, and was seen before
	}
	for i := range before.Members {
		m := before.Members[i]
		again := now.Member(m.ID)
		m.Processes = slices.Clone(m.Processes)
		for k := range m.Processes {
			p := &m.Processes[k]
			there := again != nil && slices.ContainsFunc(again.Processes, func(q kasoku.MemberProcess) bool {
				return q.PID == p.PID && q.Start == p.Start
			})
			if !there && (again != nil || len(now.Members) > 0) {
				gone(p)
			}
		}
		if again != nil {
			m = joinMember(m, *again)
		}
		out.Members = append(out.Members, m)
	}
	for i := range now.Members {
		if before.Member(now.Members[i].ID) == nil {
			out.Members = append(out.Members, now.Members[i])
		}
	}
	for _, e := range now.Edges {
		joinEdge(&out, e)
	}
	slices.SortStableFunc(out.Members, func(a, b kasoku.Member) int { return roleRank(a.Role) - roleRank(b.Role) })
	return out
}

// joinMember adds what a second look found of a member.
func joinMember(m, again kasoku.Member) kasoku.Member {
	for _, p := range again.Processes {
		k := slices.IndexFunc(m.Processes, func(q kasoku.MemberProcess) bool { return q.PID == p.PID && q.Start == p.Start })
		if k < 0 {
			m.Processes = append(m.Processes, p)
		} else {
			m.Processes[k].Ended = 0
		}
	}
	m.Found = slices.Clone(m.Found)
	for _, r := range again.Found {
		if !slices.Contains(m.Found, r) && len(m.Found) < 8 { // one of each kind is enough
			m.Found = append(m.Found, r)
		}
	}
	if levelRank(again.Sure) < levelRank(m.Sure) {
		m.Sure = again.Sure
	}
	m.Workers, m.Threads = max(m.Workers, again.Workers), max(m.Threads, again.Threads)
	m.Others = max(m.Others, again.Others)
	m.Logs, m.Configs = joinNames(m.Logs, again.Logs), joinNames(m.Configs, again.Configs)
	if len(again.Blocks) > 0 { // the load is known better than before, or the configuration is another
		m.Blocks = again.Blocks
	}
	m.Version, m.Limits.CPUs = cmp.Or(again.Version, m.Version), cmp.Or(again.Limits.CPUs, m.Limits.CPUs)
	return m
}

func joinNames(a, b []string) []string {
	out := slices.Clone(a)
	for _, v := range b {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// joinEdge adds an edge, each once.
func joinEdge(s *kasoku.Service, e kasoku.Edge) {
	for i := range s.Edges {
		if o := &s.Edges[i]; o.From == e.From && o.To == e.To && (e.To != "" || o.At == e.At) {
			o.Seen, o.Weak = max(o.Seen, e.Seen), o.Weak && e.Weak
			return
		}
	}
	s.Edges = append(s.Edges, e)
}
