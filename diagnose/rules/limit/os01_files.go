package limit

import (
	"errors"
	"fmt"
	"math"
	"path"
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
			reached 95 % of its soft limit (RLIMIT_NOFILE).`,
		Cause: `each connection, in and out, is a descriptor; the limit is that of a login shell, 1,024,
			or of a unit without LimitNOFILE.`,
		Fix: `raise the limit where the process is started; for nginx also worker_rlimit_nofile.`,
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
}

func openFilesOf(c *diagnose.Case) openFiles {
	var o openFiles
	ranOut := func(m *kasoku.Message) bool { return !m.SQL && wording.ContainsFold(m.Sample, tooManyFiles...) }
	o.said = append(c.Lines().Said(ranOut), c.Lines().SaidBy(kasoku.MessageNginx, ranOut)...)
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
		}
	}
	return o
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
	case o.ratio() >= filesUsed/2 || len(o.said) == 0:
		f.Object = kasoku.Object{Kind: "process", Name: o.name()}
		f.Title = fmt.Sprintf("The %s files that %s may open are not enough", diagnose.Whole(o.limit),
			wording.Cut(o.name(), 30))
		f.Clause = fmt.Sprintf("%s runs out of open files at %s", o.name(), diagnose.Whole(o.limit))
		f.Cause = fmt.Sprintf("The process %s had %s of %s files open. %s", o.name(), diagnose.Whole(o.used),
			diagnose.Whole(o.limit), f.Cause)
	case o.said[0].Path != "":
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
	if o.instance == "" {
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
	if o.instance != "" {
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
	out := []kasoku.Fix{{
		Text: "Raise the limit where the process is started", Where: "the unit, as systemctl edit opens it",
		Code: fmt.Sprintf("[Service]\nLimitNOFILE=%d", filesWanted),
		Note: "Without systemd: ulimit -n in the script that starts it. If open files grow while the rate does not, " +
			"they are never closed, and a larger limit only delays the end.",
		Risk: kasoku.RiskAppRestart, Lang: "ini",
	}}
	nginx := strings.HasPrefix(o.name(), "nginx")
	for _, m := range o.said {
		nginx = nginx || wording.ContainsFold(m.Path, "nginx") || wording.ContainsFold(m.Sample, "worker_connections",
			"accept4() failed")
	}
	if nginx {
		out = append(out, kasoku.Fix{Text: "Let nginx's workers use it", Where: "nginx.conf, main",
			Code: "worker_rlimit_nofile 65535;", Risk: kasoku.RiskNone, Lang: "nginx"})
	}
	if o.limit > 0 && math.Ceil(2*o.limit) > filesWanted {
		out[0].Code = fmt.Sprintf("[Service]\nLimitNOFILE=%.0f", 2*o.limit)
	}
	return out
}
