package bench

import (
	"fmt"
	"sync"
	"time"

	"github.com/kasoku/kasoku/load/scenario"
)

// A trip is a train of a day.
type trip struct {
	day   int
	class string
	name  string
}

// A chair is a seat of a train.
type chair struct {
	car, row int
	column   string
}

// A ticket is a reservation that the service has confirmed.
type ticket struct {
	id       int64
	trip     trip
	from, to int
	class    string // of seats
	adults   int
	children int
	amount   int64
	chairs   []chair

	// What became of it; guarded by the book.
	paid      bool
	cancelled time.Time // when that was confirmed
	left      bool      // someone began to cancel it
	unknown   bool      // a commit or a cancellation had no answer
}

func (t *ticket) low() int  { return min(t.from, t.to) }
func (t *ticket) high() int { return max(t.from, t.to) }

// A book is what the benchmark knows of all trains.
type book struct {
	mu      sync.Mutex
	trips   map[trip]*sales
	tickets []*ticket
	lost    int // reservations that had no answer
	gone    []*ticket
}

// sales are those of a train.
type sales struct {
	held    map[chair][]*ticket
	changes int // that began or ended
	open    int // changes under way, and those that had no answer
}

func newBook() *book { return &book{trips: map[trip]*sales{}} }

func (b *book) of(t trip) *sales {
	if b.trips[t] == nil {
		b.trips[t] = &sales{held: map[chair][]*ticket{}}
	}
	return b.trips[t]
}

// begin notes that a change of a train is under way.
func (b *book) begin(t trip) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.of(t)
	s.changes++
	s.open++
}

// end notes that it has ended, or with lost that it had no answer.
func (b *book) end(t trip, lost bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.of(t)
	s.changes++
	if !lost {
		s.open--
	}
}

// lose counts a reservation without an answer.
func (b *book) lose() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost++
}

// sell notes a confirmed reservation. A seat of it that someone else holds was sold twice.
func (b *book) sell(t *ticket) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.of(t.trip)
	for _, c := range t.chairs {
		for _, other := range s.held[c] {
			if !other.left && other.low() < t.high() && other.high() > t.low() {
				return scenario.Errorf(scenario.Critical, "POST /api/train/reserve: a seat was sold twice: train %s of %s, "+
					"car %d, seat %d%s, by reservations %d and %d", t.trip.name, dayText(t.trip.day), c.car, c.row, c.column,
					other.id, t.id)
			}
		}
	}
	for _, other := range b.tickets {
		if other.id == t.id {
			return scenario.Errorf(scenario.Critical, "POST /api/train/reserve: reservation %d is someone else's", t.id)
		}
	}
	for _, c := range t.chairs {
		s.held[c] = append(s.held[c], t)
	}
	b.tickets = append(b.tickets, t)
	return nil
}

// A view is what is known of a train's seats at a moment.
type view struct {
	changes int
	sure    bool // nothing was under way
	taken   map[chair]bool
}

// look returns what is taken on a part of the way.
func (b *book) look(t trip, from, to int) view {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.of(t)
	v := view{s.changes, s.open == 0, map[chair]bool{}}
	for c, by := range s.held {
		for _, x := range by {
			if !x.left && x.low() < max(from, to) && x.high() > min(from, to) {
				v.taken[c] = true
			}
		}
	}
	return v
}

// pay, leave and cancel note what became of a ticket.
func (b *book) pay(t *ticket) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t.paid = true
}

func (b *book) doubt(t *ticket) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t.unknown = true
}

func (b *book) leave(t *ticket) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t.left = true
}

func (b *book) cancel(t *ticket) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t.cancelled = time.Now()
	if t.paid {
		b.gone = append(b.gone, t)
	}
}

// overdue returns, once each, tickets that were paid and then cancelled longer ago.
func (b *book) overdue(ago time.Duration) (out []*ticket) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.gone) > 0 && time.Since(b.gone[0].cancelled) > ago {
		out, b.gone = append(out, b.gone[0]), b.gone[1:]
	}
	return out
}

// audit compares payments with what was reserved, and returns what is wrong.
func (b *book) audit(all []payment) []error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	paid, known := map[int64]int64{}, map[int64]bool{}
	for _, p := range all {
		if !p.Cancelled {
			paid[p.Reservation] += p.Amount
		}
	}
	for _, t := range b.tickets {
		known[t.id] = true
		want := int64(0)
		if t.paid && t.cancelled.IsZero() {
			want = t.amount
		}
		got := paid[t.id]
		switch {
		case t.unknown || got == want:
		case want == 0 && !t.cancelled.IsZero():
			errs = append(errs, fmt.Errorf("a reservation that was cancelled is still paid for: %d, %d yen", t.id, got))
		case want == 0:
			errs = append(errs, fmt.Errorf("a reservation that was not committed is paid for: %d, %d yen", t.id, got))
		default:
			errs = append(errs, fmt.Errorf("sums differ: %d yen are paid for reservation %d of %d yen", got, t.id, want))
		}
	}
	for id := range paid {
		if !known[id] && b.lost == 0 {
			errs = append(errs, fmt.Errorf("reservation %d is paid for, which was never confirmed", id))
		}
	}
	return errs
}
