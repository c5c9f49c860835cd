package isucholar

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/labs/process"
	"github.com/kasoku/kasoku/mysqlflags"
)

const (
	openConnections = 50
	fresh           = time.Minute          // how old statistics may be
	deadlock        = 1213                 // ER_LOCK_DEADLOCK
	longestPause    = 2 * time.Millisecond // before the first of them
	attempts        = 30                   // of a transaction that was chosen as the victim
)

// server is the service.
type server struct {
	db    *sql.DB
	d     kit.Set
	files string // class-1/ has what was handed in
	log   *log.Logger

	mu     sync.Mutex // guards what follows
	stats  statistics
	counts time.Time // when stats were computed
}

// statistics are those of the grade points of all students who have some.
type statistics struct {
	Average   float64 `json:"gpa_avg"`
	Deviation float64 `json:"-"`
	Least     float64 `json:"gpa_min"`
	Most      float64 `json:"gpa_max"`
}

// summary is one student among them, as the contest has it.
type summary struct {
	GPA    *float64 `json:"gpa"` // nil: no course of the student is over
	TScore *float64 `json:"gpa_t_score"`
	statistics
}

// summarize places a student, who without a grade is not of the population. With APP-08 the grade points
// are 0 then, and far below the least.
func (s *server) summarize(gpa *float64, all statistics) summary {
	if gpa == nil && s.d.Has("APP-08") {
		gpa = new(float64)
	}
	out := summary{GPA: gpa, statistics: all}
	if gpa != nil {
		score := 50.0
		if all.Deviation > 0 {
			score += 10 * (*gpa - all.Average) / all.Deviation
		}
		out.TScore = &score
	}
	return out
}

// serveService runs the service until the context ends.
func serveService(ctx context.Context, c kit.Config) error {
	db, err := mysqlflags.OpenDSN(mysqlflags.WithParam(c.DSN, "interpolateParams=true"))
	if err != nil {
		return err
	}
	defer db.Close()
	open := cmp.Or(c.Pool, openConnections)
	db.SetMaxOpenConns(open)
	db.SetMaxIdleConns(open)
	s := &server{db: db, d: c.Defects, files: c.Files, log: log.New(c.Log, "", log.LstdFlags)}
	if err := s.prepare(); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	c.Ready(ln.Addr().String())
	return process.Serve(ctx, &http.Server{Handler: s.routes(), ErrorLog: s.log, ReadHeaderTimeout: 10 * time.Second},
		ln)
}

// prepare writes the files that were handed in before.
func (s *server) prepare() error {
	if err := os.MkdirAll(s.class("1"), 0o755); err != nil {
		return err
	}
	for u := range handed {
		if err := os.WriteFile(filepath.Join(s.class("1"), strconv.Itoa(u+1)+".pdf"), fileOf(u+1), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) class(id string) string { return filepath.Join(s.files, "class-"+id) }

// fileOf is a file of a student, which packs to about half.
func fileOf(u int) []byte {
	b := make([]byte, fileSize)
	x := uint32(u + 1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = "0123456789abcdef"[x>>28]
	}
	return b
}

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/users/me/grades", s.answer(s.grades))
	mux.HandleFunc("GET /api/users/me/courses", s.answer(s.courses))
	mux.HandleFunc("PUT /api/users/me/courses", s.answer(s.register))
	mux.HandleFunc("POST /api/courses/{course}/classes/{class}/assignments", s.answer(s.submit))
	mux.HandleFunc("PUT /api/courses/{course}/classes/{class}/assignments/scores", s.answer(s.scores))
	mux.HandleFunc("POST /api/courses/{course}/classes/{class}/assignments/export", s.export)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
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
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(v) //nolint:errcheck // the client is gone
	}
}

func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil {
		s.log.Printf("error: %s %s: %v", r.Method, r.URL.Path, err)
	}
	http.Error(w, "Internal Server Error", http.StatusInternalServerError)
}

func userOf(r *http.Request) (int64, error) {
	c, err := r.Cookie("user")
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(c.Value, 10, 64)
}

// querier is a connection or the pool.
type querier interface {
	QueryContext(ctx context.Context, q string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, q string, args ...any) *sql.Row
	ExecContext(ctx context.Context, q string, args ...any) (sql.Result, error)
}

// read runs what only reads, with DBC-09 in a transaction.
func (s *server) read(ctx context.Context, name string, do func(q querier) error) error {
	if s.d.Has("DBC-09") {
		return s.inTx(ctx, name, do)
	}
	return do(s.db)
}

// inTx runs a transaction whose COMMIT carries a name, and without LCK-02 again when it was
// the victim of a deadlock.
func (s *server) inTx(ctx context.Context, name string, do func(q querier) error) (err error) {
	commit := "COMMIT /* " + name + " */"
	if s.d.Has("DBC-08") {
		commit = "COMMIT"
	}
	for n := range attempts {
		err = s.once(ctx, commit, do)
		if mysqlflags.ErrorNumber(err) != deadlock || s.d.Has("LCK-02") {
			return err
		}
		select {
		case <-time.After(rand.N(time.Duration(n+1) * longestPause)):
		case <-ctx.Done():
			return err
		}
		s.log.Printf("error: %s: %v; trying again", name, err)
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
		_, back := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		return errors.Join(err, back)
	}
	_, err = conn.ExecContext(ctx, commit)
	return err
}

type course struct {
	ID      int64   `json:"id"`
	Name    string  `json:"name"`
	Credit  int64   `json:"credit"`
	Classes []class `json:"classes,omitempty"`
}

type class struct {
	ID    int64  `json:"id"`
	Part  int64  `json:"part"`
	Score *int64 `json:"score"`
}

const coursesOf = "SELECT c.id, c.name, c.credit FROM registrations r JOIN courses c ON c.id = r.course_id WHERE r.user_id = ? ORDER BY c.id"

func (s *server) courses(r *http.Request) (any, error) {
	u, err := userOf(r)
	if err != nil {
		return nil, err
	}
	var out []course
	err = s.read(r.Context(), "GetCourses", func(q querier) (err error) {
		out, err = readRows(r.Context(), q, coursesOf, func(c *course) []any { return []any{&c.ID, &c.Name, &c.Credit} }, u)
		return err
	})
	return out, err
}

// readRows reads all rows of a query.
func readRows[T any](ctx context.Context, q querier, query string, into func(*T) []any, args ...any) (out []T,
	err error) {
	rs, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rs.Close()
	for rs.Next() {
		var v T
		if err := rs.Scan(into(&v)...); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rs.Err()
}

func (s *server) grades(r *http.Request) (any, error) {
	u, err := userOf(r)
	if err != nil {
		return nil, err
	}
	var out struct {
		Summary summary  `json:"summary"`
		Courses []course `json:"courses"`
	}
	err = s.read(r.Context(), "GetGrades", func(q querier) (err error) {
		of := s.scoresOf
		if s.d.Has("QRY-06") {
			of = s.scoresOneByOne
		}
		if out.Courses, err = of(r.Context(), q, u); err != nil {
			return err
		}
		var gpa *float64
		if err := q.QueryRowContext(r.Context(), ownPoints, u).Scan(&gpa); err != nil {
			return err
		}
		all, err := s.statistics(r.Context(), q)
		out.Summary = s.summarize(gpa, all)
		return err
	})
	return out, err
}

// scoresOf reads courses, classes and scores of a student by one query.
func (s *server) scoresOf(ctx context.Context, q querier, u int64) (out []course, err error) {
	type row struct {
		course course
		class  class
	}
	all, err := readRows(ctx, q, "SELECT c.id, c.name, c.credit, cl.id, cl.part, s.score FROM registrations r JOIN courses c ON c.id = r.course_id "+
		"JOIN classes cl ON cl.course_id = c.id LEFT JOIN scores s ON s.class_id = cl.id AND s.user_id = r.user_id WHERE r.user_id = ? ORDER BY c.id, cl.part",
		func(x *row) []any {
			return []any{&x.course.ID, &x.course.Name, &x.course.Credit, &x.class.ID, &x.class.Part, &x.class.Score}
		}, u)
	for _, x := range all {
		if n := len(out); n == 0 || out[n-1].ID != x.course.ID {
			out = append(out, x.course)
		}
		last := &out[len(out)-1]
		last.Classes = append(last.Classes, x.class)
	}
	return out, err
}

// scoresOneByOne asks for the classes of each course, and twice for each class.
func (s *server) scoresOneByOne(ctx context.Context, q querier, u int64) ([]course, error) {
	out, err := readRows(ctx, q, coursesOf, func(c *course) []any { return []any{&c.ID, &c.Name, &c.Credit} }, u)
	if err != nil {
		return nil, err
	}
	for i := range out {
		c := &out[i]
		c.Classes, err = readRows(ctx, q, "SELECT id FROM classes WHERE course_id = ? ORDER BY part",
			func(k *class) []any { return []any{&k.ID} }, c.ID)
		if err != nil {
			return nil, err
		}
		for j := range c.Classes {
			k := &c.Classes[j]
			if err := q.QueryRowContext(ctx, "SELECT part FROM classes WHERE id = ?", k.ID).Scan(&k.Part); err != nil {
				return nil, err
			}
			err := q.QueryRowContext(ctx, "SELECT score FROM scores WHERE user_id = ? AND class_id = ?", u,
				k.ID).Scan(&k.Score)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return nil, err
			}
		}
	}
	return out, nil
}

// ownPoints are those of one student, NULL without a course that is over.
const ownPoints = "SELECT SUM(x.score * c.credit) / 100 / SUM(c.credit) FROM results x " +
	"JOIN courses c ON c.id = x.course_id WHERE x.user_id = ?"

// gradePoints are those of each student, of the courses that are over, as the contest's service has them:
// each table is joined twice, for the credits and for the scores.
const gradePoints = "SELECT IFNULL(SUM(x.score * c.credit), 0) / 100 / credits.credits AS gpa FROM users u " +
	"JOIN (SELECT u.id AS user_id, SUM(c.credit) AS credits FROM users u JOIN results x ON x.user_id = u.id " +
	"JOIN courses c ON c.id = x.course_id GROUP BY u.id) AS credits ON credits.user_id = u.id " +
	"JOIN results x ON x.user_id = u.id JOIN courses c ON c.id = x.course_id GROUP BY u.id, credits.credits"

// statistics are those of all students, with QRY-07 computed for each request.
func (s *server) statistics(ctx context.Context, q querier) (statistics, error) {
	if s.d.Has("QRY-07") {
		points, err := readRows(ctx, q, gradePoints, func(f *float64) []any { return []any{f} })
		return statisticsOf(points), err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.counts) < fresh {
		return s.stats, nil
	}
	points, err := readRows(ctx, s.db, gradePoints, func(f *float64) []any { return []any{f} })
	if err == nil {
		s.stats, s.counts = statisticsOf(points), time.Now()
	}
	return s.stats, err
}

func statisticsOf(points []float64) (out statistics) {
	if len(points) == 0 {
		return out
	}
	var sum, squares float64
	for _, p := range points {
		sum += p
		squares += p * p
	}
	n := float64(len(points))
	out.Average = sum / n
	out.Deviation = math.Sqrt(max(squares/n-out.Average*out.Average, 0))
	out.Least, out.Most = slices.Min(points), slices.Max(points)
	return out
}

func (s *server) register(r *http.Request) (any, error) {
	u, err := userOf(r)
	if err != nil {
		return nil, err
	}
	var ids []int64
	if err := json.NewDecoder(r.Body).Decode(&ids); err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, errors.New("no courses")
	}
	values, args := strings.Repeat(", (?, ?)", len(ids))[2:], []any{}
	for _, id := range ids {
		args = append(args, id, u)
	}
	err = s.inTx(r.Context(), "RegisterCourses", func(q querier) error {
		var n int
		if err := q.QueryRowContext(r.Context(), "SELECT COUNT(*) FROM registrations WHERE user_id = ?",
			u).Scan(&n); err != nil {
			return err
		}
		_, err := q.ExecContext(r.Context(), "INSERT IGNORE INTO registrations (course_id, user_id) VALUES "+values,
			args...)
		return err
	})
	return map[string]int{"registered": len(ids)}, wrapStep("register", err)
}

func wrapStep(step string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", step, err)
	}
	return nil
}
