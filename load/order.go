package load

import (
	"fmt"
	"math"
)

// maxRound bounds the requests of one round of an [Order], after which it begins
// again: 256 KiB.
const maxRound = 1 << 16

// An Order defines which target each request goes to: in turn, each as often as
// its weight says, and spread evenly. It is immutable and safe for concurrent use.
type Order struct {
	n    uint64
	turn []int32 // targets in their order of one round; nil: 0, 1, 2 …
}

// NewOrder returns the order of the targets of a plan that is valid.
//
// Weights are spread as nginx's smooth weighted round robin spreads them: with 5,
// 1 and 1 the order is a a b a c a a, so the requests to one target do not come in
// one burst.
func NewOrder(targets []Target) *Order {
	o := &Order{n: uint64(len(targets))}
	weights, round, err := reduceWeights(targets)
	if err != nil || round == len(targets) {
		return o
	}
	// Each turn every target gains its weight and the one that has most pays the
	// sum; the first one of equals.
	o.turn = make([]int32, round)
	has := make([]int, len(weights))
	for i := range o.turn {
		best := 0
		for j, w := range weights {
			has[j] += w
			if has[j] > has[best] {
				best = j
			}
		}
		has[best] -= round
		o.turn[i] = int32(best)
	}
	return o
}

// reduceWeights returns the weights without their common factor, and their sum.
func reduceWeights(targets []Target) (weights []int, round int, err error) {
	factor := 0
	for i := range targets {
		w := targets[i].Weight
		if w < 0 || w > math.MaxInt32 {
			return nil, 0, fmt.Errorf("bad weight %d of target %d, %s: want 1 or more", w, i+1, targets[i].Name())
		}
		weights = append(weights, max(w, 1))
		factor = gcd(factor, max(w, 1))
	}
	for i := range weights {
		weights[i] /= factor
		round += weights[i]
	}
	if round > maxRound && round > len(targets) {
		return nil, 0, fmt.Errorf("bad weights: their sum, without the factor that all have in common, is %d: want at most %d", round, maxRound)
	}
	return weights, round, nil
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Target returns the index of the target of request n, 0 without targets.
func (o *Order) Target(n uint64) int {
	if o.turn != nil {
		return int(o.turn[n%uint64(len(o.turn))])
	}
	if o.n == 0 {
		return 0
	}
	return int(n % o.n)
}
