package isucond

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/labs/process"
	"github.com/kasoku/kasoku/mysqlflags"
)

//go:embed public
var public embed.FS

const openConnections = 40

// server is the service.
type server struct {
	db    *sql.DB
	d     kit.Set
	shed  float64 // share of reports that are confirmed and dropped
	files string  // icons/ has the pictures that nginx sends
	log   io.Writer

	reports atomic.Int64 // that were confirmed
}

// serve runs the service until the context ends.
func serve(ctx context.Context, c kit.Config) error {
	dsn := mysqlflags.WithParam(c.DSN, "parseTime=true")
	if !c.Defects.Has("DRV-01") {
		dsn = mysqlflags.WithParam(dsn, "interpolateParams=true")
	}
	db, err := mysqlflags.OpenDSN(dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	open := cmp.Or(c.Pool, openConnections)
	db.SetMaxOpenConns(open)
	db.SetMaxIdleConns(open)
	s := &server{db: db, d: c.Defects, shed: shedOf(c), files: c.Files, log: c.Log}
	if err := s.writeFiles(); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	c.Ready(ln.Addr().String())
	srv := &http.Server{Handler: s.routes(), ErrorLog: log.New(c.Log, "", log.LstdFlags),
		ReadHeaderTimeout: 10 * time.Second}
	return process.Serve(ctx, srv, ln)
}

// writeFiles puts what nginx sends below the directory of the lab's files: the pages,
// and the pictures unless they stay in the database.
func (s *server) writeFiles() error {
	if err := os.MkdirAll(filepath.Join(s.files, "icons"), 0o755); err != nil {
		return err
	}
	for i := 1; i <= chairs; i++ {
		if err := os.WriteFile(s.iconFile(uuidOf(i)), iconOf(i), 0o644); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(filepath.Join(s.files, "public")); err != nil {
		return err
	}
	if err := os.CopyFS(s.files, public); err != nil {
		return err
	}
	return filepath.WalkDir(filepath.Join(s.files, "public"), func(path string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return err
		}
		return pack(path)
	})
}

// pack writes a file beside one, which nginx's gzip_static sends.
func pack(path string) error {
	plain, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(plain); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(path+".gz", b.Bytes(), 0o644)
}

func (s *server) iconFile(id string) string { return filepath.Join(s.files, "icons", id+".jpg") }

func (s *server) routes() http.Handler {
	pages, err := fs.Sub(public, "public")
	if err != nil {
		panic(err) // the directory is compiled in
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /initialize", s.answer(s.initialize))
	mux.HandleFunc("GET /api/isu", s.answer(s.list))
	mux.HandleFunc("POST /api/isu", s.register)
	mux.HandleFunc("GET /api/trend", s.answer(s.trend))
	mux.HandleFunc("GET /api/isu/{id}/icon", s.icon)
	mux.HandleFunc("GET /api/isu/{id}/graph", s.answer(s.graph))
	mux.HandleFunc("GET /api/condition/{id}", s.answer(s.conditions))
	mux.HandleFunc("POST /api/condition/{id}", s.report)
	mux.HandleFunc("GET /debug/vars", kit.ShowPool(s.db))
	mux.Handle("GET /", http.FileServerFS(pages))
	if !s.d.Has("APP-01") {
		return mux
	}
	return kit.Chatty(s.log, mux)
}

// answer writes what a handler returns as JSON.
func (s *server) answer(do func(r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := do(r)
		if err != nil {
			s.fail(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(v) //nolint:errcheck // the client is gone
	}
}

func (s *server) fail(w http.ResponseWriter, err error) {
	if errors.Is(err, sql.ErrNoRows) {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	fmt.Fprintln(s.log, "error:", err)
	http.Error(w, "Internal Server Error", http.StatusInternalServerError)
}

// initialize runs the schema script, as a benchmark asks for first.
func (s *server) initialize(r *http.Request) (any, error) {
	return map[string]string{"language": "go"}, runScript(r.Context(), s.db, s.d)
}

// user is who asks, and is known; the error is sql.ErrNoRows of another.
func (s *server) user(r *http.Request) (string, error) {
	c, err := r.Cookie("user")
	if err != nil {
		return "", sql.ErrNoRows
	}
	return c.Value, s.isThere(r.Context(), "user", "jia_user_id", c.Value)
}

// A condition of a chair.
type condition struct {
	Time    time.Time `json:"time"`
	Sitting bool      `json:"is_sitting"`
	State   string    `json:"condition"`
	Message string    `json:"message,omitempty"`
}

type chair struct {
	ID   string    `json:"id"`
	Name string    `json:"name"`
	Last condition `json:"last"`
}

// list is a user's chairs that have reported, with their last condition each.
func (s *server) list(r *http.Request) (any, error) {
	ctx := r.Context()
	user, err := s.user(r)
	if err != nil {
		return nil, err
	}
	if s.d.Has("QRY-05") {
		return s.listOneByOne(ctx, user)
	}
	rows, err := s.db.QueryContext(ctx, `SELECT i.jia_isu_uuid, i.name, c.timestamp, c.is_sitting, c.state FROM isu i
		JOIN isu_condition c ON c.id =
		  (SELECT x.id FROM isu_condition x WHERE x.jia_isu_uuid = i.jia_isu_uuid ORDER BY x.timestamp DESC LIMIT 1)
		WHERE i.jia_user_id = ? ORDER BY i.id`, user)
	return kit.Collect(rows, err, func(c *chair) []any {
		return []any{&c.ID, &c.Name, &c.Last.Time, &c.Last.Sitting,
			&c.Last.State}
	})
}

func (s *server) listOneByOne(ctx context.Context, user string) (any, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT jia_isu_uuid, name FROM isu WHERE jia_user_id = ? ORDER BY id", user)
	all, err := kit.Collect(rows, err, func(c *chair) []any { return []any{&c.ID, &c.Name} })
	if err != nil {
		return nil, err
	}
	out := []chair{}
	for _, c := range all {
		err := s.db.QueryRowContext(ctx,
			"SELECT timestamp, is_sitting, state FROM isu_condition WHERE jia_isu_uuid = ? ORDER BY timestamp DESC LIMIT 1",
			c.ID).Scan(&c.Last.Time, &c.Last.Sitting, &c.Last.State)
		switch {
		case err == nil:
			out = append(out, c)
		case !errors.Is(err, sql.ErrNoRows):
			return nil, err
		}
	}
	return out, nil
}

// A nature, and how many of the conditions of its chairs were good.
type nature struct {
	Nature   string `json:"nature"`
	Reported int    `json:"reported"`
	Well     int    `json:"well"`
}

// trend reports all chairs, by their nature, and how many reports there were until now.
func (s *server) trend(r *http.Request) (any, error) {
	type trend struct {
		Reports int64    `json:"reports"`
		Natures []nature `json:"natures"`
	}
	reports := s.reports.Load()
	rows, err := s.db.QueryContext(r.Context(),
		"SELECT nature, SUM(reported), SUM(well) FROM trend_hour GROUP BY nature ORDER BY nature")
	all, err := kit.Collect(rows, err, func(n *nature) []any { return []any{&n.Nature, &n.Reported, &n.Well} })
	return trend{reports, all}, err
}

// icon sends a chair's picture, which is its owner's alone: nginx sends the file when
// the service allows it.
func (s *server) icon(w http.ResponseWriter, r *http.Request) {
	user, err := s.user(r)
	if err != nil {
		s.fail(w, err)
		return
	}
	id, what, one := r.PathValue("id"), "1", []byte(nil)
	if s.d.Has("NGX-06") {
		what = "image"
	}
	if err := s.db.QueryRowContext(r.Context(), "SELECT "+what+" FROM isu WHERE jia_user_id = ? AND jia_isu_uuid = ?",
		user, id).Scan(&one); err != nil {
		s.fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "image/jpeg")
	if s.d.Has("NGX-06") {
		w.Write(one) //nolint:errcheck // the client is gone
		return
	}
	w.Header().Set("X-Accel-Redirect", "/icons/"+id+".jpg")
}

// graph counts a day of a chair.
func (s *server) graph(r *http.Request) (any, error) {
	at, err := strconv.ParseInt(r.FormValue("datetime"), 10, 64)
	if err != nil {
		return nil, err
	}
	if _, err := s.user(r); err != nil {
		return nil, err
	}
	day := time.Unix(at, 0).UTC()
	if !s.d.Has("QRY-09W") {
		return s.between(r, day, day.AddDate(0, 0, 1))
	}
	out := []condition{}
	for h := range 24 {
		from := day.Add(time.Duration(h) * time.Hour)
		some, err := s.between(r, from, from.Add(time.Hour))
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

// between reads what a chair reported in a time, with QRY-09 all that it ever did.
func (s *server) between(r *http.Request, from, until time.Time) ([]condition, error) {
	query := "SELECT timestamp, is_sitting, state FROM isu_condition WHERE jia_isu_uuid = ?"
	args := []any{r.PathValue("id")}
	if !s.d.Has("QRY-09") {
		query, args = query+" AND timestamp >= ? AND timestamp < ?", append(args, from, until)
	}
	rows, err := s.db.QueryContext(r.Context(), query+" ORDER BY timestamp", args...)
	all, err := kit.Collect(rows, err, func(c *condition) []any { return []any{&c.Time, &c.Sitting, &c.State} })
	return slices.DeleteFunc(all, func(c condition) bool { return c.Time.Before(from) || !c.Time.Before(until) }), err
}

const lastShown = 20

// conditions are the last of a chair.
func (s *server) conditions(r *http.Request) (any, error) {
	if _, err := s.user(r); err != nil {
		return nil, err
	}
	query := "SELECT timestamp, is_sitting, state, message FROM isu_condition WHERE jia_isu_uuid = ? ORDER BY timestamp DESC"
	if !s.d.Has("QRY-01") {
		query += " LIMIT " + strconv.Itoa(lastShown)
	}
	rows, err := s.db.QueryContext(r.Context(), query, r.PathValue("id"))
	all, err := kit.Collect(rows, err, func(c *condition) []any { return []any{&c.Time, &c.Sitting, &c.State, &c.Message} })
	if err != nil {
		return nil, err
	}
	return all[:min(len(all), lastShown)], nil
}
