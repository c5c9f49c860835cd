package carbon

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/graphite"
	"github.com/kasoku/kasoku/wire/whisper"
)

// FineSlots is the rule TS-07.
type FineSlots struct{}

// Thresholds of TS-07.
const (
	fewFilesSeen  = 10  // of one retention: less says little of what is sent
	apartShare    = 0.5 // of them, whose points are some slots apart
	leastSlotRate = 2   // slots a point
	pointBytes    = 12  // of a slot
)

// errNoSlots is said where no files of series were looked at.
var errNoSlots = errors.New("no files of series were looked at that got four points or more, the newest of them in " +
	"the run (storage)")

// ID returns TS-07.
func (FineSlots) ID() string { return "TS-07" }

// Doc describes the rule.
func (FineSlots) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `says that files of series have a slot for more moments than points come.`,
		Evidence: `of at least ten files of one retention that got points in the run, half or more have regularly two
			slots or more for each point: the newest eight are so far apart, the longest distance at most twice the
			shortest.`,
		Cause: `the first retention in storage-schemas.conf that matches these series is finer than the interval at
			which they are sent; a file has all its slots from the beginning, so the disk holds empty ones.`,
		Fix: `that retention as coarse as the interval; files that are there keep theirs until whisper-resize.`,
		Silent: `when a cache had no room for points, when most have a point in each slot, or points that come when
			something happens; what servers report of themselves is not looked at; blind when the files are not at hand,
			and of fewer than ten.`,
	}
}

// slotsOf are the last counts of files of one retention.
type slotsOf struct {
	host, retention             string
	looked, apart               float64
	period, step, number, share float64
	in                          kasoku.Interval
}

// slotsSeen returns them by their retention.
func slotsSeen(c *diagnose.Case) (out []slotsOf) {
	for _, s := range c.FindAll(graphite.Name, graphite.SlotsLooked) {
		if len(s.Points) == 0 {
			continue
		}
		last := func(name string) float64 {
			k := s.Key
			k.Name = name
			x := c.Find(k)
			if x == nil || len(x.Points) == 0 {
				return 0
			}
			return x.Points[len(x.Points)-1].Value
		}
		x := slotsOf{host: s.Key.Host, retention: s.Key.Instance, looked: last(graphite.SlotsLooked),
			apart: last(graphite.SlotsApart), period: last(graphite.SlotsPeriod), step: last(graphite.SlotsStep),
			number: last(graphite.SlotsNumber),
			in:     kasoku.Interval{From: s.Points[0].At, To: s.Points[len(s.Points)-1].At}}
		x.share = x.apart / max(x.looked, 1)
		out = append(out, x)
	}
	slices.SortFunc(out, func(a, b slotsOf) int { return cmp.Compare(b.apart, a.apart) })
	return out
}

// Check looks at the files of each retention.
func (r FineSlots) Check(c *diagnose.Case) (found []kasoku.Finding, silent []kasoku.Silence) {
	if all, err := serversOf(c, 1); err == nil {
		for i := range all {
			if lost := all[i].sum(overflow); lost > 0 {
				return nil, diagnose.Quiet(r.ID(), 0.5, "%s had no room for %s points: slots may be empty for that",
					all[i].name, diagnose.Whole(lost))
			}
		}
	}
	near, seen := 0.0, 0.0
	for _, x := range slotsSeen(c) {
		switch {
		case x.looked < fewFilesSeen:
			continue
		case x.share >= apartShare && x.step > 0 && x.period >= leastSlotRate*x.step:
			found = append(found, r.finding(x))
		default:
			near = max(near, x.share/apartShare)
		}
		seen += x.looked
	}
	switch {
	case len(found) > 0:
		return found, nil
	case seen == 0:
		return nil, diagnose.Blind(r.ID(), errNoSlots)
	}
	return nil, diagnose.Quiet(r.ID(), min(near, 1), "of %s files that were looked at, most have a point in each "+
		"slot, or none regularly", diagnose.Whole(seen))
}

func (r FineSlots) finding(x slotsOf) kasoku.Finding {
	retention := wording.Cut(x.retention, 60)
	empty := 1 - x.step/x.period
	step, period := secondsOf(x.step), secondsOf(x.period)
	key := func(name string) []kasoku.Key {
		return []kasoku.Key{{Host: x.host, Source: graphite.Name, Name: name, Instance: x.retention}}
	}
	times := unit.Sig3(x.period / x.step)
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "retention", Name: retention},
		Title: fmt.Sprintf("Files have a slot each %s for points that come each %s: %s of their slots stay empty",
			unit.Exact(step), unit.Exact(period), unit.Percent(empty)),
		Clause:   fmt.Sprintf("carbon's files are %s times as large as their points", times),
		Severity: kasoku.Info, Impact: kasoku.Impact{Of: "of the run"},
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}),
		Evidence: []kasoku.Evidence{
			{Source: graphite.Name, Text: "files with empty slots between points, of those that were looked at",
				Value: diagnose.Whole(x.apart) + " of " + diagnose.Whole(x.looked), Number: x.share, Strong: true,
				Interval: x.in, Series: key(graphite.SlotsApart)},
			{Source: graphite.Name, Text: "between two points, the middle of these files", Value: unit.Exact(period),
				Number: x.period, Strong: true, Interval: x.in, Series: key(graphite.SlotsPeriod)},
			{Source: graphite.Name, Text: "slots of a file, in its finest archive",
				Value: diagnose.Whole(x.number) + ", " + unit.BytesIEC(uint64(pointBytes*x.number)), Number: x.number,
				Strong: true, Interval: x.in, Series: key(graphite.SlotsNumber)},
		},
		Cause: fmt.Sprintf("%s of %s files with the retention %s that were looked at get a point each %s, and have a "+
			"slot each %s. A file has all its slots from the beginning: its finest archive takes %s, %s times as "+
			"much as its points need.", diagnose.Whole(x.apart), diagnose.Whole(x.looked), retention,
			unit.Exact(period), unit.Exact(step),
			unit.BytesIEC(uint64(pointBytes*x.number)), times),
		Fixes: []kasoku.Fix{{
			Text: "The finest retention of these series as coarse as they are sent", Where: "storage-schemas.conf",
			Lang: "ini", Code: "retentions = " + coarser(x), Risk: kasoku.RiskRestart,
			Note: "In the section whose pattern they match. It holds for new files: " +
				"whisper-resize gives those that are there the new form. Where points are meant to come each " +
				unit.Exact(step) + ", the sender is what to change.",
		}},
		Expect: "a point in nearly each slot, and files of " + unit.Percent(1-empty) + " of the size of their finest " +
			"archive",
		Verify: "repeat it with new series: this remark must be gone", Interval: x.in,
	}
}

// coarser are the retentions with the period as the finest step; archives of no coarser step become one with it. Where
// the steps of others are no multiples of it, which whisper asks for, it is the finest alone.
func coarser(x slotsOf) string {
	period, length := int64(x.period), int64(x.number*x.step)
	var rest []string
	multiples := true
	for i, archive := range strings.Split(x.retention, ",") {
		a, b, _ := strings.Cut(archive, ":")
		step, long := whisper.Lasting(a), whisper.Lasting(b)
		switch {
		case i == 0:
		case step > 0 && step <= period:
			length = max(length, long)
		default:
			multiples = multiples && step%period == 0
			rest = append(rest, archive)
		}
	}
	if !multiples {
		rest = nil
	}
	return strings.Join(append([]string{whisper.Retention(period, max(length/period, 1))}, rest...), ",")
}

func secondsOf(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
