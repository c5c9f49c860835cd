package play

import (
	"net/http"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
	"github.com/kasoku/kasoku/labs/goldrush/digger"
)

// A served is what the server says that its CPU did for a client, so far, and for which treasures.
//
// The server says how much cashing has taken, not of which depth. A treasure takes the same at each, so
// what was used since the last look is shared out among the answers that came since then. Each sum
// only grows: shares of the whole would fall where others are cashed, and whoever adds up by how much
// a counter grew takes a fall for a new beginning.
type served struct {
	cpu    [goldrush.Calls]time.Duration
	depths [len(digger.Counts{}.Paid)]time.Duration // of cpu[Cash]
	rest   time.Duration                            // of it: for treasures that were not paid

	paid    [len(digger.Counts{}.Paid)]int64 // at the last look at which any was answered
	unpaid  int64
	pending time.Duration // since then
}

// add notes a look at the server, and what the client has counted then. One that was overtaken by a later
// one is left out.
func (s *served) add(cpu [goldrush.Calls]time.Duration, c *digger.Counts) {
	for call, used := range cpu {
		if used < s.cpu[call] {
			return
		}
	}
	s.pending += cpu[goldrush.Cash] - s.cpu[goldrush.Cash]
	s.cpu = cpu
	unpaid := unpaidOf(c)
	n := unpaid - s.unpaid
	for depth := range c.Paid {
		n += c.Paid[depth].N - s.paid[depth]
	}
	if n <= 0 {
		return // what is under way is of a depth that is not known here
	}
	left := s.pending
	for depth := range c.Paid {
		part := s.pending / time.Duration(n) * time.Duration(c.Paid[depth].N-s.paid[depth])
		s.depths[depth] += part
		left -= part
		s.paid[depth] = c.Paid[depth].N
	}
	if unpaid > s.unpaid {
		s.rest += left
		left = 0
	}
	s.unpaid, s.pending = unpaid, left
}

// unpaidOf is how many treasures took of the CPU and were not paid: all that were answered otherwise than
// at once.
func unpaidOf(c *digger.Counts) (n int64) {
	for status, of := range c.Answers[goldrush.Cash] {
		switch status {
		case 0, http.StatusOK, http.StatusServiceUnavailable, http.StatusTooManyRequests:
		default:
			n += of
		}
	}
	return n
}
