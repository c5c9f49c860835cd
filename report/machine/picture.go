package machine

import (
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/recorded"
	"github.com/kasoku/kasoku/report/timeline"
)

// PictureSection draws the service: its members in the order in which requests reach them, what runs between them,
// what each used, and where the time of requests goes. It is empty where nothing is known of the service.
func PictureSection(r recorded.View, neighbours func(host string) string) report.Section {
	s := report.Section{ID: report.SectionService, Title: "Service"}
	if !r.Service.Known() {
		return s
	}
	p := picture{View: r, used: memberCPU(r), neighbours: neighbours}
	out := &report.Picture{Stops: []report.Stop{{Members: []report.PictureMember{p.load()}}}}
	for _, members := range r.Service.Stops() {
		out.Stops = append(out.Stops, p.stop(members))
	}
	out.Shares, out.Note = p.shares()
	s.Sub = "In the order in which requests reach its members. Neighbours share a host, and are never a cause inside of it."
	s.Blocks = []report.Block{out}
	return s
}

// A picture draws the service of one run.
type picture struct {
	recorded.View
	used       map[string]float64 // s of CPU by the id of a member
	neighbours func(host string) string
	said       []string // hosts of which the neighbours are drawn
}

// memberCPU adds up the CPU time of each member's processes.
func memberCPU(r recorded.View) map[string]float64 {
	used := map[string]float64{}
	for _, p := range compare.Processes(r.Recording) {
		m := timeline.MemberOf(r.Service, p)
		if m == nil {
			continue
		}
		for _, x := range p.Counters() {
			grown, _ := x.Delta(r.All())
			used[m.ID] += grown
		}
	}
	return used
}

// asked is how many requests there were: of kasoku's own load, else by the access log.
func (p *picture) asked() uint64 {
	if t := p.LoadTally(); t.Asked > 0 {
		return t.Asked
	}
	var n uint64
	for i := range p.Endpoints {
		n += p.Endpoints[i].Count
	}
	return n
}

// perSecond prints how often a second something was: "151 requests/s".
func (p *picture) perSecond(n uint64, what string) []string {
	if n == 0 || p.Length() < time.Second {
		return nil
	}
	return []string{unit.Sig3(float64(n)/p.Length().Seconds()) + " " + what + "/s"}
}

func (p *picture) load() report.PictureMember {
	out := report.PictureMember{Name: "load", Colour: "fg"}
	switch {
	case p.Load != nil:
		out.Kind = "kasoku"
	case p.Run.Command != nil:
		out.Kind = "the command"
	}
	out.Facts = p.perSecond(p.asked(), "requests")
	return out
}

// stop draws the members that stand in one place, and what leads there.
func (p *picture) stop(members []*kasoku.Member) report.Stop {
	var out report.Stop
	var statements []string
	for _, m := range members {
		out.Members = append(out.Members, p.member(m))
		if m.Role == kasoku.RoleDatabase && len(p.Service.Of(m.Role)) == 1 {
			statements = p.perSecond(p.calls(), "statements")
		}
		for _, e := range p.Service.Edges {
			if e.To == m.ID {
				out.Paths = append(out.Paths, p.path(e, len(members) > 1)...)
			}
		}
	}
	slices.Sort(out.Paths)
	out.Paths = append(statements, slices.Compact(out.Paths)...)
	return out
}

// path is what is known of an edge: "8 connections, http".
func (p *picture) path(e kasoku.Edge, several bool) []string {
	var parts []string
	if e.Seen > 0 {
		parts = append(parts, unit.Counted(e.Seen, "connection", "connections"))
	}
	if e.Protocol != "" {
		parts = append(parts, e.Protocol)
	}
	if e.Weak {
		parts = append(parts, "idle")
	}
	if len(parts) == 0 {
		return nil
	}
	text := strings.Join(parts, ", ")
	if to := p.Service.Member(e.To); several && to != nil {
		text = to.Program + ": " + text
	}
	return []string{text}
}

// calls are the statements of the run.
func (p *picture) calls() (n uint64) {
	for i := range p.Queries {
		n += p.Queries[i].Calls
	}
	return n
}

func (p *picture) member(m *kasoku.Member) report.PictureMember {
	out := report.PictureMember{Name: m.Label(), Colour: timeline.ColourOf(m.Role),
		Kind: strings.Join(words(string(m.Role), language(m), p.version(m)), " · ")}
	if m.Sure == kasoku.Low {
		out.Name += "?"
	}
	several := len(p.Run.Hosts) > 1
	cores := 0
	for _, h := range p.Run.Hosts {
		if h.Name == m.Host || !several {
			cores = h.Cores
		}
	}
	if used, ok := p.used[m.ID]; ok && p.Length() > 0 && cores > 0 {
		out.Facts = append(out.Facts, Neighbours(used/p.Length().Seconds(), cores))
	}
	if several && m.Host != "" {
		out.Facts = append(out.Facts, "on "+m.Host)
	}
	if !slices.Contains(p.said, m.Host) {
		p.said = append(p.said, m.Host)
		out.Beside = p.neighbours(m.Host)
	}
	return out
}

// language names what the member is written in where neither its name nor its version does.
func language(m *kasoku.Member) string {
	if m.Role != kasoku.RoleApplication || strings.HasPrefix(m.Program, m.Language) ||
		strings.HasPrefix(m.Version, m.Language) {
		return ""
	}
	return m.Language
}

// version is the member's without what packages add: 10.11.6-MariaDB-0+deb12u1 is 10.11.6. A database says its own.
func (p *picture) version(m *kasoku.Member) string {
	if product, version := p.Database(); m.Role == kasoku.RoleDatabase && len(p.Service.Of(m.Role)) == 1 {
		return strings.TrimSpace(product + " " + version)
	}
	v, _, _ := strings.Cut(m.Version, "-")
	return v
}

// words leaves out what is empty.
func words(all ...string) []string {
	return slices.DeleteFunc(all, func(w string) bool { return w == "" })
}

// shares are where the time of requests goes by the access log, and by what the database counted; none where the log
// has no times, or where statements took longer than the requests, as those do that run beside one another.
func (p *picture) shares() ([]report.TimeShare, report.Prose) {
	var all, upstream, statements time.Duration
	for i := range p.Endpoints {
		e := &p.Endpoints[i]
		all, upstream = all+e.Total, upstream+e.Upstream
	}
	for i := range p.Queries {
		statements += p.Queries[i].Total
	}
	inside, front := all, time.Duration(0)
	if upstream > 0 && upstream <= all {
		inside, front = upstream, all-upstream
	}
	if all <= 0 || statements <= 0 || statements > inside {
		return nil, ""
	}
	var out []report.TimeShare
	add := func(name, colour string, d time.Duration) {
		if part := d.Seconds() / all.Seconds(); part > 0 {
			out = append(out, report.TimeShare{Name: name, Text: unit.Percent(part), Colour: colour, Part: part})
		}
	}
	add("web server, and sending", timeline.ColourOf(kasoku.RoleWeb), front)
	add("application, and what it waits for", timeline.ColourOf(kasoku.RoleApplication), inside-statements)
	add("statements", timeline.ColourOf(kasoku.RoleDatabase), statements)
	return out, "Where the time of requests goes: by the access log, and by what is known of statements, " +
		"which may run outside of requests, too."
}
