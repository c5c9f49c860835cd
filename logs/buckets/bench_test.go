package buckets

import (
	"math"
	"math/rand/v2"
	"testing"
)

func sample(n int) []float64 {
	r := rand.New(rand.NewPCG(3, 5))
	vs := make([]float64, n)
	for i := range vs {
		vs[i] = math.Exp(r.NormFloat64()*1.5 - 8)
	}
	return vs
}

func BenchmarkIndex(b *testing.B) {
	vs := sample(1 << 12)
	sum := 0
	b.Run("kind=table", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			sum += Index(vs[i&(len(vs)-1)])
		}
	})
	b.Run("kind=logarithm", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			sum += slowIndex(vs[i&(len(vs)-1)])
		}
	})
	_ = sum
}

func BenchmarkAdd(b *testing.B) {
	vs := sample(1 << 12)
	var s Stats
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Add(vs[i&(len(vs)-1)])
	}
}

func BenchmarkMerge(b *testing.B) {
	o := of(sample(1 << 12))
	s := new(Stats)
	b.ReportAllocs()
	for b.Loop() {
		s.Merge(o)
	}
}

func BenchmarkSummary(b *testing.B) {
	s := of(sample(1 << 12))
	b.ReportAllocs()
	for b.Loop() {
		s.Summary()
	}
}

func BenchmarkMakeTables(b *testing.B) {
	for b.Loop() {
		makeTables()
	}
}
