package carbon

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// FullCache is the rule TS-06.
type FullCache struct{}

// ID returns TS-06.
func (FullCache) ID() string { return "TS-06" }

// Doc describes the rule.
func (FullCache) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary:  `finds a carbon whose cache is full: it stops to read, and drops points.`,
		Evidence: `the server reports points that had no room in its cache (cache.overflow).`,
		Cause: `MAX_CACHE_SIZE, of go-carbon max-size, is reached, since less is written than is received. With
			USE_FLOW_CONTROL carbon reads no more until a twentieth of it is free, and who sends waits.`,
		Fix:    `first what keeps it from writing, the limit of writes or the disk; else a larger cache.`,
		Silent: `when all points had room; blind when no carbon reports of itself.`,
	}
}

// Check looks at each server.
func (r FullCache) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	return check(c, r.ID(), 1, r.look) // a full cache drops what the server reports of itself, too
}

func (r FullCache) look(s *server) (*kasoku.Finding, kasoku.Silence) {
	if s.sum(overflow) == 0 {
		return nil, quiet(r.ID(), 0, "the cache of %s had room for all points", s.name)
	}
	f := r.finding(s)
	return &f, kasoku.Silence{}
}

func (r FullCache) finding(s *server) kasoku.Finding {
	full, lost := s.most(cached), s.sum(overflow)
	line, setting := "MAX_CACHE_SIZE = inf", "MAX_CACHE_SIZE"
	if s.ofGo {
		line, setting = "max-size = 0", "max-size"
	}
	at, upTo := "", ""
	if full > 0 { // its size was reported
		at = fmt.Sprintf(" at %s points", diagnose.Whole(full))
		upTo = fmt.Sprintf(": its cache held up to %s when it reported", diagnose.Whole(full))
	}
	share := min(lost/max(s.sum(received), lost, 1), 1)
	return kasoku.Finding{
		ID: r.ID(), Object: s.object(),
		Title:    fmt.Sprintf("The cache of %s is full%s", s.name, at),
		Clause:   fmt.Sprintf("carbon's cache is full%s, and it stops to read", at),
		Severity: kasoku.Problem, Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}),
		Impact: kasoku.Impact{Share: share, Of: "of the points received, which had no room"},
		Evidence: []kasoku.Evidence{
			s.quote(overflow, "points without room", diagnose.Whole(lost), lost),
			s.quote(cached, "points in the cache, most", diagnose.Whole(full), full),
			s.quote(received, "points received", diagnose.Whole(s.sum(received)), s.sum(received)),
		},
		Cause: fmt.Sprintf("%s had no room for %s of %s points that it received%s. "+
			"With flow control it also stops to read, and who sends waits. A full cache drops what the server reports of "+
			"itself, too: some of its intervals are missing.", s.name, diagnose.Whole(lost), diagnose.Whole(s.sum(received)),
			upTo),
		Fixes: []kasoku.Fix{{
			Text: "First what keeps it from writing; else a larger cache", Code: line, Lang: "ini", Where: s.file(),
			Risk: kasoku.RiskRestart,
			Note: setting + " in section [cache], and a restart. Without a limit the cache takes memory, some hundred " +
				"bytes a point, for as long as less is written than received.",
		}},
		Expect: "no point without room", Verify: "repeat it: cache.overflow must stay 0", Interval: s.loaded,
	}
}
