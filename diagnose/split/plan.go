package split

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// A Plan is layouts over hosts.
type Plan struct {
	Service *Service
	Hosts   []Host // those of the service first
	Assume  Assume

	Now     Prediction   // the present layout
	Layouts []Prediction // each member moved alone, then the best of two moves and more, as far as they gain
	First   int          // the move to begin with, by index into Layouts; -1: none gains

	present Layout
}

// Bounds of what is looked at.
const (
	mostHosts   = 6
	mostMovable = 6
	// worthwhile is what another move must gain to be shown.
	worthwhile = 1.02
)

// NewPlan judges layouts of a service over its own hosts and those that are added.
func NewPlan(s *Service, added []Host, a Assume) (*Plan, error) {
	p, err := newPlan(s, added, a)
	if err == nil {
		finder{p}.search()
	}
	return p, err
}

func newPlan(s *Service, added []Host, a Assume) (*Plan, error) {
	if n := len(s.Hosts) + len(added); n < 2 || n > mostHosts {
		return nil, fmt.Errorf("%d hosts: want 2 to %d", n, mostHosts)
	}
	p := &Plan{Service: s, Hosts: append(slices.Clone(s.Hosts), added...), Assume: a, First: -1}
	for i := range s.Members {
		p.present = append(p.present, []int{s.Members[i].Host})
	}
	p.Now = p.Predict(p.present)
	return p, nil
}

// Another is the name of the host that [Move] adds.
const Another = "the other host"

// Move predicts what it gives to move a member of a run's service to one more host of the size of its own, or to
// have a copy of it there. The error says why that cannot be said.
func Move(c *diagnose.Case, member string, copies bool) (*Plan, Prediction, error) {
	s, err := Measure(c, 0)
	if err != nil {
		return nil, Prediction{}, err
	}
	i := s.member(member)
	if i < 0 || s.Members[i].Fixed != "" || copies && !s.Members[i].Copies() {
		return nil, Prediction{}, errors.New("it stays where it is")
	}
	h := s.Hosts[s.Members[i].Host]
	p, err := newPlan(s, []Host{{Name: Another, Cores: h.Cores, Memory: h.Memory}}, DefaultAssume())
	if err != nil {
		return nil, Prediction{}, err
	}
	l := slices.Clone(p.present)
	l[i] = []int{len(p.Hosts) - 1}
	if copies {
		l[i] = []int{s.Members[i].Host, len(p.Hosts) - 1}
	}
	return p, p.Predict(l), nil
}

// Present returns the layout that was measured.
func (p *Plan) Present() Layout { return p.present }

// A candidate is a layout with its gain, before its interval is worked out.
type candidate struct {
	layout Layout
	moves  int
	hosts  int
	gain   float64
}

// A finder looks for the layouts of a plan.
type finder struct{ *Plan }

// search finds the layouts to show.
func (p finder) search() {
	all := p.candidates()
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.moves, b.moves), cmp.Compare(b.gain, a.gain), cmp.Compare(a.hosts, b.hosts))
	})
	best := 1.0
	seen := map[string]bool{}
	for i := 0; i < len(all); {
		n := i
		for n < len(all) && all[n].moves == all[i].moves {
			n++
		}
		for _, c := range all[i:n] {
			switch {
			case c.moves == 1: // each member alone, at its best place
				what := p.movedName(c.layout)
				if seen[what] {
					continue
				}
				seen[what] = true
			case c.gain < best*worthwhile:
				continue
			}
			p.Layouts = append(p.Layouts, p.Predict(c.layout))
			if c.moves > 1 {
				break
			}
		}
		best = max(best, all[i].gain)
		i = n
	}
	for i := range p.Layouts {
		if x := &p.Layouts[i]; x.Moves == 1 && x.Fits != FitNo && x.Gain.Mid >= worthwhile &&
			(p.First < 0 || x.Gain.Mid > p.Layouts[p.First].Gain.Mid) {
			p.First = i
		}
	}
}

// candidates are all layouts of the members that use most CPU, but for those that are one when hosts of
// one size that are added change their names.
func (p finder) candidates() (out []candidate) {
	movable := p.Service.Movable()
	movable = movable[:min(len(movable), mostMovable)]
	v := p.central()
	seen := map[string]int{} // index into out
	layout := slices.Clone(p.present)
	var place func(n int)
	place = func(n int) {
		if n == len(movable) {
			moves := p.moves(layout)
			key := p.key(layout)
			if moves == 0 {
				return
			}
			if at, ok := seen[key]; ok { // as good: the names decide
				if p.named(layout) > p.named(out[at].layout) {
					out[at].layout = slices.Clone(layout)
				}
				return
			}
			seen[key] = len(out)
			out = append(out, candidate{slices.Clone(layout), moves, p.used(layout), p.gain(layout, v)})
			return
		}
		i := movable[n]
		for _, on := range p.places(i) {
			layout[i] = on
			place(n + 1)
		}
		layout[i] = p.present[i]
	}
	place(0)
	return out
}

// places are where a member may be: on each host, and copies of an application on each two, and on all.
func (p finder) places(i int) (out [][]int) {
	for k := range p.Hosts {
		out = append(out, []int{k})
	}
	if !p.Service.Members[i].Copies() {
		return out
	}
	for k := range p.Hosts {
		for o := k + 1; o < len(p.Hosts); o++ {
			out = append(out, []int{k, o})
		}
	}
	if len(p.Hosts) > 2 {
		all := make([]int, len(p.Hosts))
		for k := range all {
			all[k] = k
		}
		out = append(out, all)
	}
	return out
}

// key names a layout so that two that differ by the names of added hosts alone have one key.
func (p finder) key(l Layout) string {
	names := map[int]string{}
	next := 0
	var b strings.Builder
	for _, on := range l {
		var words []string
		for _, k := range on {
			h := &p.Hosts[k]
			if h.Present {
				words = append(words, "h"+strconv.Itoa(k))
				continue
			}
			if names[k] == "" {
				names[k] = fmt.Sprintf("n%d %g %d", next, h.Cores, h.Memory)
				next++
			}
			words = append(words, names[k])
		}
		slices.Sort(words)
		b.WriteString(strings.Join(words, ",") + ";")
	}
	return b.String()
}

// hostWords are what people name hosts by that are for a role.
var hostWords = map[kasoku.MemberRole][]string{
	kasoku.RoleDatabase:    {"db", "database", "mysql", "maria"},
	kasoku.RoleApplication: {"app"},
	kasoku.RoleStore:       {"redis", "memcache", "kvs"},
	kasoku.RoleCache:       {"cache", "varnish"},
}

// named counts the members that a layout has on a host that is named for their role.
func (p finder) named(l Layout) (n int) {
	for i, on := range l {
		for _, k := range on {
			name := strings.ToLower(p.Hosts[k].Name)
			if slices.ContainsFunc(hostWords[p.Service.Members[i].Role],
				func(w string) bool { return strings.Contains(name, w) }) {
				n++
			}
		}
	}
	return n
}

func (p *Plan) moves(l Layout) (n int) {
	for i := range l {
		if !slices.Equal(l[i], p.present[i]) {
			n++
		}
	}
	return n
}

func (p finder) used(l Layout) int {
	on := map[int]bool{}
	for _, hosts := range l {
		for _, k := range hosts {
			on[k] = true
		}
	}
	return len(on)
}

// movedName is the name of the one member that a layout moves, and whether it copies it.
func (p finder) movedName(l Layout) string {
	for i := range l {
		if !slices.Equal(l[i], p.present[i]) {
			return fmt.Sprintf("%s %v", p.Service.Members[i].ID, len(l[i]) > 1)
		}
	}
	return ""
}

// Moved returns the members that a layout moves or copies, by index.
func (p *Plan) Moved(l Layout) (out []int) {
	for i := range l {
		if !slices.Equal(l[i], p.present[i]) {
			out = append(out, i)
		}
	}
	return out
}

// namesOn lists the members of the service that a layout has on a host, most CPU first.
func (p *Plan) namesOn(l Layout, host int) string {
	var names []string
	for i := range l {
		if slices.Contains(l[i], host) && p.Service.Members[i].Of != nil {
			names = append(names, p.Service.Members[i].Name)
		}
	}
	return strings.Join(names, ", ")
}

// Words describes a layout: of the present one which members are on which host, "web: nginx :80, shop", of another
// one what moves, "mariadbd to db".
func (p *Plan) Words(l Layout) string {
	var words []string
	for _, i := range p.Moved(l) {
		verb := " to "
		if len(l[i]) > 1 {
			verb = " on "
		}
		words = append(words, p.Service.Members[i].Name+verb+p.namesOf(l[i]))
	}
	if len(words) > 0 {
		return strings.Join(words, ", ")
	}
	for k := range p.Hosts {
		if names := p.namesOn(l, k); names != "" {
			words = append(words, p.Hosts[k].Name+": "+names)
		}
	}
	return strings.Join(words, "; ")
}

// namesOf are the names of hosts: "web and db".
func (p *Plan) namesOf(hosts []int) string {
	var names []string
	for _, k := range hosts {
		names = append(names, p.Hosts[k].Name)
	}
	return strings.Join(names, " and ")
}

// LayoutOf reads a layout as people name one: what is moved, MEMBER=HOST, or MEMBER=HOST+HOST for copies. A member is
// named by its program or its id.
func (p *Plan) LayoutOf(words []string) (Layout, error) {
	l := slices.Clone(p.present)
	for _, w := range words {
		name, on, ok := strings.Cut(w, "=")
		if !ok {
			return nil, fmt.Errorf("%q: want MEMBER=HOST", w)
		}
		i := slices.IndexFunc(p.Service.Members, func(m Member) bool {
			return m.Of != nil && (m.ID == name || m.Of.Program == name)
		})
		if i < 0 {
			return nil, fmt.Errorf("no member %q; there are %s", name, p.memberNames())
		}
		if why := p.Service.Members[i].Fixed; why != "" {
			return nil, fmt.Errorf("%s stays where it is: %s", name, why)
		}
		l[i] = nil
		for h := range strings.SplitSeq(on, "+") {
			k := slices.IndexFunc(p.Hosts, func(x Host) bool { return x.Name == h })
			if k < 0 || slices.Contains(l[i], k) {
				return nil, fmt.Errorf("%q: no host %q; there are %s", w, h, p.hostNames())
			}
			l[i] = append(l[i], k)
		}
		if len(l[i]) > 1 && !p.Service.Members[i].Copies() {
			return nil, fmt.Errorf("%s cannot be on several hosts: only applications share requests out", name)
		}
		slices.Sort(l[i])
	}
	return l, nil
}

func (p *Plan) memberNames() string {
	var names []string
	for i := range p.Service.Members {
		if m := &p.Service.Members[i]; m.Of != nil {
			names = append(names, m.Of.Program)
		}
	}
	return strings.Join(names, ", ")
}

func (p *Plan) hostNames() string {
	var names []string
	for k := range p.Hosts {
		names = append(names, p.Hosts[k].Name)
	}
	return strings.Join(names, ", ")
}

// MoveWords is the layout as [Plan.LayoutOf] reads it.
func (p *Plan) MoveWords(l Layout) (out []string) {
	for _, i := range p.Moved(l) {
		var on []string
		for _, k := range l[i] {
			on = append(on, p.Hosts[k].Name)
		}
		out = append(out, p.Service.Members[i].Of.Program+"="+strings.Join(on, "+"))
	}
	return out
}

// IDsOn lists the ids of the service's members that a layout has on a host.
func (p *Plan) IDsOn(l Layout, host int) (out []string) {
	for i := range l {
		if slices.Contains(l[i], host) && p.Service.Members[i].Of != nil {
			out = append(out, p.Service.Members[i].ID)
		}
	}
	return out
}

// Only leaves one layout in the plan.
func (p *Plan) Only(l Layout) {
	p.Layouts, p.First = []Prediction{p.Predict(l)}, -1
	if x := &p.Layouts[0]; x.Moves > 0 && x.Fits != FitNo && x.Gain.Mid >= worthwhile {
		p.First = 0
	}
}
