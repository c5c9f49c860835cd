package limit

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/cgroup"
	hostkeys "github.com/kasoku/kasoku/observe/host"
)

// CPUQuota is the rule OS-04.
type CPUQuota struct{}

// Thresholds of OS-04.
const (
	// stoodStill is the share of the load's time in which a group stood still from which requests
	// feel it: one in twenty arrives while nothing runs.
	stoodStill = 0.05
	// waitedAtLeast of a halt's length is what a request that arrives in one waits in three of four
	// cases.
	waitedAtLeast = 0.25
	// leftIdle is the share of the host's cores that must be idle for a larger quota to be of use.
	leftIdle = 0.10
	// inBursts is the share of a quota below which what is used on average is not what is used while
	// it runs.
	inBursts = 0.80
	// ofOthers is the share of what a group uses from which members no longer use most of it.
	ofOthers = 0.50
)

// ID returns OS-04.
func (CPUQuota) ID() string { return "OS-04" }

// Doc describes the rule.
func (CPUQuota) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a service that its own CPU quota stops while the host has CPU left.`,
		Evidence: `the control group of a member of the service, or one above it, was throttled (nr_throttled and
			throttled_usec or throttled_time of cpu.stat) and so stood still in at least 5 % of the load's time: the time
			throttled over that in which it ran or wanted to, at most the share of periods that were throttled. Requests
			took as long as such a halt lets them wait, and at least 10 % of the host's CPU was idle.`,
		Cause: `the kernel lets the group run for its quota in each period of mostly 100 ms, and stops all of it until
			the next one. Several threads use a quota up in a part of the period, so that this happens far below the
			quota on average.`,
		Fix: `a larger quota, or none, where it was set: the unit's CPUQuota=, docker's --cpus, the limit of the
			pod's container; or no more threads at a time than the quota has cores.`,
		Silent: `when no group of the service has a quota, when it stood still for less, or when requests did not wait for
			it; blind when no control group of the service was recorded. It is a remark where the host had no CPU left
			either.`,
		Host: []diagnose.Pressure{diagnose.OnCPU},
	}
}

// A halted group is one of the service with a quota, and how much that stopped it while the
// focus's load ran.
type halted struct {
	key             kasoku.Key        // of its throttled periods
	members         []*kasoku.Member  // that run in it or below
	periods, stops  diagnose.Grown    // in which it ran, in which it was stopped
	stopped         float64           // seconds in a second, over all cores
	used, quota     float64           // cores; used is below 0 where it was not recorded
	share           float64           // of the load's time in which it stood still
	halt            time.Duration     // how long one halt is, on average
	idle, hostCores float64           // below 0: not recorded
	own             float64           // of used, by the members; below 0: not recorded
	signals         []diagnose.Signal // but for the first
	err             error             // why it is not known how much it was stopped
}

// haltedGroups returns the groups of the service that have a quota, and whether any of a member was
// recorded.
func haltedGroups(c *diagnose.Case) (out []halted, recorded bool) {
	for _, s := range c.FindAll(diagnose.Cgroup, cgroup.CPUThrottledPeriods) {
		h := halted{key: s.Key, members: c.Processes().MembersWithin(s.Key)}
		if len(h.members) == 0 {
			continue
		}
		recorded = true
		if h.measure(c) {
			out = append(out, h)
		}
	}
	slices.SortStableFunc(out, func(a, b halted) int { return cmp.Compare(b.share, a.share) })
	return out, recorded
}

// measure reads how much the group was stopped; false where it has no quota.
func (h *halted) measure(c *diagnose.Case) bool {
	named := func(name string) kasoku.Key {
		k := h.key
		k.Name = name
		return k
	}
	quota, err := c.Counters().Gauge(named(cgroup.CPUMax))
	if err != nil || quota.Min <= 0 {
		return false
	}
	h.quota = quota.Min
	var errs [5]error
	var periods, stops float64
	h.periods, errs[0] = c.Counters().Grown(named(cgroup.CPUPeriods))
	h.stops, errs[1] = c.Counters().Grown(h.key)
	periods, errs[2] = c.Counters().UnderLoad(named(cgroup.CPUPeriods))
	stops, errs[3] = c.Counters().UnderLoad(h.key)
	h.stopped, errs[4] = c.Counters().UnderLoad(named(cgroup.CPUThrottled))
	if h.err = cmp.Or(errs[:]...); h.err != nil || periods <= 0 || stops <= 0 || h.stopped <= 0 {
		return true // it has a quota, and was not seen to be stopped
	}
	if h.used, err = c.Counters().UnderLoad(named(cgroup.CPUUsage)); err != nil {
		h.used = -1
	}
	h.share = min(h.stopped/max(1, max(h.used, 0)+h.stopped), stops/periods, 1)
	h.halt = time.Duration(h.share / stops * float64(time.Second))
	return true
}

// look adds what the host and the members did meanwhile.
func (h *halted) look(c *diagnose.Case) {
	h.idle, h.own = -1, -1
	if busy, cores, err := c.Hosts().BusyOn(h.members[0].Host); err == nil {
		h.idle, h.hostCores = cores-busy, cores
	}
	if programs, err := c.Processes().Members(); err == nil {
		h.own = 0
		for _, p := range programs {
			if slices.ContainsFunc(h.members, func(m *kasoku.Member) bool { return m.ID == p.Member }) {
				h.own += p.Cores
			}
		}
	}
	room := diagnose.Signal{Holds: h.idle >= leftIdle*h.hostCores, Lacks: "the host had no CPU left either"}
	if h.idle < 0 {
		room.Blind = "the host's CPU was not recorded"
	}
	waited := diagnose.Signal{Holds: true}
	if c.Focus.Tally == nil || c.Focus.Tally.Latency.Count() == 0 {
		waited.Blind = "requests were not timed by the load"
	}
	h.signals = []diagnose.Signal{room, waited}
	if h.used > 0 && h.own >= 0 {
		h.signals = append(h.signals, diagnose.Signal{Holds: h.own >= ofOthers*h.used,
			Lacks: "most of what the group uses is not the service's"})
	}
}

// unfelt returns how long requests took that would have waited for a halt, where they did not.
func (h *halted) unfelt(c *diagnose.Case) (took time.Duration, ok bool) {
	t := c.Focus.Tally
	if t == nil || t.Latency.Count() == 0 {
		return 0, false
	}
	took = t.Latency.Quantile(1 - h.share/2)
	return took, took < time.Duration(waitedAtLeast*float64(h.halt))
}

// Check looks for groups of the service that their quotas stop.
func (r CPUQuota) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if !c.Service.Known() {
		return nil, diagnose.Blind(r.ID(), diagnose.ErrNoService)
	}
	groups, recorded := haltedGroups(c)
	switch {
	case !recorded:
		return nil, diagnose.Blind(r.ID(), errors.New("no control group of a member of the service was recorded"))
	case len(groups) == 0:
		return nil, diagnose.Quiet(r.ID(), 0, "no control group of the service has a CPU quota")
	case groups[0].err != nil:
		return nil, diagnose.Blind(r.ID(), groups[0].err)
	}
	var found []kasoku.Finding
	silent := diagnose.Quiet(r.ID(), min(groups[0].share/stoodStill, 0.999),
		"the CPU quota of %s stopped it in %s of the time; the threshold is %s", groups[0].key.Instance,
		unit.Percent(groups[0].share), unit.Percent(stoodStill))
	for i := range groups {
		h := &groups[i]
		if h.share < stoodStill {
			break // the others less
		}
		if took, ok := h.unfelt(c); ok {
			silent = diagnose.Quiet(r.ID(), 0.5, "the CPU quota of %s stopped it in %s of the time, for %s on average, "+
				"and requests did not wait for that: %s of them took less than %s", h.key.Instance, unit.Percent(h.share),
				unit.Duration(h.halt), unit.Percent(1-h.share/2), unit.Duration(took))
			continue
		}
		h.look(c)
		found = append(found, r.finding(c, h))
	}
	if len(found) > 0 {
		return found, nil
	}
	return nil, silent
}

// who names the members in the group: "puma", "nginx and puma".
func (h *halted) who() string {
	var names []string
	for _, m := range h.members {
		if !slices.Contains(names, m.Program) {
			names = append(names, m.Program)
		}
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return names[0]
}

// full reports whether the host had no CPU left either.
func (h *halted) full() bool { return h.idle >= 0 && h.idle < leftIdle*h.hostCores }

func (r CPUQuota) finding(c *diagnose.Case, h *halted) kasoku.Finding {
	cores := diagnose.CoresText(h.quota)
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "control group", Name: h.key.Instance},
		Title: fmt.Sprintf("Its CPU quota stops %s in %s of the time", wording.Cut(h.who(), 30),
			unit.Percent(h.share)),
		Clause: fmt.Sprintf("%s is stopped in %s of the time by its CPU quota of %s", h.who(), unit.Percent(h.share),
			cores),
		Severity:   kasoku.Problem,
		Confidence: diagnose.Confidence(append([]diagnose.Signal{{Holds: true}}, h.signals...)...),
		Impact:     kasoku.Impact{Share: h.share, Of: "of the time " + c.At(), Estimate: true},
		Evidence:   h.evidence(c), Cause: h.cause(c, cores), Fixes: h.fixes(c),
		Expect:   "nr_throttled +0",
		Verify:   "repeat the load: nr_throttled in cpu.stat of the control group must grow by less, and the p99 must fall",
		Interval: c.Focus.Interval,
	}
	if h.full() {
		f.Severity = kasoku.Info
	}
	return f
}

func (h *halted) cause(c *diagnose.Case, cores string) string {
	text := fmt.Sprintf("The control group %s of %s may use %s of CPU (cpu.max). %s it had used its part of a period up "+
		"in %s of %s periods, and the kernel stopped all of it until the next one, for %s on average.", h.key.Instance,
		h.who(), cores, wording.Capital(c.At()), diagnose.Whole(h.stops.By), diagnose.Whole(h.periods.By),
		unit.Duration(h.halt))
	switch {
	case h.full():
		text += fmt.Sprintf(" Only %s of the host's %s cores were idle: a larger quota alone gains little.",
			unit.Sig3(max(h.idle, 0)), unit.Plain(h.hostCores))
	case h.idle >= 0:
		text += fmt.Sprintf(" Requests waited meanwhile, and %s of the host's %s cores were idle.", unit.Sig3(h.idle),
			unit.Plain(h.hostCores))
	}
	if h.bursts() {
		text += fmt.Sprintf(" On average it used %s: several threads at a time use the quota up early in a period.",
			unit.Sig3(h.used))
	}
	if h.others() {
		text += fmt.Sprintf(" Of the %s cores that the group used the service used %s.", unit.Sig3(h.used),
			unit.Sig3(h.own))
	}
	return text
}

// bursts reports whether the group used less than its quota on average, and was stopped all the
// same.
func (h *halted) bursts() bool { return h.used >= 0 && h.used < inBursts*h.quota }

// others reports whether programs outside of the service use most of what the group does.
func (h *halted) others() bool { return h.used > 0 && h.own >= 0 && h.own < ofOthers*h.used }

func (h *halted) evidence(c *diagnose.Case) []kasoku.Evidence {
	key := func(name string) []kasoku.Key {
		k := h.key
		k.Name = name
		return []kasoku.Key{k}
	}
	add := func(out []kasoku.Evidence, text, note, value string, number float64, name string) []kasoku.Evidence {
		return append(out, kasoku.Evidence{Source: diagnose.Cgroup, Text: text, Note: note, Value: value, Number: number,
			Strong: true, Series: key(name), Interval: c.Focus.Interval})
	}
	out := add(nil, "periods in which "+h.key.Instance+" was stopped (cpu.stat, nr_throttled)",
		"of "+diagnose.Whole(h.periods.By)+", "+c.Quote().Span(), diagnose.Whole(h.stops.By), h.stops.By,
		cgroup.CPUThrottledPeriods)
	out = add(out, "time that its threads were stopped, over all cores", "in each second", unit.Sig3(h.stopped)+" s",
		h.stopped, cgroup.CPUThrottled)
	note := ""
	if h.used >= 0 {
		note = unit.Sig3(h.used) + " used"
	}
	out = add(out, "CPU quota of the group (cpu.max)", note, diagnose.CoresText(h.quota), h.quota, cgroup.CPUMax)
	if h.idle >= 0 {
		out = append(out, kasoku.Evidence{Source: "host", Text: "CPU idle", Note: "of " + unit.Plain(h.hostCores),
			Value: unit.Sig3(max(h.idle, 0)) + " cores", Number: h.idle, Strong: !h.full(),
			Series:   []kasoku.Key{{Host: h.members[0].Host, Source: diagnose.Host, Name: hostkeys.CPUIdle}},
			Interval: c.Focus.Interval})
	}
	if t := c.Focus.Tally; t != nil && t.Latency.Count() > 0 {
		p99 := t.Latency.Quantile(0.99)
		out = append(out, kasoku.Evidence{Source: "load", Text: "p99 of requests", Value: unit.Duration(p99),
			Number: p99.Seconds(), Interval: c.Focus.Interval})
	}
	return out
}

// wanted returns how many cores would have let the group run on: what it used and what it was
// kept from, with some room, and never less than half as much again; at most those of the host. It is
// 0 where that is not more than it has.
func (h *halted) wanted() float64 {
	const room, more, steps = 1.2, 1.5, 2 // in halves of a core
	cores := math.Ceil(max(room*(max(h.used, 0)+h.stopped), more*h.quota)*steps) / steps
	if h.hostCores > 0 {
		cores = min(cores, h.hostCores)
	}
	if cores <= h.quota {
		return 0
	}
	return cores
}

// fixes are a larger quota, as it was set, and fewer threads where those use it up in bursts.
func (h *halted) fixes(c *diagnose.Case) []kasoku.Fix {
	var out []kasoku.Fix
	if cores := h.wanted(); cores > 0 {
		out = append(out, h.raise(cores))
	} else {
		out = append(out, kasoku.Fix{Text: "Let what runs in the group compute less: the quota is all that the host has",
			Where: "the program", Risk: kasoku.RiskNone})
	}
	if h.bursts() {
		out = append(out, kasoku.Fix{Text: "Or let it run on no more cores at a time than its quota has, so that the " +
			"quota lasts for the period", Where: "where the program is started", Risk: kasoku.RiskAppRestart,
			Note: language.Pick(c, fewerThreads)})
	}
	return out
}

// fewerThreads are how programs are held to a number of threads that compute.
//
// Sources: Go 1.25 release notes, container-aware GOMAXPROCS; the java command,
// -XX:ActiveProcessorCount; Node.js, UV_THREADPOOL_SIZE; Puma's and gunicorn's settings.
var fewerThreads = map[string]string{
	language.Go: "In Go: GOMAXPROCS, in its environment; built with Go 1.25 or later a program follows the quota by " +
		"itself.",
	language.Java:       "In Java: -XX:ActiveProcessorCount. It sizes the collector's threads too.",
	language.JavaScript: "In Node.js: as many processes as the quota has cores, and UV_THREADPOOL_SIZE.",
	language.Ruby:       "In Ruby: as many processes as the quota has cores.",
	language.Puma:       "In Puma: as many workers as the quota has cores.",
	language.Python:     "In Python: as many processes as the quota has cores.",
	language.Gunicorn:   "In gunicorn: as many workers as the quota has cores.",
	language.PHPFPM:     "In PHP-FPM: pm.max_children bounds what computes at a time.",
	language.Tokio:      "With tokio: worker_threads, or TOKIO_WORKER_THREADS in its environment.",
	language.Unknown:    "Its setting for threads or workers.",
}

// raise is a larger quota, by what set the one in force.
//
// Sources: systemd.resource-control(5), CPUQuota=; docker container update; podman-update(1);
// Kubernetes, "Resource Management for Pods and Containers"; lxc.container.conf(5), cgroup.
func (h *halted) raise(cores float64) kasoku.Fix {
	m := h.members[0]
	path := m.Cgroup + " " + h.key.Instance
	contained := m.Container != "" && strings.Contains(h.key.Instance, m.Container) // not a group above it
	f := kasoku.Fix{Text: "Give it a quota of " + diagnose.CoresText(cores) + " or more, or none", Risk: kasoku.RiskNone}
	percent := fmt.Sprintf("CPUQuota=%.0f%%", 100*cores)
	switch {
	case strings.Contains(path, "kubepods"):
		f.Where, f.Lang = "the container in the pod's manifest", "yaml"
		f.Code = fmt.Sprintf("resources:\n  limits:\n    cpu: %.0fm", 1000*cores)
		f.Note, f.Risk = "Kubernetes starts the pod anew.", kasoku.RiskAppRestart
	case contained && strings.Contains(path, "libpod"):
		f.Where, f.Lang = "a shell of the host", "sh"
		f.Code = fmt.Sprintf("podman update --cpus %s %s", unit.Plain(cores), m.Container)
		f.Note = untilRemade
	case contained && strings.Contains(path, "docker"):
		f.Where, f.Lang = "a shell of the host", "sh"
		f.Code = fmt.Sprintf("docker update --cpus %s %s", unit.Plain(cores), m.Container)
		f.Note = untilRemade
	case strings.HasSuffix(h.key.Instance, ".service"):
		f.Where, f.Lang, f.Code = "the unit, as systemctl edit opens it", "ini", "[Service]\n"+percent
		f.Note = "systemctl set-property with the unit and " + percent + " sets it without a restart."
	case strings.HasSuffix(h.key.Instance, ".slice"):
		f.Where, f.Lang, f.Code = "the slice, as systemctl edit opens it", "ini", "[Slice]\n"+percent
		f.Note = "It is for all that runs in the slice."
	default:
		f.Where = "where the quota was set"
		f.Note = fmt.Sprintf("In a container: --cpus %s of docker and podman, limits.cpu of Kubernetes, "+
			"lxc.cgroup2.cpu.max. Of a unit: %s. Elsewhere: cpu.max of the control group, with version 1 cpu.cfs_quota_us.",
			unit.Plain(cores), percent)
	}
	return f
}

// untilRemade is how long an update of a container lasts.
const untilRemade = "It lasts until the container is made anew: --cpus where that is done, in Compose cpus."
