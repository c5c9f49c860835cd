package carbon

import (
	"errors"
	"math"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/observe/expvar"
)

// A sender publishes over expvar what it has to send, and what it sent, as `kasoku attack --vars` does.
type sender struct {
	due, sent, blocked, connections *kasoku.Series
}

// waits is the share of the time of its connections that writes waited, 0 where that is not published.
func (x *sender) waits(in kasoku.Interval) float64 {
	if x.blocked == nil || x.connections == nil || len(x.connections.Points) == 0 {
		return 0
	}
	rose, secs := within(x.blocked, in)
	n := 0.0
	for _, p := range x.connections.Points {
		n = max(n, p.Value)
	}
	return rose / max(secs, 1) / max(n, 1)
}

// ends is when the sender had something to send last.
func (x *sender) ends() (at time.Duration) {
	for i := 1; i < len(x.due.Points); i++ {
		if x.due.Points[i].Value > x.due.Points[i-1].Value {
			at = x.due.Points[i].At
		}
	}
	return at
}

// errNoSender is said where none publishes it.
var errNoSender = errors.New("no sender publishes what it has to send (Due, over expvar)")

// senderOf returns the one that publishes what is due; of several none, since which of them
// loads the server is not known.
func senderOf(c *diagnose.Case) (x sender, err error) {
	all := c.FindAll(expvar.Name, expvar.Due)
	if len(all) != 1 {
		return x, errNoSender
	}
	x.due = all[0]
	beside := func(name string) *kasoku.Series {
		k := x.due.Key
		k.Name = name
		return c.Find(k)
	}
	x.sent, x.blocked, x.connections = beside(expvar.Sent), beside(expvar.Blocked), beside(expvar.Connections)
	if x.sent == nil {
		return x, errNoSender
	}
	return x, nil
}

// within is how much a counter rose in an interval, by the points in it, and over how many seconds.
func within(s *kasoku.Series, in kasoku.Interval) (rose, secs float64) {
	var first, last *kasoku.Point
	for i := range s.Points {
		if p := &s.Points[i]; p.At >= in.From && p.At <= in.To {
			if first == nil {
				first = p
			}
			last = p
		}
	}
	if first == nil || last.At <= first.At {
		return 0, 0
	}
	return max(last.Value-first.Value, 0), (last.At - first.At).Seconds()
}

// A second is the rate of a counter between two of its points.
type second struct{ at, rate float64 }

// rates are those of a counter while it rose; the first and the last stretch are parts of the load's begin and end.
func rates(s *kasoku.Series) (out []second) {
	for i := 1; i < len(s.Points); i++ {
		a, b := s.Points[i-1], s.Points[i]
		if over := (b.At - a.At).Seconds(); over > 0 && b.Value > a.Value {
			out = append(out, second{(a.At + b.At).Seconds() / 2, (b.Value - a.Value) / over})
		}
	}
	if len(out) < 3 {
		return nil
	}
	return out[1 : len(out)-1]
}

// trend is the slope of rates by least squares, its standard error, and their mean.
func trend(v []second) (slope, noise, mean float64) {
	n, at := float64(len(v)), 0.0
	for _, x := range v {
		mean, at = mean+x.rate/n, at+x.at/n
	}
	sxx, sxy := 0.0, 0.0
	for _, x := range v {
		sxx += (x.at - at) * (x.at - at)
		sxy += (x.at - at) * (x.rate - mean)
	}
	if sxx == 0 || n < 3 {
		return 0, math.Inf(1), mean
	}
	slope = sxy / sxx
	rest := 0.0
	for _, x := range v {
		d := x.rate - mean - slope*(x.at-at)
		rest += d * d
	}
	return slope, math.Sqrt(rest / (n - 2) / sxx), mean
}
