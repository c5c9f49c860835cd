package client

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/expvar"
)

const (
	// shortest is how long a client has to be seen: what it does in its first seconds is not
	// what it does later.
	shortest = 5 * time.Second
	// fewSent requests say nothing.
	fewSent = 50
	// spent is the part of its time from which on the service has nothing left to give.
	spent = 0.90
	// mostGain is the use below which what could be done more is no figure: something else bounds it then.
	mostGain = 0.10
)

// errNone is said where there is no such program.
var errNone = errors.New("no program publishes the requests and permits of a client")

// A seen is what the client that sent most has published of itself, over the time in which
// it was seen.
type seen struct {
	key      kasoku.Key // of its wait for permits
	interval kasoku.Interval

	sent, refused float64
	inFlight      float64 // mean
	knowsInFlight bool
	mostInFlight  float64 // that a sample saw
	permits, most float64 // mean, and how many the service gives
	asked, failed float64 // permits
	waited        float64 // share of the time in which work waited for a permit
	// queued is the share of the time in which work waited while each permit that had uses left had one
	// under way; usesMost is how many of one permit were under way at once, 0 where that is not published.
	queued, usesMost float64
	// busy is the share of the time for which the service says that it worked, 0 to 1 and more;
	// it is not known where that is not published.
	busy      float64
	knowsBusy bool
}

// seenOf returns the client; it fails where there is none, or one that was not seen for long.
func seenOf(c *diagnose.Case) (seen, error) {
	var best *seen
	for _, s := range c.FindAll(evidence.SourceExpvar, expvar.PermitWait) {
		x, ok := seenAt(c, s)
		if ok && (best == nil || x.sent > best.sent) {
			best = &x
		}
	}
	switch {
	case best == nil:
		return seen{}, errNone
	case best.interval.Len() < shortest || best.sent < fewSent:
		return seen{}, fmt.Errorf("a client was seen for %s, and sent %s requests; %s and %d are needed",
			unit.Elapsed(best.interval.Len()), diagnose.Whole(best.sent), unit.Elapsed(shortest), fewSent)
	}
	return *best, nil
}

// seenAt reads the series beside one of a wait for permits.
func seenAt(c *diagnose.Case, wait *kasoku.Series) (s seen, ok bool) {
	n := len(wait.Points)
	if n < 2 {
		return s, false
	}
	s.key, s.interval = wait.Key, kasoku.Interval{From: wait.Points[0].At, To: wait.Points[n-1].At}
	seconds := s.interval.Len().Seconds()
	if seconds <= 0 {
		return s, false
	}
	s.waited = grown(wait) / seconds
	for _, of := range []struct {
		name string
		into *float64
		read func(*kasoku.Series) float64
	}{
		{expvar.Sent, &s.sent, grown}, {expvar.Refused, &s.refused, grown}, {expvar.InFlight, &s.mostInFlight, most},
		{expvar.InFlightTime, &s.inFlight, func(x *kasoku.Series) float64 { return grown(x) / seconds }},
		{expvar.UsesMost, &s.usesMost, most},
		{expvar.UseWait, &s.queued, func(x *kasoku.Series) float64 { return grown(x) / seconds }},
		{expvar.Permits, &s.permits, mean}, {expvar.PermitsMost, &s.most, mean},
		{expvar.PermitsAsked, &s.asked, grown}, {expvar.PermitsFailed, &s.failed, grown},
	} {
		if x := beside(c, wait.Key, of.name); x != nil {
			*of.into = of.read(x)
			s.knowsInFlight = s.knowsInFlight || of.name == expvar.InFlightTime && len(x.Points) > 1
		}
		if v := *of.into; !(v >= 0 && v < 1e15) { // a claim that cannot be
			return s, false
		}
	}
	if s.refused > s.sent || !(s.waited >= 0 && s.waited < 1e6) {
		return s, false
	}
	s.busy, s.knowsBusy = serviceBusy(c, wait.Key, seconds)
	return s, true
}

// beside returns the series of that name of the same object.
func beside(c *diagnose.Case, k kasoku.Key, name string) *kasoku.Series {
	for _, s := range c.FindAll(k.Source, name) {
		if s.Key.Host == k.Host && s.Key.Instance == k.Instance {
			return s
		}
	}
	return nil
}

// serviceBusy adds up what the service says that it took for the operations of the program.
func serviceBusy(c *diagnose.Case, k kasoku.Key, seconds float64) (busy float64, ok bool) {
	for _, s := range c.FindAll(k.Source, expvar.ServiceTime) {
		if s.Key.Host == k.Host && strings.HasPrefix(s.Key.Instance, programOf(k)) && len(s.Points) > 1 {
			busy, ok = busy+grown(s)/seconds, true
		}
	}
	return busy, ok
}

// programOf is what the places of a client's program begin with.
func programOf(k kasoku.Key) string {
	program := k.Instance
	if at := strings.LastIndexByte(program, ' '); at >= 0 { // its address, where there are several
		return program[:at+1]
	} else if strings.Contains(program, ":") {
		return program + " "
	}
	return strings.TrimSuffix(program, lastOf(program))
}

// lastOf is the part of a place after its last dot.
func lastOf(place string) string { return place[strings.LastIndexByte(place, '.')+1:] }

// grown is by how much a counter grew; a program that was started again has counted from 0.
func grown(s *kasoku.Series) (sum float64) {
	for i := 1; i < len(s.Points); i++ {
		if by := s.Points[i].Value - s.Points[i-1].Value; by > 0 && !math.IsInf(by, 0) {
			sum += by
		}
	}
	return sum
}

func most(s *kasoku.Series) (most float64) {
	for _, p := range s.Points {
		most = max(most, p.Value)
	}
	return most
}

func mean(s *kasoku.Series) (sum float64) {
	for _, p := range s.Points {
		sum += p.Value
	}
	return sum / float64(max(len(s.Points), 1))
}

// object is the client.
func (s *seen) object() kasoku.Object {
	return kasoku.Object{Kind: "process", Name: wording.Cut(s.key.Instance, 40)}
}

// quote is evidence of what the client published.
func (s *seen) quote(name, text, value string, number float64) kasoku.Evidence {
	key := s.key
	key.Name = name
	return kasoku.Evidence{Source: evidence.SourceExpvar, Text: text, Value: value, Number: number, Strong: true,
		Series: []kasoku.Key{key}, Interval: s.interval}
}

// load is evidence of how busy the service was; nothing where that is not known.
func (s *seen) load() []kasoku.Evidence {
	if !s.knowsBusy {
		return nil
	}
	return []kasoku.Evidence{{Source: evidence.SourceExpvar, Text: "time for which the service says that it worked",
		Value: unit.Percent(s.busy), Number: s.busy, Strong: true, Interval: s.interval,
		Series: []kasoku.Key{{Host: s.key.Host, Source: s.key.Source, Name: expvar.ServiceTime}}}}
}

// idleSignal is whether the service was seen to have time left.
func (s *seen) idleSignal() diagnose.Signal {
	if !s.knowsBusy {
		return diagnose.Signal{Blind: "the service does not say for how long it worked"}
	}
	return diagnose.Signal{Holds: s.busy <= 0.5, Lacks: "the service worked for more than half of the time"}
}

// impact is the part of the service's time that was not used; an estimate, since what else it
// would be used for is not known.
func (s *seen) impact() kasoku.Impact {
	if !s.knowsBusy {
		return kasoku.Impact{Of: evidence.Unmeasured, Estimate: true}
	}
	return kasoku.Impact{Share: min(max(1-s.busy, 0), 1), Of: "of the service's time, which was not used",
		Estimate: true}
}

// gain words how many times as much the service could do.
func (s *seen) gain() string {
	if !s.knowsBusy || s.busy <= mostGain {
		return "more done in the same time"
	}
	return fmt.Sprintf("up to %s times as much done: the service was used for %s of its time", unit.Sig3(1/s.busy),
		unit.Percent(s.busy))
}

// silentFor is the silence of a rule that has no client to look at, or one that was not seen for
// long.
func silentFor(id string, err error) []kasoku.Silence {
	if errors.Is(err, errNone) {
		return diagnose.Blind(id, err)
	}
	return diagnose.Quiet(id, 0, "%s", err.Error())
}
