package coordinate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/load"
)

// The codes of the warnings of a load from many hosts.
const (
	LostGenerator = "lost-generator"
)

// settle adds what was not sent, and describes the load and each host.
func (l *whole) settle(ctx context.Context, res *Result) {
	sum := &res.Summary
	for _, h := range l.hosts {
		if h.end != nil {
			h.addSummary(sum)
		}
	}
	var engines []string
	for _, h := range l.hosts {
		g := h.describe(context.WithoutCancel(ctx))
		res.Skew = max(res.Skew, g.Bound)
		reason := h.short()
		until := h.until(ctx)
		if ctx.Err() != nil {
			sum.Stopped, sum.StoppedAt = load.StopReason(ctx), max(sum.StoppedAt, until, 1)
		}
		due, missing := h.account.Missing(until, "not sent: generator "+h.name+" "+reason)
		l.sum.AddSeconds(missing)
		var n uint64
		for _, s := range missing {
			n += s.Asked
		}
		g.Due, g.Reported = due, h.account.Sent()
		if n > 0 || h.lost != nil {
			g.Lost = reason
			res.Warnings = append(res.Warnings, h.warnLost(n, g.Due, reason))
		}
		if h.end != nil {
			engines = append(engines, fleet.Clean(h.end.Summary.Engine))
		}
		res.Generators = append(res.Generators, g)
	}
	res.Skew *= 2 // one early, another late
	if len(l.hosts) == 1 {
		res.Skew /= 2
	}
	slices.Sort(engines)
	sum.Engine = strings.Join(slices.Compact(engines), ", ")
	sum.EngineWhy = "chosen by each generator"
	sum.Model = load.ModelOpen
	if _, closed := l.plan.Schedule.(*load.ClosedLoop); closed {
		sum.Model = load.ModelClosed
	}
	sum.Targets = l.plan.Names()
	slices.Sort(sum.Targets)
	sum.Targets = slices.Compact(sum.Targets)
	for _, h := range l.hosts {
		res.Warnings = append(res.Warnings, h.warnings()...)
	}
	res.Tally = l.sum.Tally(0)
}

// until is how far the share of a host goes: to the load's end, or to where the host stopped.
// It says when that was, which is believed between the question and its answer alone.
func (h *host) until(ctx context.Context) time.Duration {
	steps := h.plan.Schedule.Steps()
	end := min(steps[len(steps)-1].Interval.To, time.Since(h.start)) // one without an end may have lost its hosts
	if ctx.Err() == nil || h.stopped.asked == 0 {
		return end
	}
	until := h.stopped.asked
	if h.end != nil {
		until = min(max(until, h.end.Summary.StoppedAt), h.stopped.heard)
	}
	return min(until, end)
}

// addSummary adds what a host says of its generator.
func (h *host) addSummary(sum *kasoku.LoadSummary) {
	s := &h.end.Summary
	sum.MaxInFlight += bounded(s.MaxInFlight)
	sum.PeakInFlight += bounded(s.PeakInFlight)
	sum.Shards += bounded(s.Shards)
	sum.Cores += bounded(s.Cores)
	sum.CPU += max(s.CPU, 0)
	sum.Wall = max(sum.Wall, min(s.Wall, time.Since(h.start)))
	sum.PeakCores += max(s.PeakCores, 0)
	sum.Connections += s.Connections
	sum.Resent += s.Resent
	if sum.Pacing == "" {
		sum.Pacing = fleet.Clean(s.Pacing)
	}
}

// bounded keeps sums of what hosts say within reason.
func bounded(n int) int { return min(max(n, 0), 1<<30) }

// short is why the share of a host was not sent to its end.
func (h *host) short() string {
	switch {
	case h.lost != nil:
		return h.lost.Error()
	case h.end != nil && h.end.Error != "":
		return fleet.Clean(h.end.Error)
	case h.end != nil && h.end.Summary.Stopped != "":
		return "stopped: " + fleet.Clean(h.end.Summary.Stopped)
	}
	return "does not report them"
}

func (h *host) warnLost(n, due uint64, reason string) kasoku.Warning {
	text := fmt.Sprintf("generator %s: %s; %s of its %s are not sent, or not reported", h.name, reason,
		unit.Count(n), unit.Counted(due, "request", "requests"))
	if due == 0 {
		text = fmt.Sprintf("generator %s: %s", h.name, reason)
	}
	return kasoku.Warning{Code: LostGenerator, Text: text,
		Hint: "what they would have shown is in no figure but the failures; the other generators did not send them"}
}

// warnings are those of the host itself, under its name.
func (h *host) warnings() (out []kasoku.Warning) {
	if h.end == nil {
		return nil
	}
	const most = 10
	for i, w := range h.end.Warnings {
		if i == most {
			break
		}
		out = append(out, kasoku.Warning{Code: fleet.Clean(w.Code), Text: h.name + ": " + fleet.Clean(w.Text), Hint: fleet.Clean(w.Hint)})
	}
	return out
}

// describe is what became of the host, with its clock at the end.
func (h *host) describe(ctx context.Context) Generator {
	g := Generator{Host: h.name, Share: h.share, Cores: h.greets.Cores}
	g.Offset, g.Bound = h.clock.Offset()
	if h.end != nil {
		g.PeakCores = h.end.Summary.PeakCores
		if x, err := h.compare(ctx); err == nil {
			offset, bound := x.Offset()
			g.Drift, g.DriftBound = offset-g.Offset, bound+g.Bound
		}
	}
	d := h.counts.SendDelay
	if d.Count() > 0 {
		g.SendDelay = P{d.Quantile(0.5), d.Quantile(0.99), d.Max()}
	}
	return g
}

// IsRefused reports whether an error of [Run] says that a host did not carry the order out.
// For good: a host that sends another load may do so later.
func IsRefused(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused) && !strings.HasSuffix(refused.Reason, fleet.Busy)
}
