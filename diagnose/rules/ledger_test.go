package rules

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku/labs/userapi"
	"github.com/kasoku/kasoku/mysqlflags"
)

// childEnv says to the test binary that it is to be the measured service.
const childEnv = "KASOKU_TEST_SERVICE"

func TestMain(m *testing.M) {
	if s := os.Getenv(childEnv); s != "" {
		if err := serveChild(s); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A serviceConfig is one measured service and how badly it works. It is either
// the ledger, a service that exists only here, or with Defects the lab.
//
// The ledger's shares are 0..1 of the requests, spread evenly.
type serviceConfig struct {
	DSN       string `json:",omitempty"`
	AccessLog string `json:",omitempty"`

	Lab     bool            `json:",omitempty"` // the lab userapi instead of the ledger
	Listen  string          `json:",omitempty"` // of the lab; a free port of 127.0.0.1 when empty
	Ahead   time.Duration   `json:",omitempty"` // of the clock: the times in the lab's access log
	Defects userapi.Defects `json:",omitempty"` // of the lab
	MaxIdle int             `json:",omitempty"` // of the lab's pool; of the ledger's: 0 is database/sql's default
	MaxOpen int             `json:",omitempty"` // of the ledger's pool, 0: no cap

	Warm      int           `json:",omitempty"` // connections opened before the first request
	Hold      time.Duration `json:",omitempty"` // requests keep their connection until its next multiple, and all go on at once
	Prepare   float64       `json:",omitempty"` // whose statements are prepared, run once and closed
	Kept      float64       `json:",omitempty"` // of the others, that run a statement prepared before
	Save      float64       `json:",omitempty"` // that save by UPDATE, SELECT and INSERT
	LogSQL    float64       `json:",omitempty"` // that log the text of their statements
	Reconnect float64       `json:",omitempty"` // that open a connection of their own and close it
	Fail      float64       `json:",omitempty"` // that answer 500 and log an error
	Mute      bool          `json:",omitempty"` // errors are not logged
	Drop      float64       `json:",omitempty"` // that answer 201 and write nothing
	Twice     float64       `json:",omitempty"` // that write two rows
	Batch     int           `json:",omitempty"` // short statements that each request sends in one go before it writes

	Burden *burden `json:",omitempty"` // of the host, by each request

	Depot *depot `json:",omitempty"` // the depot, a service that nginx passes to, instead of the ledger

	Desk *deskConfig `json:",omitempty"` // the desk instead of the ledger
}

// createEntries is the ledger's table; its keys are integers that the service makes.
const createEntries = "CREATE TABLE IF NOT EXISTS entries (id BIGINT UNSIGNED NOT NULL PRIMARY KEY, " +
	"account INT NOT NULL, cents BIGINT NOT NULL, memo VARCHAR(200) NOT NULL)"

// serveChild runs the service until the process is asked to end. The first line
// of its standard output is its address.
func serveChild(config string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var c serviceConfig
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		return err
	}
	access, err := os.OpenFile(c.AccessLog, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer access.Close()
	if c.Depot != nil {
		return serveDepot(ctx, c)
	}
	if c.Lab {
		return userapi.Serve(ctx, userapi.Config{
			Listen: cmp.Or(c.Listen, "127.0.0.1:0"), DSN: c.DSN, Defects: c.Defects, MaxIdle: c.MaxIdle,
			AccessLog: shifted{access, c.Ahead}, AppLog: os.Stderr, Ready: func(addr string) { fmt.Println(addr) },
		})
	}
	if c.Desk != nil {
		return serveDesk(ctx, c, access)
	}
	return serveLedger(ctx, c, access)
}

func serveLedger(ctx context.Context, c serviceConfig, access io.Writer) error {
	l, err := openLedger(ctx, c)
	if err != nil {
		return err
	}
	defer l.close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if c.Burden != nil {
		if l.carrier, err = carry(ctx, l, *c.Burden); err != nil {
			return err
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v2/transfers", l.transfer)
	mux.HandleFunc("GET /v2/ping", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "pong") })
	srv := &http.Server{Handler: combinedLog(access, mux)}
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

// A ledger writes transfers.
type ledger struct {
	c        serviceConfig
	plain    *sql.DB // parameters are put in by the driver
	prepared *sql.DB // each statement is prepared
	fresh    *sql.DB // keeps no connection
	kept     *sql.Stmt
	log      *slog.Logger
	seq      atomic.Uint64
	carrier  *carrier // nil for none
}

func openLedger(ctx context.Context, c serviceConfig) (*ledger, error) {
	plain := "?interpolateParams=true"
	if c.Batch > 0 {
		plain += "&multiStatements=true"
	}
	l := &ledger{c: c, log: slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	for _, p := range []struct {
		into  **sql.DB
		param string
		idle  int
	}{{&l.plain, plain, c.MaxIdle}, {&l.prepared, "", c.MaxIdle}, {&l.fresh, "?interpolateParams=true", -1}} {
		db, err := mysqlflags.OpenDSN(c.DSN + p.param)
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(c.MaxOpen)
		if p.idle != 0 {
			db.SetMaxIdleConns(p.idle)
		}
		*p.into = db
	}
	if c.Kept > 0 {
		var err error
		if l.kept, err = l.plain.PrepareContext(ctx, insertEntry); err != nil {
			return nil, err
		}
	}
	return l, l.warm(ctx)
}

// warm opens connections and gives all of them back at once.
func (l *ledger) warm(ctx context.Context) error {
	var conns []*sql.Conn
	for range l.c.Warm {
		conn, err := l.plain.Conn(ctx)
		if err != nil {
			return err
		}
		conns = append(conns, conn)
	}
	for _, conn := range conns {
		if err := conn.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (l *ledger) close() {
	for _, db := range []*sql.DB{l.plain, l.prepared, l.fresh} {
		db.Close()
	}
}

// falls reports whether the nth request is among the share; those of different
// salts fall apart.
func falls(n uint64, share float64, salt uint64) bool {
	at := func(n uint64) uint64 { return uint64(float64(n) * share) }
	n += salt
	return at(n+1) > at(n)
}

func (l *ledger) transfer(w http.ResponseWriter, r *http.Request) {
	n := l.seq.Add(1)
	w.Header().Set("Content-Type", "application/json")
	var err error
	if l.carrier != nil {
		err = l.carrier.bear(r.Context())
	}
	if err == nil {
		err = l.book(r.Context(), n)
	}
	if err == nil && falls(n, l.c.Fail, 3) {
		err = errors.New("balance of account is locked by settlement")
	}
	if err != nil {
		if !l.c.Mute {
			l.log.Error("transfer not booked", "seq", n, "cause", err.Error())
		}
		w.WriteHeader(http.StatusInternalServerError)
		io.WriteString(w, `{"status":"failed"}`)
		return
	}
	w.WriteHeader(http.StatusCreated)
	io.WriteString(w, `{"status":"booked"}`)
}

const (
	updateEntry = "UPDATE `entries` SET `account`=?, `cents`=?, `memo`=? WHERE `id`=?"
	selectEntry = "SELECT `id`, `account`, `cents`, `memo` FROM `entries` WHERE `id`=?"
	insertEntry = "INSERT INTO `entries` (`id`, `account`, `cents`, `memo`) VALUES (?, ?, ?, ?)"
)

// book writes one entry in the way that the shares want for request n.
func (l *ledger) book(ctx context.Context, n uint64) error {
	if falls(n, l.c.Fail, 3) || falls(n, l.c.Drop, 5) {
		return nil
	}
	id := rand.Uint64() >> 1
	account, cents := int64(n%977), int64(n%100_000)
	memo := fmt.Sprintf("transfer %d to the savings account of customer %d", n, account)
	logged := falls(n, l.c.LogSQL, 7)
	if l.kept != nil && falls(n, l.c.Kept, 0) {
		return l.exec(ctx, logged, l.kept.ExecContext, insertEntry, id, account, cents, memo)
	}
	db := l.plain
	switch {
	case falls(n, l.c.Reconnect, 1):
		db = l.fresh
	case l.c.Kept > 0 || falls(n, l.c.Prepare, 0):
		db = l.prepared
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if l.c.Batch > 0 {
		if _, err := tx.ExecContext(ctx, strings.Repeat("DO 0;", l.c.Batch)); err != nil {
			return err
		}
	}
	if err := l.statements(ctx, tx, n, logged, id, account, cents, memo); err != nil {
		return err
	}
	if l.c.Hold > 0 {
		hold := time.NewTimer(time.Until(time.Now().Truncate(l.c.Hold).Add(l.c.Hold)))
		defer hold.Stop()
		<-hold.C
	}
	return tx.Commit()
}

// statements runs those of request n in its transaction.
func (l *ledger) statements(ctx context.Context, tx *sql.Tx, n uint64, logged bool, id uint64, account, cents int64, memo string) error {
	run := func(q string) func(context.Context, ...any) (sql.Result, error) {
		return func(ctx context.Context, args ...any) (sql.Result, error) { return tx.ExecContext(ctx, q, args...) }
	}
	if falls(n, l.c.Save, 0) {
		if err := l.exec(ctx, logged, run(updateEntry), updateEntry, account, cents, memo, id); err != nil {
			return err
		}
		if err := l.find(ctx, logged, tx, id); err != nil {
			return err
		}
	}
	if err := l.exec(ctx, logged, run(insertEntry), insertEntry, id, account, cents, memo); err != nil {
		return err
	}
	if !falls(n, l.c.Twice, 5) {
		return nil
	}
	return l.exec(ctx, logged, run(insertEntry), insertEntry, id+1, account, cents, memo)
}

func (l *ledger) exec(ctx context.Context, logged bool, run func(context.Context, ...any) (sql.Result, error), query string, args ...any) error {
	_, err := run(ctx, args...)
	l.logStatement(logged, query, args...)
	return err
}

func (l *ledger) find(ctx context.Context, logged bool, tx *sql.Tx, id uint64) error {
	var got struct {
		id             uint64
		account, cents int64
		memo           string
	}
	err := tx.QueryRowContext(ctx, selectEntry, id).Scan(&got.id, &got.account, &got.cents, &got.memo)
	l.logStatement(logged, selectEntry, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// logStatement logs a statement with its values.
func (l *ledger) logStatement(logged bool, query string, args ...any) {
	if !logged {
		return
	}
	for _, a := range args {
		query = strings.Replace(query, "?", fmt.Sprintf("'%v'", a), 1)
	}
	l.log.Debug("ran", "stmt", query)
}

// combinedLog writes an access log as Apache and nginx do by default.
func combinedLog(out io.Writer, next http.Handler) http.Handler {
	var mu sync.Mutex // guards the write, so that lines never mix
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &answer{ResponseWriter: w, code: http.StatusOK}
		next.ServeHTTP(a, r)
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		line := fmt.Sprintf("%s - - [%s] \"%s %s %s\" %d %d \"-\" \"%s\"\n", host, time.Now().Format("02/Jan/2006:15:04:05 -0700"),
			r.Method, r.URL.RequestURI(), r.Proto, a.code, a.size, r.UserAgent())
		mu.Lock()
		defer mu.Unlock()
		io.WriteString(out, line)
	})
}

type answer struct {
	http.ResponseWriter
	code, size int
}

func (a *answer) WriteHeader(code int) {
	a.code = code
	a.ResponseWriter.WriteHeader(code)
}

func (a *answer) Write(b []byte) (int, error) {
	n, err := a.ResponseWriter.Write(b)
	a.size += n
	return n, err
}
