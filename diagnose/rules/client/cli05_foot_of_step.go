package client

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/expvar"
)

// FootOfStep is the rule CLI-05.
type FootOfStep struct{}

// Thresholds of CLI-05.
const (
	lowSide     = 0.25 // of a step, 0 at its foot and 1 at its end
	leastSteps  = 3
	fewAnswers  = 30   // of a size
	explained   = 0.95 // of the variance of the times, by whole doublings
	muchBetter  = 0.5  // of what whole doublings leave over, to what the sizes themselves do
	largestSize = 1e9
)

// ID returns CLI-05.
func (FootOfStep) ID() string { return "CLI-05" }

// Doc describes the rule.
func (FootOfStep) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds requests of sizes just above a step of what they cost.`,
		Evidence: `what the client publishes of its operations by size over expvar (Size, Answers,
			AnswerTime) says that the time of an answer grows by equal amounts with each whole doubling of the size
			(of at least three, at least 95 % of its variance, and half as much left over as by the size
			itself), and that the requests lie in the first quarter of their step on average. Answers of fewer than
			30 requests, and those of size 1, do not count.`,
		Cause: `the service charges for whole doublings: 8 cost what 15 do, and one more than 7.`,
		Fix:   `ask for 2^k − 1 at a time: 3, 7, 15.`,
		Silent: `when times are of another shape, when the requests lie further up their steps; blind when no
			program publishes anything of the kind.`,
	}
}

// A staircase is an operation of several sizes.
type staircase struct {
	name  string
	sizes []operation // by size
	n     float64
	side  float64 // where requests lie on their step, 0 to 1
	cells float64 // what they would ask for at its end, to what they do
	took  float64 // seconds
	good  float64 // share of the variance that whole doublings explain
	left  float64 // what they leave over, to what the sizes do
	steps int
}

// Check looks at the times of answers by size.
func (r FootOfStep) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	s, err := seenOf(c)
	if err != nil {
		return nil, silentFor(r.ID(), err)
	}
	var best *staircase
	for _, x := range staircases(operationsOf(c, &s)) {
		if best == nil || x.took > best.took {
			best = &x
		}
	}
	switch {
	case best == nil:
		return nil, diagnose.Quiet(r.ID(), 0, "no operation has %d answers each of sizes of %d steps",
			fewAnswers, leastSteps)
	case best.good < explained || best.left > muchBetter:
		return nil, diagnose.Quiet(r.ID(), 0.5,
			"the time of %s does not grow by whole doublings of its size: they explain %s",
			best.name, unit.Percent(best.good))
	case best.side > lowSide:
		return nil, diagnose.Quiet(r.ID(), lowSide/best.side,
			"%s has steps of cost at powers of two, and its requests lie %s up their step on average; the threshold is %s",
			best.name, unit.Percent(best.side), unit.Percent(lowSide))
	}
	return []kasoku.Finding{r.finding(&s, best)}, nil
}

func (r FootOfStep) finding(s *seen, x *staircase) kasoku.Finding {
	share := 0.0
	if s.inFlight > 0 {
		share = x.took / (s.inFlight * s.interval.Len().Seconds()) * (1 - 1/x.cells)
	}
	severity := kasoku.Problem
	if !x.flat() { // what grows with each doubling fits sizes of powers of two as well
		severity = kasoku.Info
	}
	return kasoku.Finding{
		ID: r.ID(), Object: s.object(),
		Title:    fmt.Sprintf("The sizes of %s lie just above a step of their cost", x.name),
		Clause:   fmt.Sprintf("the sizes of %s lie just above a step of their cost", x.name),
		Severity: severity,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: x.flat(), Lacks: "no two sizes of one step were asked for"}),
		Impact: kasoku.Impact{Share: min(share, 1), Of: "of the time of the client's requests", Estimate: true},
		Evidence: []kasoku.Evidence{
			{Source: evidence.SourceExpvar, Text: "time of an answer by size", Value: x.times(), Number: x.good,
				Strong: true, Series: []kasoku.Key{x.series(expvar.AnswerTime), x.series(expvar.Size)},
				Interval: s.interval},
			{Source: evidence.SourceExpvar, Text: "where requests lie on their step, on average",
				Value:  unit.Percent(x.side),
				Number: x.side, Strong: true, Interval: s.interval,
				Note: "0 % is its foot, a power of two, and 100 % its end, one less than the next"},
		},
		Cause: fmt.Sprintf("The time of %s grows by equal amounts with each whole doubling of its size (%s of its variance), "+
			"and its requests lie at the foot of their step: one less would cost a step less, and up to the next power of two "+
			"costs the same.", x.name, unit.Percent(x.good)),
		Fixes: []kasoku.Fix{{
			Text: "Ask for 2^k − 1 at a time: " + x.better(), Where: "the client", Risk: kasoku.RiskNone,
			Note: "Parts of them, too: 15 divide into 7 and 8, of which the 8 need not be asked for where both add up.",
		}},
		Expect: fmt.Sprintf("%s times as much asked for in the same time", unit.Sig3(x.cells)),
		Verify: "repeat it with these sizes: a request must take as long as before, for more", Interval: s.interval,
	}
}

// staircases are the operations of sizes of several steps.
func staircases(all []operation) (out []staircase) {
	var names []string
	by := map[string][]operation{}
	for _, o := range all {
		if o.size < 2 || o.size > largestSize || o.n < fewAnswers {
			continue
		}
		if by[o.name] == nil {
			names = append(names, o.name)
		}
		by[o.name] = append(by[o.name], o)
	}
	for _, name := range names {
		x := staircase{name: name, sizes: by[name]}
		slices.SortFunc(x.sizes, func(a, b operation) int { return cmp.Compare(a.size, b.size) })
		if x.measure(); x.steps >= leastSteps {
			out = append(out, x)
		}
	}
	return out
}

// step is the whole part of the binary logarithm of a size.
func step(size float64) float64 { return math.Floor(math.Log2(size)) }

// measure fills in what follows from the sizes.
func (x *staircase) measure() {
	last, asked, could := -1.0, 0.0, 0.0
	for i := range x.sizes {
		o := &x.sizes[i]
		k := step(o.size)
		if k != last {
			x.steps++
			last = k
		}
		low := math.Exp2(k)
		x.n += o.n
		x.took += o.took
		x.side += o.n * (o.size - low) / (low - 1)
		asked += o.n * o.size
		could += o.n * (2*low - 1)
	}
	x.side = min(x.side/x.n, 1)
	x.cells = could / asked
	all := x.residual(func(*operation) float64 { return 0 })
	doublings := x.residual(func(o *operation) float64 { return step(o.size) })
	sizes := x.residual(func(o *operation) float64 { return o.size })
	if all > 0 {
		x.good = 1 - doublings/all
	}
	x.left = 1
	if sizes > 0 {
		x.left = doublings / sizes
	}
}

// residual is what a straight line over of leaves of the variance of the mean times, weighted
// by answers.
func (x *staircase) residual(of func(*operation) float64) float64 {
	var w, meanX, meanY float64
	for i := range x.sizes {
		o := &x.sizes[i]
		w += o.n
		meanX += o.n * of(o)
		meanY += o.n * o.mean()
	}
	meanX, meanY = meanX/w, meanY/w
	var xx, xy, yy float64
	for i := range x.sizes {
		o := &x.sizes[i]
		dx, dy := of(o)-meanX, o.mean()-meanY
		xx, xy, yy = xx+o.n*dx*dx, xy+o.n*dx*dy, yy+o.n*dy*dy
	}
	if xx == 0 {
		return yy
	}
	return yy - xy*xy/xx
}

// flat reports whether two sizes of one step were seen.
func (x *staircase) flat() bool {
	for i := 1; i < len(x.sizes); i++ {
		if step(x.sizes[i].size) == step(x.sizes[i-1].size) {
			return true
		}
	}
	return false
}

// mostShown sizes are quoted.
const mostShown = 6

func (x *staircase) times() string {
	var out []string
	for i := range min(len(x.sizes), mostShown) {
		o := &x.sizes[i]
		out = append(out, fmt.Sprintf("%s: %s ms", unit.Plain(o.size), unit.Sig3(1e3*o.mean())))
	}
	return strings.Join(out, ", ")
}

// better are the ends of the steps that were used.
func (x *staircase) better() string {
	var out []string
	for i := range x.sizes {
		end := unit.Plain(2*math.Exp2(step(x.sizes[i].size)) - 1)
		if len(out) == 0 || out[len(out)-1] != end {
			out = append(out, end)
		}
	}
	return strings.Join(out[:min(len(out), mostShown)], ", ")
}

func (x *staircase) series(name string) kasoku.Key {
	key := x.sizes[len(x.sizes)-1].key
	key.Name = name
	return key
}
