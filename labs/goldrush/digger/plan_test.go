package digger

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
)

// published are the values of seed 42.
var published = []float64{4, 9, 15, 19, 22, 24, 26, 28, 29, 30}

// TestNewPlan: a client that follows the plan in a world of its own earns the price that the
// plan has found, and the plan's choices are those of the rules: strips below a step of the
// costs, no cashing of what is worth less than its time.
func TestNewPlan(t *testing.T) {
	r := goldrush.Published()
	for _, perDig := range []float64{0, 0.2} {
		p := NewPlan(&r, published, perDig)
		w := &follower{p: p, r: &r, perDig: perDig, rng: rand.New(rand.NewPCG(1, 2))}
		for range 400_000 {
			w.root()
		}
		if got := w.coins / w.millis; math.Abs(got/p.Price-1) > 0.01 {
			t.Errorf("%g coins a dig: %.4f coins a millisecond, the plan has %.4f", perDig, got, p.Price)
		}
		t.Logf("%g coins a dig: price %.4f, strips of %d, cashed from %v", perDig, p.Price, p.Root, p.cashed)
		if p.Root != 3 && p.Root != 7 && p.Root != 15 && p.Root != 31 {
			t.Errorf("strips of %d columns", p.Root)
		}
		if p.cashed[1] || !p.cashed[4] || !p.cashed[10] {
			t.Errorf("cashed are %v", p.cashed)
		}
	}
	free, paid := NewPlan(&r, published, 0), NewPlan(&r, published, 0.2)
	r.CashCost = 20 * time.Millisecond
	if dear := NewPlan(&r, published, 0); free.Price <= paid.Price || dear.Price >= free.Price {
		t.Errorf("prices %.3f, %.3f with paid digs, %.3f with dear cash", free.Price, paid.Price, dear.Price)
	}
}

// A follower does what a plan says in strips of its own making.
type follower struct {
	p             *Plan
	r             *goldrush.Rules
	perDig        float64
	rng           *rand.Rand
	coins, millis float64
	world         [longest]uint16 // columns, a bit for each level
}

func (w *follower) cost(q goldrush.Request) { w.millis += millis(w.r.Cost(&q)) }

func (w *follower) ask(from, n int) (k int) {
	w.cost(goldrush.Request{Call: goldrush.Explore, Area: goldrush.Area{SizeX: n, SizeY: 1}})
	for _, c := range w.world[from : from+n] {
		k += ones(c)
	}
	return k
}

func ones(c uint16) (n int) {
	for ; c != 0; c &= c - 1 {
		n++
	}
	return n
}

func (w *follower) root() {
	density := 1 - math.Exp(-float64(w.r.Treasures)/float64(w.r.SizeX*w.r.SizeY*w.r.Depth))
	for i := range w.p.Root {
		w.world[i] = 0
		for level := range w.r.Depth {
			if w.rng.Float64() < density {
				w.world[i] |= 1 << level
			}
		}
	}
	w.strip(0, w.p.Root, w.ask(0, w.p.Root))
}

func (w *follower) strip(from, n, k int) {
	switch {
	case k == 0:
	case n == 1:
		w.dig(w.world[from], k)
	case w.p.split[n][min(k, richest)] > 0:
		part := w.p.split[n][min(k, richest)]
		j := w.ask(from, part)
		w.strip(from, part, j)
		w.strip(from+part, n-part, k-j)
	}
}

func (w *follower) dig(c uint16, k int) {
	for depth := 0; depth < w.r.Depth && k > 0 && w.p.column[depth][min(k, richest)] > 0; depth++ {
		w.cost(goldrush.Request{Call: goldrush.Dig, Hole: goldrush.Hole{Depth: depth + 1}})
		w.coins -= w.perDig
		if c&(1<<depth) == 0 {
			continue
		}
		k--
		if w.p.cashed[depth+1] {
			w.cost(goldrush.Request{Call: goldrush.Cash})
			w.coins += published[depth]
		}
	}
}

func BenchmarkNewPlan(b *testing.B) {
	r := goldrush.Published()
	for b.Loop() {
		NewPlan(&r, published, 0.2)
	}
}
