package isutrain

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/labs/kit"
)

// How much there is.
const (
	days     = 40 // with trains
	trains   = 64 // a day, half of them in each direction
	stations = 96
	cars     = 16
	columns  = 5 // A to E
	seed     = 9 // of the minutes at which trains depart
	perKm    = 14
)

// firstDay is the first one with trains, as the Japanese count days.
var firstDay = time.Date(2026, 9, 1, 0, 0, 0, 0, japan)

var japan = time.FixedZone("JST", 9*60*60)

// A kind is a class of trains.
type kind struct {
	name      string
	perStop   int // seconds from one station to the next
	rows      int // of seats in a car
	fare      float64
	stopsEach int // of its stations
}

// kinds are the classes, the fastest first.
var kinds = []kind{{"最速", 60, 10, 1.6, 12}, {"中間", 90, 12, 1.3, 4}, {"遅いやつ", 120, 14, 1, 1}}

// seatClasses have the cars from the first to the last.
const (
	premium     = "premium"
	reserved    = "reserved"
	nonReserved = "non-reserved"
)

func classOfCar(car int) string {
	switch {
	case car <= 3:
		return premium
	case car <= 12:
		return reserved
	}
	return nonReserved
}

// isSmoking says it of a car.
func isSmoking(car int) bool { return car%3 == 0 }

// seatFares are what seats cost, beside a seat that is reserved.
var seatFares = map[string]float64{premium: 1.5, reserved: 1, nonReserved: 0.8}

// A station is a row of station_master.
type station struct {
	ID       int     `json:"id"`
	Name     string  `json:"name"`
	Distance float64 `json:"-"`
	Express  bool    `json:"is_stop_express"`
	Semi     bool    `json:"is_stop_semi_express"`
	Local    bool    `json:"is_stop_local"`
}

// stops reports whether trains of a class stop there.
func (s *station) stops(class string) bool {
	switch class {
	case kinds[0].name:
		return s.Express
	case kinds[1].name:
		return s.Semi
	}
	return s.Local
}

// A train is a row of train_master, and what its timetable follows from.
type train struct {
	kind    *kind
	name    string
	up      bool // to the first station
	departs int  // seconds of the day at which it leaves the first of its stations
}

// at is when it leaves the station of an id, and when it gets there, in seconds of the day.
func (t *train) at(id int) (arrives, departs int) {
	n := id - 1
	if t.up {
		n = stations - id
	}
	departs = t.departs + n*t.kind.perStop
	return max(departs-20, t.departs), departs
}

// trainsOf are those of a day in the order in which they are stored: as they depart, and of
// one minute by their names.
func trainsOf(day int) []train {
	out := make([]train, 0, trains)
	for k := range trains {
		up, slot := k%2 == 1, k/4
		x := uint32(seed*1_000_003 + day*8191 + slot*131 + k%2*17)
		x = x*1664525 + 1013904223
		minute := 6*60 + slot*56 + int(x>>24)%20
		out = append(out, train{
			kind: &kinds[(k/2+day)%len(kinds)], name: strconv.Itoa(1 + (k*37+day*11)%trains), up: up, departs: minute * 60,
		})
	}
	slices.SortStableFunc(out, func(a, b train) int {
		return cmp.Or(cmp.Compare(a.departs, b.departs), strings.Compare(a.name, b.name))
	})
	return out
}

func clock(seconds int) string {
	return fmt.Sprintf("%02d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
}

func dateOf(day int) string { return firstDay.AddDate(0, 0, day).Format(time.DateOnly) }

// schema is what the contest's was: the masters have no keys, and no indexes.
var schema = []string{
	`CREATE TABLE station_master (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(60) NOT NULL UNIQUE,
	  distance DOUBLE NOT NULL, is_stop_express TINYINT NOT NULL, is_stop_semi_express TINYINT NOT NULL,
	  is_stop_local TINYINT NOT NULL)`,
	`CREATE TABLE distance_fare_master (distance DOUBLE NOT NULL, fare INT NOT NULL)`,
	`CREATE TABLE fare_master (train_class VARCHAR(20) NOT NULL, seat_class VARCHAR(20) NOT NULL,
	  start_date DATE NOT NULL, fare_multiplier DOUBLE NOT NULL)`,
	`CREATE TABLE seat_master (train_class VARCHAR(20) NOT NULL, car_number INT NOT NULL,
	  seat_column VARCHAR(1) NOT NULL, seat_row INT NOT NULL, seat_class VARCHAR(20) NOT NULL,
	  is_smoking_seat TINYINT NOT NULL)`,
	`CREATE TABLE train_master (date DATE NOT NULL, departure_at TIME NOT NULL, train_class VARCHAR(20) NOT NULL,
	  train_name VARCHAR(20) NOT NULL, start_station VARCHAR(60) NOT NULL, last_station VARCHAR(60) NOT NULL,
	  is_nobori TINYINT NOT NULL)`,
	`CREATE TABLE train_timetable_master (date DATE NOT NULL, train_class VARCHAR(20) NOT NULL,
	  train_name VARCHAR(20) NOT NULL, station VARCHAR(60) NOT NULL, departure TIME NOT NULL, arrival TIME NOT NULL)`,
	`CREATE TABLE seat_reservations (reservation_id BIGINT NOT NULL, car_number INT NOT NULL, seat_row INT NOT NULL,
	  seat_column VARCHAR(1) NOT NULL)`,
	`CREATE TABLE reservations (reservation_id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, user_id BIGINT NOT NULL,
	  date DATE NOT NULL, train_class VARCHAR(20) NOT NULL, train_name VARCHAR(20) NOT NULL,
	  departure VARCHAR(60) NOT NULL, arrival VARCHAR(60) NOT NULL, status VARCHAR(20) NOT NULL,
	  payment_id VARCHAR(60) NOT NULL, adult INT NOT NULL, child INT NOT NULL, amount BIGINT NOT NULL)`,
	`CREATE TABLE users (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, email VARCHAR(190) NOT NULL UNIQUE,
	  salt VARBINARY(60) NOT NULL, super_secure_password VARBINARY(60) NOT NULL)`,
	// Who sells seats of a car holds its row meanwhile.
	`CREATE TABLE car_guard (date DATE NOT NULL, train_name VARCHAR(20) NOT NULL, car_number INT NOT NULL,
	  PRIMARY KEY (date, train_name, car_number))`,
}

// indexes mend IDX-01.
var indexes = []string{
	`ALTER TABLE train_timetable_master ADD PRIMARY KEY (date, station, train_name)`,
	`ALTER TABLE seat_master ADD PRIMARY KEY (train_class, car_number, seat_row, seat_column),
	  ADD KEY kind (train_class, seat_class, is_smoking_seat)`,
	`ALTER TABLE distance_fare_master ADD PRIMARY KEY (distance)`,
	`ALTER TABLE fare_master ADD PRIMARY KEY (train_class, seat_class, start_date)`,
	`ALTER TABLE reservations ADD KEY train (date, train_name, train_class), ADD KEY owner (user_id)`,
	`ALTER TABLE seat_reservations ADD PRIMARY KEY (reservation_id, car_number, seat_row, seat_column)`,
}

// Keys of train_master: the one that a service needs whose statements say their order, and
// the one by which someone in a hurry loses the order that none of them says.
const (
	orderKey = `ALTER TABLE train_master ADD UNIQUE KEY departs (date, is_nobori, departure_at, train_name),
	  ADD PRIMARY KEY (date, train_name)`
	hurriedKey  = `ALTER TABLE train_master ADD PRIMARY KEY (date, departure_at, train_class, train_name)`
	droppedKey  = `ALTER TABLE train_master DROP PRIMARY KEY`
	rowsAtOnce  = 5000
	fareStep    = 50 // kilometres
	fareLeast   = 1000
	farePerStep = 700
	distanceMax = (stations + 1) * perKm
)

// Fill makes schema and rows of so many days.
func fillDays(ctx context.Context, db *sql.DB, d kit.Set, days int) error {
	for _, q := range schema {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	if err := fillRows(ctx, db, days); err != nil {
		return err
	}
	var after []string
	if !d.Has("IDX-01") {
		after = append(after, indexes...)
	}
	if !d.Has("OPS-04") {
		after = append(after, orderKey)
	} else if d.Has("OPS-04K") || d.Has("OPS-04D") {
		after = append(after, hurriedKey)
		if d.Has("OPS-04D") {
			after = append(after, droppedKey)
		}
	}
	after = append(after, "ANALYZE TABLE station_master, distance_fare_master, fare_master, seat_master, train_master, "+
		"train_timetable_master, seat_reservations, reservations, users, car_guard")
	for _, q := range after {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%.60s: %w", q, err)
		}
	}
	return nil
}

// allStations are numbered along the line.
func allStations() []station {
	const first, second = "青赤白黒東西南北上中下大", "川山田野原島村谷"
	out := make([]station, stations)
	for i := range out {
		a, b := []rune(first), []rune(second)
		out[i] = station{
			ID: i + 1, Name: string(a[i%len(a)]) + string(b[i/len(a)]), Distance: float64(i * perKm),
			Express: i%kinds[0].stopsEach == 0 || i == stations-1, Semi: i%kinds[1].stopsEach == 0 || i == stations-1,
			Local: true,
		}
	}
	return out
}

func fillRows(ctx context.Context, db *sql.DB, days int) error {
	in := &inserts{ctx: ctx, db: db}
	all := allStations()
	for i := range all {
		s := &all[i]
		in.row("station_master (id,name,distance,is_stop_express,is_stop_semi_express,is_stop_local)",
			"(%d,'%s',%g,%d,%d,%d)", s.ID, s.Name, s.Distance, bit(s.Express), bit(s.Semi), bit(s.Local))
	}
	for km := 0; km < distanceMax; km += fareStep {
		in.row("distance_fare_master", "(%d,%d)", km, fareLeast+km/fareStep*farePerStep)
	}
	for i := range kinds {
		for _, class := range []string{premium, reserved, nonReserved} {
			// A fare of before, which no day of the contest has any more.
			in.row("fare_master", "('%s','%s','2026-01-01',%g)", kinds[i].name, class, 9*seatFares[class])
			in.row("fare_master", "('%s','%s','2026-08-01',%g)", kinds[i].name, class, kinds[i].fare*seatFares[class])
		}
		for car := 1; car <= cars; car++ {
			for n := range kinds[i].rows * columns {
				in.row("seat_master", "('%s',%d,'%c',%d,'%s',%d)", kinds[i].name, car, 'A'+n%columns, 1+n/columns,
					classOfCar(car), bit(isSmoking(car)))
			}
		}
	}
	for day := range days {
		date := dateOf(day)
		for _, t := range trainsOf(day) {
			from, to := all[0].Name, all[stations-1].Name
			if t.up {
				from, to = to, from
			}
			in.row("train_master", "('%s','%s','%s','%s','%s','%s',%d)", date, clock(t.departs), t.kind.name, t.name, from, to,
				bit(t.up))
			for i := range all {
				arrives, departs := t.at(all[i].ID)
				in.row("train_timetable_master", "('%s','%s','%s','%s','%s','%s')", date, t.kind.name, t.name, all[i].Name,
					clock(departs), clock(arrives))
			}
			for car := 1; car <= cars; car++ {
				in.row("car_guard", "('%s','%s',%d)", date, t.name, car)
			}
		}
	}
	in.flushAll()
	return in.err
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// inserts collects rows by table and inserts many at once. After an error it does nothing.
type inserts struct {
	ctx  context.Context
	db   *sql.DB
	rows map[string][]string
	err  error
}

func (in *inserts) row(into, format string, args ...any) {
	if in.rows == nil {
		in.rows = map[string][]string{}
	}
	in.rows[into] = append(in.rows[into], fmt.Sprintf(format, args...))
	if len(in.rows[into]) >= rowsAtOnce {
		in.flush(into)
	}
}

func (in *inserts) flush(into string) {
	if rows := in.rows[into]; in.err == nil && len(rows) > 0 {
		_, in.err = in.db.ExecContext(in.ctx, "INSERT INTO "+into+" VALUES "+strings.Join(rows, ","))
	}
	in.rows[into] = nil
}

func (in *inserts) flushAll() {
	for into := range in.rows {
		in.flush(into)
	}
}
