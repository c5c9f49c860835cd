package split

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/kasoku/kasoku/internal/histogram"
)

// An Assumption is a figure that was not measured, with the ends between which it is taken to be.
type Assumption struct{ Low, Mid, High float64 }

// Assume is what predictions rest on that no run shows.
type Assume struct {
	// Trip is what a round trip over the network takes, beyond one on the same host.
	Trip Assumption
	// CPU is what it costs beyond that, at each end.
	CPU Assumption
}

// DefaultAssume has a switched network of one site: some 0.1 to 0.5 ms a round trip, and a few µs of
// interrupts at each end, which the loopback device does not have.
func DefaultAssume() Assume {
	return Assume{Trip: Assumption{0.00005, 0.0002, 0.0005}, CPU: Assumption{0, 5e-6, 20e-6}}
}

// TripOf is the assumption where a round trip was measured.
func (a Assume) TripOf(d time.Duration) Assume {
	s := d.Seconds()
	a.Trip = Assumption{s / 2, s, s * 2}
	return a
}

// A Layout is which host each member is on, by index into a plan's hosts; several where copies share its requests.
type Layout [][]int

// A Range is a figure with its interval.
type Range struct{ Low, Mid, High float64 }

// A Prediction is what a layout would give.
type Prediction struct {
	Layout Layout
	Moves  int // members that are elsewhere, or have a copy, than now

	Gain    Range // times the present throughput; of an open load, times the rate that it can take
	PerSec  Range // requests
	Score   Range // 0 without a benchmark's
	P50     time.Duration
	Known50 bool // P50 is what the model says

	Busy  []float64 // of each host's cores, 0..1
	Limit string    // what limits it then
	At    int       // host that is the limit; -1: none is
	Bytes []uint64  // of members' memory on each host
	Fits  Fit
}

// Fit is whether the memory of the hosts is enough.
type Fit int

// The answers.
const (
	FitUnknown Fit = iota
	FitYes
	FitNo
)

// draws is how often seconds are drawn for an interval; block how many of them lie together, since a
// queue outlasts a second.
const (
	draws    = 400
	block    = 4
	drawSeed = 20200912
	// grown is how often clients that come with the score are counted again.
	grown = 4
)

// A view is one way to read what was measured: which seconds, and which end of what is assumed.
type view struct {
	demands []float64
	perSec  float64
	trip    float64 // s
	tripCPU float64 // s
	pause   float64 // of clients, as a part of the time that requests take
	grows   bool    // clients come with the score
}

// stations returns the hosts of a layout with what a request needs there, and what it waits for the network.
func (p *Plan) stations(l Layout, v *view) (out []station, wait float64) {
	out = make([]station, len(p.Hosts))
	for k := range out {
		out[k].cores = p.Hosts[k].Free()
	}
	for i, on := range l {
		for _, k := range on {
			out[k].demand += v.demands[i] / float64(len(on))
		}
	}
	for i := range p.Service.Edges {
		e := &p.Service.Edges[i]
		if e.Trips <= 0 {
			continue
		}
		trips := e.Trips * (apart(l[e.From], l[e.To]) - apart(p.present[e.From], p.present[e.To]))
		wait += trips * v.trip
		for _, end := range []int{e.From, e.To} {
			for _, k := range l[end] {
				out[k].demand = max(out[k].demand+trips*v.tripCPU/float64(len(l[end])), 0)
			}
		}
	}
	return out, wait
}

// apart is the part of questions between two members that leave a host.
func apart(a, b []int) float64 {
	same := 0
	for _, k := range a {
		if slices.Contains(b, k) {
			same++
		}
	}
	return 1 - float64(same)/float64(len(a)*len(b))
}

// capped is the rate at which a member that is held to some cores has them all busy.
func (p *Plan) capped(l Layout, v *view) (perSec float64, member int) {
	perSec, member = math.Inf(1), -1
	for i := range p.Service.Members {
		m := &p.Service.Members[i]
		if m.Cap <= 0 || v.demands[i] <= 0 {
			continue
		}
		if most := m.Cap * float64(len(l[i])) / v.demands[i]; most < perSec {
			perSec, member = most, i
		}
	}
	return perSec, member
}

// perSec returns the throughput of a layout in a view; of an open load the rate that it can take.
func (p *Plan) perSec(l Layout, v *view) float64 {
	now, _ := p.stations(p.present, v)
	then, wait := p.stations(l, v)
	capped, _ := p.capped(l, v)
	load := &p.Service.Load
	if load.Open {
		most, _ := limit(then)
		return min(most, capped)
	}
	clients, pause := load.Clients, 0.0
	if !load.Given {
		pause = v.pause * clients / v.perSec
		clients *= 1 + v.pause
	}
	delay := calibrate(now, pause, clients, v.perSec)
	base := closed(now, delay, clients) // v.perSec, unless the hosts seem to have had more than all
	x := closed(then, max(delay+wait, 0), clients)
	for range grown {
		if !v.grows || x <= base {
			break
		}
		x = closed(then, max(delay+wait, 0), clients*x/base)
	}
	return min(x*v.perSec/base, capped)
}

// central is the view of all seconds, and of the middle of what is assumed.
func (p *Plan) central() *view {
	v := &view{trip: p.Assume.Trip.Mid, tripCPU: p.Assume.CPU.Mid, grows: p.Service.Levels}
	v.demands, v.perSec = p.Service.cpu(p.Service.samples)
	return v
}

// gain is how many times the present throughput a layout has.
func (p *Plan) gain(l Layout, v *view) float64 {
	now := v.perSec // what a closed load is calibrated to
	if capped, _ := p.capped(p.present, v); p.Service.Load.Open || capped < now {
		now = p.perSec(p.present, v)
	}
	return p.perSec(l, v) / now
}

// interval returns a layout's gain, with what draws of seconds give at the ends of what is assumed.
func (p *Plan) interval(l Layout) Range {
	r := Range{Mid: p.gain(l, p.central())}
	rng := rand.New(rand.NewPCG(drawSeed, 1))
	lows, highs := make([]float64, draws), make([]float64, draws)
	drawn := make([]sample, len(p.Service.samples))
	for i := range draws {
		p.draw(rng, drawn)
		demands, perSec := p.Service.cpu(drawn)
		if perSec <= 0 {
			lows[i], highs[i] = r.Mid, r.Mid
			continue
		}
		lows[i] = p.gain(l, &view{demands: demands, perSec: perSec, trip: p.Assume.Trip.High,
			tripCPU: p.Assume.CPU.High, pause: 1})
		highs[i] = p.gain(l, &view{demands: demands, perSec: perSec, trip: p.Assume.Trip.Low, tripCPU: p.Assume.CPU.Low,
			grows: p.Service.Levels})
	}
	slices.Sort(lows)
	slices.Sort(highs)
	r.Low = min(lows[histogram.Rank(0.025, draws)-1], r.Mid)
	r.High = max(highs[histogram.Rank(0.975, draws)-1], r.Mid)
	return r
}

// draw fills drawn with seconds of the run, in blocks of neighbours that run around its end.
func (p *Plan) draw(rng *rand.Rand, drawn []sample) {
	all := p.Service.samples
	for n := 0; n < len(drawn); {
		at := rng.IntN(len(all))
		for range min(block, len(drawn)-n) {
			drawn[n] = all[at%len(all)]
			n, at = n+1, at+1
		}
	}
}

// Predict returns what a layout would give.
func (p *Plan) Predict(l Layout) Prediction {
	v := p.central()
	out := Prediction{Layout: l, Moves: p.moves(l), Gain: p.interval(l), At: -1}
	now := p.perSec(p.present, v)
	out.PerSec = out.Gain.times(now)
	out.Score = out.Gain.times(p.Service.Score)
	p.fillHosts(&out, v)
	p.fillTime(&out, v)
	p.fillMemory(&out)
	return out
}

func (r Range) times(by float64) Range { return Range{r.Low * by, r.Mid * by, r.High * by} }

// fillHosts says how busy hosts are, and which is the limit.
func (p *Plan) fillHosts(out *Prediction, v *view) {
	then, _ := p.stations(out.Layout, v)
	came := out.PerSec.Mid
	if p.Service.Load.Open {
		came = min(came, p.Service.Load.PerSec)
	}
	worst := 0.0
	for k, s := range then {
		h := &p.Hosts[k]
		busy := min((came*s.demand+h.Used)/h.Cores, 1)
		if !p.Service.Load.Open { // what the model has: where few clients wait for one another no host is always busy
			busy = min(came*s.demand/s.cores, 1)*s.cores/h.Cores + min(h.Used/h.Cores, 1-s.cores/h.Cores)
		}
		out.Busy = append(out.Busy, busy)
		if own := came * s.demand / s.cores; own > worst {
			worst, out.At = own, k
		}
	}
	if _, member := p.capped(out.Layout, v); member >= 0 {
		if most, _ := p.capped(out.Layout, v); most <= out.PerSec.Mid*1.001 {
			out.Limit, out.At = "the quota of "+p.Service.Members[member].Name, -1
			return
		}
	}
	if worst < 0.8 && !p.Service.Load.Open {
		out.Limit, out.At = "the load: its clients wait for no host", -1
		return
	}
	out.Limit = "CPU of " + p.Hosts[out.At].Name + ": " + p.namesOn(out.Layout, out.At)
}

// fillTime says what becomes of the median, in proportion to the mean.
func (p *Plan) fillTime(out *Prediction, v *view) {
	load := &p.Service.Load
	if load.P50 <= 0 || load.Time <= 0 || p.Service.Levels { // who come with the score wait, too
		return
	}
	now, _ := p.stations(p.present, v)
	then, wait := p.stations(out.Layout, v)
	factor := 0.0
	if load.Open {
		before, ok := open(now, 0, load.PerSec)
		after, ok2 := open(then, wait, load.PerSec)
		if !ok || !ok2 || p.full(now) {
			return // it queues without end: how long depends on how long it lasts
		}
		waits := max(load.Time.Seconds()-before, 0)
		factor = (after + waits) / (before + waits)
	} else {
		clients := load.Clients
		pause := max(clients/v.perSec-load.Time.Seconds(), 0)
		factor = (clients/out.PerSec.Mid - pause) / (clients/v.perSec - pause)
	}
	if factor > 0 && !math.IsInf(factor, 0) {
		out.P50, out.Known50 = time.Duration(float64(load.P50)*factor), true
	}
}

// full reports whether a host has no CPU left at the present rate.
func (p *Plan) full(stations []station) bool {
	return slices.ContainsFunc(stations, func(s station) bool { return p.Service.Load.PerSec*s.demand > 0.95*s.cores })
}

// fillMemory adds up the memory of members. A host must keep a tenth.
func (p *Plan) fillMemory(out *Prediction) {
	out.Bytes = make([]uint64, len(p.Hosts))
	out.Fits = FitYes
	for i, on := range out.Layout {
		for _, k := range on {
			out.Bytes[k] += p.Service.Members[i].RSS
		}
	}
	for k := range p.Hosts {
		h := &p.Hosts[k]
		switch {
		case out.Bytes[k] == 0:
		case h.Memory == 0 && out.Fits == FitYes:
			out.Fits = FitUnknown
		case h.Memory > 0 && out.Bytes[k]+h.Taken > h.Memory/10*9:
			out.Fits = FitNo
		}
	}
}
