package scenario

import (
	"context"
	"errors"
	"testing"
	"time"
)

// BenchmarkStep counts from several goroutines, as workers do.
func BenchmarkStep(b *testing.B) {
	now := time.Now()
	err := errors.New("GET /api/chair/search: wrong count")
	for name, f := range map[string]func(*Step){
		"score":  func(s *Step) { s.Score("buy") },
		"fail":   func(s *Step) { s.Fail(err) },
		"record": func(s *Step) { s.Record(Record{Step: "GET /api/chair/search", Sent: now, Done: now, Code: 200}) },
	} {
		b.Run(name, func(b *testing.B) {
			runAll(b, b.Context(), Options{LoadTime: time.Hour, Scoring: Scoring{Limit: map[Code]int{}}}, loading(func(_ context.Context, s *Step) {
				b.ReportAllocs()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						f(s)
					}
				})
			}))
		})
	}
}
