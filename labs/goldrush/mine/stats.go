package mine

import (
	"maps"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
)

// Stats are what a game has counted.
type Stats struct {
	Begun    time.Duration                 // when the first request came that was not [goldrush.Health]; -1: none did
	Answers  [goldrush.Calls]map[int]int64 // by status
	InFlight [goldrush.Calls]int
	CPU      [goldrush.Calls]time.Duration // of the virtual CPU
	Queue    int                           // requests that wait for it
	Active   int                           // licences
	Issued   int64
	Balance  int // the score
	Earned   int64
	Spent    int64
	Placed   int // treasures, of which some were dug
}

// count counts an answer.
func (s *Stats) count(c goldrush.Call, status int) {
	if s.Answers[c] == nil {
		s.Answers[c] = map[int]int64{}
	}
	s.Answers[c][status]++
}

// Stats returns what was counted until the time of the last call.
func (m *Mine) Stats() Stats {
	s := m.stats
	for c := range s.Answers {
		s.Answers[c] = maps.Clone(s.Answers[c])
		s.CPU[c] = time.Duration(m.cpu.used[c]) * tick
	}
	s.Queue, s.Active, s.Issued = m.cpu.live, len(m.licenses.active), m.licenses.issued
	s.Balance, s.Earned, s.Spent = m.bank.balance, m.bank.earned, m.bank.spent
	s.Placed = m.rules.Treasures - m.world.skipped
	return s
}

// Values returns what a treasure is worth at each depth, from 1.
func (m *Mine) Values() []int { return m.values }
