package carbon

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/graphite"
)

// LostDestination is the rule TS-08.
type LostDestination struct{}

// errNoDestinations is said where no relay is seen with those that it passes points on to.
var errNoDestinations = errors.New("no carbon-relay reports of those that it passes points on to: it is read from " +
	"the files that a cache keeps of it alone (storage)")

// ID returns TS-08.
func (LostDestination) ID() string { return "TS-08" }

// Doc describes the rule.
func (LostDestination) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a carbon-relay that drops points of one of its destinations.`,
		Evidence: `the relay reports points that it dropped, since the queue of that destination was full
			(destinations.*.fullQueueDrops), and whether there was a connection (queuedUntilConnected, sent).`,
		Cause: `the destination does not run, cannot be reached, or reads slower than it is sent; the queue has
			MAX_QUEUE_SIZE points, which is seconds. With USE_FLOW_CONTROL the relay stops to read for all destinations.`,
		Fix: `the destination first; a longer queue for as long as a restart takes.`,
		Silent: `when it dropped none; blind when no relay's files have what it reports of its destinations: their names are
			not known to who asks a cache.`,
	}
}

// A destination is one that a relay passes points on to.
type destination struct {
	host, key, relay, name string
}

// destinationsOf returns those of which anything was reported.
func destinationsOf(c *diagnose.Case) (out []destination) {
	for _, name := range []string{graphite.ToAttempted, graphite.ToSent, graphite.ToFullQueueDrops} {
		for _, s := range c.FindAll(graphite.Name, name) {
			relay, to, ok := strings.Cut(s.Key.Instance, " to ")
			d := destination{s.Key.Host, s.Key.Instance, relay, to}
			if ok && len(s.Points) > 0 && !slices.Contains(out, d) && len(out) < mostServers {
				out = append(out, d)
			}
		}
	}
	slices.SortFunc(out, func(a, b destination) int { return cmp.Compare(a.host+a.key, b.host+b.key) })
	return out
}

// of is the sum of a count of the destination, in which time, and its series.
func (d *destination) of(c *diagnose.Case, name string) (sum float64, s *kasoku.Series) {
	s = c.Find(kasoku.Key{Host: d.host, Source: graphite.Name, Name: name, Instance: d.key})
	if s == nil {
		return 0, nil
	}
	for _, p := range s.Points {
		if p.Value > 0 {
			sum += p.Value
		}
	}
	return sum, s
}

// Check looks at each destination of each relay.
func (r LostDestination) Check(c *diagnose.Case) (found []kasoku.Finding, silent []kasoku.Silence) {
	all := destinationsOf(c)
	if len(all) == 0 {
		return nil, diagnose.Blind(r.ID(), errNoDestinations)
	}
	for _, d := range all {
		if lost, s := d.of(c, graphite.ToFullQueueDrops); lost > 0 {
			found = append(found, r.finding(c, d, lost, s))
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	return nil, diagnose.Quiet(r.ID(), 0, "no point was dropped, of %s destinations of relays",
		unit.Count(len(all)))
}

func (r LostDestination) finding(c *diagnose.Case, d destination, lost float64, drops *kasoku.Series) kasoku.Finding {
	sent, _ := d.of(c, graphite.ToSent)
	alone, lone := d.of(c, graphite.ToQueuedConnected)
	attempted, tried := d.of(c, graphite.ToAttempted)
	if tried == nil {
		attempted = sent + lost
	}
	share := min(lost/max(attempted, lost, 1), 1)
	in := kasoku.Interval{From: drops.Points[0].At, To: drops.Points[len(drops.Points)-1].At}
	rate := unit.Count(int64(lost)) + " points"
	if every := apart(drops.Points); every > 0 { // each report is of the interval before it
		rate = unit.Sig3(lost/(every.Seconds()*float64(len(drops.Points)))) + " points a second"
	}
	why := "reads slower than it is sent"
	if alone > 0 && sent == 0 {
		why = "is not connected"
	}
	name := wording.Cut(d.name, 60)
	evidence := []kasoku.Evidence{{Source: graphite.Name, Text: "points dropped, its queue full",
		Value: diagnose.Whole(lost), Number: lost, Strong: true, Interval: in, Series: []kasoku.Key{drops.Key}}}
	for _, e := range []struct {
		text  string
		value float64
		s     *kasoku.Series
	}{{"points to pass on", attempted, tried}, {"points that came without a connection", alone, lone}} {
		if e.s != nil {
			evidence = append(evidence, kasoku.Evidence{Source: graphite.Name, Text: e.text, Value: diagnose.Whole(e.value),
				Number: e.value, Strong: true, Interval: in, Series: []kasoku.Key{e.s.Key}})
		}
	}
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "relay", Name: wording.Cut(d.relay+" to "+d.name, 90)},
		Title:    fmt.Sprintf("%s drops %s for %s, which %s", d.relay, rate, name, why),
		Clause:   fmt.Sprintf("carbon's relay drops %s for a destination that %s", rate, why),
		Severity: kasoku.Problem, Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}),
		Impact:   kasoku.Impact{Share: share, Of: "of the points for that destination, which are thrown away"},
		Evidence: evidence,
		Cause: fmt.Sprintf("The queue of %s for %s was full: it dropped %s of %s points, and passed %s on. The "+
			"destination %s.",
			d.relay, name, diagnose.Whole(lost), diagnose.Whole(attempted), diagnose.Whole(sent), why),
		Fixes: []kasoku.Fix{{
			Text: "Start the destination, or take it out; else a longer queue",
			Code: "MAX_QUEUE_SIZE = 100000", Lang: "ini",
			Where: "carbon.conf", Risk: kasoku.RiskRestart,
			Note: "In section [relay], and a restart. A queue bridges a restart of the destination and no more; with " +
				"USE_FLOW_CONTROL = True a full one stops the relay for all destinations.",
		}},
		Expect: "no point dropped", Interval: in,
		Verify: "repeat it: destinations.*.fullQueueDrops must not be reported",
	}
}
