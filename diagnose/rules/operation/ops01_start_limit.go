package operation

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// StartLimit is the rule OPS-01.
type StartLimit struct{}

// Thresholds of OPS-01: what systemd allows by default.
const (
	limitBurst   = 5
	limitSeconds = 10
)

// ID returns OPS-01.
func (StartLimit) ID() string { return "OPS-01" }

// Doc describes the rule.
func (StartLimit) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a service that ends because it is refused a connection at its start, until its
			supervisor gives it up.`,
		Evidence: `the log has, in systemd's words, at least 5 exits of the main process within 10 s, or a
			start request that was repeated too quickly; or a unit's result is start-limit-hit. Within 10 s
			of that the same log has a refused connection for each exit, or 5. That log is the unit's
			journal, for only that has both.`,
		Cause: `the service is started before what it needs, as after the reboot of two hosts, and ends
			instead of trying again. systemd gives a unit up after 5 starts in 10 s, and nothing starts it
			later.`,
		Fix: `try again with growing pauses in the service; a higher StartLimitBurst is a stop-gap.`,
		Silent: `when the process does not end, or was refused less often than it ended; blind without an
			application's log.`,
	}
}

// exits are what a log and a supervisor say of a service that does not stay up.
type exits struct {
	unit     string
	path     string         // of the log that says so
	most     uint64         // exits in limitSeconds
	seconds  map[int]uint64 // exits
	ended    []*kasoku.Message
	refused  []*kasoku.Message // of the same log
	refusals uint64            // the most of them in limitSeconds, near exits
	given    *kasoku.Message   // the supervisor's word that it gives up
	state    string            // of the unit: failed (start-limit-hit)
}

// Check looks for a service that was given up.
func (r StartLimit) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	x := exitsOf(c)
	hit := x.given != nil || strings.Contains(x.state, "start-limit-hit")
	switch {
	case !c.Lines().HasAppLog() && x.state == "":
		return nil, diagnose.Blind(r.ID(), errors.New(c.Lines().NoLog("applog")))
	case len(x.ended) == 0 && !hit && len(x.refused) > 0:
		return nil, diagnose.Quiet(r.ID(), 0, "connections were refused %s times, and no process ended of it",
			unit.Count(countLines(x.refused)))
	case len(x.ended) == 0 && !hit:
		return nil, diagnose.Quiet(r.ID(), 0, "no log says that a process ended, and no connection was refused")
	case x.most < limitBurst && !hit:
		return nil, diagnose.Quiet(r.ID(), float64(x.most)/limitBurst,
			"at most %d exits of a process in %d s; the threshold is %d", x.most, limitSeconds, limitBurst)
	case !x.together() && len(x.ended) == 0:
		return nil, diagnose.Quiet(r.ID(), 0.5, "%s was given up, and no log shows that a refused connection is why",
			x.unit)
	case !x.together():
		return nil, diagnose.Quiet(r.ID(), 0.5, "a process ended %s times, and was refused a connection %s times in "+
			"%d s of that: nothing says that it ended of it", unit.Count(countLines(x.ended)), unit.Count(x.refusals), limitSeconds)
	}
	title := fmt.Sprintf("%s ends when it is refused a connection", wording.Capital(wording.Cut(x.unit, 30)))
	if hit {
		title = fmt.Sprintf("%s is given up after its start was refused", wording.Capital(wording.Cut(x.unit, 28)))
	}
	return []kasoku.Finding{{
		ID: r.ID(), Object: kasoku.Object{Kind: "unit", Name: x.unit}, Title: title, Severity: kasoku.Problem,
		Confidence: diagnose.Confidence(
			diagnose.Signal{Holds: x.refusals > 0, Lacks: "no refused connection in the log"},
			diagnose.Signal{Holds: x.most >= limitBurst, Lacks: fmt.Sprintf("fewer than %d exits in %d s", limitBurst,
				limitSeconds)},
			diagnose.Signal{Holds: hit, Lacks: "its supervisor has not given it up"}),
		Impact:   kasoku.Impact{Of: "of requests after a reboot"},
		Evidence: r.evidence(c, x),
		Cause: fmt.Sprintf("%s needs something that did not answer yet when it was started, and ends instead of trying "+
			"again. systemd starts a unit at most %d times in %d s; then it stays down, and after a reboot no one is "+
			"there to start it.",
			wording.Capital(x.unit), limitBurst, limitSeconds),
		Fixes: []kasoku.Fix{
			language.Snippet(c, kasoku.Fix{Text: "Try again with growing pauses when the connection is refused at the start",
				Where: "where the database is opened", Risk: kasoku.RiskAppRestart,
			}, language.Go, "for wait := 100 * time.Millisecond; db.PingContext(ctx) != nil; wait = min(2*wait, 2*time.Second) {\n\ttime.Sleep(wait)\n}"),
			{Text: "As a stop-gap, let the supervisor start it again for longer", Where: "systemctl edit " + x.unit,
				Risk: kasoku.RiskNone, Lang: "ini",
				Code: "[Unit]\nStartLimitBurst=999\n\n[Service]\nRestart=on-failure\nRestartSec=1"},
		},
		Expect: "no exit while what it needs is down", Verify: "`kasoku finalize` starts the units in the wrong order",
		Interval: c.Whole(),
	}}, nil
}

// exitsOf reads the log's messages of the whole run: a service is restarted
// before a load begins.
func exitsOf(c *diagnose.Case) exits {
	x := mostExits(c)
	for _, s := range c.Settings {
		if s.Scope == capture.ScopeUnit && strings.Contains(s.Value, "start-limit-hit") &&
			(x.path == "" || strings.TrimSuffix(x.unit, ".service") == strings.TrimSuffix(s.Name, ".service")) {
			x.unit, x.state = s.Name, s.Value
		}
	}
	byPath := map[string]map[int]uint64{}
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Kind == kasoku.MessageBenchmark || !isRefused(m) || x.path != "" && m.Path != x.path {
			continue
		}
		x.refused = append(x.refused, m)
		if byPath[m.Path] == nil {
			byPath[m.Path] = map[int]uint64{}
		}
		addSeconds(byPath[m.Path], m)
	}
	for _, refused := range byPath {
		maps.DeleteFunc(refused, func(s int, _ uint64) bool { return x.path != "" && !x.near(s) })
		x.refusals = max(x.refusals, mostWithin(refused))
	}
	return x
}

// mostExits returns the exits of the unit that was given up, else of the one with the most of them
// in a short time. A log may have several units.
func mostExits(c *diagnose.Case) exits {
	var all []exits
	for i := range c.Messages {
		m := &c.Messages[i]
		ended := strings.Contains(m.Sample, ": Main process exited, code=")
		if m.Kind == kasoku.MessageBenchmark || !ended && !strings.Contains(m.Sample, ": Start request repeated too quickly") {
			continue
		}
		name := unitOf(m.Sample)
		at := slices.IndexFunc(all, func(x exits) bool { return x.path == m.Path && x.unit == name })
		if at < 0 {
			at, all = len(all), append(all, exits{unit: name, path: m.Path, seconds: map[int]uint64{}})
		}
		if x := &all[at]; ended {
			x.ended = append(x.ended, m)
			addSeconds(x.seconds, m)
			x.most = mostWithin(x.seconds)
		} else {
			x.given = m
		}
	}
	best := exits{unit: "the service"}
	for i, x := range all {
		given, before := x.given != nil, best.given != nil
		if i == 0 || given && !before || given == before && x.most > best.most {
			best = x
		}
	}
	return best
}

// near reports whether the process ended, or was given up, within limitSeconds of a second.
func (x exits) near(second int) bool {
	if x.given != nil && abs(second-int(x.given.First.Seconds())) <= limitSeconds {
		return true
	}
	for s := range x.seconds {
		if abs(second-s) <= limitSeconds {
			return true
		}
	}
	return false
}

// together reports whether what ended was refused as often as it takes to be given up, or each
// time that is seen.
func (x exits) together() bool {
	want := uint64(limitBurst)
	if n := countLines(x.ended); n > 0 || x.given != nil {
		want = min(want, max(n, 1))
	}
	return x.refusals >= want
}

// addSeconds counts the lines of a class by the second.
func addSeconds(to map[int]uint64, m *kasoku.Message) {
	for s, n := range m.Seconds {
		to[s] += n
	}
	if len(m.Seconds) == 0 && m.Last-m.First < limitSeconds*1e9 {
		to[int(m.First.Seconds())] += m.Count
	}
}

// mostWithin returns the most lines in limitSeconds.
func mostWithin(seconds map[int]uint64) (most uint64) {
	for from := range seconds {
		var n uint64
		for s, k := range seconds {
			if s >= from && s < from+limitSeconds {
				n += k
			}
		}
		most = max(most, n)
	}
	return most
}

func abs(n int) int { return max(n, -n) }

// isRefused reports whether a line says that nothing listened: the words of Linux,
// of the MySQL clients' errors 2002 and 2003, and of Node.
func isRefused(m *kasoku.Message) bool {
	return wording.ContainsFold(m.Sample, "connection refused", "can't connect to mysql server",
		"can't connect to local mysql server",
		"can't connect to mariadb server", "can't connect to server on", "can't connect to local server",
		"econnrefused")
}

// unitOf returns the unit that a supervisor's line is about.
func unitOf(line string) string {
	for _, words := range []string{": Main process exited", ": Start request repeated"} {
		if head, _, ok := strings.Cut(line, words); ok {
			fields := strings.Fields(head)
			if len(fields) > 0 {
				return fields[len(fields)-1]
			}
		}
	}
	return "the service"
}

func (StartLimit) evidence(c *diagnose.Case, x exits) []kasoku.Evidence {
	line := func(m *kasoku.Message, strong bool) kasoku.Evidence {
		return kasoku.Evidence{
			Source: "app.log", Text: wording.Cut(diagnose.Said{Message: m}.Text(), 120),
			Note: "first " + c.Wall(m.First).Format("15:04:05"), Value: "× " + unit.Count(m.Count),
			Number: float64(m.Count), Strong: strong, Interval: kasoku.Interval{From: m.First, To: m.Last},
		}
	}
	var out []kasoku.Evidence
	for i, m := range x.refused {
		if i < 2 {
			out = append(out, line(m, true))
		}
	}
	for i, m := range x.ended {
		if i < 2 {
			out = append(out, line(m, true))
		}
	}
	if x.most > 0 {
		out = append(out, kasoku.Evidence{Source: "app.log", Text: fmt.Sprintf("exits of the process within %d s",
			limitSeconds), Value: unit.Count(x.most), Number: float64(x.most), Strong: true, Interval: c.Whole()})
	}
	if x.given != nil {
		out = append(out, line(x.given, true))
	}
	if x.state != "" {
		out = append(out, kasoku.Evidence{Source: "unit", Text: x.unit, Value: x.state, Strong: true})
	}
	return out
}

func countLines(ms []*kasoku.Message) (n uint64) {
	for _, m := range ms {
		n += m.Count
	}
	return n
}
