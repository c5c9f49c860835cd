package diagnose

import (
	"fmt"
	"math"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/cgroup"
	hostkeys "github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/process"
)

// The sources that rules read.
const (
	MySQL   = mysql.Name
	Host    = hostkeys.Name
	Process = process.Name
	Self    = observe.SelfName
	Cgroup  = cgroup.Name
)

// Grown is how much a counter grew around an interval.
type Grown struct {
	Key      kasoku.Key
	By       float64
	First    float64         // raw value at the beginning
	Last     float64         // raw value at the end
	Interval kasoku.Interval // between the samples that were used
}

// Status returns how much a counter of the database server grew over the focus.
func (cs Counters) Status(name string) (Grown, error) {
	return cs.Grown(kasoku.Key{Source: MySQL, Name: name})
}

// Grown returns how much a counter grew over the focus. It reaches from the
// last sample before the focus to the first one after it, or stays inside where
// that would take in another load step. The error says why there is no figure:
// the source or the series was not recorded, gave nothing in this time, or its
// server was restarted, so that its counters began anew.
func (cs Counters) Grown(k kasoku.Key) (Grown, error) {
	s, err := cs.series(k)
	if err != nil {
		return Grown{}, err
	}
	pts := cs.spanned(s)
	if len(pts) < 2 {
		return Grown{}, cs.nothing(s.Key)
	}
	g := Grown{
		Key: s.Key, First: pts[0].Value, Last: pts[len(pts)-1].Value,
		Interval: kasoku.Interval{From: pts[0].At, To: pts[len(pts)-1].At},
	}
	if at, ok := cs.reset(s.Key, pts); ok {
		return Grown{}, fmt.Errorf("%s was restarted at %s, so that its counters began anew", cs.sourceName(k.Source),
			cs.c.Quote().Clock(at))
	}
	seen := min(g.Interval.To, cs.c.Focus.Interval.To) - max(g.Interval.From, cs.c.Focus.Interval.From)
	if seen < cs.c.Focus.Interval.Len()/2 {
		return Grown{}, cs.nothing(s.Key)
	}
	if g.By = g.Last - g.First; math.IsNaN(g.By) || math.IsInf(g.By, 0) {
		return Grown{}, cs.nothing(s.Key)
	}
	return g, nil
}

// Gauge is what a gauge did over the focus.
type Gauge struct {
	Key         kasoku.Key
	First, Last float64 // at the edges of the focus
	Min, Max    float64
}

// Gauge returns what a gauge did over the focus.
func (cs Counters) Gauge(k kasoku.Key) (Gauge, error) {
	s, err := cs.series(k)
	if err != nil {
		return Gauge{}, err
	}
	pts := cs.spanned(s)
	if len(pts) == 0 {
		return Gauge{}, cs.nothing(s.Key)
	}
	g := Gauge{Key: s.Key, First: pts[0].Value, Last: pts[len(pts)-1].Value, Min: pts[0].Value, Max: pts[0].Value}
	for _, p := range pts[1:] {
		g.Min, g.Max = min(g.Min, p.Value), max(g.Max, p.Value)
	}
	if d := g.Max - g.Min; math.IsNaN(d) || math.IsInf(d, 0) {
		return Gauge{}, cs.nothing(s.Key)
	}
	return g, nil
}

// Quiet reports whether no other load step runs in the half second after the focus's step, so
// that what is seen at the end of the focus is what the load left.
func (cs Counters) Quiet() bool {
	if cs.c.Focus.Step == nil {
		return false
	}
	return cs.c.Focus.Interval.To-cs.c.Focus.Step.Interval.To >= time.Second/2
}

func (cs Counters) series(k kasoku.Key) (*kasoku.Series, error) {
	if s := cs.c.Find(k); s != nil && len(s.Points) > 0 {
		return s, nil
	}
	for i := range cs.c.Series {
		if cs.c.Series[i].Key.Source == k.Source {
			return nil, fmt.Errorf("%s was not recorded", k.Name)
		}
	}
	for _, g := range cs.c.Gaps {
		if g.Source == k.Source && g.Reason != "" {
			return nil, fmt.Errorf("%s was not recorded: %s", cs.sourceName(k.Source), g.Reason)
		}
	}
	return nil, fmt.Errorf("%s was not recorded", cs.sourceName(k.Source))
}

// spanned returns the samples of the focus with one on each side of it, unless
// another step runs between that sample and the focus.
func (cs Counters) spanned(s *kasoku.Series) []kasoku.Point {
	iv := cs.c.Focus.Interval
	lo, hi := -1, -1
	for i, p := range s.Points {
		if p.At <= iv.From && !cs.stepIn(p.At, iv.From) || lo < 0 && p.At >= iv.From && p.At < iv.To {
			lo = i
		}
		if hi < 0 && p.At >= iv.To {
			if !cs.stepIn(iv.To, p.At) {
				hi = i
			}
			break
		}
	}
	if lo < 0 {
		return nil
	}
	if hi < 0 {
		for hi = lo; hi+1 < len(s.Points) && s.Points[hi+1].At <= iv.To; hi++ {
		}
	}
	return s.Points[lo : hi+1]
}

// stepIn reports whether a step other than the focus runs between two offsets.
func (cs Counters) stepIn(from, to time.Duration) bool {
	for i := range cs.c.Steps {
		s := &cs.c.Steps[i]
		if s != cs.c.Focus.Step && s.Interval.From < to && s.Interval.To > from {
			return true
		}
	}
	return false
}

// reset returns when a source began to count anew: a counter fell, or for a
// database server its uptime did.
func (cs Counters) reset(k kasoku.Key, pts []kasoku.Point) (time.Duration, bool) {
	if at, ok := findFall(pts); ok {
		return at, true
	}
	if k.Source != MySQL {
		return 0, false
	}
	up := cs.c.Find(kasoku.Key{Host: k.Host, Source: MySQL, Name: mysql.Uptime})
	if up == nil {
		return 0, false
	}
	return findFall(cs.spanned(up))
}

func findFall(pts []kasoku.Point) (time.Duration, bool) {
	for i := 1; i < len(pts); i++ {
		if pts[i].Value < pts[i-1].Value {
			return pts[i].At, true
		}
	}
	return 0, false
}

// nothing reports why a series has no usable samples in the focus.
func (cs Counters) nothing(k kasoku.Key) error {
	for _, g := range cs.c.Gaps {
		if g.Source == k.Source && g.Reason != "" && g.Interval.From < cs.c.Focus.Interval.To &&
			g.Interval.To > cs.c.Focus.Interval.From {
			return fmt.Errorf("%s gave too few samples %s: %s", cs.sourceName(k.Source), cs.c.At(), g.Reason)
		}
	}
	return fmt.Errorf("%s gave too few samples %s", cs.sourceName(k.Source), cs.c.At())
}

func (cs Counters) sourceName(source string) string {
	switch source {
	case MySQL:
		return cs.c.Server()
	case Host:
		return "the host"
	case Process:
		return "processes"
	case Self:
		return "kasoku itself"
	case Cgroup:
		return "control groups"
	}
	return source
}

// Cores returns the CPU that a pair of counters took while the focus's load ran, in cores:
// seconds of user and system time per second. Unlike [Counters.Grown] it stays inside the
// step, as the quiet time after it would dilute the rate.
func (cs Counters) Cores(source, instance string) (float64, error) {
	var sum float64
	for _, name := range [...]string{process.CPUUser, process.CPUSystem} {
		perSec, err := cs.UnderLoad(kasoku.Key{Source: source, Name: name, Instance: instance})
		if err != nil {
			return 0, err
		}
		sum += perSec
	}
	return sum, nil
}

// UnderLoad returns a counter's growth per second while the focus's load ran.
func (cs Counters) UnderLoad(k kasoku.Key) (perSec float64, err error) {
	g, err := cs.Grown(k)
	if err != nil {
		return 0, err
	}
	if step := cs.c.Focus.Step; step != nil {
		pts := cs.c.Find(g.Key).Within(kasoku.Interval{From: step.Interval.From, To: step.Interval.To + 1})
		if n := len(pts); n >= 2 && pts[n-1].At > pts[0].At {
			g.By, g.Interval = pts[n-1].Value-pts[0].Value, kasoku.Interval{From: pts[0].At, To: pts[n-1].At}
		}
	}
	perSec = g.By / g.Interval.Len().Seconds()
	if math.IsNaN(perSec) || math.IsInf(perSec, 0) {
		return 0, cs.nothing(k)
	}
	return perSec, nil
}
