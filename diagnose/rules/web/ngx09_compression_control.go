package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// CompressionControl is the rule NGX-09.
type CompressionControl struct{}

// ID returns NGX-09.
func (CompressionControl) ID() string { return "NGX-09" }

// Doc describes the rule.
func (CompressionControl) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `says that a change of compression gained nothing.`,
		Evidence: `against the baseline, nginx's directives of compression (gzip, gzip_static, brotli and
			theirs) are all of its configuration that changed, and at the same rate the success ratio did not
			rise by half a point nor the mean latency fall by 10 %.`,
		Cause: `compressing takes CPU where the answers are made and unpacking takes it where they are
			read, the load's generator; it pays where the network is the limit.`,
		Fix: `put the directives back.`,
		Silent: `without a baseline, when compression did not change or was not all that did, when the run
			got better, or when seconds vary too much for a verdict; blind without nginx's configuration of
			both runs.`,
	}
}

// Check compares the run with its baseline.
func (r CompressionControl) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if c.Baseline == nil {
		return nil, diagnose.Blind(r.ID(), diagnose.ErrNoBaseline)
	}
	before, err := nginxLines(c.Baseline)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), fmt.Errorf("the baseline: %w", err))
	}
	after, err := nginxLines(c.Recording)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	var changed, others []string
	for _, l := range append(missingLines(before, after), missingLines(after, before)...) {
		if isCompression(l) {
			changed = append(changed, l)
		} else {
			others = append(others, l)
		}
	}
	switch {
	case len(changed) == 0:
		return nil, diagnose.Quiet(r.ID(), 0, "compression did not change")
	case len(others) > 0:
		return nil, diagnose.Quiet(r.ID(), 1/float64(1+len(others)),
			"compression was not all that changed in nginx: %s", wording.List(others, 3))
	}
	was, is, err := evidence.SameStep(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	e := evidence.EffectOf(was, is)
	says := "compression made a difference"
	if e.Unclear() {
		says = "the seconds of the runs vary too much for an answer"
	}
	if e.Better() || e.Unclear() {
		return nil, diagnose.Quiet(r.ID(), e.NearNone(), "%s: success %s → %s, mean %s → %s",
			says, unit.Percent(e.GoodBefore), unit.Percent(e.GoodAfter), unit.Duration(e.MeanBefore),
			unit.Duration(e.MeanAfter))
	}
	return []kasoku.Finding{r.finding(c, changed, e)}, nil
}

func (r CompressionControl) finding(c *diagnose.Case, changed []string, e evidence.Effect) kasoku.Finding {
	title := "Changed compression shows no effect"
	if e.Worse() {
		title = "Changed compression shows no gain; the run got worse"
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "directive", Name: strings.Fields(changed[len(changed)-1])[0]},
		Title:    title,
		Severity: kasoku.Info, Impact: kasoku.Impact{Of: evidence.OfRequests(c)},
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: e.Seconds >= evidence.EnoughSeconds, Lacks: fmt.Sprintf("only %d s a run", e.Seconds)}),
		Evidence: []kasoku.Evidence{
			{Source: "nginx", Text: wording.List(changed, 4), Value: "changed", Strong: true},
			{Source: "load", Text: "success", Note: "noise ± " + unit.PercentCell(2*e.GoodNoise) + " points",
				Value:  unit.Percent(e.GoodBefore) + " → " + unit.Percent(e.GoodAfter),
				Number: e.Good(), Strong: true, Interval: c.Focus.Interval},
			{Source: "load", Text: "mean latency", Note: "noise ± " + unit.Duration(2*e.MeanNoise),
				Value:  unit.Duration(e.MeanBefore) + " → " + unit.Duration(e.MeanAfter),
				Number: e.Mean().Seconds(), Strong: true, Interval: c.Focus.Interval},
		},
		Fixes: []kasoku.Fix{{Text: "Put the directives back", Where: "nginx.conf",
			Note: "Keep them where clients are far away: what is measured here is not their network.",
			Risk: kasoku.RiskNone}},
		Expect: "the figures of before", Verify: "repeat the load with the old directives and compare",
		Interval: c.Focus.Interval,
	}
	f.Cause = fmt.Sprintf("In nginx only compression changed (%s), and %s the success ratio went from %s to %s and "+
		"the mean latency from %s to %s: what is sent was not the limit.",
		wording.List(changed, 3), c.At(), unit.Percent(e.GoodBefore), unit.Percent(e.GoodAfter), unit.Duration(e.MeanBefore),
		unit.Duration(e.MeanAfter))
	return f
}

// nginxLines returns the directives of the captured configuration, each with its
// arguments on a line. Ports and paths differ between runs of one configuration.
func nginxLines(rec *kasoku.Recording) ([]string, error) {
	w, err := webserver.ConfigOf(rec)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, d := range w.Directives {
		if d.Block || slices.Contains([]string{"listen", "pid", "server", "include"}, d.Name()) ||
			strings.Contains(strings.Join(d.Words, " "), "/") {
			continue
		}
		out = append(out, strings.Join(d.Words, " "))
	}
	return out, nil
}

// missingLines returns the lines of a that b lacks.
func missingLines(a, b []string) (out []string) {
	for _, l := range a {
		if !slices.Contains(b, l) {
			out = append(out, l)
		}
	}
	return out
}

func isCompression(line string) bool {
	name, _, _ := strings.Cut(line, " ")
	return strings.HasPrefix(name, "gzip") || strings.HasPrefix(name, "brotli") || strings.HasPrefix(name, "zstd")
}
