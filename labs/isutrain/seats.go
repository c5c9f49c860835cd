package isutrain

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// A seat of a class of trains.
type seat struct {
	Car     int    `json:"car_number"`
	Row     int    `json:"row"`
	Column  string `json:"column"`
	Class   string `json:"class"`
	Smoking bool   `json:"is_smoking_seat"`
	Taken   bool   `json:"is_occupied"`
}

// A place is a seat of a train, whoever sits there.
type place struct {
	Car    int
	Row    int
	Column string
}

func (x *seat) place() place { return place{x.Car, x.Row, x.Column} }

// A ride is a part of a train's way on a day.
type ride struct {
	date, class, name string
	from, to          *station
}

func (r *ride) low() int  { return min(r.from.ID, r.to.ID) }
func (r *ride) high() int { return max(r.from.ID, r.to.ID) }

// meets reports whether a way between two stations has a part of the ride.
func (r *ride) meets(from, to int) bool { return min(from, to) < r.high() && max(from, to) > r.low() }

// readRide checks what names a train and a part of its way.
func (s *railway) readRide(date, class, name, from, to string) (*ride, error) {
	day, err := time.ParseInLocation(time.DateOnly, date, japan)
	if err != nil || day.Before(firstDay) || !day.Before(firstDay.AddDate(0, 0, days)) {
		return nil, refuse(http.StatusNotFound, "no trains on that day")
	}
	r := &ride{date, class, name, s.byName[from], s.byName[to]}
	if s.seats[class] == nil || r.from == nil || r.to == nil || r.from == r.to || !r.from.stops(class) ||
		!r.to.stops(class) {
		return nil, refuse(http.StatusBadRequest, "the train does not go from one to the other")
	}
	return r, nil
}

// findTrain refuses a ride whose train is none of that day, or goes in the other direction.
func (s *railway) findTrain(ctx context.Context, r *ride) error {
	up, err := readRows(ctx, s.db, "SELECT is_nobori FROM train_master WHERE date = ? AND train_class = ? AND "+
		"train_name = ? ORDER BY is_nobori", func(x *bool) []any { return []any{x} }, r.date, r.class, r.name)
	if err == nil && (len(up) != 1 || up[0] != (r.from.ID > r.to.ID)) {
		return refuse(http.StatusNotFound, "there is no such train")
	}
	return err
}

func (s *server) showSeats(r *http.Request) (any, error) {
	q := r.URL.Query()
	car, err := strconv.Atoi(q.Get("car_number"))
	if err != nil || car < 1 || car > cars {
		return nil, refuse(http.StatusBadRequest, "car_number: want 1 to %d", cars)
	}
	of, err := s.readRide(q.Get("date"), q.Get("train_class"), q.Get("train_name"), q.Get("from"), q.Get("to"))
	if err != nil {
		return nil, err
	}
	if err := s.findTrain(r.Context(), of); err != nil {
		return nil, err
	}
	seats, err := s.seatsOfCar(r.Context(), of, car)
	if err != nil {
		return nil, err
	}
	for i := range seats {
		if s.d.Has("APP-01") {
			s.log.Printf("seat: date=%s train=%s/%s %+v", of.date, of.class, of.name, seats[i])
		}
	}
	return map[string]any{"date": of.date, "train_class": of.class, "train_name": of.name, "car_number": car,
		"seats": seats}, nil
}

// seatsOfCar returns the seats of a car, each with whether it is taken.
func (s *railway) seatsOfCar(ctx context.Context, of *ride, car int) ([]seat, error) {
	if s.d.Has("QRY-05") {
		return s.seatsEach(ctx, of, car)
	}
	taken, err := s.takenSeats(ctx, s.db, of, car)
	if err != nil {
		return nil, err
	}
	var out []seat
	for _, x := range s.seats[of.class] {
		if x.Car == car {
			x.Taken = taken[x.place()]
			out = append(out, x)
		}
	}
	return out, nil
}

// takenSeats returns what is taken on a part of the ride, in a car or, with 0, in all.
func (s *railway) takenSeats(ctx context.Context, q querier, of *ride, car int) (map[place]bool, error) {
	in, args := "", []any{of.date, of.class, of.name, of.high(), of.low()}
	if car > 0 {
		in, args = " AND x.car_number = ?", append(args, car)
	}
	rows, err := readRows(ctx, q, "SELECT x.car_number, x.seat_row, x.seat_column FROM reservations r "+
		"JOIN station_master d ON d.name = r.departure JOIN station_master a ON a.name = r.arrival "+
		"JOIN seat_reservations x ON x.reservation_id = r.reservation_id "+
		"WHERE r.date = ? AND r.train_class = ? AND r.train_name = ? AND LEAST(d.id, a.id) < ? AND GREATEST(d.id, a.id) > ?"+
		in+" ORDER BY x.car_number, x.seat_row, x.seat_column",
		func(p *place) []any { return []any{&p.Car, &p.Row, &p.Column} }, args...)
	out := map[place]bool{}
	for _, p := range rows {
		out[p] = true
	}
	return out, err
}

// seatsEach asks for each seat, and for each of its reservations once more, and for that one's
// stations.
func (s *railway) seatsEach(ctx context.Context, of *ride, car int) ([]seat, error) {
	seats, err := readRows(ctx, s.db, "SELECT car_number, seat_row, seat_column, seat_class, is_smoking_seat "+
		"FROM seat_master WHERE train_class = ? AND car_number = ? ORDER BY seat_row, seat_column",
		func(x *seat) []any { return []any{&x.Car, &x.Row, &x.Column, &x.Class, &x.Smoking} }, of.class, car)
	if err != nil {
		return nil, err
	}
	for i := range seats {
		if seats[i].Taken, err = s.isTaken(ctx, of, seats[i].place()); err != nil {
			return nil, err
		}
	}
	return seats, nil
}

// isTaken reports whether a seat has a reservation on a part of the ride.
func (s *railway) isTaken(ctx context.Context, of *ride, p place) (bool, error) {
	ids, err := readRows(ctx, s.db, "SELECT x.reservation_id FROM seat_reservations x, reservations r "+
		"WHERE r.reservation_id = x.reservation_id AND r.date = ? AND r.train_class = ? AND r.train_name = ? AND "+
		"x.car_number = ? AND x.seat_row = ? AND x.seat_column = ? ORDER BY x.reservation_id",
		func(id *int64) []any { return []any{id} }, of.date, of.class, of.name, p.Car, p.Row, p.Column)
	if err != nil {
		return false, err
	}
	for _, id := range ids {
		ways, err := readRows(ctx, s.db, "SELECT departure, arrival FROM reservations WHERE reservation_id = ?",
			func(w *[2]string) []any { return []any{&w[0], &w[1]} }, id)
		if err != nil {
			return false, err
		}
		for _, w := range ways { // none when it was cancelled since
			var ends [2]int
			for i := range w {
				err := s.db.QueryRowContext(ctx, "SELECT id FROM station_master WHERE name = ?", w[i]).Scan(&ends[i])
				if err != nil {
					return false, err
				}
			}
			if of.meets(ends[0], ends[1]) {
				return true, nil
			}
		}
	}
	return false, nil
}
