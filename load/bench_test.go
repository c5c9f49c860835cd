package load

import (
	"testing"
	"time"
)

func BenchmarkRecorder(b *testing.B) {
	r := NewRecorder(Plan{Targets: []Target{{Method: "GET", URL: "http://a/"}}}, 0)
	one := []Hit{{Step: 1, Code: 200}}
	b.ReportAllocs()
	for b.Loop() {
		one[0].Due += time.Millisecond
		one[0].Sent = one[0].Due + 50*time.Microsecond
		one[0].Done = one[0].Due + one[0].Due%7919*1000
		r.Hits(one)
	}
}
