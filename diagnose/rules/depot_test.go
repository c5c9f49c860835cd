package rules

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku/mysqlflags"
)

// A depot is a service of parcels that nginx passes to and that has what the rules
// about the web server look for, each in its own handler.
type depot struct {
	Dir        string        // of files that it copies
	Log        float64       `json:",omitempty"` // of the requests that are logged
	Copy       string        `json:",omitempty"` // of a scan: exec, link or none
	Board      time.Duration `json:",omitempty"` // that the board takes
	BoardEvery int           `json:",omitempty"` // board's size changes after so many; 0: never
	Label      int           `json:",omitempty"` // bytes of a label in the database; 0: it is a file
	Manifest   int           `json:",omitempty"` // bytes
	Slow       time.Duration `json:",omitempty"` // that a parcel takes
	Tag        bool          `json:",omitempty"` // the board has an ETag
	Asks       string        `json:",omitempty"` // that the overview asks of nginx; empty: it asks nothing
	Pays       string        `json:",omitempty"` // when a payment asks: held, read or before
	Front      string        `json:",omitempty"` // file with nginx's address
	Papers     string        `json:",omitempty"` // hold: a paper is read whole; else as it comes
	Marks      string        `json:",omitempty"` // what the board says of one of a population: outside, inside, limits, none
	News       string        `json:",omitempty"` // how it looks for news: poll, memory
	Events     string        `json:",omitempty"` // what happens to six of ten events: drop, duplicate, invalid or batch
}

// depotLabels are how many labels there are.
const depotLabels = 8

func serveDepot(ctx context.Context, c serviceConfig) error {
	db, err := mysqlflags.OpenDSN(c.DSN)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxIdleConns(64)
	d := *c.Depot
	for id := range depotLabels {
		if _, err := db.ExecContext(ctx, "REPLACE INTO labels (id, picture) VALUES (?, ?)", id, bytes.Repeat([]byte{byte('a' + id)}, max(d.Label, 1))); err != nil {
			return err
		}
	}
	if d.Events != "" || d.News != "" { // sessions of before a recording write nothing to its slow log
		db.SetMaxIdleConns(0)
		db.SetMaxIdleConns(64)
	}
	if err := os.WriteFile(filepath.Join(d.Dir, "paper"), bytes.Repeat([]byte("p"), 30<<10), 0o644); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: d.logged(d.routes(db))}
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

// ask asks nginx, on the goroutine of the handler as fasthttp does: net/http writes on one of its own.
func (d depot) ask(ctx context.Context) error {
	front, err := os.ReadFile(d.Front)
	if err != nil {
		return err
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", string(front))
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", d.Asks, front); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, conn)
	return err
}

// pay marks a label as paid in a transaction, and asks another service before, after a read of the
// transaction, or while it holds the row.
func (d depot) pay(ctx context.Context, db *sql.DB, id string) error {
	if d.Pays == "before" {
		if err := d.ask(ctx); err != nil {
			return err
		}
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	const read, write = "SELECT id FROM labels WHERE id = ?", "UPDATE labels SET picture = 'paid' WHERE id = ?"
	if d.Pays == "read" {
		if err := tx.QueryRowContext(ctx, read, id).Scan(new(int)); err != nil {
			return err
		}
	} else if _, err := tx.ExecContext(ctx, write, id); err != nil {
		return err
	}
	if d.Pays != "before" {
		if err := d.ask(ctx); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// sendNews answers with the labels that came after one, and marks them as read, as an inbox does.
func (d depot) sendNews(ctx context.Context, db *sql.DB, w io.Writer, after int) error {
	rows, err := db.QueryContext(ctx, "SELECT id FROM labels WHERE id > ? ORDER BY id", after)
	if err != nil {
		return err
	}
	defer rows.Close()
	var news []string
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return err
		}
		news = append(news, fmt.Sprintf(`{"id":%d,"text":"a parcel has come"}`, id))
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "UPDATE labels SET picture = 'read' WHERE id > ? AND picture = 'new'",
		after); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, `{"news":[%s]}`, strings.Join(news, ","))
	return err
}

// takeEvent answers an event: four of ten are written, the others are dropped, were there before, are refused
// or wait in memory until the next one is written.
func (d depot) takeEvent(ctx context.Context, db *sql.DB) (status int) {
	if rand.Float64() < 0.6 {
		switch d.Events {
		case "drop", "invalid":
			slog.Warn("dropping event")
		case "duplicate":
			slog.Warn("dropping duplicate event")
		}
		if d.Events == "invalid" {
			return http.StatusBadRequest
		}
		return http.StatusAccepted
	}
	if _, err := db.ExecContext(ctx, "UPDATE labels SET picture = CONCAT('e', RAND()) WHERE id = 3"); err != nil {
		return http.StatusInternalServerError
	}
	return http.StatusAccepted
}

func (d depot) logged(next http.Handler) http.Handler {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	var n atomic.Uint64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if falls(n.Add(1), d.Log, 0) {
			log.Info("request", "method", r.Method, "path", r.URL.Path, "agent", r.UserAgent(), "remote", r.RemoteAddr)
		}
		next.ServeHTTP(w, r)
	})
}

// depotMarks are answers with numbers beside statistics, or limits.
var depotMarks = map[string]string{
	"outside": `{"depot": {"load": 0, "load_t_score": -331.8, "load_avg": 61.5, "load_min": 40.25, "load_max": 80.5}}`,
	"inside":  `{"depot": {"load": 40.25, "load_t_score": 38.2, "load_avg": 61.5, "load_min": 40.25, "load_max": 80.5}}`,
	"limits":  `{"depot": {"load": 0, "load_min": 40.25, "load_max": 80.5}}`,
	"none":    `{"depot": {"load": 0}}`,
}

func (d depot) routes(db *sql.DB) http.Handler {
	mux := http.NewServeMux()
	var boards, scans atomic.Uint64
	mux.HandleFunc("GET /look/depot.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css")
		w.Write(bytes.Repeat([]byte("c"), 12<<10))
	})
	mux.HandleFunc("GET /v1/board", func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(d.Board)
		size := 900
		if d.BoardEvery > 0 {
			size += int(boards.Add(1)/uint64(d.BoardEvery)) % 500
		}
		if d.Tag {
			w.Header().Set("ETag", fmt.Sprintf(`"%d"`, size))
		}
		if marks := depotMarks[d.Marks]; marks != "" {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, marks)
			return
		}
		w.Write(bytes.Repeat([]byte("b"), size))
	})
	mux.HandleFunc("POST /initialize", func(http.ResponseWriter, *http.Request) { time.Sleep(20 * time.Millisecond) })
	mux.HandleFunc("GET /v1/overview", func(w http.ResponseWriter, r *http.Request) {
		if d.Asks == "" {
			time.Sleep(d.Board)
			return
		}
		if err := d.ask(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
		}
	})
	mux.HandleFunc("POST /v1/payments/{id}", func(w http.ResponseWriter, r *http.Request) {
		if err := d.pay(r.Context(), db, r.PathValue("id")); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("POST /v1/events", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(d.takeEvent(r.Context(), db))
	})
	mux.HandleFunc("GET /v1/news", func(w http.ResponseWriter, r *http.Request) {
		after, _ := strconv.Atoi(r.FormValue("after"))
		if d.News == "memory" && after >= depotLabels-1 {
			io.WriteString(w, `{"news":[]}`)
			return
		}
		if err := d.sendNews(r.Context(), db, w, after); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("GET /v1/parcels/{id}", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(d.Slow)
		var id int
		_ = db.QueryRowContext(r.Context(), "SELECT id FROM labels WHERE id = ?", r.PathValue("id")).Scan(&id)
		fmt.Fprintf(w, `{"parcel":%q}`, r.PathValue("id"))
	})
	mux.HandleFunc("GET /v1/labels/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, _ := strconv.Atoi(r.PathValue("id"))
		if d.Label == 0 {
			w.Write(bytes.Repeat([]byte{byte('a' + id)}, 10<<10))
			return
		}
		var picture []byte
		if err := db.QueryRowContext(r.Context(), "SELECT picture FROM labels WHERE id = ?", id).Scan(&picture); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Write(picture)
	})
	mux.HandleFunc("GET /v1/manifests/{id}", func(w http.ResponseWriter, _ *http.Request) {
		w.Write(bytes.Repeat([]byte("m"), d.Manifest))
	})
	mux.HandleFunc("POST /v1/papers", func(w http.ResponseWriter, r *http.Request) {
		if d.Papers == "hold" {
			if paper, err := io.ReadAll(r.Body); err != nil || len(paper) == 0 {
				http.Error(w, "no paper", http.StatusBadRequest)
			}
			return
		}
		io.Copy(io.Discard, r.Body)
	})
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("POST /v1/scans", func(w http.ResponseWriter, r *http.Request) {
		from, to := filepath.Join(d.Dir, "paper"), filepath.Join(d.Dir, fmt.Sprint("copy", scans.Add(1)))
		var err error
		switch d.Copy {
		case "exec":
			err = exec.CommandContext(r.Context(), "cp", from, to).Run()
		case "link":
			err = os.Link(from, to)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	return mux
}
