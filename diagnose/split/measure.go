package split

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
	hostkeys "github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/observe/redis"
)

// leastSeconds is how long a load must have been watched: fewer seconds do not say how they differ.
const leastSeconds = 5

// Measure reads a run. clients is how many clients a closed load had, 0 where that is not known. The error says
// what the run lacks.
func Measure(c *diagnose.Case, clients int) (*Service, error) {
	if !c.Service.Known() {
		return nil, diagnose.ErrNoService
	}
	s := &Service{Interval: loadOf(c)}
	programs, err := c.Processes().Members()
	if err != nil {
		return nil, err
	}
	m := &measurer{Case: c, s: s, hosts: map[string]int{}}
	if err := m.members(programs); err != nil {
		return nil, err
	}
	if err := m.requests(); err != nil {
		return nil, err
	}
	if err := m.perSecond(); err != nil {
		return nil, err
	}
	demands, perSec := s.cpu(s.samples)
	for i := range s.Members {
		s.Members[i].CPU, s.Members[i].Cores = demands[i], demands[i]*perSec
	}
	m.clientsOf(clients, perSec)
	m.edges()
	m.endpoints()
	if c.Run.Score != nil && c.Run.Score.Outcome != kasoku.Failed {
		s.Score = c.Run.Score.Value
	}
	s.Levels = slices.ContainsFunc(c.Events, func(e kasoku.Event) bool { return e.Kind == kasoku.EventLevel })
	m.sort()
	return s, nil
}

// loadOf is the time in which the focus's load ran.
func loadOf(c *diagnose.Case) kasoku.Interval {
	if c.Focus.Step != nil {
		return c.Focus.Step.Interval
	}
	return c.Focus.Interval
}

// A measurer fills in a Service.
type measurer struct {
	*diagnose.Case
	s     *Service
	hosts map[string]int
	names []string           // of hosts, as series have them
	cpu   [][]*kasoku.Series // counters of each member
}

func (m *measurer) blind(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(m.s.Blind, text) {
		m.s.Blind = append(m.s.Blind, text)
	}
}

// members reads who uses the CPU of the hosts that have members.
func (m *measurer) members(programs []diagnose.Program) error {
	for i := range programs {
		p := &programs[i]
		of := m.Service.Member(p.Member)
		if of == nil {
			continue
		}
		host, err := m.host(p.Host)
		if err != nil {
			return err
		}
		at := m.s.member(of.ID)
		if at < 0 {
			at = len(m.s.Members)
			m.s.Members = append(m.s.Members, Member{ID: of.ID, Name: of.Label(), Role: of.Role, Host: host, Of: of})
			m.cpu = append(m.cpu, nil)
			if m.entry(of.ID) {
				m.s.Members[at].Fixed = "the load goes to it"
			}
		}
		m.s.Members[at].RSS += uint64(max(p.RSS, 0))
		m.s.Members[at].Cores += p.Cores
		m.cpu[at] = append(m.cpu[at], m.counters(p)...)
	}
	if len(m.s.Members) < 2 {
		return errors.New("fewer than two members of the service were recorded: there is nothing to split")
	}
	for i := range m.Service.Members {
		if of := &m.Service.Members[i]; of.Sure != kasoku.Low && m.s.member(of.ID) < 0 {
			m.blind("the CPU of %s was not recorded: it stays where it is, and its host is not judged", of.Label())
		}
	}
	for at, name := range m.names {
		m.quota(at)
		if !m.s.Hosts[at].Quota {
			m.others(name, at, programs)
		}
		m.memory(name, at)
	}
	return nil
}

// entry reports whether the load goes to a member.
func (m *measurer) entry(id string) bool {
	return slices.ContainsFunc(m.Service.Edges, func(e kasoku.Edge) bool { return e.From == "" && e.To == id })
}

// host returns the index of a host, which is added where it is new.
func (m *measurer) host(name string) (int, error) {
	if at, ok := m.hosts[name]; ok {
		return at, nil
	}
	_, cores, err := m.Hosts().BusyOn(name)
	if err != nil {
		return 0, err
	}
	m.hosts[name], m.names = len(m.s.Hosts), append(m.names, name)
	m.s.Hosts = append(m.s.Hosts, Host{Name: cmp.Or(name, "this host"), Cores: cores, Present: true})
	return m.hosts[name], nil
}

// counters are the series that add up to a program's CPU.
func (m *measurer) counters(p *diagnose.Program) (out []*kasoku.Series) {
	trees := process.MemberTrees(m.Recording)
	for i := range trees {
		if slices.Contains(p.Keys, trees[i].Series.Key) {
			out = append(out, &trees[i].Series)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, k := range p.Keys {
		for _, name := range []string{process.CPUUser, process.CPUSystem} {
			if k.Name = name; m.Find(k) != nil {
				out = append(out, m.Find(k))
			}
		}
	}
	return out
}

// quota takes the quota of the control group that all members of a host are in for its size. One that a member
// has for itself goes with it.
func (m *measurer) quota(at int) {
	var own []*Member
	groups := map[string]bool{}
	used := 0.0
	for i := range m.s.Members {
		if x := &m.s.Members[i]; x.Host == at {
			own = append(own, x)
			groups[x.Of.Cgroup] = true
			used += x.Cores
		}
	}
	var all diagnose.Allowed
	held := 0
	for _, x := range own {
		if a, err := m.Hosts().Allowed(x.Of); err == nil && a.Quota > 0 {
			x.Cap, all = a.Quota, a
			held++
		}
	}
	if held == 0 || held < len(own) || len(groups) > 1 {
		return
	}
	h := &m.s.Hosts[at]
	h.Quota, h.Cores, h.Memory = true, all.Quota, own[0].Of.Limits.MemoryBytes
	if all.QuotaKey.Source != "" {
		h.Used = max(all.Busy-used, 0)
	}
	for _, x := range own {
		x.Cap = 0
	}
}

// others adds what else uses the CPU of a host: for each request the load's generator and the kernel's network,
// all the time neighbours and kasoku.
func (m *measurer) others(name string, at int, programs []diagnose.Program) {
	h := &m.s.Hosts[at]
	add := func(what, why string, counters []*kasoku.Series) {
		m.s.Members = append(m.s.Members, Member{ID: what + " " + name, Name: what, Host: at, Fixed: why})
		m.cpu = append(m.cpu, counters)
	}
	var generator []*kasoku.Series
	for i := range programs {
		p := &programs[i]
		switch {
		case p.Host != name:
		case p.Role == diagnose.Generator:
			generator = append(generator, m.counters(p)...)
		case p.Role == diagnose.Recorder:
			h.Used += p.Cores
		}
	}
	if len(generator) > 0 {
		add("the load's generator", "it is no part of the service", generator)
		m.blind("the load is made on %s: moved to another machine first, it leaves the service more than this shows",
			h.Name)
	}
	var kernel []*kasoku.Series
	soft := 0.0
	for _, mode := range []string{hostkeys.CPUSoftIRQ, hostkeys.CPUIRQ} {
		k := kasoku.Key{Host: name, Source: diagnose.Host, Name: mode}
		if perSec, err := m.Counters().UnderLoad(k); err == nil {
			soft, kernel = soft+perSec, append(kernel, m.Find(k))
		}
	}
	if soft > 0 {
		add("interrupts of the kernel", "it is where the packets are", kernel)
	}
	beside, ok := m.NeighbourCores(name)
	if !ok {
		m.blind("what programs outside of the service use of %s is not known: it counts as nothing", h.Name)
	}
	h.Used += max(beside-soft, 0)
}

// memory reads what a host has, and what is no member's.
func (m *measurer) memory(name string, at int) {
	h := &m.s.Hosts[at]
	if h.Quota {
		return
	}
	total, err := m.Counters().Gauge(kasoku.Key{Host: name, Source: diagnose.Host, Name: hostkeys.MemTotal})
	if err != nil {
		for i := range m.Run.Hosts {
			if m.Run.Hosts[i].Name == name {
				h.Memory = m.Run.Hosts[i].MemoryBytes
			}
		}
		return
	}
	h.Memory = uint64(max(total.Max, 0))
	free, err := m.Counters().Gauge(kasoku.Key{Host: name, Source: diagnose.Host, Name: hostkeys.MemAvailable})
	if err != nil || free.Min > total.Max {
		return
	}
	own := 0.0
	for i := range m.s.Members {
		if m.s.Members[i].Host == at {
			own += float64(m.s.Members[i].RSS)
		}
	}
	h.Taken = uint64(max(total.Max-free.Min-own, 0))
}

// requests counts what came.
func (m *measurer) requests() error {
	load := &m.s.Load
	r, err := m.Requests(m.s.Interval)
	if err != nil {
		return err
	}
	load.From = r.Source
	load.Open = m.Focus.Step != nil && m.Focus.Step.PerSec > 0 || m.Recording.Load != nil &&
		m.Recording.Load.Model == "open loop"
	if t := m.Focus.Tally; r.Source == "load" && t != nil {
		load.Time, load.P50 = t.Service.Mean(), t.Service.Quantile(0.5)
		if t.Service.Count() == 0 {
			load.Time, load.P50 = t.Latency.Mean(), t.Latency.Quantile(0.5)
		}
		return nil
	}
	var sum time.Duration
	var n uint64
	all := kasoku.NewTally().Latency
	_, endpoints := m.FrontLog()
	for i := range endpoints {
		e := &endpoints[i]
		if m.initializes(e) {
			continue
		}
		sum, n = sum+e.Total, n+e.Count
		all.Merge(e.Latency)
	}
	if n > 0 && sum > 0 {
		load.Time, load.P50 = sum/time.Duration(n), all.Quantile(0.5)
	}
	return nil
}

// initializes reports whether the endpoint brings the service to its initial state.
func (m *measurer) initializes(e *kasoku.Endpoint) bool {
	return slices.ContainsFunc(m.Phases, func(p kasoku.Phase) bool {
		return p.Kind == kasoku.PhaseInitialize && (p.Why == e.Method+" "+e.Route || e.Count == 1)
	})
}

// perSecond lines up requests and CPU by the second.
func (m *measurer) perSecond() error {
	counts := m.RequestsBySecond(m.s.Load.From)
	from := int((m.s.Interval.From + time.Second - 1) / time.Second)
	to := int(m.s.Interval.To / time.Second)
	for second := from; second < to; second++ {
		x := sample{requests: counts[second], cores: make([]float64, len(m.s.Members))}
		at := time.Duration(second) * time.Second
		for i, counters := range m.cpu {
			for _, c := range counters {
				x.cores[i] += valueAt(c, at+time.Second) - valueAt(c, at)
			}
		}
		if slices.Max(x.cores) > 0 { // else nothing was sampled
			m.s.samples = append(m.s.samples, x)
		}
	}
	m.s.Seconds = len(m.s.samples)
	_, perSec := m.s.cpu(m.s.samples)
	switch {
	case m.s.Seconds < leastSeconds:
		return fmt.Errorf("%s of load with CPU were recorded, want %d", unit.Counted(m.s.Seconds, "second",
			"seconds"), leastSeconds)
	case perSec <= 0:
		return errors.New("no request was counted while CPU was recorded")
	}
	m.s.Load.PerSec = perSec
	return nil
}

// valueAt is the value of a counter at a moment, between two samples in proportion. It is that of the
// nearest sample before the first and after the last.
func valueAt(s *kasoku.Series, at time.Duration) float64 {
	i, found := slices.BinarySearchFunc(s.Points, at, func(p kasoku.Point,
		at time.Duration) int {
		return cmp.Compare(p.At, at)
	})
	switch {
	case found || i == 0:
		return s.Points[i].Value
	case i == len(s.Points):
		return s.Points[i-1].Value
	}
	a, b := s.Points[i-1], s.Points[i]
	return a.Value + max(b.Value-a.Value, 0)*(at-a.At).Seconds()/(b.At-a.At).Seconds()
}

// clientsOf reads how many clients a closed load has.
func (m *measurer) clientsOf(given int, perSec float64) {
	load := &m.s.Load
	switch {
	case load.Open:
	case given > 0:
		load.Clients, load.Given = float64(given), true
	case m.Recording.Load != nil && m.Recording.Load.Model == "closed loop" && m.Recording.Load.PeakInFlight > 0:
		load.Clients, load.Given = float64(m.Recording.Load.PeakInFlight), true
	case load.Time > 0:
		load.Clients = max(perSec*load.Time.Seconds(), 1) // Little's law: those in flight on average
		m.blind("how many clients the load has is not known: %s requests were in flight on average, and each is "+
			"taken for a "+
			"client that asks again at once; --clients says how many there are", unit.Sig3(load.Clients))
	default:
		load.Clients = manyClients
		m.blind("how long requests took was not recorded: the load is taken for one of clients without end")
	}
}

// edges reads what members ask of one another.
func (m *measurer) edges() {
	s := m.s
	for i := range m.Service.Edges {
		of := &m.Service.Edges[i]
		if from := s.member(of.From); from >= 0 && of.To == "" {
			m.blind("who listens at %s, which %s calls, is not known, as where that host was not recorded: its "+
				"CPU is in no "+
				"figure, and it stays where it is", of.At.Address, s.Members[from].Name)
		}
		e := Edge{From: s.member(of.From), To: s.member(of.To), Of: of}
		if e.From < 0 || e.To < 0 || e.From == e.To || slices.ContainsFunc(s.Edges, func(o Edge) bool {
			return o.From == e.From && o.To == e.To
		}) {
			continue
		}
		if e.Trips = m.trips(&s.Members[e.To]); e.Trips < 0 {
			m.blind("how often %s asks %s is not known: what a network between them costs is left out",
				s.Members[e.From].Name, s.Members[e.To].Name)
		}
		s.Edges = append(s.Edges, e)
	}
}

// trips returns how many round trips a request makes to a member, -1 where that is not known.
func (m *measurer) trips(to *Member) float64 {
	host := to.Of.Host
	perRequest := func(source string, names ...string) float64 {
		if len(m.Service.Of(to.Role)) > 1 { // whose counters these are is not said
			return -1
		}
		sum := 0.0
		for i, name := range names {
			perSec, err := m.Counters().UnderLoad(kasoku.Key{Host: host, Source: source, Name: name})
			if err != nil && i == 0 {
				return -1
			}
			sum += max(perSec, 0)
		}
		return sum / m.s.Load.PerSec
	}
	switch to.Role {
	case kasoku.RoleDatabase:
		return perRequest(diagnose.MySQL, mysql.Questions, mysql.ComStmtPrepare)
	case kasoku.RoleStore:
		return perRequest(redis.Name, redis.TotalCommandsProcessed)
	case kasoku.RoleApplication, kasoku.RoleCache:
		return m.passedOn()
	}
	return -1
}

// passedOn is the part of requests that the web server passes on.
func (m *measurer) passedOn() float64 {
	var all, passed uint64
	_, endpoints := m.FrontLog()
	for i := range endpoints {
		all, passed = all+endpoints[i].Count, passed+endpoints[i].UpstreamCount
	}
	if all == 0 || passed == 0 {
		return 1
	}
	return min(float64(passed)/float64(all), 1)
}

// endpoints reads what each endpoint asks of the database.
func (m *measurer) endpoints() {
	_, endpoints := m.FrontLog()
	for i := range endpoints {
		e := &endpoints[i]
		if m.initializes(e) || e.Count == 0 {
			continue
		}
		out := Endpoint{Name: e.Method + " " + e.Route, Requests: e.Count, Time: e.Total / time.Duration(e.Count),
			Statements: -1}
		sum, known := 0.0, false
		for j := range m.Callers {
			if x := &m.Callers[j]; x.Method == e.Method && x.Route == e.Route && x.Class != kasoku.CallerGroup {
				sum, known = sum+x.PerRequest, true
			}
		}
		if known {
			out.Statements = sum
		}
		m.s.Endpoints = append(m.s.Endpoints, out)
	}
	slices.SortStableFunc(m.s.Endpoints, func(a, b Endpoint) int {
		return cmp.Compare(float64(b.Requests)*b.Time.Seconds(), float64(a.Requests)*a.Time.Seconds())
	})
}

// sort puts the members of the service first, most CPU first.
func (m *measurer) sort() {
	s := m.s
	order := make([]int, len(s.Members))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &s.Members[a], &s.Members[b]
		if (x.Of == nil) != (y.Of == nil) {
			return cmp.Compare(b2i(x.Of == nil), b2i(y.Of == nil))
		}
		return cmp.Compare(y.CPU, x.CPU)
	})
	place := make([]int, len(order))
	members := make([]Member, len(order))
	for to, from := range order {
		place[from], members[to] = to, s.Members[from]
	}
	s.Members = members
	for i := range s.Edges {
		s.Edges[i].From, s.Edges[i].To = place[s.Edges[i].From], place[s.Edges[i].To]
	}
	for i := range s.samples {
		cores := make([]float64, len(order))
		for to, from := range order {
			cores[to] = s.samples[i].cores[from]
		}
		s.samples[i].cores = cores
	}
}
