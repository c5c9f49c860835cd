package carbon

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/host"
)

// SlowUpdates is the rule TS-01.
type SlowUpdates struct{}

// lagsBy is how many times as many points as are written are received, from which on TS-01
// speaks.
const lagsBy = 2.0

// busyWriting is how much of the time writes may take until it is they that limit, and no setting.
const busyWriting = 0.5

// ID returns TS-01.
func (SlowUpdates) ID() string { return "TS-01" }

// Doc describes the rule.
func (SlowUpdates) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a carbon that writes less than half of what it receives, since its setting allows so many writes
			a second.`,
		Evidence: `what the server reports of itself in at least three intervals: it received at least twice as many
			points as it wrote, its writes were the same in each interval within 10 %, and the points in its cache
			grew. Its process used less than 0.9 of a core, and its writes, by their number and their mean time, took
			less than half of the time: it waits for its limit, not for the disk.`,
		Cause: `MAX_UPDATES_PER_SECOND, as shipped 500, of go-carbon max-updates-per-second: a write is of all points
			of a series that wait, so the cache grows until there are enough of them for each.`,
		Fix: `no limit, or a higher one; the disk is the limit then.`,
		Silent: `when it writes more than half, when its cache does not grow, when its writes differ from interval to
			interval, its writes take half of the time or more, or its process is busy; blind when no carbon reports of itself.`,
		Host: []diagnose.Pressure{diagnose.OnMemory},
	}
}

// Check looks at each server.
func (r SlowUpdates) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	return check(c, r.ID(), fewReports, r.look)
}

func (r SlowUpdates) look(s *server) (*kasoku.Finding, kasoku.Silence) {
	in, out, held := s.mean(received), s.mean(committed), s.values(cached)
	switch {
	case len(s.values(updates)) < fewReports || len(held) < fewReports:
		return nil, quiet(r.ID(), 0, "%s reported its writes and its cache fewer than %d times", s.name, fewReports)
	case len(s.values(committed)) < fewReports:
		return nil, quiet(r.ID(), 0, "%s did not report how many points it wrote", s.name)
	case in < lagsBy*out:
		return nil, quiet(r.ID(), in/max(lagsBy*out, 1), "%s wrote %s of the points that it received; the "+
			"threshold is %s", s.name, unit.Percent(out/max(in, 1)), unit.Percent(1/lagsBy))
	case held[len(held)-1] <= held[0]:
		return nil, quiet(r.ID(), 0, "the cache of %s did not grow: what it does not write does not wait there", s.name)
	case !s.flat(updates):
		return nil, quiet(r.ID(), 0, "the writes of %s were not the same in each interval: no setting holds them",
			s.name)
	case s.mean(cpu) >= busyCore:
		return nil, quiet(r.ID(), 0, "%s used %s of a core", s.name, unit.Percent(s.mean(cpu)))
	}
	if share, ok := s.writing(); ok && share >= busyWriting {
		return nil, quiet(r.ID(), min(busyWriting/share, 1), "the writes of %s took %s of the time: the disk is the "+
			"limit, or its one process, and no setting", s.name, unit.Percent(share))
	}
	f := r.finding(s)
	return &f, kasoku.Silence{}
}

// writing is how much of the time a carbon-cache wrote, by the number of its writes and their mean
// time, a new file taken for one more of them; go-carbon does not say.
func (s *server) writing() (share float64, ok bool) {
	took := s.values(writeTime)
	if len(took) < fewReports {
		return 0, false
	}
	return s.mean(writeTime) * (s.perSec(updates) + s.perSec(created)), true
}

// writingSignal is whether it had time to write more.
func (s *server) writingSignal() diagnose.Signal {
	share, ok := s.writing()
	if !ok {
		return diagnose.Signal{Blind: "the server does not report how long a write takes"}
	}
	return diagnose.Signal{Holds: share < busyWriting}
}

func (r SlowUpdates) finding(s *server) kasoku.Finding {
	rate, share := s.perSec(updates), s.mean(committed)/max(s.mean(received), 1)
	line := "MAX_UPDATES_PER_SECOND = inf"
	if s.ofGo {
		line = "max-updates-per-second = 0"
	}
	return kasoku.Finding{
		ID: r.ID(), Object: s.object(),
		Title: fmt.Sprintf("%s writes %s times a second by its setting, %s of what it receives", s.name,
			diagnose.Whole(rate), unit.Percent(share)),
		Clause:   fmt.Sprintf("carbon writes %s times a second by its setting", diagnose.Whole(rate)),
		Severity: kasoku.Problem, Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, s.idleSignal(),
			s.writingSignal()),
		Impact: kasoku.Impact{Share: min(max(1-share, 0), 1), Of: "of the points received, which wait in memory"},
		Evidence: []kasoku.Evidence{
			s.quote(received, "points received", unit.Sig3(s.perSec(received))+"/s", s.perSec(received)),
			s.quote(committed, "points written", unit.Sig3(s.perSec(committed))+"/s", s.perSec(committed)),
			s.quote(updates, "writes, the same in each interval", unit.Sig3(rate)+"/s", rate),
			s.quote(cached, "points in the cache, last", diagnose.Whole(s.last(cached)), s.last(cached)),
			s.quoteWriting(),
		},
		Cause: fmt.Sprintf("%s received %s points a second and wrote %s, with %s writes a second: a setting allows no more. "+
			"Its cache held %s points at the end, %s of what it receives%s.", s.name, unit.Sig3(s.perSec(received)),
			unit.Sig3(s.perSec(committed)), diagnose.Whole(rate), diagnose.Whole(s.last(cached)), s.waits(), s.memoryWords()),
		Fixes: []kasoku.Fix{{
			Text: "Take the limit of writes away", Code: line, Lang: "ini", Where: s.file(), Risk: kasoku.RiskRestart,
			Note: "In section [" + s.section() + "], and a restart: what waits in memory is written before it ends. The " +
				"disk is the limit then; where it is, a higher number in place of none.",
		}},
		Expect: "as many points written as received", Verify: "repeat it: the points in the cache must not grow",
		Interval: s.loaded,
	}
}

// quoteWriting is evidence of how much of the time it wrote.
func (s *server) quoteWriting() kasoku.Evidence {
	share, ok := s.writing()
	value := "not reported"
	if ok {
		value = unit.Percent(share) + " of the time"
	}
	return s.quote(writeTime, "time in writes", value, share)
}

// waits is how long the server received what waits.
func (s *server) waits() string {
	if in := s.perSec(received); in > 0 {
		return unit.Elapsed(time.Duration(s.last(cached) / in * float64(time.Second)).Round(time.Second))
	}
	return "some"
}

// section is that of the setting in the server's file.
func (s *server) section() string {
	if s.ofGo {
		return "whisper"
	}
	return "cache"
}

// memoryWords describe what the cache takes, and when the host's memory ends; empty where that
// did not grow.
func (s *server) memoryWords() string {
	v, held := s.values(memory), s.values(cached)
	if len(v) < fewReports || len(held) < 2 || v[len(v)-1] <= v[0] || held[len(held)-1] <= held[0] {
		return ""
	}
	grown := v[len(v)-1] - v[0]
	text := fmt.Sprintf("; its memory grew by %s in %s", unit.BytesIEC(uint64(grown)),
		unit.Elapsed(s.loaded.Len().Round(time.Second)))
	free := s.c.Find(kasoku.Key{Host: s.host, Source: diagnose.Host, Name: host.MemAvailable})
	if free == nil || len(free.Points) == 0 {
		return text
	}
	left := free.Points[len(free.Points)-1].Value
	if ends := left / grown * s.loaded.Len().Seconds(); left > 0 && ends < 30*86400 {
		text += ", and at that the host's memory ends in " +
			unit.Elapsed(time.Duration(ends*float64(time.Second)).Round(time.Minute))
	}
	return text
}
