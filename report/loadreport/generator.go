package loadreport

import (
	"strconv"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
)

// generator describes who made the load, how well it kept time and what it cost.
func (a *Attack) generator() []report.Note {
	s := &a.Summary
	var out []report.Note
	add := func(label, text string) { out = append(out, report.Note{Sign: "·", Label: label, Text: text}) }
	add("Engine", EngineText(s.Engine, s.EngineWhy))
	if text := PacingText(s, a.Tally); text != "" {
		add("Pacing", text)
	}
	add("In flight", FlightText(s))
	if s.Wall > 0 {
		add("Cost", a.cost())
	}
	add("Bytes", unit.Bytes(a.Tally.BytesIn)+" of bodies received, "+unit.Bytes(a.Tally.BytesOut)+" sent")
	if over := s.Wall - a.Length(); over >= time.Second && s.Stopped == "" {
		add("End", "the last answer came "+unit.Elapsed(over)+" after the last request could be due")
	}
	if a.Seed != nil {
		seed := strconv.FormatUint(*a.Seed, 10)
		add("Seed", seed+"; --seed "+seed+" sends the same again")
	}
	if a.Results != "" {
		add("Results", a.Results)
	}
	return out
}

// EngineText names what sent the load, with the reason for that choice if there is one.
func EngineText(name, why string) string {
	if why == "" {
		return name
	}
	return name + " (" + why + ")"
}

// PacingText describes how due times were kept and how well: by when requests went out,
// as against when they were due. Empty in a closed loop.
func PacingText(s *kasoku.LoadSummary, t *kasoku.Tally) string {
	h := t.SendDelay
	if s.Pacing == "" || h.Count() == 0 {
		return ""
	}
	return s.Pacing + "; requests went out p50 " + unit.Duration(h.Quantile(0.5)) + ", p99 " +
		unit.Duration(h.Quantile(0.99)) +
		", at most " + unit.Duration(h.Max()) + " after they were due"
}

// FlightText describes how many requests were under way at once, and what became of
// their connections.
func FlightText(s *kasoku.LoadSummary) string {
	if s.PeakInFlight == 0 && s.MaxInFlight == 0 {
		return "" // they were not counted
	}
	text := "at most " + unit.Counted(s.PeakInFlight, "request", "requests") + " at once"
	if s.MaxInFlight > 0 {
		text += ", the cap is " + unit.Count(s.MaxInFlight)
	}
	if s.Connections > 0 {
		text += "; " + unit.Counted(s.Connections, "connection", "connections") + " made"
	}
	if s.Resent > 0 {
		text += ", " + unit.Counted(s.Resent, "request", "requests") + " sent again on a new one"
	}
	if s.Redirected > 0 {
		text += "; " + unit.Counted(s.Redirected, "redirect", "redirects") + " followed"
	}
	return text
}

// cost is what the generator took for itself.
func (a *Attack) cost() string {
	s := &a.Summary
	text := unit.Sig3(s.CPU.Seconds()/s.Wall.Seconds()) + " of " + unit.Counted(s.Cores, "core", "cores")
	if s.Shards > 0 {
		text += " by " + unit.Counted(s.Shards, "sending thread", "sending threads")
	}
	if a.Tally.Asked > 0 && s.CPU > 0 {
		text += ", " + unit.Duration(s.CPU/time.Duration(a.Tally.Asked)) + " of CPU per request"
	}
	if a.Memory > 0 {
		text += "; " + unit.Bytes(a.Memory) + " of memory at most"
	}
	return text
}
