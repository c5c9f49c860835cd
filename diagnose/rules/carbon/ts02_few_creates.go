package carbon

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
)

// FewCreates is the rule TS-02.
type FewCreates struct{}

// ID returns TS-02.
func (FewCreates) ID() string { return "TS-02" }

// Doc describes the rule.
func (FewCreates) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a carbon that throws away the points of new series, since its setting allows few of them a
			minute.`,
		Evidence: `the server reports creates that it dropped (droppedCreates, of go-carbon persister.throttledCreates),
			each with all points of the series that waited.`,
		Cause: `MAX_CREATES_PER_MINUTE, as shipped 50, of go-carbon max-creates-per-second: the points of other new
			series are thrown away until it is their turn.`,
		Fix: `no limit, or a higher one, at least while many series are new.`,
		Silent: `when it dropped none; blind when no carbon reports of itself, or one that does not report dropped
			creates.`,
	}
}

// Check looks at each server.
func (r FewCreates) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	return check(c, r.ID(), fewReports, r.look)
}

func (r FewCreates) look(s *server) (*kasoku.Finding, kasoku.Silence) {
	if s.sum(dropped) == 0 {
		return nil, quiet(r.ID(), 0, "%s dropped no creates", s.name)
	}
	f := r.finding(s)
	return &f, kasoku.Silence{}
}

func (r FewCreates) finding(s *server) kasoku.Finding {
	perMinute, gone := s.perSec(created)*60, s.perSec(dropped)*60
	line := "MAX_CREATES_PER_MINUTE = inf"
	did := "throws the points of others away"
	if s.ofGo { // go-carbon throws away with hard-max-creates-per-second alone
		line, did = "max-creates-per-second = 0", "puts off or throws away the points of others"
	}
	lost, wrote := 0.0, ""
	if len(s.values(committed)) > 0 {
		lost = min(max(1-(s.mean(committed)+s.growth())/max(s.mean(received), 1), 0), 1)
		wrote = fmt.Sprintf("Of the points that it received it wrote %s.",
			unit.Percent(s.mean(committed)/max(s.mean(received), 1)))
	}
	return kasoku.Finding{
		ID: r.ID(), Object: s.object(),
		Title:    fmt.Sprintf("%s creates %s series a minute and %s", s.name, diagnose.Whole(perMinute), did),
		Clause:   fmt.Sprintf("carbon creates %s series a minute and %s", diagnose.Whole(perMinute), did),
		Severity: kasoku.Problem, Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}),
		Impact: kasoku.Impact{Share: lost, Of: "of the points received, which are thrown away"},
		Evidence: []kasoku.Evidence{
			s.quote(dropped, "creates dropped", diagnose.Whole(gone)+" a minute", gone),
			s.quote(created, "series created", unit.Sig3(perMinute)+" a minute", perMinute),
			s.quote(waiting, "series with points in the cache, most", diagnose.Whole(s.most(waiting)), s.most(waiting)),
		},
		Cause: fmt.Sprintf("%s creates %s series a minute, and %s: creates were dropped %s times a "+
			"minute, each with all points of a series that waited. %s%s", s.name, unit.Sig3(perMinute), did,
			diagnose.Whole(gone), s.rest(perMinute), wrote),
		Fixes: []kasoku.Fix{{
			Text: "Take the limit of new series away", Code: line, Lang: "ini", Where: s.file(), Risk: kasoku.RiskRestart,
			Note: "In section [" + s.section() + "], and a restart. Each new series makes a file of the size that " +
				"storage-schemas.conf gives it: the disk needs room for all of them.",
		}},
		Expect: "all series exist, and no point is thrown away", Verify: "repeat it: droppedCreates must stay 0",
		Interval: s.loaded,
	}
}

// rest is how long the series that wait take at that rate; empty where none is seen to wait.
func (s *server) rest(perMinute float64) string {
	n := s.most(waiting)
	if n <= 0 || perMinute <= 0 {
		return ""
	}
	takes := time.Duration(n / perMinute * float64(time.Minute)).Round(time.Minute)
	if takes > 365*24*time.Hour || takes <= 0 {
		return ""
	}
	return fmt.Sprintf("Up to %s series waited at once: at that rate so many take %s. ", diagnose.Whole(n),
		unit.Elapsed(takes))
}

// growth is by how much the cache grew in an interval, at least nothing.
func (s *server) growth() float64 {
	v := s.values(cached)
	if len(v) < 2 {
		return 0
	}
	return max((v[len(v)-1]-v[0])/float64(len(v)-1), 0)
}
