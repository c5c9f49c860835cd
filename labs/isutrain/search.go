package isutrain

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A listed train is one that a search shows.
type listed struct {
	Class     string            `json:"train_class"`
	Name      string            `json:"train_name"`
	Start     string            `json:"start"`
	Last      string            `json:"last"`
	Departure string            `json:"departure"`
	Arrival   string            `json:"arrival"`
	Departs   string            `json:"departure_time"`
	Arrives   string            `json:"arrival_time"`
	Seats     map[string]string `json:"seat_availability"`
	Fares     map[string]int64  `json:"seat_fare"`
}

// mostListed trains are shown.
const mostListed = 10

// A journey is what a search is for.
type journey struct {
	date, after  string
	from, to     *station
	class        string // empty: any
	adult, child int
}

func (j *journey) up() bool { return j.from.ID > j.to.ID }

func (s *railway) readJourney(q url.Values) (j journey, err error) {
	at, err := time.Parse(time.RFC3339, q.Get("use_at"))
	if err != nil {
		return j, refuse(http.StatusBadRequest, "use_at: want a time")
	}
	at = at.In(japan)
	j = journey{date: at.Format(time.DateOnly), after: at.Format(time.TimeOnly), from: s.byName[q.Get("from")],
		to: s.byName[q.Get("to")], class: q.Get("train_class")}
	if j.from == nil || j.to == nil || j.from == j.to {
		return j, refuse(http.StatusBadRequest, "from, to: want two stations")
	}
	if at.Before(firstDay) || !at.Before(firstDay.AddDate(0, 0, days)) {
		return j, refuse(http.StatusNotFound, "no trains on that day")
	}
	for name, into := range map[string]*int{"adult": &j.adult, "child": &j.child} {
		if *into, err = strconv.Atoi(q.Get(name)); err != nil || *into < 0 {
			return j, refuse(http.StatusBadRequest, "%s: want a number", name)
		}
	}
	return j, nil
}

// classes are those whose trains stop at both stations.
func (j *journey) classes() (out []any) {
	for i := range kinds {
		name := kinds[i].name
		if (j.class == "" || j.class == name) && j.from.stops(name) && j.to.stops(name) {
			out = append(out, name)
		}
	}
	return out
}

func (s *server) search(r *http.Request) (any, error) {
	j, err := s.readJourney(r.URL.Query())
	if err != nil {
		return nil, err
	}
	if len(j.classes()) == 0 {
		return []listed{}, nil
	}
	if s.d.Has("QRY-06") {
		return s.searchEach(r.Context(), &j)
	}
	return s.searchAtOnce(r.Context(), &j)
}

// order is that of trains, unless what the table makes of it is good enough.
func (s *railway) order(by string) string {
	if s.d.Has("OPS-04") {
		return ""
	}
	return " ORDER BY " + by
}

// list is a train of the journey of which no more is known yet.
func (j *journey) list() listed {
	return listed{Departure: j.from.Name, Arrival: j.to.Name, Seats: map[string]string{}, Fares: map[string]int64{}}
}

// findTrains returns the trains of the day that go there, without their times.
func (s *railway) findTrains(ctx context.Context, j *journey) ([]listed, error) {
	in := j.classes()
	return readRows(ctx, s.db, "SELECT train_class, train_name, start_station, last_station FROM train_master "+
		"WHERE date = ? AND is_nobori = ? AND train_class IN (?"+strings.Repeat(", ?", len(in)-1)+")"+
		s.order("departure_at, train_name"),
		func(l *listed) []any {
			*l = j.list()
			return []any{&l.Class, &l.Name, &l.Start, &l.Last}
		}, append([]any{j.date, j.up()}, in...)...)
}

// addTimes returns the first trains that leave late enough, with their times.
func (s *railway) addTimes(ctx context.Context, j *journey, found []listed) ([]listed, error) {
	type stop struct{ train, station, departs, arrives string }
	stops, err := readRows(ctx, s.db, "SELECT train_name, station, departure, arrival FROM train_timetable_master "+
		"WHERE date = ? AND station IN (?, ?) ORDER BY station, train_name",
		func(x *stop) []any { return []any{&x.train, &x.station, &x.departs, &x.arrives} },
		j.date, j.from.Name, j.to.Name)
	if err != nil {
		return nil, err
	}
	times := map[[2]string]*stop{}
	for i := range stops {
		times[[2]string{stops[i].train, stops[i].station}] = &stops[i]
	}
	out := []listed{}
	for i := range found {
		l := &found[i]
		from, to := times[[2]string{l.Name, j.from.Name}], times[[2]string{l.Name, j.to.Name}]
		if from == nil || to == nil || from.departs <= j.after {
			continue
		}
		l.Departs, l.Arrives = from.departs, to.arrives
		if out = append(out, *l); len(out) == mostListed {
			break
		}
	}
	return out, nil
}

// searchAtOnce takes trains, their times and their taken seats in a statement each.
func (s *railway) searchAtOnce(ctx context.Context, j *journey) ([]listed, error) {
	found, err := s.findTrains(ctx, j)
	if err != nil {
		return nil, err
	}
	out, err := s.addTimes(ctx, j, found)
	if err != nil || len(out) == 0 {
		return out, err
	}
	taken, err := s.countTaken(ctx, j, out)
	if err != nil {
		return nil, err
	}
	for i := range out {
		l := &out[i]
		for _, k := range seatKinds {
			free := -taken[l.Name][k]
			for _, x := range s.seats[l.Class] {
				if x.Class == k.class && x.Smoking == k.smoking {
					free++
				}
			}
			l.Seats[k.name] = sign(free)
		}
		for _, class := range []string{premium, reserved, nonReserved} {
			l.Fares[class] = s.fare(l.Class, class, j)
		}
		l.addFree()
	}
	return out, nil
}

// A seatKind is what searches count.
type seatKind struct {
	name, class string
	smoking     bool
}

var seatKinds = []seatKind{
	{"premium", premium, false}, {"premium_smoke", premium, true},
	{"reserved", reserved, false}, {"reserved_smoke", reserved, true},
}

// addFree adds seats that are never sold out.
func (l *listed) addFree() { l.Seats["non_reserved"] = sign(mostListed) }

func sign(free int) string {
	switch {
	case free <= 0:
		return "×"
	case free < 10:
		return "△"
	}
	return "○"
}

// countTaken counts seats that are taken on a part of the journey, by name of the train.
func (s *railway) countTaken(ctx context.Context, j *journey, of []listed) (map[string]map[seatKind]int, error) {
	args := []any{j.date}
	for i := range of {
		args = append(args, of[i].Name)
	}
	low, high := min(j.from.ID, j.to.ID), max(j.from.ID, j.to.ID)
	type row struct {
		train, class string
		smoking      bool
		n            int
	}
	rows, err := readRows(ctx, s.db, "SELECT r.train_name, m.seat_class, m.is_smoking_seat, "+
		"COUNT(DISTINCT x.car_number, x.seat_row, x.seat_column) FROM reservations r "+
		"JOIN station_master d ON d.name = r.departure JOIN station_master a ON a.name = r.arrival "+
		"JOIN seat_reservations x ON x.reservation_id = r.reservation_id JOIN seat_master m ON "+
		"m.train_class = r.train_class AND m.car_number = x.car_number AND m.seat_row = x.seat_row AND "+
		"m.seat_column = x.seat_column WHERE r.date = ? AND r.train_name IN (?"+strings.Repeat(", ?", len(of)-1)+
		") AND LEAST(d.id, a.id) < ? AND GREATEST(d.id, a.id) > ? "+
		"GROUP BY r.train_name, m.seat_class, m.is_smoking_seat",
		func(x *row) []any { return []any{&x.train, &x.class, &x.smoking, &x.n} }, append(args, high, low)...)
	out := map[string]map[seatKind]int{}
	for _, x := range rows {
		i := slices.IndexFunc(seatKinds, func(k seatKind) bool { return k.class == x.class && k.smoking == x.smoking })
		if i < 0 {
			continue
		}
		if out[x.train] == nil {
			out[x.train] = map[seatKind]int{}
		}
		out[x.train][seatKinds[i]] = x.n
	}
	return out, err
}

// fare is the price of all tickets.
func (s *railway) fare(trainClass, seatClass string, j *journey) int64 {
	km := j.from.Distance - j.to.Distance
	var base int64
	for _, f := range s.byKm {
		if f.km > max(km, -km) {
			break
		}
		base = f.fare
	}
	return priceOf(base, s.fares[[2]string{trainClass, seatClass}], j)
}

// priceOf charges half of it for a child.
func priceOf(base int64, by float64, j *journey) int64 {
	one := int64(float64(base) * by)
	return one*int64(j.adult) + one/2*int64(j.child)
}

// searchEach asks for all trains of the day and then, one by one, for what is shown of them.
func (s *railway) searchEach(ctx context.Context, j *journey) ([]listed, error) {
	found, err := s.findTrains(ctx, j)
	if err != nil {
		return nil, err
	}
	out := []listed{}
	for i := range found {
		if len(out) == mostListed {
			break
		}
		l := &found[i]
		err := s.db.QueryRowContext(ctx, "SELECT departure FROM train_timetable_master WHERE date = ? AND train_class = ? "+
			"AND train_name = ? AND station = ?", j.date, l.Class, l.Name, j.from.Name).Scan(&l.Departs)
		if err != nil {
			return nil, err
		}
		if l.Departs <= j.after {
			continue
		}
		err = s.db.QueryRowContext(ctx, "SELECT arrival FROM train_timetable_master WHERE date = ? AND train_class = ? "+
			"AND train_name = ? AND station = ?", j.date, l.Class, l.Name, j.to.Name).Scan(&l.Arrives)
		if err != nil {
			return nil, err
		}
		for _, k := range seatKinds {
			free, err := s.availableSeats(ctx, j, l, k)
			if err != nil {
				return nil, err
			}
			l.Seats[k.name] = sign(free)
		}
		for _, class := range []string{premium, reserved, nonReserved} {
			if l.Fares[class], err = s.calculateFare(ctx, j, l.Class, class); err != nil {
				return nil, err
			}
		}
		l.addFree()
		out = append(out, *l)
	}
	return out, nil
}

// availableSeats counts the seats of a kind, and those of them that are taken.
func (s *railway) availableSeats(ctx context.Context, j *journey, l *listed, k seatKind) (int, error) {
	seats, err := readRows(ctx, s.db, "SELECT car_number, seat_row, seat_column, seat_class, is_smoking_seat "+
		"FROM seat_master WHERE train_class = ? AND seat_class = ? AND is_smoking_seat = ? "+
		"ORDER BY car_number, seat_row, seat_column",
		func(x *seat) []any { return []any{&x.Car, &x.Row, &x.Column, &x.Class, &x.Smoking} }, l.Class, k.class, k.smoking)
	if err != nil {
		return 0, err
	}
	low, high := min(j.from.ID, j.to.ID), max(j.from.ID, j.to.ID)
	taken, err := readRows(ctx, s.db, "SELECT DISTINCT x.car_number, x.seat_row, x.seat_column, m.seat_class, "+
		"m.is_smoking_seat FROM seat_reservations x, reservations r, seat_master m, station_master d, station_master a "+
		"WHERE r.reservation_id = x.reservation_id AND m.train_class = r.train_class AND m.car_number = x.car_number AND "+
		"m.seat_row = x.seat_row AND m.seat_column = x.seat_column AND d.name = r.departure AND a.name = r.arrival AND "+
		"r.date = ? AND r.train_class = ? AND r.train_name = ? AND m.seat_class = ? AND m.is_smoking_seat = ? AND "+
		"LEAST(d.id, a.id) < ? AND GREATEST(d.id, a.id) > ? ORDER BY x.car_number, x.seat_row, x.seat_column",
		func(x *seat) []any { return []any{&x.Car, &x.Row, &x.Column, &x.Class, &x.Smoking} },
		j.date, l.Class, l.Name, k.class, k.smoking, high, low)
	return len(seats) - len(taken), err
}

// calculateFare reads both tables of fares.
func (s *railway) calculateFare(ctx context.Context, j *journey, trainClass, seatClass string) (int64, error) {
	km := j.from.Distance - j.to.Distance
	rows, err := readRows(ctx, s.db, "SELECT distance, fare FROM distance_fare_master ORDER BY distance",
		func(x *distanceFare) []any { return []any{&x.km, &x.fare} })
	if err != nil {
		return 0, err
	}
	var base int64
	for _, f := range rows {
		if f.km <= max(km, -km) {
			base = f.fare
		}
	}
	by, err := readRows(ctx, s.db, "SELECT fare_multiplier FROM fare_master WHERE train_class = ? AND seat_class = ? "+
		"AND start_date <= ? ORDER BY start_date", func(x *float64) []any { return []any{x} }, trainClass, seatClass, j.date)
	if err != nil {
		return 0, err
	}
	if len(by) == 0 {
		return 0, refuse(http.StatusNotFound, "no fare")
	}
	return priceOf(base, by[len(by)-1], j), nil
}
