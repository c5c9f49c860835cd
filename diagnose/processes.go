package diagnose

import (
	"cmp"
	"errors"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/process"
)

// A Role is what a program does in a run.
type Role int

// The roles.
const (
	Other     Role = iota // of a member that is no database
	Database              // of a member that is a database server
	Generator             // makes the load, on a host that is watched
	Recorder              // kasoku, when it does not make the load
	Kernel                // a thread of the kernel
	Neighbour             // of no member of the service, where the members are known
	Unknown               // of a host of which no member is known: who runs it cannot be said
)

// generators are the names of load generators that people use.
var generators = []string{"ab", "autocannon", "bombardier", "h2load", "hey", "k6", "locust", "mariadb-slap",
	"mysqlslap", "oha", "siege", "sysbench", "vegeta", "wrk", "wrk2"}

// kernels are the beginnings of the names of the kernel's threads.
var kernels = []string{"jbd2/", "kcompactd", "khugepaged", "ksoftirqd/", "kswapd", "kworker/", "migration/", "rcu_"}

// A Program is all processes of one name on one host, as the focus saw them.
type Program struct {
	Host      string
	Name      string
	Role      Role
	Member    string // id of the member of the service; empty when it is none, or not known
	Processes int
	Cores     float64      // CPU that they, and what a member's start, used while the focus's load ran
	RSS       float64      // the most memory that each had, together, bytes
	Keys      []kasoku.Key // of their CPU time; first of all that a member's leaders start, where it is known
}

var (
	errNoProcesses = errors.New("no process was recorded")
	// ErrNoService is why nothing is said of processes: each may be a stranger's.
	ErrNoService = errors.New("which processes are the service's is not known; the load's URL or [service] in kasoku.toml shows it")
)

// Members returns the programs of the service, kasoku's and the load's generator, most CPU
// first, and those of neighbours. It fails with ErrNoService where no member is known of any
// host that was recorded: what runs there may be anyone's.
func (ps Processes) Members() ([]Program, error) {
	all, err := ps.Programs()
	if err != nil {
		return nil, err
	}
	out := slices.DeleteFunc(slices.Clone(all), func(p Program) bool { return p.Role == Unknown })
	if len(out) < len(all) && !slices.ContainsFunc(out, func(p Program) bool { return p.Member != "" }) {
		return nil, ErrNoService
	}
	return out, nil
}

// Programs returns the programs of all hosts that were recorded in the focus,
// most CPU first. Of a process that was seen in a part of the focus only, what it
// used counts over all of it.
func (ps Processes) Programs() ([]Program, error) {
	slack := 3 * ps.Tick() / 2
	out := ps.trees(slack)
	whole := len(out)
	for _, s := range ps.c.FindAll(Process, process.CPUUser) {
		pid, name, _ := strings.Cut(s.Key.Instance, " ")
		cores, ok := ps.coresOf(s, slack)
		if !ok {
			continue
		}
		role, member := ps.role(s.Key.Host, pid, name)
		if i := slices.IndexFunc(out[:whole], func(p Program) bool {
			return p.Host == s.Key.Host && member != "" && p.Member == member
		}); i >= 0 {
			out[i].Processes++
			out[i].RSS += ps.mostRSS(s.Key)
			out[i].Keys = append(out[i].Keys, s.Key)
			continue
		}
		i := slices.IndexFunc(out, func(p Program) bool {
			return p.Host == s.Key.Host && p.Name == name && p.Role == role && p.Member == member
		})
		if i < 0 {
			i = len(out)
			out = append(out, Program{Host: s.Key.Host, Name: name, Role: role, Member: member})
		}
		p := &out[i]
		p.Processes++
		p.Cores += cores
		p.RSS += ps.mostRSS(s.Key)
		p.Keys = append(p.Keys, s.Key)
	}
	if len(out) == 0 {
		return nil, errNoProcesses
	}
	slices.SortStableFunc(out, func(a, b Program) int {
		return cmp.Or(cmp.Compare(b.Cores, a.Cores), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Host, b.Host))
	})
	return out, nil
}

// MemberOf returns the member whose process a series of processes is of; nil when it is no
// one's that is known.
func (ps Processes) MemberOf(k kasoku.Key) *kasoku.Member {
	pid, _, _ := strings.Cut(k.Instance, " ")
	return ps.c.memberOf(k.Host, pid)
}

// OwnsGroup reports whether a member of the service is in the control group that a series is
// of: by its unit, its container, or the group's path or last name.
func (ps Processes) OwnsGroup(k kasoku.Key) bool {
	return len(ps.membersOf(k, (*kasoku.Member).InGroup)) > 0
}

// MembersWithin returns the members of the service that run in the control group that a series is
// of, or in one below it.
func (ps Processes) MembersWithin(k kasoku.Key) []*kasoku.Member {
	return ps.membersOf(k, (*kasoku.Member).Within)
}

// IsWithin reports whether a member runs in the control group that a series is of, or in one below it.
func (ps Processes) IsWithin(m *kasoku.Member, k kasoku.Key) bool {
	return ps.runsIn(m, k, (*kasoku.Member).Within)
}

func (ps Processes) membersOf(k kasoku.Key, named func(m *kasoku.Member, group string) bool) (out []*kasoku.Member) {
	if ps.c.Service == nil {
		return nil
	}
	for i := range ps.c.Service.Members {
		if m := &ps.c.Service.Members[i]; m.Sure != kasoku.Low && ps.runsIn(m, k, named) {
			out = append(out, m)
		}
	}
	return out
}

// runsIn reports whether the group that a series is of is named as one of the member's. Where the
// group of a member goes by its whole path, its last name is that of another one, be it a liar's.
func (ps Processes) runsIn(m *kasoku.Member, k kasoku.Key, named func(m *kasoku.Member, group string) bool) bool {
	if !sameHost(m.Host, k.Host) || !named(m, k.Instance) {
		return false
	}
	whole := k
	for whole.Instance = m.Cgroup; len(whole.Instance) > 1; whole.Instance = path.Dir(whole.Instance) {
		at := kasoku.Member{Cgroup: whole.Instance, Container: m.Container}
		if whole != k && at.InGroup(k.Instance) && ps.c.Find(whole) != nil {
			return false
		}
	}
	return true
}

// trees returns the members whose leaders were recorded with all that they start.
func (ps Processes) trees(slack time.Duration) (out []Program) {
	for _, t := range process.MemberTrees(ps.c.Recording) {
		k := t.Series.Key
		cores, ok := ps.coresOver([]*kasoku.Series{&t.Series}, slack)
		if !ok {
			continue
		}
		i := slices.IndexFunc(out, func(p Program) bool { return p.Host == k.Host && p.Member == t.Member.ID })
		if i < 0 {
			_, name, _ := strings.Cut(k.Instance, " ")
			i, out = len(out), append(out, Program{Host: k.Host, Name: name, Role: roleOf(t.Member), Member: t.Member.ID})
		}
		out[i].Cores += cores
		out[i].Keys = append(out[i].Keys, k)
	}
	return out
}

// role returns what a process does: as a member of the service, else whether it is kasoku, the
// load's generator or the kernel, by its number and name. What else is no member is a
// neighbour, a database too, and unknown where no member is known.
func (ps Processes) role(host, pid, name string) (role Role, member string) {
	if m := ps.c.memberOf(host, pid); m != nil {
		return roleOf(m), m.ID
	}
	role = ps.guessRole(host, pid, name)
	if role != Other {
		return role, ""
	}
	if ps.c.Knows(host) {
		return Neighbour, ""
	}
	return Unknown, ""
}

// guessRole guesses whether a process is kasoku, the generator or the kernel from its number
// and name alone; Other is none of them.
func (ps Processes) guessRole(host, pid, name string) Role {
	if own := ps.c.Find(kasoku.Key{Host: host, Source: Self, Name: observe.SelfPID}); own != nil && len(own.Points) > 0 {
		if strconv.FormatFloat(own.Points[0].Value, 'f', -1, 64) == pid {
			return ps.own()
		}
	}
	switch {
	case (ps.commanded(name) || slices.Contains(generators, name)) && !ps.strangers(host, name):
		return Generator
	case name == "kasoku":
		return ps.own()
	case isKernel(name):
		return Kernel
	}
	return Other
}

// HasRole reports whether the name of a process that is no member's has a meaning for rules: that of a
// load generator, of kasoku, of a thread of the kernel.
func HasRole(name string) bool {
	return slices.Contains(generators, name) || name == "kasoku" || isKernel(name)
}

func isKernel(name string) bool {
	return slices.ContainsFunc(kernels, func(k string) bool { return strings.HasPrefix(name, k) })
}

// strangers reports whether processes with the name of a load generator, or of the command, which
// may be that of an interpreter (python3), load something else: kasoku made the load, or they used
// more CPU, or had more of children that ended, than the command that did with all that it started.
// Where the load came from elsewhere, it cannot be said.
func (ps Processes) strangers(host, name string) bool {
	if !ps.c.Knows(host) {
		return false
	}
	if ps.c.Load != nil {
		return true
	}
	cmd := ps.c.Run.Command
	if cmd == nil || cmd.Wall <= 0 {
		return false
	}
	const slack = 1.1 // samples and the kernel's own account differ by ticks
	return ps.usedBy(host, name, process.CPUUser) > slack*cmd.User.Seconds()+0.1 ||
		ps.usedBy(host, name, process.CPUChildren) > slack*(cmd.User+cmd.System).Seconds()+0.1
}

// usedBy sums a counter of CPU over the run, of all processes of a name.
func (ps Processes) usedBy(host, name, counter string) (seconds float64) {
	for _, s := range ps.c.FindAll(Process, counter) {
		if _, of, _ := strings.Cut(s.Key.Instance, " "); of != name || s.Key.Host != host || len(s.Points) == 0 {
			continue
		}
		seconds += s.Points[len(s.Points)-1].Value - s.Points[0].Value
	}
	return seconds
}

// own is what kasoku's own process does.
func (ps Processes) own() Role {
	if ps.c.Load != nil {
		return Generator
	}
	return Recorder
}

// commanded reports whether the name is that of the program that the recorded
// command runs, be it the first word of a shell's text.
func (ps Processes) commanded(name string) bool {
	if ps.c.Run.Command == nil {
		return false
	}
	args := ps.c.Run.Command.Args
	if len(args) > 2 && strings.HasSuffix(args[0], "sh") && args[1] == "-c" {
		args = strings.Fields(args[2])
	}
	return len(args) > 0 && path.Base(args[0]) == name
}

// coresOf returns the CPU of one process while the focus's load ran. Samples that
// begin or end more than slack inside of it show that the process was not seen
// all the time.
func (ps Processes) coresOf(cpu *kasoku.Series, slack time.Duration) (cores float64, ok bool) {
	k := cpu.Key
	k.Name = process.CPUSystem
	return ps.coresOver([]*kasoku.Series{cpu, ps.c.Find(k)}, slack)
}

// coresOver is coresOf of the sum of some counters.
func (ps Processes) coresOver(counters []*kasoku.Series, slack time.Duration) (cores float64, ok bool) {
	iv := ps.loaded()
	if iv.Empty() {
		return 0, false
	}
	for _, s := range counters {
		if s == nil {
			continue
		}
		pts := s.Within(kasoku.Interval{From: iv.From, To: iv.To + 1})
		if len(pts) < 2 {
			continue
		}
		first, last := pts[0], pts[len(pts)-1]
		over := last.At - first.At
		if first.At > iv.From+slack || last.At < iv.To-slack {
			over = iv.Len()
		}
		used := (last.Value - first.Value) / over.Seconds()
		if _, fell := findFall(pts); fell || over <= 0 || math.IsNaN(used) || math.IsInf(used, 0) {
			return 0, false
		}
		cores += used
		ok = true
	}
	return cores, ok
}

// loaded returns the time in which the focus's load ran.
func (ps Processes) loaded() kasoku.Interval {
	if ps.c.Focus.Step != nil {
		return ps.c.Focus.Step.Interval
	}
	return ps.c.Focus.Interval
}

func (ps Processes) mostRSS(k kasoku.Key) float64 {
	k.Name = process.RSS
	g, err := ps.c.Counters().Gauge(k)
	if err != nil || g.Max < 0 {
		return 0
	}
	return g.Max
}

// Tick returns the time between two samples: the median of the series with most
// of them. It is 0 when nothing was sampled twice.
func (ps Processes) Tick() time.Duration {
	var longest *kasoku.Series
	for i := range ps.c.Series {
		s := &ps.c.Series[i]
		if longest == nil || len(s.Points) > len(longest.Points) {
			longest = s
		}
	}
	if longest == nil || len(longest.Points) < 2 {
		return 0
	}
	var apart []time.Duration
	for i := 1; i < len(longest.Points); i++ {
		apart = append(apart, longest.Points[i].At-longest.Points[i-1].At)
	}
	slices.Sort(apart)
	return max(apart[len(apart)/2].Round(100*time.Millisecond), 0) // as often as can be sampled
}
