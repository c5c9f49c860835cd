package compare

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
)

// What sets two runs of a project apart, so that their figures are of two things.
const (
	OtherCommand = "another command"
	OtherTarget  = "another target"
	OtherRate    = "another rate"
	OtherLength  = "another length"
	OtherHost    = "another host"
)

// A Loaded says what a run was loaded with, and what was loaded. What is empty is not
// known.
type Loaded struct {
	Load    string        // one phrase, a command's words
	Targets []string      // of a load of kasoku's own
	Steps   []kasoku.Step // likewise
	Entries []string      // listeners that the load was seen at
	Hosts   []string      // that were measured
	Reached bool          // the rate of the last step was reached
}

// LoadedOf returns what a run was loaded with.
func LoadedOf(r *kasoku.Recording) Loaded {
	l := Loaded{Load: r.Run.Load, Steps: r.Steps, Reached: ReachedLast(r.Steps, r.Summary)}
	if r.Load != nil {
		l.Targets = r.Load.Targets
	}
	for _, h := range r.Run.Hosts {
		l.Hosts = append(l.Hosts, h.Name)
	}
	if r.Service != nil {
		for _, e := range r.Service.Edges {
			if e.From == "" && !e.Weak {
				l.Entries = append(l.Entries, e.At.Address)
			}
		}
	}
	return l
}

// Apart says what sets two loads apart, so that their figures are of two things; empty
// when the runs were loaded alike, as far as their files say. What a file does not say
// sets nothing apart.
func (a Loaded) Apart(b Loaded) string {
	switch {
	case a.Load != b.Load && len(a.Steps) == 0 && len(b.Steps) == 0:
		return OtherCommand
	case a.Load != b.Load, bothKnown(a.Targets, b.Targets) && !sameNames(a.Targets, b.Targets):
		return OtherTarget
	case bothKnown(a.Hosts, b.Hosts) && !sameNames(a.Hosts, b.Hosts):
		return OtherHost
	}
	if x, y := lasting(a.Entries), lasting(b.Entries); bothKnown(x, y) &&
		!slices.ContainsFunc(x, func(e string) bool { return slices.Contains(y, e) }) {
		return OtherTarget
	}
	return stepsApart(a, b)
}

func bothKnown(a, b []string) bool { return len(a) > 0 && len(b) > 0 }

func sameNames(a, b []string) bool {
	x, y := slices.Clone(a), slices.Clone(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// firstEphemeral is the first port that the kernel gives to who asks for any: a service
// on one of those has another after each start.
//
// Source: Documentation/networking/ip-sysctl.rst, ip_local_port_range.
const firstEphemeral = 32768

// lasting returns the listeners whose address says which service it is, loopback by one
// name.
func lasting(entries []string) (out []string) {
	for _, e := range entries {
		host, port, err := net.SplitHostPort(e)
		if err != nil { // a Unix socket
			out = append(out, e)
			continue
		}
		if ip := net.ParseIP(host); ip != nil && (ip.IsLoopback() || ip.IsUnspecified()) {
			host = ""
		}
		if n, err := strconv.Atoi(port); err == nil && n < firstEphemeral {
			out = append(out, net.JoinHostPort(host, port))
		}
	}
	return out
}

// stepsApart compares what two loads were asked for. A ladder may have ended where it
// broke, so it is like a longer one when its last step was not reached.
func stepsApart(a, b Loaded) string {
	if len(a.Steps) > len(b.Steps) {
		a, b = b, a
	}
	if len(a.Steps) == 0 {
		return ""
	}
	for i, s := range a.Steps {
		o := b.Steps[i]
		switch {
		case !closeTo(s.PerSec, o.PerSec) || !closeTo(s.PerSecTo, o.PerSecTo):
			return OtherRate
		case s.Planned > 0 && o.Planned > 0 && !closeTo(s.Planned.Seconds(), o.Planned.Seconds()):
			return OtherLength
		}
	}
	if len(a.Steps) < len(b.Steps) && a.Reached {
		return OtherRate
	}
	return ""
}

// closeTo takes rates and lengths as the same that differ by rounding only.
func closeTo(a, b float64) bool { return a == b || a > 0 && b > 0 && max(a, b)/min(a, b) < 1.001 }

// KeepsUp is the part of the asked rate from which a step has reached it.
const KeepsUp = 0.99

// ReachedLast reports whether a load got through its last step at the rate that was asked
// for.
func ReachedLast(steps []kasoku.Step, s *kasoku.Summary) bool {
	if len(steps) == 0 || s == nil {
		return false
	}
	last := steps[len(steps)-1]
	return closeTo(s.Asked, last.PerSec) && s.PerSec >= KeepsUp*last.PerSec
}

// notAlike says at the top what sets two runs apart, so that their figures are of two
// things: their loads, or the services that they went to. It is empty when nothing does.
func notAlike(b, a *kasoku.Recording) string {
	x, y := LoadedOf(b), LoadedOf(a)
	var out string
	switch x.Apart(y) {
	case OtherCommand:
		out = "Different loads: " + quoted(x.Load) + " and " + quoted(y.Load) + ". "
	case OtherTarget:
		out = "Different targets: " + target(x) + " and " + target(y) + ". "
	case OtherRate:
		out = "Different rates: " + ladder(b) + " and " + ladder(a) + " req/s. "
	case OtherLength:
		out = "Steps of different length. "
	case OtherHost:
		out = "Different hosts: " + listed(x.Hosts) + " and " + listed(y.Hosts) + ". "
	}
	if before, after := rolesOf(b.Service), rolesOf(a.Service); bothKnown(before, after) && !slices.Equal(before, after) {
		out += "The service differs: " + b.Service.Picture() + "; then " + a.Service.Picture() + ". "
	}
	return out
}

// mostQuoted bounds a command in a headline.
const mostQuoted = 60

func quoted(load string) string {
	if r := []rune(load); len(r) > mostQuoted {
		load = string(r[:mostQuoted-1]) + "…"
	}
	return "`" + load + "`"
}

// target names what a load went to.
func target(l Loaded) string {
	at := strings.Join(l.Entries, ", ")
	switch {
	case at != "" && l.Load != "":
		return l.Load + " at " + at
	case at != "":
		return at
	}
	return cmp.Or(l.Load, "unknown")
}

// rolesOf lists what a service consists of: the role and the program of each member of
// which it is known. The same service after a restart has the same.
func rolesOf(s *kasoku.Service) (out []string) {
	if s == nil {
		return nil
	}
	for _, m := range s.Members {
		if m.Sure != kasoku.Low {
			out = append(out, string(m.Role)+" "+m.Program)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
