package memory

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/kasoku/kasoku/labs/isuumo/request"
)

// errShut is the answer to purchases and uploads while it is unknown what the
// database holds.
var errShut = &request.Error{Status: http.StatusServiceUnavailable, Reason: "the database is being read again"}

// A purchase is one chair, taken from the stock in memory and not yet from the
// database's.
type purchase struct {
	id   int64
	done chan error // has room for the answer
}

func answer(purchases []*purchase, err error) {
	for _, p := range purchases {
		p.done <- err
	}
}

// buy sells one chair and returns when the database holds that it is sold.
func (s *Service) buy(id int64) error {
	s.writing.RLock()
	defer s.writing.RUnlock()
	p, err := s.take(id)
	if err != nil {
		return err
	}
	wake(s.sell)
	return <-p.done
}

// take takes a chair from the stock in memory. The last one takes the chair from
// all lists, before the database hears of it.
func (s *Service) take(id int64) (*purchase, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errShut
	}
	c := s.world.Load().chairs
	slot, ok := c.slot(id)
	if !ok || s.stock[slot] <= 0 {
		return nil, request.NotFound
	}
	if s.stock[slot]--; s.stock[slot] == 0 {
		c.inStock.remove(c.rankOf[slot])
	}
	p := &purchase{id: id, done: make(chan error, 1)}
	s.queue = append(s.queue, p)
	return p, nil
}

// sellAll writes purchases, all that wait at a time.
func (s *Service) sellAll() {
	for {
		select {
		case <-s.ctx.Done():
			answer(s.shut(), errShut)
			return
		case <-s.sell:
		}
		s.mu.Lock()
		batch := s.queue
		s.queue = nil
		s.mu.Unlock()
		if len(batch) == 0 {
			continue // they were answered when the service was shut
		}
		if err := s.writeSales(batch); err != nil {
			s.fail(err) // first, so that no purchase is taken after these are answered
			answer(batch, errShut)
			continue
		}
		answer(batch, nil)
	}
}

// writeSales writes the purchases in one statement, which is a transaction by
// itself. After an error it is unknown which of them were made.
func (s *Service) writeSales(batch []*purchase) error {
	query, rows := salesQuery(batch)
	res, err := s.record.sales.conn.ExecContext(s.ctx, query)
	if err != nil {
		return fmt.Errorf("write sales: %w", err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return fmt.Errorf("write sales: %w", err)
	}
	if n != rows {
		return fmt.Errorf("write sales: of %d chairs, the database had %d in stock", rows, n)
	}
	return nil
}

// salesQuery returns the statement, and how many rows it has to change.
//
// It takes a chair as often as it was bought, and never more than are there.
func salesQuery(batch []*purchase) (query string, rows int64) {
	slices.SortFunc(batch, func(a, b *purchase) int { return cmp.Compare(a.id, b.id) })
	var ids, more []byte
	for i := 0; i < len(batch); {
		id, n := batch[i].id, 0
		for ; i < len(batch) && batch[i].id == id; i++ {
			n++
		}
		ids = strconv.AppendInt(append(ids, ','), id, 10)
		if n > 1 {
			more = fmt.Appendf(more, " WHEN %d THEN %d", id, n)
		}
		rows++
	}
	take := "1"
	if more != nil {
		take = "CASE id" + string(more) + " ELSE 1 END"
	}
	return "UPDATE chair SET stock = stock - " + take + " WHERE id IN (" + string(ids[1:]) + ") AND stock >= " + take,
		rows
}
