package host

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/observe/cgroup"
	hostkeys "github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/process"
)

// perl has no table of fixes, and is as the others held to one core.
const perl = "perl"

// runtimes name those that run a program's code on one core for each process, by language.
//
// Sources: Ruby, Thread (the GVL of MRI); Python, Glossary, global interpreter lock; Node.js,
// cluster ("a single instance of Node.js runs in a single thread"); PHP manual, FPM (a process
// answers one request at a time); perlthrtut.
var runtimes = map[string]string{
	language.Ruby: "Ruby", language.Python: "Python", language.JavaScript: "Node.js", language.PHP: "PHP", perl: "Perl",
}

// severalCores are servers in these languages that answer requests on several cores in one
// process, or answer none.
var severalCores = []string{"frankenphp", "sidekiq", "celery"}

// onOneCore reports whether each process of a member can use one core alone.
func onOneCore(m *kasoku.Member) bool {
	return runtimes[m.Language] != "" && !slices.Contains(severalCores, m.Program) &&
		!slices.Contains(severalCores, m.Framework)
}

// workers are the processes of an application, second by second of the load. Figures in cores
// are medians.
type workers struct {
	m                    *kasoku.Member
	n                    int     // processes that work
	seconds, fullSeconds int     // with requests; of those in which each of them was full
	each, most           float64 // what the n busiest use at least, and the busiest one, in cores
	idle, room           float64 // cores of the host that are idle while all are full, and what of it the quota leaves
	hostCores, cores     float64 // of the host, and those that the service may use
	quota                float64 // of the control group that leaves least; 0: none
	cpus                 []int   // the cores that it is held to; none: all of the host's
	quotaKey, idleKey    kasoku.Key
	line                 line
	keys                 []kasoku.Key // of the processes' CPU
	rss                  float64      // the most that one of the busiest held, bytes
}

// workersOf looks at a member's processes in the seconds in which requests came. It fails
// when their CPU or that of the host was not recorded in enough of them.
func workersOf(c *diagnose.Case, m *kasoku.Member, requests map[int]float64) (workers, error) {
	w := workers{m: m, n: max(m.Workers, 1),
		idleKey: kasoku.Key{Host: m.Host, Source: diagnose.Host, Name: hostkeys.CPUIdle}}
	a, err := c.Hosts().Allowed(m)
	if err != nil {
		return w, err
	}
	w.hostCores, w.cores, w.quota, w.quotaKey, w.cpus = a.Host, a.Cores, a.Quota, a.QuotaKey, a.CPUs
	var each, most, idle, room []float64
	w.line = newLine(c, &w)
	for _, iv := range secondsOf(c, m) {
		if requests[int(iv.From/time.Second)]+requests[int((iv.To-1)/time.Second)] <= 0 {
			continue
		}
		used := coresIn(c, m, iv)
		if len(used) < w.n {
			used = append(used, make([]float64, w.n-len(used))...)
		}
		each, most = append(each, used[w.n-1]), append(most, used[0])
		free, ok := w.idleIn(c, iv)
		w.line.add(iv, used[:w.n], min(free, w.left(c, iv)), ok)
		if ok && used[w.n-1] >= fullCore {
			idle, room = append(idle, free), append(room, min(free, w.left(c, iv)))
		}
	}
	if len(each) < evidence.EnoughSeconds {
		return w, fmt.Errorf("the CPU of %s was recorded in %d seconds with requests, and %d are needed", m.Program,
			len(each), evidence.EnoughSeconds)
	}
	w.seconds, w.each, w.most = len(each), median(each), median(most)
	w.fullSeconds = len(slices.DeleteFunc(slices.Clone(each), func(v float64) bool { return v < fullCore }))
	if w.each >= fullCore && len(idle) < evidence.EnoughSeconds/2 {
		return w, errors.New("the host's CPU was not recorded second by second")
	}
	w.idle, w.room = median(idle), median(room)
	if w.line.settle(c, &w); w.lined() {
		w.idle, w.room = median(w.line.free), median(w.line.free)
	}
	w.keys, w.rss = keysOf(c, m)
	return w, nil
}

// left is what the quota leaves of its cores in an interval; all that it may run on without one.
func (w *workers) left(c *diagnose.Case, iv kasoku.Interval) float64 {
	if w.quota <= 0 {
		return w.cores
	}
	k := w.quotaKey // without a series of its own it has no usage either
	k.Name = cgroup.CPUUsage
	if used, ok := rateIn(c.Find(k), iv); ok {
		return w.quota - used
	}
	return w.quota - float64(w.n)*fullCore
}

// secondsOf returns the times between samples of the member's processes in the focus's load, none
// of which overlap: those of idle processes are samples of each fifth second.
func secondsOf(c *diagnose.Case, m *kasoku.Member) (out []kasoku.Interval) {
	load := c.Focus.Interval
	if c.Focus.Step != nil {
		load = c.Focus.Step.Interval
	}
	all := cpuOf(c, m)
	slices.SortStableFunc(all, func(a, b *kasoku.Series) int {
		return cmp.Compare(len(b.Points), len(a.Points))
	})
	for _, s := range all {
		for _, r := range s.Rates() {
			if iv := r.Interval; iv.From >= load.From && iv.To <= load.To && !slices.ContainsFunc(out,
				func(o kasoku.Interval) bool { return iv.From < o.To && o.From < iv.To }) {
				out = append(out, iv)
			}
		}
	}
	return out
}

// rateIn returns how fast a counter grew in an interval whose ends lie between its samples, as
// those of another source do; false where it was not sampled before and after.
func rateIn(s *kasoku.Series, iv kasoku.Interval) (perSec float64, ok bool) {
	if s == nil {
		return 0, false
	}
	var at [2]float64
	for i, t := range [...]time.Duration{iv.From, iv.To} {
		n, exact := slices.BinarySearchFunc(s.Points, t, func(p kasoku.Point, t time.Duration) int {
			return cmp.Compare(p.At, t)
		})
		switch {
		case exact:
			at[i] = s.Points[n].Value
		case n == 0 || n == len(s.Points):
			return 0, false
		default:
			a, b := s.Points[n-1], s.Points[n]
			at[i] = a.Value + (b.Value-a.Value)*float64(t-a.At)/float64(b.At-a.At)
		}
	}
	return (at[1] - at[0]) / iv.Len().Seconds(), true
}

// cpuOf returns the series cpu.user of a member's processes.
func cpuOf(c *diagnose.Case, m *kasoku.Member) (out []*kasoku.Series) {
	for _, s := range c.FindAll(diagnose.Process, process.CPUUser) {
		if of := c.Processes().MemberOf(s.Key); of != nil && of.ID == m.ID {
			out = append(out, s)
		}
	}
	return out
}

// coresIn returns what each of a member's processes used in an interval, most first.
func coresIn(c *diagnose.Case, m *kasoku.Member, iv kasoku.Interval) (out []float64) {
	for _, s := range cpuOf(c, m) {
		cores, ok := rateIn(s, iv)
		if !ok {
			continue // it did not run then
		}
		k := s.Key
		k.Name = process.CPUSystem
		system, _ := rateIn(c.Find(k), iv)
		cores += system
		if m.Language == language.JavaScript {
			cores = mainThread(c, s.Key, iv, cores)
		}
		out = append(out, cores)
	}
	slices.Sort(out)
	slices.Reverse(out)
	return out
}

// mainThread returns what the thread used that runs JavaScript, of all that its process did:
// collectors of garbage and the pool of libuv run beside it. Where no thread of the process was
// recorded it is all; where others were and it was not, nothing, as it used less than they.
func mainThread(c *diagnose.Case, k kasoku.Key, iv kasoku.Interval, all float64) float64 {
	pid, _, _ := strings.Cut(k.Instance, " ")
	others := false
	for _, s := range c.FindAll(diagnose.Process, process.ThreadCPU) {
		tid, ok := strings.CutPrefix(s.Key.Instance, pid+"/")
		v, known := rateIn(s, iv)
		if !ok || !known || s.Key.Host != k.Host {
			continue
		}
		others = true
		if tid, _, _ = strings.Cut(tid, " "); tid == pid {
			return min(v, all)
		}
	}
	if others {
		return 0
	}
	return all
}

// idleIn returns how many of the cores that the member may run on nothing ran on in an interval.
func (w *workers) idleIn(c *diagnose.Case, iv kasoku.Interval) (cores float64, ok bool) {
	instances := []string{""}
	if len(w.cpus) > 0 {
		instances = nil
	}
	for _, cpu := range w.cpus {
		instances = append(instances, "cpu"+strconv.Itoa(cpu))
	}
	k := w.idleKey
	for _, k.Instance = range instances {
		for _, k.Name = range [...]string{hostkeys.CPUIdle, hostkeys.CPUIowait} {
			v, known := rateIn(c.Find(k), iv)
			cores, ok = cores+v, ok || known
		}
	}
	return cores, ok
}

// keysOf returns the series of the CPU of a member's processes, and the most memory that one
// of them held.
func keysOf(c *diagnose.Case, m *kasoku.Member) (keys []kasoku.Key, rss float64) {
	for _, s := range cpuOf(c, m) {
		keys = append(keys, s.Key)
		k := s.Key
		k.Name = process.RSS
		if g, err := c.Counters().Gauge(k); err == nil {
			rss = max(rss, g.Max)
		}
	}
	return keys, rss
}

// median returns the middle value, 0 of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(values))[len(values)/2]
}
