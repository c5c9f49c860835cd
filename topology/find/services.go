package find

import (
	"context"
	"net"
	"net/url"
	"slices"
	"strconv"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/topology/members"
	"github.com/kasoku/kasoku/topology/scan"
)

// A Candidate is a service that may be the one that is to be measured.
type Candidate struct {
	URL     string // at which it is loaded
	Port    int
	Host    string // that a site is known by; empty else
	Service kasoku.Service
}

// Has reports whether a member of a service is one of its members. Those that have a leader in
// common, as the pools of PHP-FPM, listen at different places.
func (c *Candidate) Has(m *kasoku.Member) bool {
	return slices.ContainsFunc(c.Service.Members, func(o kasoku.Member) bool {
		return o.Has(m.Processes[0].PID) && (len(o.Listeners) == 0 || len(m.Listeners) == 0 ||
			slices.ContainsFunc(m.Listeners, func(l kasoku.Listener) bool { return slices.Contains(o.Listeners, l) }))
	})
}

// Services returns the services of this host: one for each place at which a load can come in.
// One that is a part of another, as the application that a web server passes requests on to,
// is not listed by itself. It fails when there is no /proc.
func Services(ctx context.Context) ([]Candidate, error) {
	snap, err := scan.Take(ctx, scan.Options{})
	if err != nil {
		return nil, err
	}
	webs := map[int]members.Web{}
	for _, door := range members.Doors(snap, nil) {
		if _, read := webs[door.PID]; !door.Web || read {
			continue
		}
		if web, err := readWeb(ctx, snap, door.PID); err == nil { // else it has one site
			webs[door.PID] = web
		}
	}
	var all []Candidate
	for _, door := range members.Doors(snap, webs) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		q := members.Question{User: []members.Place{door.Place}, Webs: webs}
		s := members.Decide(snap, q).Service
		if len(s.Members) > 0 {
			all = append(all, candidate(door, s))
		}
	}
	all = distinct(all)
	for i := range all {
		for k := range all[i].Service.Members {
			describe(ctx, &all[i].Service.Members[k], "")
		}
	}
	return all, ctx.Err()
}

func candidate(door members.Door, s kasoku.Service) Candidate {
	c := Candidate{Host: door.Host, Service: s}
	host, port, err := net.SplitHostPort(door.Place.Address)
	if err == nil {
		c.Port, _ = strconv.Atoi(port) // of a socket: a number
	}
	if door.Host != "" {
		host = door.Host
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, port), Path: "/"}
	switch c.Port {
	case 80:
		u.Host = host
	case 443:
		u.Scheme, u.Host = "https", host
	}
	c.URL = u.String()
	return c
}

// distinct leaves out what is a part of another, and of those that are the same all but
// the one at the lowest port. A web server to which another one passes some of its requests on
// stays: that may be a neighbour's, who calls this service.
func distinct(all []Candidate) (out []Candidate) {
	slices.SortStableFunc(all, func(a, b Candidate) int { return a.Port - b.Port })
	for i := range all {
		part := false
		for k := range all {
			if i != k && within(&all[i], &all[k]) && (k < i || !within(&all[k], &all[i])) {
				part = part || !isCalledAside(&all[i], &all[k])
			}
		}
		if !part {
			out = append(out, all[i])
		}
	}
	return out
}

// isCalledAside reports whether a begins with a web server that a web server of b calls beside
// another member.
func isCalledAside(a, b *Candidate) bool {
	entry := &a.Service.Members[0]
	if entry.Role != kasoku.RoleWeb {
		return false
	}
	callers, aside := map[string]bool{}, false
	web, itself := map[string]bool{}, ""
	for i := range b.Service.Members {
		m := &b.Service.Members[i]
		if web[m.ID] = m.Role == kasoku.RoleWeb; m.Has(entry.Leader().PID) {
			itself = m.ID
		}
	}
	for _, e := range b.Service.Edges {
		if e.To == itself && e.From != itself && web[e.From] {
			callers[e.From] = true
		}
	}
	for _, e := range b.Service.Edges {
		aside = aside || callers[e.From] && e.To != "" && e.To != itself
	}
	return aside
}

// within reports whether all members of a are members of b.
func within(a, b *Candidate) bool {
	for i := range a.Service.Members {
		if !b.Has(&a.Service.Members[i]) {
			return false
		}
	}
	return true
}
