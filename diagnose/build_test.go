package diagnose

import (
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// at is a step of a constructed run.
type at struct {
	rate     float64
	from, to int // seconds
	good     float64
	latency  time.Duration
}

// run makes a recording of a load with those steps.
func run(steps ...at) *kasoku.Recording {
	rec := &kasoku.Recording{Run: kasoku.Run{Started: time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)}}
	for i, s := range steps {
		rec.Steps = append(rec.Steps, kasoku.Step{Number: i + 1, PerSec: s.rate, Interval: kasoku.Interval{From: sec(s.from), To: sec(s.to)}})
		for k := s.from; k < s.to; k++ {
			h := histogram.New()
			h.RecordN(s.latency, uint64(s.rate))
			good := uint64(s.good * s.rate)
			rec.Seconds = append(rec.Seconds, kasoku.LoadSecond{
				Second: k, Step: i + 1, Target: "GET /a", Asked: uint64(s.rate), Latency: h,
				Codes: map[int]uint64{200: good, 503: uint64(s.rate) - good},
			})
		}
		rec.Run.Length = sec(s.to + 3)
	}
	return rec
}

func sec(s int) time.Duration { return time.Duration(s) * time.Second }

// series adds a series with one point for each value, the first at from, one a
// second.
func series(rec *kasoku.Recording, source, name string, from int, values ...float64) {
	s := kasoku.Series{Key: kasoku.Key{Source: source, Name: name}}
	for i, v := range values {
		s.Points = append(s.Points, kasoku.Point{At: sec(from + i), Value: v})
	}
	rec.Series = append(rec.Series, s)
}
