package isutrain

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	_ "embed" // the page
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/labs/process"
	"github.com/kasoku/kasoku/mysqlflags"
)

const (
	openConnections = 50
	iterations      = 100 // of pbkdf2, as the contest's service has them
	fewDays         = 10  // of OPS-11
	duplicate       = 1062
)

//go:embed page.html
var page []byte

// A server is the service. What it holds does not change after the start.
type server struct {
	*railway
	log *log.Logger
	pay *payments
}

// A railway is the trains and seats in the database, with masters that were read before.
type railway struct {
	db *sql.DB
	d  kit.Set

	stations []station // by id, from 1
	byName   map[string]*station
	fares    map[[2]string]float64 // by class of train and of seat
	byKm     []distanceFare        // rising
	seats    map[string][]seat     // by class of train, in the order of cars, rows, columns
}

type distanceFare struct {
	km   float64
	fare int64
}

// A refusal is an error of the client, with its status.
type refusal struct {
	status int
	text   string
}

func (e *refusal) Error() string { return e.text }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// serveService runs the service until the context ends.
func serveService(ctx context.Context, c kit.Config) error {
	s, err := newServer(ctx, c)
	if err != nil {
		return err
	}
	defer s.db.Close()
	ln, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	c.Ready(ln.Addr().String())
	return process.Serve(ctx, &http.Server{Handler: s.routes(), ErrorLog: s.log, ReadHeaderTimeout: 10 * time.Second},
		ln)
}

// newServer opens the database and reads the masters.
func newServer(ctx context.Context, c kit.Config) (*server, error) {
	db, err := mysqlflags.OpenDSN(mysqlflags.WithParam(c.DSN, "interpolateParams=true"))
	if err != nil {
		return nil, err
	}
	open := cmp.Or(c.Pool, openConnections)
	db.SetMaxOpenConns(open)
	db.SetMaxIdleConns(open)
	s := &server{railway: &railway{db: db, d: c.Defects}, log: log.New(c.Log, "", log.LstdFlags),
		pay: newPayments(c.Beside)}
	if err := process.Await(ctx, s.log, "read the masters", s.readMasters); err != nil {
		db.Close()
		return nil, err
	}
	return s, nil
}

// readMasters reads what no request changes.
func (s *railway) readMasters(ctx context.Context) (err error) {
	s.stations, err = readRows(ctx, s.db, "SELECT id, name, distance, is_stop_express, is_stop_semi_express, "+
		"is_stop_local FROM station_master ORDER BY id",
		func(x *station) []any { return []any{&x.ID, &x.Name, &x.Distance, &x.Express, &x.Semi, &x.Local} })
	if err != nil {
		return err
	}
	s.byName = map[string]*station{}
	for i := range s.stations {
		s.byName[s.stations[i].Name] = &s.stations[i]
	}
	s.byKm, err = readRows(ctx, s.db, "SELECT distance, fare FROM distance_fare_master ORDER BY distance",
		func(x *distanceFare) []any { return []any{&x.km, &x.fare} })
	if err != nil {
		return err
	}
	type fare struct {
		train, seat string
		by          float64
	}
	fares, err := readRows(ctx, s.db, "SELECT train_class, seat_class, fare_multiplier FROM fare_master "+
		"ORDER BY train_class, seat_class, start_date", func(x *fare) []any { return []any{&x.train, &x.seat, &x.by} })
	if err != nil {
		return err
	}
	s.fares, s.seats = map[[2]string]float64{}, map[string][]seat{}
	for _, f := range fares { // the last one is that of today
		s.fares[[2]string{f.train, f.seat}] = f.by
	}
	for _, k := range kinds {
		s.seats[k.name], err = readRows(ctx, s.db, "SELECT car_number, seat_row, seat_column, seat_class, "+
			"is_smoking_seat FROM seat_master WHERE train_class = ? ORDER BY car_number, seat_row, seat_column",
			func(x *seat) []any { return []any{&x.Car, &x.Row, &x.Column, &x.Class, &x.Smoking} }, k.name)
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(page) //nolint:errcheck // the client is gone
	})
	for pattern, do := range map[string]func(r *http.Request) (any, error){
		"POST /initialize":  s.initialize,
		"GET /api/settings": func(*http.Request) (any, error) { return map[string]string{"payment_api": s.pay.base}, nil },
		"GET /api/stations": func(*http.Request) (any, error) { return s.stations, nil },

		"GET /api/train/search":              s.search,
		"GET /api/train/seats":               s.showSeats,
		"POST /api/train/reserve":            s.reserve,
		"POST /api/train/reservation/commit": s.commit,

		"POST /api/auth/signup":                   s.signup,
		"POST /api/auth/login":                    s.login,
		"GET /api/user/reservations":              s.listReservations,
		"GET /api/user/reservations/{id}":         s.showReservation,
		"POST /api/user/reservations/{id}/cancel": s.cancel,
	} {
		mux.HandleFunc(pattern, s.answer(do))
	}
	return mux
}

// answer writes what a handler returns as JSON.
func (s *server) answer(do func(r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := do(r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		json.NewEncoder(w).Encode(v) //nolint:errcheck // the client is gone
	}
}

func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if refused, ok := errors.AsType[*refusal](err); ok {
		http.Error(w, refused.text, refused.status)
		return
	}
	if r.Context().Err() == nil {
		s.log.Printf("error: %s %s: %v", r.Method, r.URL.Path, err)
	}
	http.Error(w, "Internal Server Error", http.StatusInternalServerError)
}

// initialize begins anew.
func (s *server) initialize(r *http.Request) (any, error) {
	for _, table := range []string{"seat_reservations", "reservations", "users"} {
		if _, err := s.db.ExecContext(r.Context(), "TRUNCATE TABLE "+table); err != nil {
			return nil, err
		}
	}
	if err := s.pay.initialize(r.Context()); err != nil {
		return nil, err
	}
	n := days
	if s.d.Has("OPS-11") {
		n = fewDays
	}
	return map[string]any{"available_days": n, "language": "go"}, nil
}

// querier is a connection or the pool.
type querier interface {
	QueryContext(ctx context.Context, q string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, q string, args ...any) *sql.Row
	ExecContext(ctx context.Context, q string, args ...any) (sql.Result, error)
}

// readRows reads all rows of a query.
func readRows[T any](ctx context.Context, q querier, query string, into func(*T) []any, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	return kit.Collect(rows, err, into)
}

// key signs the tokens of users; it is the lab's, so that they outlive a restart.
var key = []byte("isutrain")

func tokenOf(id int64) string {
	m := hmac.New(sha256.New, key)
	fmt.Fprint(m, id)
	return fmt.Sprintf("%d.%x", id, m.Sum(nil)[:16])
}

// userOf returns who asks.
func userOf(r *http.Request) (int64, error) {
	c, err := r.Cookie("session")
	if err != nil {
		return 0, refuse(http.StatusUnauthorized, "not logged in")
	}
	text, _, _ := strings.Cut(c.Value, ".")
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !hmac.Equal([]byte(tokenOf(id)), []byte(c.Value)) {
		return 0, refuse(http.StatusUnauthorized, "not logged in")
	}
	return id, nil
}

type credentials struct {
	Email    string `json:"email"`
	Password string `json:"password"`
}

func (s *server) signup(r *http.Request) (any, error) {
	c, err := read[credentials](r)
	if err != nil {
		return nil, err
	}
	if c.Email == "" || c.Password == "" {
		return nil, refuse(http.StatusBadRequest, "email and password are needed")
	}
	salt := make([]byte, 16)
	rand.Read(salt) //nolint:errcheck // it never fails
	hash, err := pbkdf2.Key(sha256.New, c.Password, salt, iterations, sha256.Size)
	if err != nil {
		return nil, err
	}
	_, err = s.db.ExecContext(r.Context(), "INSERT INTO users (email, salt, super_secure_password) VALUES (?, ?, ?)",
		c.Email, hex.EncodeToString(salt), hash)
	if mysqlflags.ErrorNumber(err) == duplicate {
		return nil, refuse(http.StatusConflict, "the address is taken")
	}
	return map[string]bool{"is_ok": true}, err
}

func (s *server) login(r *http.Request) (any, error) {
	c, err := read[credentials](r)
	if err != nil {
		return nil, err
	}
	var id int64
	var salt string
	var hash []byte
	err = s.db.QueryRowContext(r.Context(), "SELECT id, salt, super_secure_password FROM users WHERE email = ?",
		c.Email).Scan(&id, &salt, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, refuse(http.StatusForbidden, "wrong email or password")
	}
	if err != nil {
		return nil, err
	}
	raw, err := hex.DecodeString(salt)
	if err != nil {
		return nil, err
	}
	got, err := pbkdf2.Key(sha256.New, c.Password, raw, iterations, sha256.Size)
	if err != nil {
		return nil, err
	}
	if subtle.ConstantTimeCompare(got, hash) != 1 {
		return nil, refuse(http.StatusForbidden, "wrong email or password")
	}
	return map[string]string{"session": tokenOf(id)}, nil
}

// read reads the JSON of a request.
func read[T any](r *http.Request) (v T, err error) {
	if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
		return v, refuse(http.StatusBadRequest, "bad JSON: %v", err)
	}
	return v, nil
}
