package rules

import (
	"context"
	"database/sql"
	"errors"
	"expvar"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku/mysqlflags"
)

// A deskConfig is a service that books seats, and how badly it works.
type deskConfig struct {
	Listen string // host:port; also publishes its pool there
	Pool   int    // connections, open and idle

	Writes int           `json:",omitempty"` // rows that POST /book writes, each with its own commit
	Note   int           `json:",omitempty"` // bytes of what each says; 0: a few words
	InTx   bool          `json:",omitempty"` // in one transaction instead
	Rows   int           `json:",omitempty"` // of seats that POST /reserve chooses from; 0: 1
	Hold   time.Duration `json:",omitempty"` // that it keeps the lock
	Think  time.Duration `json:",omitempty"` // that GET /report keeps its connection, in the database
	Poll   time.Duration `json:",omitempty"` // after which GET /news answers
	Jitter time.Duration `json:",omitempty"` // at random, added to it
	Spin   time.Duration `json:",omitempty"` // CPU of GET /quote
	Claim  string        `json:",omitempty"` // how POST /claim takes a free seat: locked, else by one UPDATE
	Admit  string        `json:",omitempty"` // under what POST /admit counts and adds a booking: write, read or named
	Room   int           `json:",omitempty"` // bookings after which POST /admit turns away, in a transaction
}

type desk struct {
	c   deskConfig
	db  *sql.DB
	seq atomic.Int64
	log *slog.Logger
}

func serveDesk(ctx context.Context, c serviceConfig, access io.Writer) error {
	db, err := mysqlflags.OpenDSN(c.DSN + "?interpolateParams=true")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(c.Desk.Pool)
	db.SetMaxIdleConns(c.Desk.Pool)
	d := &desk{c: *c.Desk, db: db, log: slog.New(slog.NewJSONHandler(os.Stderr, nil))}
	expvar.Publish("desk", expvar.Func(func() any { return map[string]any{"pool": db.Stats()} }))
	mux := http.NewServeMux()
	mux.Handle("GET /debug/vars", expvar.Handler())
	for pattern, h := range map[string]func(context.Context) error{
		"GET /seats": d.seats, "POST /book": d.book, "POST /reserve": d.reserve, "POST /swap": d.swap,
		"POST /claim": d.claim, "POST /admit": d.admit,
		"GET /report": d.report, "GET /news": d.news, "GET /quote": d.quote,
	} {
		mux.Handle(pattern, deskTimed(access, func(w http.ResponseWriter, r *http.Request) {
			switch err := h(r.Context()); {
			case errors.Is(err, errFull):
				w.WriteHeader(http.StatusForbidden)
			case err != nil:
				d.log.Error("request failed", "cause", err.Error())
				w.WriteHeader(http.StatusInternalServerError)
			}
		}))
	}
	ln, err := net.Listen("tcp", c.Desk.Listen)
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: mux}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	fmt.Println(ln.Addr())
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	err = srv.Close()
	<-served
	return err
}

// deskTimed writes an access log in LTSV, as nginx does when it is configured to.
func deskTimed(out io.Writer, h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		a := &answer{ResponseWriter: w, code: http.StatusOK}
		h(a, r)
		now := time.Now()
		line := fmt.Sprintf("time:%s\tmethod:%s\turi:%s\tstatus:%d\tsize:%d\treqtime:%.6f\n",
			now.Format(time.RFC3339Nano), r.Method, r.URL.RequestURI(), a.code, a.size, now.Sub(began).Seconds())
		deskLog.Lock()
		defer deskLog.Unlock()
		io.WriteString(out, line)
	})
}

// deskLog keeps lines of the access log apart.
var deskLog sync.Mutex

func (d *desk) seats(ctx context.Context) error {
	var holder int
	return d.db.QueryRowContext(ctx, "SELECT holder FROM seats WHERE seat = ?", 1+rand.IntN(1000)).Scan(&holder)
}

const insertBooking = "INSERT INTO bookings (seat, note) VALUES (?, ?)"

func (d *desk) book(ctx context.Context) error {
	run, note := d.db.ExecContext, "a window seat, please"
	if d.c.Note > 0 {
		note = strings.Repeat("a", d.c.Note)
	}
	if d.c.InTx {
		tx, err := d.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		for range d.c.Writes {
			if _, err := tx.ExecContext(ctx, insertBooking, d.seq.Add(1), note); err != nil {
				return err
			}
		}
		return tx.Commit()
	}
	for range d.c.Writes {
		if _, err := run(ctx, insertBooking, d.seq.Add(1), note); err != nil {
			return err
		}
	}
	return nil
}

func (d *desk) reserve(ctx context.Context) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var visits int
	seat := 1 + rand.IntN(max(d.c.Rows, 1))
	err = tx.QueryRowContext(ctx, "SELECT visits FROM seats WHERE seat = ? FOR UPDATE", seat).Scan(&visits)
	if err != nil {
		return err
	}
	deskPause(d.c.Hold)
	if _, err := tx.ExecContext(ctx, "UPDATE seats SET visits = ? WHERE seat = ?", visits+1, seat); err != nil {
		return err
	}
	return tx.Commit()
}

// claim takes a seat that no one has; where someone has it nothing is done.
func (d *desk) claim(ctx context.Context) error {
	seat := 1 + rand.IntN(max(d.c.Rows, 1))
	if d.c.Claim != "locked" {
		_, err := d.db.ExecContext(ctx, "UPDATE seats SET holder = ? WHERE seat = ? AND holder = 0", d.seq.Add(1), seat)
		return err
	}
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	err = tx.QueryRowContext(ctx, "SELECT seat FROM seats WHERE seat = ? AND holder = 0 FOR UPDATE", seat).Scan(&seat)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE seats SET holder = ? WHERE seat = ?", d.seq.Add(1), seat); err != nil {
		return err
	}
	return tx.Commit()
}

var errFull = errors.New("there is no room")

// admitInTx adds a booking while there is room, one after another.
func (d *desk) admitInTx(ctx context.Context) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // it was committed, or the error before counts
	var booked int
	if _, err := tx.ExecContext(ctx, "SELECT seat FROM seats WHERE seat = 1 FOR UPDATE"); err != nil {
		return err
	}
	if err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM bookings").Scan(&booked); err != nil {
		return err
	}
	if booked >= d.c.Room {
		return errFull
	}
	if _, err := tx.ExecContext(ctx, insertBooking, d.seq.Add(1), "a window seat, please"); err != nil {
		return err
	}
	return tx.Commit()
}

// admit adds a booking while there are not too many.
func (d *desk) admit(ctx context.Context) error {
	if d.c.Room > 0 {
		return d.admitInTx(ctx)
	}
	lock := map[string][2]string{"write": {"LOCK TABLES bookings WRITE, seats READ", "UNLOCK TABLES"},
		"read":  {"LOCK TABLES seats READ", "UNLOCK TABLES"},
		"named": {"SELECT GET_LOCK('bookings', 10)", "SELECT RELEASE_LOCK('bookings')"}}[d.c.Admit]
	conn, err := d.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, lock[0]); err != nil {
		return err
	}
	var seats, booked int
	err = conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM seats").Scan(&seats)
	if err == nil && d.c.Admit != "read" {
		err = conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM bookings").Scan(&booked)
		if err == nil && booked < seats {
			_, err = conn.ExecContext(ctx, insertBooking, d.seq.Add(1), "a window seat, please")
		}
	}
	deskPause(d.c.Hold)
	_, failed := conn.ExecContext(ctx, lock[1])
	return errors.Join(err, failed)
}

// swap changes two seats, in whichever order they come.
func (d *desk) swap(ctx context.Context) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	a := 1 + rand.IntN(2)
	for _, seat := range []int{a, 3 - a} {
		if _, err := tx.ExecContext(ctx, "UPDATE seats SET holder = holder + 1 WHERE seat = ?", seat); err != nil {
			return err
		}
		deskPause(d.c.Hold)
	}
	return tx.Commit()
}

func (d *desk) report(ctx context.Context) error {
	var n int
	return d.db.QueryRowContext(ctx, "SELECT SLEEP(?)", d.c.Think.Seconds()).Scan(&n)
}

func (d *desk) news(context.Context) error {
	deskPause(d.c.Poll + time.Duration(rand.Int64N(int64(d.c.Jitter)+1)))
	return nil
}

func (d *desk) quote(context.Context) error {
	for until := time.Now().Add(d.c.Spin); time.Now().Before(until); {
	}
	return nil
}

// deskPause waits as a program does that does something else.
func deskPause(d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	<-t.C
}
