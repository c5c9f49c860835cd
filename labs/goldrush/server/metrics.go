package server

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
	"github.com/kasoku/kasoku/labs/goldrush/mine"
	"github.com/kasoku/kasoku/wire/prometheus"
)

// showMetrics writes what the game has counted.
func (s *Server) showMetrics(w http.ResponseWriter) {
	stats, now := s.Stats()
	page := encodeMetrics(&stats, now)
	w.Header().Set("Content-Type", prometheus.Text.ContentType())
	w.Header().Set("Content-Length", strconv.Itoa(len(page)))
	_, _ = w.Write(page) // who is gone misses nothing
}

func encodeMetrics(s *mine.Stats, now time.Duration) []byte {
	e := prometheus.NewEncoder(prometheus.Text)
	e.Counter("goldrush_cpu_seconds_total", "Time of the virtual CPU, which has one second a second.")
	for c := range goldrush.Calls {
		e.Value(labelOf(c), s.CPU[c].Seconds(), time.Time{})
	}
	e.Counter("goldrush_answers_total", "Answers by call and status.")
	for c := range goldrush.Calls {
		for _, status := range slices.Sorted(maps.Keys(s.Answers[c])) {
			e.Count(append(labelOf(c), prometheus.Label{Name: "status", Value: strconv.Itoa(status)}),
				uint64(s.Answers[c][status]))
		}
	}
	e.Gauge("goldrush_in_flight", "Requests that are not answered yet.")
	for c := range goldrush.Calls {
		e.Value(labelOf(c), float64(s.InFlight[c]), time.Time{})
	}
	elapsed, perSec := 0.0, 0.0
	if s.Begun >= 0 && now > s.Begun {
		elapsed = (now - s.Begun).Seconds()
		perSec = float64(s.Balance) / elapsed
	}
	for _, g := range []struct {
		name, help string
		value      float64
	}{
		{"goldrush_cpu_queue", "Requests that wait for the virtual CPU.", float64(s.Queue)},
		{"goldrush_licenses_active", "Licences that have digs left.", float64(s.Active)},
		{"goldrush_score", "Coins that the client holds.", float64(s.Balance)},
		{"goldrush_score_per_second", "Coins a second since the first request.", perSec},
		{"goldrush_elapsed_seconds", "Time since the first request.", elapsed},
	} {
		e.Gauge(g.name, g.help)
		e.Value(nil, g.value, time.Time{})
	}
	for _, c := range []struct {
		name, help string
		value      int64
	}{
		{"goldrush_coins_earned_total", "Coins that were paid for treasures.", s.Earned},
		{"goldrush_coins_spent_total", "Coins that were paid for licences.", s.Spent},
		{"goldrush_licenses_issued_total", "Licences.", s.Issued},
	} {
		e.Counter(c.name, c.help)
		e.Count(nil, uint64(c.value))
	}
	return e.Bytes()
}

func labelOf(c goldrush.Call) []prometheus.Label {
	return []prometheus.Label{{Name: "call", Value: c.String()}}
}
