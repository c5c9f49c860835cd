package digger

import (
	"math"
	"sync"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
)

// How far a plan looks: strips of so many columns, with so many treasures in them.
const (
	longest = 31
	richest = 8
)

// A Plan says what the CPU's time is worth, and from that what is worth its time.
//
// The game is a stream of strips of columns, each of them like the last. A client that asks
// for a strip, looks for its treasures, digs and cashes gets some coins for some time of the
// CPU. With λ as the price of a millisecond, a step is worth what comes of it less λ times
// what it takes, and is done where that is more than nothing. λ is the price at which the
// best strip is worth exactly nothing: were it more, no strip were worth asking for; were it
// less, there were coins left to gain. It is then also what the best client earns.
//
// A dig also has a price of its own, its part of a licence.
type Plan struct {
	Price float64 // coins that a millisecond of the CPU earns
	Root  int     // columns of a strip
	// split is how many columns of a strip of n with k treasures are asked for next; 0: it
	// is left alone.
	split [longest + 1][richest + 1]int
	// column is what a column is worth that was dug to a depth, with k treasures below.
	column [maxDepth + 1][richest + 1]float64
	strip  [longest + 1][richest + 1]float64
	cashed [maxDepth + 1]bool // whether a treasure of the depth is worth the time of cashing it
}

const maxDepth = 10

// A model is what a plan is made of.
type model struct {
	rules   *goldrush.Rules
	values  []float64 // by depth, from 1
	perDig  float64   // coins
	density float64   // treasures a column and level
	odds    *odds
}

// NewPlan finds the plan for the rules, what treasures are worth by depth, and what a dig
// costs in coins.
func NewPlan(r *goldrush.Rules, values []float64, perDig float64) *Plan {
	places := float64(r.SizeX * r.SizeY * r.Depth)
	m := &model{rules: r, values: values, perDig: perDig, density: 1 - math.Exp(-float64(r.Treasures)/places),
		odds: splitOdds()}
	low, high := 0.0, 10.0
	for range 40 {
		mid := (low + high) / 2
		if _, worth := m.plan(mid).bestRoot(m); worth > 0 {
			low = mid
		} else {
			high = mid
		}
	}
	p := m.plan(low)
	p.Root, _ = p.bestRoot(m)
	return p
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// explore is what asking for so many columns takes, in milliseconds.
func (m *model) explore(n int) float64 {
	return millis(m.rules.Cost(&goldrush.Request{Call: goldrush.Explore, Area: goldrush.Area{SizeX: n, SizeY: 1}}))
}

func (m *model) dig(depth int) float64 {
	return millis(m.rules.Cost(&goldrush.Request{Call: goldrush.Dig, Hole: goldrush.Hole{Depth: depth}}))
}

// plan is what is worth its time at a price.
func (m *model) plan(price float64) *Plan {
	p := &Plan{Price: price}
	m.planColumns(p)
	for k := 1; k <= richest; k++ {
		p.strip[1][k] = p.column[0][k]
	}
	for n := 2; n <= longest; n++ {
		for k := 1; k <= richest; k++ {
			for ask := 1; ask < n; ask++ {
				if worth := p.splitWorth(m, n, k, ask); worth > p.strip[n][k] {
					p.strip[n][k], p.split[n][k] = worth, ask
				}
			}
		}
	}
	return p
}

// planColumns goes through the columns from the deepest up.
func (m *model) planColumns(p *Plan) {
	for depth := m.rules.Depth; depth >= 1; depth-- {
		cash := m.values[depth-1] - p.Price*millis(m.rules.CashCost)
		p.cashed[depth] = cash > 0
		left := m.rules.Depth - depth + 1 // levels where the treasures may be
		for k := 1; k <= min(richest, left); k++ {
			hit := float64(k) / float64(left)
			worth := -p.Price*m.dig(depth) - m.perDig + hit*(max(0, cash)+p.column[depth][k-1])
			if hit < 1 {
				worth += (1 - hit) * p.column[depth][k]
			}
			p.column[depth-1][k] = max(0, worth)
		}
	}
}

// splitWorth is what a strip of n columns with k treasures is worth when some are asked for.
func (p *Plan) splitWorth(m *model, n, k, ask int) float64 {
	worth := -p.Price * m.explore(ask)
	for j := 0; j <= k; j++ {
		worth += m.odds.split(n, k, ask, j) * (p.strip[ask][j] + p.strip[n-ask][k-j])
	}
	return worth
}

// bestRoot is the strip that is worth most to ask for, of nothing known.
func (p *Plan) bestRoot(m *model) (n int, worth float64) {
	worth = math.Inf(-1)
	for try := 1; try <= longest; try++ {
		w := -p.Price * m.explore(try)
		for k := 1; k <= richest; k++ {
			w += binomial(m.rules.Depth*try, k, m.density) * p.strip[try][k]
		}
		if w > worth {
			n, worth = try, w
		}
	}
	return n, worth
}

// binomial is how likely k of n come to pass, each with a chance.
func binomial(n, k int, chance float64) float64 {
	return math.Exp(choose(n, k) + float64(k)*math.Log(chance) + float64(n-k)*math.Log1p(-chance))
}

// choose is the logarithm of the ways to take k of n; of none, minus infinity.
func choose(n, k int) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// odds are how likely it is that a part of a strip has j of its k treasures.
type odds [longest + 1][richest + 1][longest + 1][richest + 1]float32

func (o *odds) split(n, k, part, j int) float64 { return float64(o[n][k][part][j]) }

// splitOdds holds for every game: which of its places a treasure is in does not depend on
// the others, but that they are different.
var splitOdds = sync.OnceValue(newOdds)

func newOdds() *odds {
	o := new(odds)
	for n := 2; n <= longest; n++ {
		for k := 1; k <= richest; k++ {
			for part := 1; part < n; part++ {
				for j := 0; j <= k; j++ {
					o[n][k][part][j] = float32(math.Exp(choose(maxDepth*part, j) + choose(maxDepth*(n-part), k-j) -
						choose(maxDepth*n, k)))
				}
			}
		}
	}
	return o
}
