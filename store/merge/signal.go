package merge

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/mysql"
)

// A signal is a count that only grows, over its host's wall clock.
type signal struct {
	name  string
	at    []float64 // s since the reference's start, by the host's own clock; ascending
	total []float64
}

// wires lists the pairs of signals that show the same traffic on two hosts.
var wires = [][2]string{
	{"load", "access"}, {"access", "load"},
	{"load", "statements"}, {"statements", "load"},
	{"access", "statements"}, {"statements", "access"},
	{"access", "access"},
	{"sent", "received"}, {"received", "sent"},
}

// spoken names a signal for people.
var spoken = map[string]string{
	"load": "requests sent", "access": "access log", "statements": "statements (Questions)",
	"sent": "bytes sent", "received": "bytes received",
}

// signalsOf returns what a recording counted, with its times moved by shift.
func signalsOf(rec *kasoku.Recording, shift time.Duration) map[string]signal {
	out := map[string]signal{}
	keep := func(s signal) {
		if len(s.at) > 1 && s.total[len(s.total)-1] > s.total[0] {
			out[s.name] = s
		}
	}
	asked := map[int]float64{}
	for i := range rec.Seconds {
		asked[rec.Seconds[i].Second] += float64(rec.Seconds[i].Asked)
	}
	keep(perSecond("load", asked, shift))
	logged := map[int]float64{}
	for i := range rec.Endpoints {
		for sec, n := range rec.Endpoints[i].Seconds {
			logged[sec] += float64(n.Count)
		}
	}
	keep(perSecond("access", logged, shift))
	keep(counters("statements", rec.FindAll(mysql.Name, mysql.Questions), shift))
	keep(counters("sent", wired(rec.FindAll(host.Name, host.NetTxBytes)), shift))
	keep(counters("received", wired(rec.FindAll(host.Name, host.NetRxBytes)), shift))
	return out
}

// wired leaves out the loopback device: no other host sees it.
func wired(all []*kasoku.Series) []*kasoku.Series {
	return slices.DeleteFunc(all, func(s *kasoku.Series) bool { return s.Key.Instance == "lo" })
}

// perSecond adds up counts of whole seconds of the run.
func perSecond(name string, counts map[int]float64, shift time.Duration) signal {
	s := signal{name: name}
	if len(counts) == 0 {
		return s
	}
	first, last := math.MaxInt, math.MinInt
	for sec := range counts {
		first, last = min(first, sec), max(last, sec)
	}
	sum := 0.0
	for sec := first; sec <= last+1; sec++ {
		s.at = append(s.at, float64(sec)+shift.Seconds())
		s.total = append(s.total, sum)
		sum += counts[sec]
	}
	return s
}

// counters adds up series that were read at the same ticks.
func counters(name string, series []*kasoku.Series, shift time.Duration) signal {
	s := signal{name: name}
	if len(series) == 0 {
		return s
	}
	grown := map[time.Duration]float64{}
	for _, one := range series {
		for i := 1; i < len(one.Points); i++ {
			pair := kasoku.Series{Points: one.Points[i-1 : i+1]} // one that falls was reset: it counts from zero
			d, _ := pair.Delta(kasoku.Interval{From: pair.Points[0].At, To: pair.Points[1].At})
			grown[one.Points[i].At] += d
		}
	}
	sum := 0.0
	for _, p := range series[0].Points {
		sum += grown[p.At]
		s.at = append(s.at, (p.At + shift).Seconds())
		s.total = append(s.total, sum)
	}
	return s
}

// until is what was counted up to t, between two samples in proportion.
func (s *signal) until(t float64) float64 {
	i := sort.SearchFloat64s(s.at, t)
	switch {
	case i == 0:
		return s.total[0]
	case i == len(s.at):
		return s.total[i-1]
	}
	share := (t - s.at[i-1]) / (s.at[i] - s.at[i-1])
	return s.total[i-1] + share*(s.total[i]-s.total[i-1])
}

// from and to bound what the signal covers.
func (s *signal) from() float64 { return s.at[0] }
func (s *signal) to() float64   { return s.at[len(s.at)-1] }
