package isutrain

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/mysqlflags"
)

const (
	deadlock     = 1213 // ER_LOCK_DEADLOCK
	attempts     = 30   // of a transaction that was chosen as the victim
	longestPause = 2 * time.Millisecond
	choices      = 20 // of seats that others took meanwhile
	mostTickets  = 10
)

// An order is what someone wants to have reserved.
type order struct {
	Date      string `json:"date"`
	Class     string `json:"train_class"`
	Name      string `json:"train_name"`
	Departure string `json:"departure"`
	Arrival   string `json:"arrival"`
	SeatClass string `json:"seat_class"`
	Smoking   bool   `json:"is_smoking_seat"`
	Adult     int    `json:"adult"`
	Child     int    `json:"child"`
	Car       int    `json:"car_number"` // with Seats
	Seats     []spot `json:"seats"`      // none: any will do
}

// A spot is a seat of a car.
type spot struct {
	Row    int    `json:"row"`
	Column string `json:"column"`
}

// errTaken says that a seat was taken meanwhile.
var errTaken = errors.New("the seat is taken")

func (s *server) reserve(r *http.Request) (any, error) {
	user, err := userOf(r)
	if err != nil {
		return nil, err
	}
	o, err := read[order](r)
	if err != nil {
		return nil, err
	}
	of, err := s.checkOrder(r.Context(), &o)
	if err != nil {
		return nil, err
	}
	amount := s.fare(o.Class, o.SeatClass, &journey{from: of.from, to: of.to, adult: o.Adult, child: o.Child})
	asked := len(o.Seats) > 0
	for range choices {
		if !asked && o.SeatClass != nonReserved {
			if err := s.choose(r.Context(), of, &o); err != nil {
				return nil, err
			}
		}
		id, err := s.sell(r.Context(), user, of, &o, amount)
		if errors.Is(err, errTaken) && asked {
			return nil, refuse(http.StatusConflict, "the seat is taken")
		}
		if errors.Is(err, errTaken) {
			continue
		}
		return map[string]any{"is_ok": true, "reservation_id": id, "amount": amount, "car_number": o.Car,
			"seats": slices.Concat([]spot{}, o.Seats)}, err
	}
	return nil, refuse(http.StatusConflict, "others are faster")
}

// checkOrder refuses what cannot be sold.
func (s *server) checkOrder(ctx context.Context, o *order) (*ride, error) {
	if n := o.Adult + o.Child; o.Adult < 0 || o.Child < 0 || n < 1 || n > mostTickets {
		return nil, refuse(http.StatusBadRequest, "want 1 to %d tickets", mostTickets)
	}
	if seatFares[o.SeatClass] == 0 {
		return nil, refuse(http.StatusBadRequest, "unknown class of seats")
	}
	of, err := s.readRide(o.Date, o.Class, o.Name, o.Departure, o.Arrival)
	if err != nil {
		return nil, err
	}
	if o.SeatClass == nonReserved {
		o.Car, o.Seats = 0, nil
	}
	if len(o.Seats) > 0 && len(o.Seats) != o.Adult+o.Child {
		return nil, refuse(http.StatusBadRequest, "want a seat for each ticket")
	}
	for i, p := range o.Seats {
		is := func(x seat) bool { return x.place() == place{o.Car, p.Row, p.Column} && x.Class == o.SeatClass }
		if !slices.ContainsFunc(s.seats[o.Class], is) || slices.Contains(o.Seats[:i], p) {
			return nil, refuse(http.StatusBadRequest, "there is no such seat")
		}
	}
	return of, s.findTrain(ctx, of)
}

// choose takes the first free seats of a car, side by side if there are such.
func (s *server) choose(ctx context.Context, of *ride, o *order) error {
	var taken map[place]bool
	if !s.d.Has("QRY-05") {
		var err error
		if taken, err = s.takenSeats(ctx, s.db, of, 0); err != nil {
			return err
		}
	}
	for car := 1; car <= cars; car++ {
		if classOfCar(car) != o.SeatClass || isSmoking(car) != o.Smoking {
			continue
		}
		var seats []seat
		if taken == nil {
			var err error
			if seats, err = s.seatsEach(ctx, of, car); err != nil {
				return err
			}
		} else {
			for _, x := range s.seats[of.class] {
				if x.Car == car {
					x.Taken = taken[x.place()]
					seats = append(seats, x)
				}
			}
		}
		if found := sideBySide(seats, o.Adult+o.Child); found != nil {
			o.Car, o.Seats = car, found
			return nil
		}
	}
	return refuse(http.StatusNotFound, "sold out")
}

// sideBySide returns the first n free seats of a row without another between them, else the
// first n of the car, nil without so many.
func sideBySide(seats []seat, n int) []spot {
	var row, all []spot
	for i := range seats {
		x := &seats[i]
		if x.Taken || len(row) > 0 && row[0].Row != x.Row {
			row = nil
		}
		if x.Taken {
			continue
		}
		row, all = append(row, spot{x.Row, x.Column}), append(all, spot{x.Row, x.Column})
		if len(row) == n {
			return row
		}
	}
	if len(all) < n {
		return nil
	}
	return all[:n]
}

// sell writes a reservation unless a seat of it is taken.
func (s *server) sell(ctx context.Context, user int64, of *ride, o *order, amount int64) (id int64, err error) {
	err = s.inTx(ctx, "Reserve", func(q querier) error {
		taken, err := s.lockSeats(ctx, q, of, o)
		if err != nil {
			return err
		}
		for _, p := range o.Seats {
			if taken[place{o.Car, p.Row, p.Column}] {
				return errTaken
			}
		}
		res, err := q.ExecContext(ctx, "INSERT INTO reservations (user_id, date, train_class, train_name, departure, "+
			"arrival, status, payment_id, adult, child, amount) VALUES (?, ?, ?, ?, ?, ?, 'requesting', '', ?, ?, ?)",
			user, of.date, of.class, of.name, of.from.Name, of.to.Name, o.Adult, o.Child, amount)
		if err != nil {
			return err
		}
		if id, err = res.LastInsertId(); err != nil || len(o.Seats) == 0 {
			return err
		}
		var args []any
		for _, p := range o.Seats {
			args = append(args, id, o.Car, p.Row, p.Column)
		}
		_, err = q.ExecContext(ctx, "INSERT INTO seat_reservations (reservation_id, car_number, seat_row, seat_column) "+
			"VALUES (?, ?, ?, ?)"+strings.Repeat(", (?, ?, ?, ?)", len(o.Seats)-1), args...)
		return err
	})
	return id, err
}

// lockSeats keeps others from selling the same seats until the transaction ends, and returns
// those that are taken.
func (s *server) lockSeats(ctx context.Context, q querier, of *ride, o *order) (map[place]bool, error) {
	if s.d.Has("LCK-01") {
		return s.lockTrain(ctx, q, of)
	}
	if o.Car == 0 {
		return nil, nil
	}
	var car int
	err := q.QueryRowContext(ctx, "SELECT car_number FROM car_guard WHERE date = ? AND train_name = ? AND "+
		"car_number = ? FOR UPDATE", of.date, of.name, o.Car).Scan(&car)
	if err != nil {
		return nil, err
	}
	return s.takenSeats(ctx, q, of, car)
}

// lockTrain locks all reservations of the train, and the seats of each.
func (s *server) lockTrain(ctx context.Context, q querier, of *ride) (map[place]bool, error) {
	type reservation struct {
		id               int64
		departs, arrives string
	}
	all, err := readRows(ctx, q, "SELECT reservation_id, departure, arrival FROM reservations WHERE date = ? AND "+
		"train_class = ? AND train_name = ? ORDER BY reservation_id FOR UPDATE",
		func(x *reservation) []any { return []any{&x.id, &x.departs, &x.arrives} }, of.date, of.class, of.name)
	if err != nil {
		return nil, err
	}
	taken := map[place]bool{}
	for i := range all {
		seats, err := readRows(ctx, q, "SELECT car_number, seat_row, seat_column FROM seat_reservations "+
			"WHERE reservation_id = ? ORDER BY car_number, seat_row, seat_column FOR UPDATE",
			func(p *place) []any { return []any{&p.Car, &p.Row, &p.Column} }, all[i].id)
		if err != nil {
			return nil, err
		}
		if of.meets(s.byName[all[i].departs].ID, s.byName[all[i].arrives].ID) {
			for _, p := range seats {
				taken[p] = true
			}
		}
	}
	return taken, nil
}

// inTx runs a transaction whose COMMIT carries a name, and again when it was the victim of a
// deadlock.
func (s *server) inTx(ctx context.Context, name string, do func(q querier) error) (err error) {
	for n := range attempts {
		err = s.once(ctx, "COMMIT /* "+name+" */", do)
		if mysqlflags.ErrorNumber(err) != deadlock {
			return err
		}
		select {
		case <-time.After(rand.N(time.Duration(n+1) * longestPause)):
		case <-ctx.Done():
			return err
		}
	}
	return err
}

func (s *server) once(ctx context.Context, commit string, do func(q querier) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "START TRANSACTION"); err != nil {
		return err
	}
	if err := do(conn); err != nil {
		return errors.Join(err, rollback(ctx, conn))
	}
	_, err = conn.ExecContext(ctx, commit)
	return err
}

func rollback(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	if errors.Is(err, sql.ErrConnDone) || ctx.Err() != nil { // the connection is gone, and with it the transaction
		return nil
	}
	return err
}
