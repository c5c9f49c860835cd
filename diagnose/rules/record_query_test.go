//go:build extract

package rules

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// A board is a service that exists only here: a notice board of places. Its
// statements say in a comment which route they are of, so that callers are known.
type board struct {
	db       *sql.DB // parameters are put in by the driver
	prepared *sql.DB // each statement is prepared, run once and closed
	seq      atomic.Uint64
	route    string
}

// A boardRun is a recorded run of one endpoint of the board, and what is kept of it.
type boardRun struct {
	name     string
	target   string // "GET /v3/board"
	also     string // another one, to which half of the requests go
	rate     float64
	each     time.Duration
	setup    []string // statements before the run
	flush    bool     // commits wait for the disk
	baseline string
	serve    func(ctx context.Context, b *board, n uint64) (string, error)
	keep     string
	want     string
}

const boardSchema = "pinboard"

// boardTables are filled with 3,000 notes of 300 places in 20 towns.
var boardTables = []string{
	"CREATE TABLE towns (id INT NOT NULL PRIMARY KEY, label VARCHAR(40) NOT NULL)",
	"CREATE TABLE places (id INT NOT NULL PRIMARY KEY, town INT NOT NULL, x DOUBLE NOT NULL, y DOUBLE NOT NULL, label VARCHAR(40) NOT NULL, KEY by_town (town), KEY by_xy (x, y))",
	"CREATE TABLE notes (id INT NOT NULL PRIMARY KEY AUTO_INCREMENT, place INT NOT NULL, stars INT NOT NULL, body VARCHAR(80) NOT NULL, KEY by_place (place))",
	"CREATE TABLE visits (id BIGINT NOT NULL PRIMARY KEY AUTO_INCREMENT, place INT NOT NULL, minutes INT NOT NULL, KEY by_place (place))",
	"CREATE TABLE scraps (id INT NOT NULL, body VARCHAR(40) NOT NULL)",
	"INSERT INTO towns SELECT seq, CONCAT('town ', seq) FROM (" + numbers(20) + ") s",
	"INSERT INTO places SELECT seq, seq MOD 20 + 1, seq / 10, seq MOD 17, CONCAT('place ', seq) FROM (" + numbers(300) + ") s",
	"INSERT INTO notes (place, stars, body) SELECT seq MOD 300 + 1, seq MOD 5, CONCAT('a note about place ', seq) FROM (" + numbers(3000) + ") s",
	"INSERT INTO scraps SELECT seq, CONCAT('scrap ', seq) FROM (" + numbers(40) + ") s",
}

// numbers is a SELECT of the numbers from 1 to n, at most 9,999.
func numbers(n int) string {
	digits := "(SELECT 0 d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)"
	return fmt.Sprintf("SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS seq FROM %[1]s a, %[1]s b, %[1]s c, %[1]s e WHERE a.d + 10 * b.d + 100 * c.d + 1000 * e.d BETWEEN 1 AND %[2]d", digits, n)
}

// tag puts the route in front of a statement.
func (b *board) tag(q string) string { return "/*route='" + url.PathEscape(b.route) + "'*/ " + q }

// each runs a SELECT and hands its rows' numbers on.
func (b *board) each(ctx context.Context, q string, args ...any) (ids []int64, err error) {
	rows, err := b.db.QueryContext(ctx, b.tag(q), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	for rows.Next() {
		var id int64
		into := make([]any, len(columns))
		into[0] = &id
		for i := 1; i < len(into); i++ {
			into[i] = new(sql.RawBytes)
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// for every id of ids run q with it.
func (b *board) lookUp(ctx context.Context, ids []int64, q string, more ...any) error {
	for _, id := range ids {
		if _, err := b.each(ctx, q, append([]any{id}, more...)...); err != nil {
			return err
		}
	}
	return nil
}

// insert writes n rows, in a transaction, one by one.
func (b *board) insert(ctx context.Context, db *sql.DB, n int, others int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for i := range n {
		if _, err := tx.ExecContext(ctx, b.tag("INSERT INTO visits (place, minutes) VALUES (?, ?)"), i+1, 7); err != nil {
			return err
		}
	}
	for i := range others {
		if _, err := tx.ExecContext(ctx, b.tag("UPDATE towns SET label = ? WHERE id = ?"), fmt.Sprint("town ", b.seq.Load()), i+1); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// within runs statements in one transaction.
func (b *board) within(ctx context.Context, statements ...string) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, q := range statements {
		if _, err := tx.ExecContext(ctx, b.tag(q)); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// TestRecordQueries makes the runs of the rules about statements and keeps their
// extracts:
//
//	go test -tags extract ./diagnose/rules -run TestRecordQueries -timeout 30m
//
// With -args -only each-row,area only those.
func TestRecordQueries(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		done := map[string]*kasoku.Recording{}
		for _, r := range boardRuns() {
			if *only != "" && !named(r.name) {
				continue
			}
			t.Run(r.name, func(t *testing.T) { done[r.name] = r.record(t, s, done[r.baseline]) })
		}
	})
}

func (r boardRun) record(t *testing.T, s *sandbox.Server, baseline *kasoku.Recording) *kasoku.Recording {
	rec := r.measure(t, s)
	wrong := recorded{keep: r.keep}.wrong(rec, baseline)
	for _, w := range wrong {
		t.Error(w)
	}
	version, _ := rec.Setting("mysql", "version")
	name := map[string]string{sandbox.KindMariaDB: "mariadb", sandbox.KindMySQL97: "mysql"}[s.Kind]
	origin := fmt.Sprintf("recorded: %s, %s %s, go test -tags extract ./diagnose/rules -run TestRecordQueries/%s -args -only %s\n",
		rec.Run.Started.Format(time.DateOnly), diagnose.NewCase(rec, nil).Server(), version, s.Kind, strings.Trim(r.baseline+","+r.name, ","))
	for want := range strings.FieldsSeq(r.keep) {
		id, kind, _ := strings.Cut(want, "/")
		if strings.Contains(strings.Join(wrong, "\n"), want) {
			continue
		}
		line := ""
		if kind == "fires" && r.want != "" {
			line = "want: " + r.want + "\n"
		}
		keepExtract(t, rec, baseline, id, kind+"/"+name+"-"+r.name, origin+line)
	}
	return rec
}

// measure makes the run.
func (r boardRun) measure(t *testing.T, db *sandbox.Server) *kasoku.Recording {
	dir := t.TempDir()
	sandboxtest.Exec(t, sandboxtest.DB(t, db, ""), "DROP DATABASE IF EXISTS "+boardSchema, "CREATE DATABASE "+boardSchema+" CHARACTER SET utf8mb4")
	admin := sandboxtest.DB(t, db, boardSchema)
	sandboxtest.Exec(t, admin, boardTables...)
	sandboxtest.Exec(t, admin, r.setup...)
	sandboxtest.Exec(t, admin, "ANALYZE TABLE places, notes, visits, scraps")
	method, path, _ := strings.Cut(r.target, " ")
	b := &board{route: r.target}
	access, err := os.OpenFile(filepath.Join(dir, "access.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer access.Close()
	engine, err := nethttp.New(nethttp.Options{Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ours := &record.Load{Engine: engine, Each: r.each, Pause: time.Second, Next: record.Climb(r.rate)}
	var srv *http.Server
	o := record.Options{
		Path: filepath.Join(dir, "run.kasoku"),
		Run:  kasoku.Run{Project: "rules", Label: "kept", Revision: "test"},
		Database: record.Database{MySQL: db.DSN("root", boardSchema),
			SlowLog: true, KeepStatements: true},
		Sources: record.Sources{AccessLog: access.Name(), PIDs: []int{db.Pid()}},
		Course:  record.Course{Load: ours},
	}
	o.Prepare = func(context.Context, record.Watch) error {
		for into, param := range map[**sql.DB]string{&b.db: "?interpolateParams=true", &b.prepared: ""} {
			pool, err := mysqlflags.OpenDSN(db.DSN("root", boardSchema) + param)
			if err != nil {
				return err
			}
			pool.SetMaxOpenConns(20)
			pool.SetMaxIdleConns(20)
			*into = pool
		}
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		srv = &http.Server{Handler: timedLog(access, r.handler(b))}
		go srv.Serve(ln)
		ours.Targets = []load.Target{{Method: method, URL: "http://" + ln.Addr().String() + path}}
		if m, p, ok := strings.Cut(r.also, " "); ok {
			ours.Targets = append(ours.Targets, load.Target{Method: m, URL: "http://" + ln.Addr().String() + p})
		}
		return nil
	}
	res, err := record.Record(t.Context(), o)
	if srv != nil {
		srv.Close()
		b.db.Close()
		b.prepared.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	keepOnly(res.Recording, db.Pid(), os.Getpid())
	return res.Recording
}

func (r boardRun) handler(b *board) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		b, n := b, b.seq.Add(1)-1
		if r.also != "" {
			b = &board{db: b.db, prepared: b.prepared, route: q.Method + " " + q.URL.Path}
		}
		text, err := r.serve(q.Context(), b, n)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if text == "" {
			text = strings.Repeat("x", 9000)
		}
		w.Write([]byte(text))
	})
}

// timedLog writes an access log with times in milliseconds.
func timedLog(out *os.File, next http.Handler) http.Handler {
	var mu sync.Mutex // guards the write, so that lines never mix
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &answer{ResponseWriter: w, code: http.StatusOK}
		start := time.Now()
		next.ServeHTTP(a, r)
		end := time.Now()
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(out, "time:%s\tmsec:%.3f\tmethod:%s\turi:%s\tstatus:%d\tsize:%d\treqtime:%.3f\n", end.Format("2006-01-02T15:04:05-07:00"),
			float64(end.UnixMilli())/1000, r.Method, r.URL.RequestURI(), a.code, a.size, end.Sub(start).Seconds())
	})
}

// TestConstructQueries makes the cases just under a threshold that depend on how fast
// a disk is.
//
//	go test -tags extract ./diagnose/rules -run TestConstructQueries
func TestConstructQueries(t *testing.T) {
	for _, server := range []string{"mariadb", "mysql"} {
		const name = "two-kinds"
		data, err := os.ReadFile(filepath.Join("testdata", "DBC-08", "fires", server+"-"+name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		rec, baseline, err := extract.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		var all, of time.Duration
		for i := range rec.Queries {
			all += rec.Queries[i].Total
			if rec.Queries[i].Verb == "COMMIT" {
				of += rec.Queries[i].Total
			}
		}
		by := 0.092 / 0.908 * float64(all-of) / float64(of)
		for i := range rec.Queries {
			if q := &rec.Queries[i]; q.Verb == "COMMIT" {
				q.Total, q.Seconds = time.Duration(by*float64(q.Total)), nil
			}
		}
		keepExtract(t, rec, baseline, "DBC-08", "under/"+server+"-"+name,
			"constructed: from fires/"+server+"-"+name+".txtar by giving COMMITs 9.2 % of the statements' time, with TestConstructQueries")
	}
}
