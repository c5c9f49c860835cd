package limit

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/process"
)

// Files is the rule OS-01.
type Files struct{}

// Thresholds of OS-01.
const (
	filesUsed = 0.95
	// filesWanted is what the units of busy servers have, systemd's default hard
	// limit.
	filesWanted = 524288
)

// tooManyFiles are the words of EMFILE and ENFILE, in lower case.
var tooManyFiles = []string{"too many open files", "emfile", "enfile"}

// ID returns OS-01.
func (Files) ID() string { return "OS-01" }

// Doc describes the rule.
func (Files) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a process that has as many files open as it may.`,
		Evidence: `a log says "too many open files", or the open descriptors of a process of the service
			reached 95 % of its soft limit (RLIMIT_NOFILE). A process is named at that, or from half of it
			on where the log is its own.`,
		Cause: `each connection, in and out, is a descriptor; the limit is that of a login shell, 1,024,
			or of a unit without LimitNOFILE.`,
		Fix: `raise the limit where the process or its container is started; for nginx also
			worker_rlimit_nofile. Where the log says that the system has too many, or inotify, the limits of
			the kernel: fs.file-max, fs.inotify.max_user_instances.`,
		Silent: `when no log says so and every process of the service that was recorded stayed
			below; blind when neither a log nor descriptors of the service were recorded.`,
	}
}

// openFiles is what a run says about descriptors.
type openFiles struct {
	said        []diagnose.Said
	instance    string // of the process that is nearest to its limit, empty when none was recorded
	used, limit float64
	keys        []kasoku.Key
	member      *kasoku.Member // of the process, else that whose log says so; nil when it is not known
	own         bool           // whether the log is the member's whose process is nearest to its limit
	what        ranOut
}

// A ranOut is what there is too little of.
type ranOut int

const (
	filesOfProcess     ranOut = iota
	filesOfSystem             // ENFILE
	instancesOfAccount        // inotify_init's EMFILE
)

// ranOutOf reads it from a line.
func ranOutOf(m *kasoku.Message) ranOut {
	switch {
	case wording.ContainsFold(m.Sample, "inotify"):
		return instancesOfAccount
	case wording.ContainsFold(m.Sample, "open files in system", "enfile"):
		return filesOfSystem
	}
	return filesOfProcess
}

func openFilesOf(c *diagnose.Case) openFiles {
	var o openFiles
	says := func(m *kasoku.Message) bool { return !m.SQL && wording.ContainsFold(m.Sample, tooManyFiles...) }
	o.said = append(c.Lines().Said(says), c.Lines().SaidBy(kasoku.MessageNginx, says)...)
	if len(o.said) > 0 {
		o.what = ranOutOf(o.said[0].Message)
	}
	if slices.ContainsFunc(o.said, func(s diagnose.Said) bool { return ranOutOf(s.Message) == filesOfProcess }) {
		o.what = filesOfProcess
	}
	o.said = slices.DeleteFunc(o.said, func(s diagnose.Said) bool { return ranOutOf(s.Message) != o.what })
	for _, s := range c.FindAll(diagnose.Process, process.FDsLimit) {
		k := s.Key
		k.Name = process.FDs
		limit, err := c.Counters().Gauge(s.Key)
		used, err2 := c.Counters().Gauge(k)
		if err != nil || err2 != nil || limit.Min <= 0 || used.Max < 0 || c.Processes().MemberOf(k) == nil {
			continue
		}
		if o.instance == "" || used.Max/limit.Min > o.used/o.limit {
			o.instance, o.used, o.limit, o.keys = s.Key.Instance, used.Max, limit.Min, []kasoku.Key{k}
			o.member = c.Processes().MemberOf(k)
		}
	}
	if o.what != filesOfProcess && o.ratio() >= filesUsed { // of which the kernel speaks in the same words
		o.what, o.said = filesOfProcess, nil
	}
	o.own = o.member != nil && o.saidBy(c, o.member)
	if o.named() || c.Service == nil {
		return o
	}
	o.member = nil
	for i := range c.Service.Members {
		if m := &c.Service.Members[i]; m.Sure != kasoku.Low && o.saidBy(c, m) {
			o.member = m
		}
	}
	return o
}

// saidBy reports whether a line that says so is a member's.
func (o openFiles) saidBy(c *diagnose.Case, m *kasoku.Member) bool {
	return slices.ContainsFunc(o.said, func(s diagnose.Said) bool { return writes(c, s.Message, m) })
}

// writes reports whether a log's line is of a member: it has the file open, or it is the only one
// of the role that such a log is of.
func writes(c *diagnose.Case, line *kasoku.Message, m *kasoku.Member) bool {
	if slices.Contains(m.Logs, line.Path) {
		return true
	}
	role := kasoku.RoleApplication
	if line.Kind == kasoku.MessageNginx {
		role = kasoku.RoleWeb
	}
	return m.Role == role && len(c.Service.Of(role)) == 1
}

// named reports whether the process that is nearest to its limit is what ran out of files: one
// that has half of them is not, when another's log says so.
func (o openFiles) named() bool {
	if o.what != filesOfProcess {
		return false
	}
	return o.ratio() >= filesUsed || o.own && o.ratio() >= filesUsed/2
}

func (o openFiles) ratio() float64 {
	if o.limit <= 0 {
		return 0
	}
	return o.used / o.limit
}

func (o openFiles) lines() (n uint64) {
	for _, m := range o.said {
		n += m.Count
	}
	return n
}

// name is that of the process, without its number.
func (o openFiles) name() string {
	_, name, _ := strings.Cut(o.instance, " ")
	return name
}

// Check looks for refused descriptors.
func (r Files) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	o := openFilesOf(c)
	switch {
	case len(o.said) > 0 || o.ratio() >= filesUsed:
	case o.instance == "" && !c.Lines().HasAppLog():
		return nil, diagnose.Blind(r.ID(),
			errors.New("neither an application's log nor open files of a process were recorded"))
	case o.instance == "":
		return nil, diagnose.Quiet(r.ID(), 0,
			"no log says that files ran out; open files of processes were not recorded")
	default:
		return nil, diagnose.Quiet(r.ID(), o.ratio()/filesUsed,
			"%s had %s of %s files open, and no log says that files ran out; the threshold is %s",
			o.instance, diagnose.Whole(o.used), diagnose.Whole(o.limit), unit.Percent(filesUsed))
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "limit", Name: "open files"},
		Title: "A process runs out of open files", Clause: "open files run out",
		Severity: kasoku.Problem, Confidence: diagnose.Confidence(o.signals(c)...),
		Impact: kasoku.Impact{Share: evidence.FailedShare(c, float64(o.lines())), Of: evidence.OfRequests(c)}, Evidence: o.evidence(c),
		Cause: "Every connection, to clients and to the database, is an open file. A process that may open no more " +
			"refuses or waits.",
		Fixes: o.fixes(), Expect: "no log line says that files ran out",
		Verify:   "repeat the load: open files must stay below half of the limit",
		Explains: []string{"MES-07"}, Interval: c.Focus.Interval,
	}
	switch {
	case o.what == filesOfSystem:
		f.Title, f.Clause = "The host has as many files open as its kernel allows", "open files of the host run out"
		f.Cause = "Every connection is an open file, and the kernel bounds those of all programs of the host together."
	case o.what == instancesOfAccount:
		f.Title, f.Clause = "A program may watch no more files (inotify)", "inotify instances run out"
		f.Cause = "The kernel bounds how many inotify instances all programs of one account have. It says that in the " +
			"words for open files."
	case o.named():
		f.Object = kasoku.Object{Kind: "process", Name: o.name()}
		f.Title = fmt.Sprintf("The %s files that %s may open are not enough", diagnose.Whole(o.limit),
			wording.Cut(o.name(), 30))
		f.Clause = fmt.Sprintf("%s runs out of open files at %s", o.name(), diagnose.Whole(o.limit))
		f.Cause = fmt.Sprintf("The process %s had %s of %s files open. %s", o.name(), diagnose.Whole(o.used),
			diagnose.Whole(o.limit), f.Cause)
	}
	if len(o.said) > 0 && !o.named() && o.said[0].Path != "" {
		f.Object = kasoku.Object{Kind: "log", Name: path.Base(o.said[0].Path)}
	}
	if len(o.said) == 0 {
		f.Impact = kasoku.Impact{Of: evidence.Unmeasured, Estimate: true}
	}
	return []kasoku.Finding{f}, nil
}

func (o openFiles) signals(c *diagnose.Case) []diagnose.Signal {
	said := diagnose.Signal{Holds: len(o.said) > 0, Lacks: "no log says that files ran out"}
	if !c.Lines().HasAppLog() {
		said.Blind = c.Lines().NoLog("applog")
	}
	full := diagnose.Signal{Holds: o.ratio() >= filesUsed,
		Lacks: "no process was seen at its limit; between two samples it may have been"}
	switch {
	case o.what != filesOfProcess:
		full.Blind = "what the kernel has in use of it was not recorded"
	case o.instance == "":
		full.Blind = "open files of processes were not recorded"
	}
	return []diagnose.Signal{said, full}
}

func (o openFiles) evidence(c *diagnose.Case) []kasoku.Evidence {
	var out []kasoku.Evidence
	for i, m := range o.said {
		if i < 2 {
			out = append(out, c.Quote().Quoted(m, true))
		}
	}
	if o.named() {
		out = append(out, kasoku.Evidence{
			Source: "process", Text: "open files of " + o.name(), Note: "of " + diagnose.Whole(o.limit),
			Value: diagnose.Whole(o.used), Number: o.used,
			Strong: o.ratio() >= filesUsed, Series: o.keys, Interval: c.Focus.Interval,
		})
	}
	return out
}

// fixes raise the limit. A process that leaks meets any limit.
func (o openFiles) fixes() []kasoku.Fix {
	switch o.what {
	case filesOfSystem:
		return []kasoku.Fix{{Text: "Look whose files these are, then raise fs.file-max", Where: "/etc/sysctl.d",
			Risk: kasoku.RiskNone,
			Note: "sysctl fs.file-nr prints how many are open and allowed. The limit is that of all programs of the " +
				"host; the limit of one process, LimitNOFILE, has no part in it."}}
	case instancesOfAccount:
		return []kasoku.Fix{{Text: "Let the account have more inotify instances",
			Where: "a file in /etc/sysctl.d, then sysctl --system",
			Code:  "fs.inotify.max_user_instances = 1024", Lang: "ini", Risk: kasoku.RiskNone,
			Note: "The kernel's own value is 128. The limit of open files has no part in it, unless the program " +
				"is at that too."}}
	}
	wanted := float64(filesWanted)
	if o.named() {
		wanted = max(wanted, 2*o.limit)
	}
	out := []kasoku.Fix{{
		Text: "Raise the limit where the process is started", Where: "the unit, as systemctl edit opens it",
		Code: fmt.Sprintf("[Service]\nLimitNOFILE=%.0f", wanted),
		Note: "Without systemd: ulimit -n in the script that starts it. If open files grow while the rate does not, " +
			"they are never closed, and a larger limit only delays the end.",
		Risk: kasoku.RiskAppRestart, Lang: "ini",
	}}
	if o.member != nil && o.member.Container != "" {
		out[0].Text = "Raise the limit where the container is started"
		out[0].Where = "docker run; ulimits, nofile, of a compose file"
		out[0].Code, out[0].Lang = fmt.Sprintf("--ulimit nofile=%.0f", wanted), ""
		out[0].Note = "A unit's LimitNOFILE has no effect on it. If open files grow while the rate does not, they " +
			"are never closed, and a larger limit only delays the end."
	}
	nginx := o.named() && strings.HasPrefix(o.name(), "nginx")
	for _, m := range o.said {
		nginx = nginx || wording.ContainsFold(m.Path, "nginx") || wording.ContainsFold(m.Sample, "worker_connections",
			"accept4() failed")
	}
	if nginx {
		out = append(out, kasoku.Fix{Text: "Let nginx's workers use it", Where: "nginx.conf, main",
			Code: "worker_rlimit_nofile 65535;", Risk: kasoku.RiskNone, Lang: "nginx"})
	}
	return out
}
