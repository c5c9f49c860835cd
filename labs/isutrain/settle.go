package isutrain

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"strconv"
	"strings"
)

// The states of a reservation.
const (
	requesting = "requesting" // not paid for
	done       = "done"
	cancelling = "cancelling" // the payment service is asked; it is not shown any more
)

// A debt is what is to be paid, or was.
type debt struct {
	id, user, amount int64
	status, payment  string
}

// debtOf reads a reservation of a user, which lock may lock.
func debtOf(ctx context.Context, q querier, user, id int64, lock string) (*debt, error) {
	x := &debt{id: id}
	err := q.QueryRowContext(ctx, "SELECT user_id, amount, status, payment_id FROM reservations WHERE reservation_id = ?"+
		lock, id).Scan(&x.user, &x.amount, &x.status, &x.payment)
	if errors.Is(err, sql.ErrNoRows) || err == nil && x.user != user {
		return nil, refuse(http.StatusNotFound, "there is no such reservation")
	}
	return x, err
}

func (s *server) commit(r *http.Request) (any, error) {
	user, err := userOf(r)
	if err != nil {
		return nil, err
	}
	paid, err := read[struct {
		Card string `json:"card_token"`
		ID   int64  `json:"reservation_id"`
	}](r)
	if err != nil {
		return nil, err
	}
	if s.d.Has("LCK-05") {
		err = s.inTx(r.Context(), "Commit", func(q querier) error {
			x, err := debtOf(r.Context(), q, user, paid.ID, " FOR UPDATE")
			if err != nil {
				return err
			}
			return s.settle(r.Context(), q, x, paid.Card)
		})
	} else {
		var x *debt
		if x, err = debtOf(r.Context(), s.db, user, paid.ID, ""); err == nil {
			err = s.settle(r.Context(), s.db, x, paid.Card)
		}
	}
	return map[string]bool{"is_ok": true}, err
}

// settle has a reservation paid, and writes that it is. A payment for what was cancelled
// meanwhile is taken back.
func (s *server) settle(ctx context.Context, q querier, x *debt, card string) error {
	if x.status != requesting {
		return refuse(http.StatusConflict, "it is paid for, or cancelled")
	}
	payment, err := s.pay.make(ctx, card, x.id, x.amount)
	if err != nil {
		return err
	}
	res, err := q.ExecContext(ctx, "UPDATE reservations SET status = 'done', payment_id = ? WHERE reservation_id = ? "+
		"AND status = 'requesting'", payment, x.id)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return err
	}
	now, err := debtOf(ctx, q, x.user, x.id, "")
	if err == nil && now.payment == payment {
		return nil // it was asked for twice
	}
	return errors.Join(refuse(http.StatusConflict, "it was cancelled meanwhile"), s.pay.cancel(ctx, payment))
}

func (s *server) cancel(r *http.Request) (any, error) {
	user, err := userOf(r)
	if err != nil {
		return nil, err
	}
	id, err := idOf(r)
	if err != nil {
		return nil, err
	}
	if s.d.Has("LCK-05") {
		err = s.inTx(r.Context(), "Cancel", func(q querier) error {
			x, err := debtOf(r.Context(), q, user, id, " FOR UPDATE")
			if err == nil && x.payment != "" {
				err = s.pay.cancel(r.Context(), x.payment)
			}
			if err != nil {
				return err
			}
			return remove(r.Context(), q, id)
		})
	} else {
		err = s.cancelBefore(r.Context(), user, id)
	}
	return map[string]bool{"is_ok": true}, err
}

// cancelBefore has the payment cancelled while no row is locked: the reservation is not shown
// any more by then, and its seats are sold again when it is gone.
func (s *server) cancelBefore(ctx context.Context, user, id int64) error {
	if _, err := s.db.ExecContext(ctx, "UPDATE reservations SET status = 'cancelling' WHERE reservation_id = ? AND "+
		"user_id = ?", id, user); err != nil {
		return err
	}
	x, err := debtOf(ctx, s.db, user, id, "")
	if err == nil && x.payment != "" {
		err = s.pay.cancel(ctx, x.payment)
	}
	if err != nil {
		return err
	}
	return s.inTx(ctx, "Cancel", func(q querier) error { return remove(ctx, q, id) })
}

func remove(ctx context.Context, q querier, id int64) error {
	_, err := q.ExecContext(ctx, "DELETE FROM reservations WHERE reservation_id = ?", id)
	if err == nil {
		_, err = q.ExecContext(ctx, "DELETE FROM seat_reservations WHERE reservation_id = ?", id)
	}
	return err
}

func idOf(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return 0, refuse(http.StatusBadRequest, "want a number")
	}
	return id, nil
}

// A booking is a reservation as its user sees it.
type booking struct {
	ID        int64  `json:"reservation_id"`
	Date      string `json:"date"`
	Class     string `json:"train_class"`
	Name      string `json:"train_name"`
	Departure string `json:"departure"`
	Arrival   string `json:"arrival"`
	Status    string `json:"status"`
	Adult     int    `json:"adult"`
	Child     int    `json:"child"`
	Amount    int64  `json:"amount"`
	Car       int    `json:"car_number"`
	Seats     []spot `json:"seats"`
}

// bookings are those of a user, or the one of that id.
func (s *server) bookings(ctx context.Context, user, id int64) ([]booking, error) {
	only, args := "", []any{user}
	if id > 0 {
		only, args = " AND reservation_id = ?", append(args, id)
	}
	out, err := readRows(ctx, s.db, "SELECT reservation_id, date, train_class, train_name, departure, arrival, status, "+
		"adult, child, amount FROM reservations WHERE user_id = ? AND status <> 'cancelling'"+only+
		" ORDER BY reservation_id",
		func(b *booking) []any {
			return []any{&b.ID, &b.Date, &b.Class, &b.Name, &b.Departure, &b.Arrival, &b.Status, &b.Adult, &b.Child, &b.Amount}
		}, args...)
	if err != nil || len(out) == 0 {
		return out, err
	}
	at, ids := map[int64]*booking{}, []any{}
	for i := range out {
		b := &out[i]
		b.Seats = []spot{}
		at[b.ID] = b
		ids = append(ids, b.ID)
	}
	type row struct {
		id, car int64
		spot
	}
	seats, err := readRows(ctx, s.db, "SELECT reservation_id, car_number, seat_row, seat_column FROM seat_reservations "+
		"WHERE reservation_id IN (?"+strings.Repeat(", ?", len(ids)-1)+") ORDER BY reservation_id, seat_row, seat_column",
		func(x *row) []any { return []any{&x.id, &x.car, &x.Row, &x.Column} }, ids...)
	for _, x := range seats {
		at[x.id].Car = int(x.car)
		at[x.id].Seats = append(at[x.id].Seats, x.spot)
	}
	return out, err
}

func (s *server) listReservations(r *http.Request) (any, error) {
	user, err := userOf(r)
	if err != nil {
		return nil, err
	}
	return s.bookings(r.Context(), user, 0)
}

func (s *server) showReservation(r *http.Request) (any, error) {
	user, err := userOf(r)
	if err != nil {
		return nil, err
	}
	id, err := idOf(r)
	if err != nil {
		return nil, err
	}
	found, err := s.bookings(r.Context(), user, id)
	if err == nil && len(found) == 0 {
		err = refuse(http.StatusNotFound, "there is no such reservation")
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}
