package operation

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// TimeZone is the rule OPS-03.
type TimeZone struct{}

// quarter is what zones differ by at least.
const quarter = 15 * time.Minute

// scopeClock is the scope of the settings that say in which zone a clock is.
const scopeClock = "clock"

// ID returns OPS-03.
func (TimeZone) ID() string { return "OPS-03" }

// Doc describes the rule.
func (TimeZone) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds logs and databases in another time zone than the host's clock.`,
		Evidence: `the zone in which an access log is written, as the times of its lines and the moments
			at which they were seen to be written show, or the zone of the database's own times; either
			differs from the host's.`,
		Cause: `an image, a TZ variable or a setting of the server that differs from the host's: times of
			two sources that are read side by side are hours apart.`,
		Fix: `kasoku has put the times right; give the service or the database that differs the host's
			zone, so that people need not. The host's own stays: other programs live by it.`,
		Silent: `when all are in one zone; it says how far a log's times are off where no zone explains
			it. Blind when zones were not recorded.`,
	}
}

// Check compares the zones with the host's.
func (r TimeZone) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	host, ok := c.Setting(scopeClock, "host")
	var foreign []kasoku.Setting
	var off time.Duration
	seen := 0
	for _, s := range c.Settings {
		if s.Scope != scopeClock || s.Name == "host" {
			continue
		}
		if strings.HasSuffix(s.Name, " off by") {
			if d, err := time.ParseDuration(s.Value); err == nil {
				off = max(off, d.Abs())
			}
			continue
		}
		seen++
		if s.Value != host {
			foreign = append(foreign, s)
		}
	}
	switch {
	case !ok || seen == 0:
		return nil, diagnose.Blind(r.ID(), errors.New("the time zones of logs and database were not recorded"))
	case len(foreign) == 0 && off > 0:
		return nil, diagnose.Quiet(r.ID(), off.Seconds()/quarter.Seconds(),
			"the times of a log are off by %s, which no time zone explains: is it of another machine, whose clock "+
				"is wrong?", off)
	case len(foreign) == 0:
		return nil, diagnose.Quiet(r.ID(), 0, "logs and database are in the host's time zone, %s", host)
	}
	return []kasoku.Finding{r.finding(c, host, foreign)}, nil
}

func (r TimeZone) finding(c *diagnose.Case, host string, foreign []kasoku.Setting) kasoku.Finding {
	first := foreign[0]
	evidence := []kasoku.Evidence{{Source: "host", Text: "time zone of the host's clock", Value: host, Strong: true}}
	var fixes []kasoku.Fix
	for _, s := range foreign {
		source, text := "access", "times in "+filepath.Base(s.Name)
		if s.Name == "database" {
			source, text = "var", "times of "+c.Server()+", NOW()"
			fixes = append(fixes, databaseZone(host))
		} else if fix := logZone(c, s); !sameWhere(fixes, fix) {
			fixes = append(fixes, fix)
		}
		evidence = append(evidence, kasoku.Evidence{Source: source, Text: text, Value: s.Value, Strong: true,
			Interval: c.Whole()})
	}
	if name, ok := c.Setting("mysql", "system_time_zone"); ok {
		zone, _ := c.Setting("mysql", "time_zone")
		evidence = append(evidence, kasoku.Evidence{Source: "var", Text: "system_time_zone, time_zone",
			Value: name + ", " + zone})
	}
	what := "The access log is"
	if first.Name == "database" {
		what = "The database is"
	}
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "clock", Name: filepath.Base(first.Name)},
		Title: fmt.Sprintf("%s in %s, the host in %s; put right here", what, first.Value, host), Severity: kasoku.Info,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}), Evidence: evidence,
		Cause: "Times of these sources are hours apart though they mean the same moment. kasoku has placed their lines " +
			"on the run's clock; who reads the files beside each other has to do it in their head.",
		Fixes: fixes, Expect: "one zone", Verify: "the next run says nothing of zones", Interval: c.Whole(),
	}
}

// databaseZone is how a database takes the host's zone.
func databaseZone(host string) kasoku.Fix {
	return kasoku.Fix{Text: "Give the database the host's zone, by its name: default_time_zone", Where: "my.cnf",
		Risk: kasoku.RiskSemantics,
		Note: "timedatectl prints the name. The server knows names once mysql_tzinfo_to_sql has filled its tables, and " +
			"does not start with one that it does not know. The difference of now, " + host + ", may be wrong after " +
			"the clocks change. Values of DATETIME stay as they are written; only NOW() and TIMESTAMP change. Check " +
			"what the application compares them with."}
}

// logZone is how the service that writes a log takes the host's zone. The host keeps its own:
// NOW() of databases, cron and timers of others on it go by that.
func logZone(c *diagnose.Case, log kasoku.Setting) kasoku.Fix {
	f := kasoku.Fix{
		Text:  "Give the service that writes " + filepath.Base(log.Name) + " the host's zone, by its name: TZ",
		Where: "the environment of what writes " + filepath.Base(log.Name), Risk: kasoku.RiskSemantics,
		Note: "timedatectl prints the name; an image needs its tzdata for it. The service takes it at its next start. " +
			"What else the service writes or compares as local time moves with it: check that before. Leave the host's " +
			"zone as it is."}
	switch m := writerOf(c, log); {
	case m == nil:
	case m.Container != "":
		f.Where = "where the container of " + m.Program + " is started: environment of a compose file, docker run -e"
	case m.Unit != "":
		f.Where = "systemctl edit " + m.Unit + ": Environment= below [Service]"
	}
	return f
}

// sameWhere reports whether there is a fix for the same service.
func sameWhere(fixes []kasoku.Fix, fix kasoku.Fix) bool {
	return slices.ContainsFunc(fixes, func(f kasoku.Fix) bool { return f.Where == fix.Where })
}

// writerOf returns the member that writes a log, nil when that is not known.
func writerOf(c *diagnose.Case, log kasoku.Setting) *kasoku.Member {
	if c.Service == nil {
		return nil
	}
	for i := range c.Service.Members {
		m := &c.Service.Members[i]
		if m.Sure != kasoku.Low && (m.Host == log.Host || m.Host == "" || log.Host == "") &&
			slices.Contains(m.Logs, log.Name) {
			return m
		}
	}
	return nil
}
