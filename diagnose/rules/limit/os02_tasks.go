package limit

import (
	"errors"
	"fmt"
	"path"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/cgroup"
)

// Tasks is the rule OS-02.
type Tasks struct{}

// Thresholds of OS-02.
const (
	// tasksNear of the limit is full: a task may be gone again when it is counted.
	tasksNear = 0.95
	// tasksWanted is what units of servers with many threads are given.
	tasksWanted = 4096
)

// ID returns OS-02.
func (Tasks) ID() string { return "OS-02" }

// Doc describes the rule.
func (Tasks) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a service that may start no more processes or threads.`,
		Evidence: `a log says that a fork or a thread was refused ("Resource temporarily unavailable"), or
			the control group's counter of refusals grew (pids.events, max). It is borne out when the group
			was seen at its limit.`,
		Cause: `the group of the service may hold only so many tasks (pids.max, which is systemd's
			TasksMax), or its account only so many (RLIMIT_NPROC).`,
		Fix: `raise TasksMax of the unit; better, start fewer.`,
		Silent: `when nothing was refused; blind when neither a log nor a control group of the
			service was recorded.`,
	}
}

// tasks is what a run says about processes and threads.
type tasks struct {
	said        []diagnose.Said
	refused     diagnose.Grown // by the control group
	group       string         // the nearest to its limit, or that refused; empty when none has one
	most, limit float64
	grouped     bool // control groups were recorded
}

// Words of a log, in lower case.
var (
	// taskRefused say by themselves that a process or a thread could not be started.
	taskRefused = []string{"failed to create new os thread", "unable to create new native thread",
		"unable to create native thread", "can't start new thread", "cannot fork", "can't fork", "unable to fork",
		"can't create thread", "can't create a new thread", "cannot create thread", "thread creation failed",
		"pthread_create failed"}
	// again are EAGAIN, which is said of sockets too.
	again = []string{"resource temporarily unavailable", "eagain"}
	// starts are what starts a process or a thread, as the call is named where it fails.
	starts = []string{"fork:", "fork(", "fork failed", "clone:", "clone(", "spawn ", "spawning ", "posix_spawn",
		"cannot run program"}
	// ofSockets are of calls to sockets, such as one whose backlog is full.
	ofSockets = []string{"connect", "dial ", ".sock", "accept", "recv"}
)

// refusesTask reports whether a line says that a process or a thread could not be
// started.
func refusesTask(m *kasoku.Message) bool {
	has := func(words ...string) bool { return wording.ContainsFold(m.Sample, words...) }
	switch {
	case m.SQL:
		return false
	case has(taskRefused...), has(again...) && has("fork/exec"):
		return true
	}
	return has(again...) && has(starts...) && !has(ofSockets...)
}

func tasksOf(c *diagnose.Case) tasks {
	t := tasks{said: c.Lines().Said(refusesTask)}
	for _, s := range c.FindAll(diagnose.Cgroup, cgroup.PIDsCurrent) {
		if !c.Processes().OwnsGroup(s.Key) {
			continue
		}
		t.grouped = true
		most, err := c.Counters().Gauge(s.Key)
		limit, events := s.Key, s.Key
		limit.Name, events.Name = cgroup.PIDsMax, cgroup.PIDsEventsMax
		max, err2 := c.Counters().Gauge(limit)
		if err != nil || err2 != nil || max.Min <= 0 || most.Max < 0 {
			continue
		}
		refused, err := c.Counters().Grown(events)
		if err != nil {
			refused = diagnose.Grown{}
		}
		if t.group == "" || refused.By > t.refused.By || t.refused.By <= 0 && most.Max/max.Min > t.most/t.limit {
			t.group, t.most, t.limit, t.refused = s.Key.Instance, most.Max, max.Min, refused
		}
	}
	return t
}

func (t tasks) ratio() float64 {
	if t.limit <= 0 {
		return 0
	}
	return t.most / t.limit
}

// Check looks for refused processes and threads.
func (r Tasks) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	t := tasksOf(c)
	switch {
	case len(t.said) > 0 || t.refused.By > 0:
	case t.group != "":
		return nil, diagnose.Quiet(r.ID(), min(t.ratio(), 0.999),
			"control group %s held %s of %s tasks, and none was refused", t.group, diagnose.Whole(t.most),
			diagnose.Whole(t.limit))
	case t.grouped || c.Lines().HasAppLog():
		return nil, diagnose.Quiet(r.ID(), 0,
			"no log says that a process or a thread was refused, and no control group that was recorded limits them")
	default:
		return nil, diagnose.Blind(r.ID(), errors.New("neither an application's log nor control groups were recorded"))
	}
	var lines float64
	for _, m := range t.said {
		lines += float64(m.Count)
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "limit", Name: "tasks"}, Title: "Processes or threads are refused",
		Clause:   "processes and threads are refused",
		Severity: kasoku.Problem, Confidence: diagnose.Confidence(t.signals(c)...),
		Impact:   kasoku.Impact{Share: evidence.FailedShare(c, max(lines, t.refused.By)), Of: evidence.OfRequests(c)},
		Evidence: t.evidence(c), Cause: t.cause(), Fixes: t.fixes(c),
		Expect: "pids.events max +0", Verify: "repeat the load: no task may be refused, in the log and in pids.events " +
			"of the control group",
		Explains: []string{"MES-07"}, Interval: c.Focus.Interval,
	}
	switch {
	case t.group != "" && (t.refused.By > 0 || t.ratio() >= tasksNear):
		f.Object = kasoku.Object{Kind: "control group", Name: t.group}
		f.Title = fmt.Sprintf("The %s tasks that %s may hold are not enough", diagnose.Whole(t.limit), wording.Cut(t.group, 30))
		f.Clause = fmt.Sprintf("%s may hold no more than %s processes and threads", t.group, diagnose.Whole(t.limit))
	case len(t.said) > 0 && t.said[0].Path != "":
		f.Object = kasoku.Object{Kind: "log", Name: path.Base(t.said[0].Path)}
	}
	return []kasoku.Finding{f}, nil
}

func (t tasks) signals(c *diagnose.Case) []diagnose.Signal {
	said := diagnose.Signal{Holds: len(t.said) > 0, Lacks: "no log says that a process or a thread was refused"}
	if !c.Lines().HasAppLog() {
		said.Blind = c.Lines().NoLog("applog")
	}
	counted := diagnose.Signal{Holds: t.refused.By > 0,
		Lacks: "no control group counted a refusal: the limit is another one"}
	full := diagnose.Signal{Holds: t.ratio() >= tasksNear, Lacks: "no control group was seen at its limit"}
	if t.group == "" {
		counted.Blind = "no control group with a limit of tasks was recorded"
		full.Blind = counted.Blind
	}
	return []diagnose.Signal{said, counted, full}
}

func (t tasks) evidence(c *diagnose.Case) []kasoku.Evidence {
	var out []kasoku.Evidence
	for i, m := range t.said {
		if i < 2 {
			out = append(out, c.Quote().Quoted(m, true))
		}
	}
	if t.refused.By > 0 {
		e := c.Quote().Counted(t.refused, true)
		e.Text = "refused in " + t.group + " (pids.events)"
		out = append(out, e)
	}
	if t.group != "" {
		out = append(out, kasoku.Evidence{
			Source: diagnose.Cgroup, Text: "tasks in " + t.group, Note: "pids.max " + diagnose.Whole(t.limit),
			Value: diagnose.Whole(t.most), Number: t.most,
			Strong: t.ratio() >= tasksNear, Series: []kasoku.Key{{Source: diagnose.Cgroup, Name: cgroup.PIDsCurrent,
				Instance: t.group}}, Interval: c.Focus.Interval,
		})
	}
	return out
}

func (t tasks) cause() string {
	if t.group != "" && (t.refused.By > 0 || t.ratio() >= tasksNear) {
		return fmt.Sprintf("The control group %s held %s of the %s tasks that it may hold. Threads count as well as "+
			"processes, and beyond it fork and clone give EAGAIN.",
			t.group, diagnose.Whole(t.most), diagnose.Whole(t.limit))
	}
	return "fork and clone give EAGAIN beyond a limit, and no control group that was recorded was at its own: it is " +
		"the account's (ulimit -u, RLIMIT_NPROC) or the host's (kernel.threads-max, kernel.pid_max)."
}

func (t tasks) fixes(c *diagnose.Case) []kasoku.Fix {
	wanted := max(float64(tasksWanted), min(4*t.limit, 1<<22)) // the kernel's PID_MAX_LIMIT
	raise := kasoku.Fix{
		Text: "Raise the limit of the unit", Where: "the unit, as systemctl edit opens it",
		Code: fmt.Sprintf("[Service]\nTasksMax=%.0f", wanted),
		Note: "In a container: --pids-limit.", Risk: kasoku.RiskAppRestart, Lang: "ini",
	}
	if t.group == "" || t.refused.By <= 0 && t.ratio() < tasksNear {
		raise = accountFix(c)
	}
	return []kasoku.Fix{raise, {
		Text: "Start fewer: a bounded pool of workers instead of a process or a thread for each request",
		Risk: kasoku.RiskNone,
		Note: "At " + unit.Count(tasksWanted) + " tasks each more one mostly waits for CPU.",
	}}
}

// accountFix lifts the limit of the account. It names no number: what the account is allowed
// now is not known, and any number may be less.
func accountFix(c *diagnose.Case) kasoku.Fix {
	f := kasoku.Fix{Text: "Compare ulimit -u of the service with the tasks of its account, and lift it where the service " +
		"is started", Where: "the unit, as systemctl edit opens it", Code: "[Service]\nLimitNPROC=infinity",
		Note: "It counts the tasks of the whole account.", Risk: kasoku.RiskAppRestart, Lang: "ini"}
	if m := c.Member(kasoku.RoleApplication); m != nil && m.Container != "" {
		f.Where, f.Code, f.Lang = "where the container is started", "", ""
		f.Note = "For Docker: --ulimit nproc=-1:-1. It counts the tasks of the whole account, on the host."
	}
	return f
}
