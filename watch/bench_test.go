package watch

import (
	"testing"
	"time"
)

// BenchmarkScreen is a second of a live watch without the sampling: what there is is
// taken, and drawn.
func BenchmarkScreen(b *testing.B) {
	rec := sample()
	w := NewWindow(rec.Run, rec.Settings, 0)
	for s := range 300 {
		for _, f := range frames(s) {
			_ = w.Frame(&f)
		}
	}
	f := &fakeFeed{window: w, now: 299 * time.Second}
	for _, size := range []struct {
		name          string
		width, height int
	}{{"80x24", 80, 24}, {"200x50", 200, 50}} {
		b.Run(size.name, func(b *testing.B) {
			m := NewModel(f.Take(), f, Options{Color: true})
			m.Resize(size.width, size.height)
			b.ReportAllocs()
			for b.Loop() {
				m.Tick()
				_ = m.Screen()
			}
		})
	}
}
