// Package find finds the members of the service that is measured, on the host that it
// runs on.
//
// The one idea: package scan sees, package members decides; this package asks them in
// turn, reads the configuration of the web servers that the decision needs, of processes
// that are believed, and adds what a member's own files show: its language, its limits.
//
// Start at [Find]. Nothing is changed, nothing that a process points to is run.
package find

import (
	"context"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/foreign"
	"github.com/kasoku/kasoku/internal/mounts"
	"github.com/kasoku/kasoku/topology"
	"github.com/kasoku/kasoku/topology/members"
	"github.com/kasoku/kasoku/topology/scan"
)

// Idle is how long a connection carries nothing under load before its edge is weak.
const Idle = 30 * time.Second

// An Ask is what is known of the service from outside.
type Ask struct {
	URLs      []string // targets of the load, as [Target] writes them
	User      []string // URLs, addresses and paths that the user named, likewise
	PIDs      []int
	Units     []string
	Logs      []string // access logs that are read
	Databases []members.Place
	Asked     []string // URLs and addresses of servers that kasoku was given to ask
	Load      []int    // processes that make the load
	Own       []int    // kasoku's other processes
	Loaded    bool     // the load runs now
	Language  string   // of the application, one of kasoku.Languages; empty: as it is seen
	// Held are the users whose programs listened as members at earlier looks; this one adds its
	// own. Where another user's program took such a place it is no member. nil: there was no look.
	Held map[kasoku.Listener]int
}

// question returns what package members is asked. Names of hosts become their addresses.
func (a *Ask) question(ctx context.Context) members.Question {
	q := members.Question{PIDs: a.PIDs, Units: a.Units, Logs: a.Logs, Load: a.Load, Own: a.Own, Webs: map[int]members.Web{}}
	for _, p := range a.Databases {
		q.Databases = append(q.Databases, followed(p))
	}
	if a.Loaded {
		q.Idle = Idle
	}
	for _, list := range []struct {
		texts []string
		to    *[]members.Place
	}{{a.URLs, &q.Targets}, {a.User, &q.User}, {a.Asked, &q.Asked}} {
		for _, text := range list.texts {
			if p := placeOf(ctx, text); p.Address != "" {
				*list.to = appendNew(*list.to, followed(p))
			}
		}
	}
	return q
}

// mostLinks is how many symbolic links are followed from the name of a Unix socket.
const mostLinks = 8

// followed returns the place with the name by which its Unix socket was made, where the user
// named a symbolic link to it, such as /tmp/mysql.sock: the kernel knows that name alone.
func followed(p members.Place) members.Place {
	for range mostLinks {
		if p.Network != "unix" || !filepath.IsAbs(p.Address) {
			break
		}
		to, err := os.Readlink(p.Address)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(p.Address), to)
		}
		p.Address = to
	}
	return p
}

func appendNew[T comparable](all []T, v T) []T {
	for _, have := range all {
		if have == v {
			return all
		}
	}
	return append(all, v)
}

// placeOf returns where a URL, host:port, :port or a path of a Unix socket is, and the name by
// which requests ask there: the one after a space, else that of the URL.
func placeOf(ctx context.Context, text string) (p members.Place) {
	text, name, named := strings.Cut(strings.TrimPrefix(text, "unix:"), " ")
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "@") {
		return members.Place{Network: "unix", Address: text, Host: name}
	}
	address := text
	scheme, _, isURL := strings.Cut(text, "://")
	if isURL {
		u, err := url.Parse(text)
		if err != nil || u.Hostname() == "" {
			return p
		}
		port := u.Port()
		switch {
		case port != "":
		case scheme == "https":
			port = "443"
		default:
			port = "80"
		}
		address = net.JoinHostPort(u.Hostname(), port)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return p
	}
	if !named && isURL { // of an address alone no request is known
		name = host
	}
	return members.Place{Network: "tcp", Address: net.JoinHostPort(numberOf(ctx, host), port), Host: name}
}

// numberOf returns the address of a host, its name when it has none that is known here.
func numberOf(ctx context.Context, host string) string {
	if host == "" || host == "localhost" || net.ParseIP(host) != nil {
		return host
	}
	ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond) // a name server may be gone
	defer cancel()
	all, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil || len(all) == 0 {
		return host
	}
	return all[0]
}

// Find returns the service. It fails when there is no /proc.
func Find(ctx context.Context, a Ask) (kasoku.Service, error) {
	s, err := Look(ctx, a)
	if s == nil {
		return kasoku.Service{}, err
	}
	return s.Service, err
}

// A Seen is what a look showed, and can be looked at again.
type Seen struct {
	members.Result
	snap     *scan.Snapshot
	question members.Question
	failed   []kasoku.Unseen
	unread   map[int]bool // web servers whose configuration could not be read
	language string
	turn     int // of Again
}

// What is done under load where it is not seen what a member calls, as it connects anew for
// each request: so many further looks at its sockets, so far apart, and all of them together at
// no more than so many sockets and descriptors, which is some 50 ms of CPU.
const (
	moreLooks  = 24
	looksApart = 40 * time.Millisecond
	mostLooked = 24_000

	descriptors = 16 // of a process, about
)

// Look returns the service, and what else the look showed. It fails when there is no /proc.
func Look(ctx context.Context, a Ask) (*Seen, error) {
	snap, err := scan.Take(ctx, scan.Options{Doubted: members.Doubted})
	if err != nil {
		return nil, err
	}
	s := &Seen{snap: snap, question: a.question(ctx), language: a.Language, unread: map[int]bool{}}
	s.decide(ctx)
	looked := 0
	for n := 0; a.Loaded && n < moreLooks && looked < mostLooked && len(s.Silent) > 0; n++ {
		select {
		case <-ctx.Done():
			return s, ctx.Err()
		case <-time.After(looksApart):
		}
		s.again(ctx)
		looked += len(s.snap.Sockets) + descriptors*len(s.Silent)
	}
	if s.bar(a.Held) {
		s.decide(ctx)
	}
	s.describe(ctx)
	return s, ctx.Err()
}

// bar leaves out members where programs of other users listened before, and reports whether
// there are any: who restarts a service does so as its user, and a port that is free for a
// moment is anybody's.
func (s *Seen) bar(held map[kasoku.Listener]int) (barred bool) {
	for i := range s.Service.Members {
		m := &s.Service.Members[i]
		leader := slices.IndexFunc(s.snap.Processes, func(p scan.Process) bool { return p.PID == m.Leader().PID })
		if leader < 0 || s.snap.Processes[leader].UID < 0 || held == nil {
			continue
		}
		user := s.snap.Processes[leader].UID
		for _, l := range m.Listeners {
			if before, known := held[l]; known && before != user {
				s.question.Own, barred = append(s.question.Own, m.Leader().PID), true
				s.failed = appendNew(s.failed, kasoku.Unseen{What: "who listens at " + l.Address,
					Why: "a program of another user took the place during the run"})
				break
			}
			held[l] = user
		}
	}
	return barred
}

// Again looks again at the sockets of members that were not seen to call others, at the calls
// 1, 2, 4 … 32 of it, and reports whether it did. What was seen before stays.
func (s *Seen) Again(ctx context.Context) bool {
	const most = 32
	if len(s.Silent) == 0 || s.turn >= most {
		return false
	}
	if s.turn++; s.turn&(s.turn-1) != 0 {
		return false
	}
	s.again(ctx)
	s.describe(ctx)
	return ctx.Err() == nil
}

func (s *Seen) again(ctx context.Context) {
	s.snap = scan.Again(ctx, s.snap, s.Silent)
	s.decide(ctx)
}

// decide decides, and reads the configurations of web servers that the decision needs.
func (s *Seen) decide(ctx context.Context) {
	s.Result = members.Decide(s.snap, s.question)
	const rounds = 3 // a web server may stand after another
	for range rounds {
		fresh := false
		for _, pid := range s.Read {
			if s.unread[pid] {
				continue
			}
			web, err := readWeb(ctx, s.snap, pid)
			if err != nil {
				s.failed = appendNew(s.failed, kasoku.Unseen{What: "the configuration of a web server", Why: err.Error()})
				s.unread[pid] = ctx.Err() == nil // else it may be that the time was up
				continue
			}
			s.question.Webs[pid], fresh = web, true
		}
		if !fresh {
			break
		}
		s.Result = members.Decide(s.snap, s.question)
	}
	s.Service.Unknown = slices.DeleteFunc(s.Service.Unknown, func(u kasoku.Unseen) bool {
		return slices.ContainsFunc(s.failed, func(f kasoku.Unseen) bool { return f.What == u.What })
	})
	s.Service.Unknown = append(s.Service.Unknown, s.failed...)
	for _, what := range s.snap.Cut {
		s.Service.Unknown = append(s.Service.Unknown, kasoku.Unseen{What: what,
			Why: "of this host so much is looked at, and no more"})
	}
}

func (s *Seen) describe(ctx context.Context) {
	for i := range s.Service.Members {
		m := &s.Service.Members[i]
		describe(ctx, m, s.language)
		calls := slices.ContainsFunc(s.Service.Edges, func(e kasoku.Edge) bool { return e.From == m.ID })
		if m.Language == "php" && !calls && len(s.question.Databases) == 0 {
			s.Service.Unknown = appendNew(s.Service.Unknown, kasoku.Unseen{What: "which database " + m.Program + " asks",
				Why:  "no connection of it was seen: it asks none, or opens one for each request and closes it",
				Show: "name the database: --mysql DSN, or mysql.dsn in kasoku.toml"})
		}
	}
}

// readWeb reads the configuration of an nginx that is believed.
func readWeb(ctx context.Context, snap *scan.Snapshot, pid int) (members.Web, error) {
	p, err := foreign.Hold(pid)
	if err != nil {
		return members.Web{}, err
	}
	defer func() { _ = p.Close() }()
	if err := p.Believe(topology.NginxPrograms); err != nil {
		return members.Web{}, err
	}
	conf, err := topology.ReadNginx(ctx, p)
	if err != nil {
		return members.Web{}, err
	}
	if err := conf.Cut(); err != nil { // half of one would decide wrongly
		return members.Web{}, err
	}
	own := false
	for i := range snap.Processes {
		if snap.Processes[i].PID == pid {
			own = snap.Processes[i].NetNS == snap.NetNS
		}
	}
	asking, cancel := context.WithTimeout(ctx, namesWithin)
	defer cancel()
	known := map[string]string{}
	web := webOf(ctx, conf, func(host string) string {
		if !own { // names are others' in its namespace
			return host
		}
		if _, ok := known[host]; !ok {
			known[host] = numberOf(asking, host)
		}
		return known[host]
	})
	if !p.Here {
		here := mounts.OpenFiles(pid)
		for i := range web.Blocks {
			web.Blocks[i].Logs = namesHere(here, web.Blocks[i].Logs)
		}
	}
	return web, ctx.Err()
}

// namesHere returns the names on this host of files of a container, without those that have
// none: a file of this host with the name of one there is another's.
func namesHere(here map[string]string, names []string) (out []string) {
	for _, name := range names {
		if at := here[name]; at != "" {
			out = append(out, at)
		}
	}
	return out
}

// namesWithin bounds how long the names in one configuration are asked for, together; what
// is not known by then is as a name without an address.
const namesWithin = 3 * time.Second
