package digger

import "github.com/kasoku/kasoku/labs/goldrush"

// learnt is what treasures have turned out to be worth by depth.
type learnt struct {
	prior []int
	coins [maxDepth]float64
	n     [maxDepth]float64
	all   int // treasures that were cashed
	again int // of all, at which what was learnt is worth a new plan
}

// What was published counts as so many treasures. Plans are made anew after 64 and each time
// that there are four times as many: a mean of a few hundred is within two per cent.
const (
	priorCounts = 8
	firstPlan   = 64
	planGrowth  = 4
	// publishedBest is the depth at which the values of the published table turn.
	publishedBest = 3
)

func newLearnt(r *goldrush.Rules) learnt {
	return learnt{prior: r.Values(publishedBest), again: firstPlan}
}

// note counts a treasure, and reports whether it is time for a new plan.
func (l *learnt) note(depth, coins int) bool {
	l.coins[depth-1] += float64(coins)
	l.n[depth-1]++
	if l.all++; l.all < l.again {
		return false
	}
	l.again *= planGrowth
	return true
}

// values are the means by depth, from 1.
func (l *learnt) values() []float64 {
	out := make([]float64, len(l.prior))
	for i, v := range l.prior {
		out[i] = (float64(v)*priorCounts + l.coins[i]) / (priorCounts + l.n[i])
	}
	return out
}
