package isuportal

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/labs/process"
	"github.com/kasoku/kasoku/mysqlflags"
)

//go:embed public
var public embed.FS

// Connections to the database of each process: the contest's, and enough.
const (
	contestPool = 10
	enoughPool  = 40
)

// A server is the portal, or the queue server.
type server struct {
	db       *sql.DB
	d        kit.Set
	capacity int // teams
	log      io.Writer
	push     *pusher
	board    board

	sessions sync.Map // of known contestants, by id, that have a team
	times    times
}

// open returns a server of either kind.
func open(c kit.Config) (*server, error) {
	dsn := mysqlflags.WithParam(mysqlflags.WithParam(c.DSN, "parseTime=true"), "loc=UTC")
	if !c.Defects.Has("DRV-01") {
		dsn = mysqlflags.WithParam(dsn, "interpolateParams=true")
	}
	db, err := mysqlflags.OpenDSN(dsn)
	if err != nil {
		return nil, err
	}
	pool := enoughPool
	if c.Defects.Has("POOL-06") {
		pool = contestPool
	}
	pool = cmp.Or(c.Pool, pool)
	db.SetMaxOpenConns(pool)
	db.SetMaxIdleConns(pool)
	return &server{db: db, d: c.Defects, capacity: cmp.Or(c.Capacity, capacityOf(c.Defects)),
		log: c.Log, push: newPusher()}, nil
}

// serve runs the portal until the context ends.
func serve(ctx context.Context, c kit.Config) error {
	return run(ctx, c, func(s *server) http.Handler { return s.portal() })
}

// serveQueue runs the queue server until the context ends.
func serveQueue(ctx context.Context, c kit.Config) error {
	return run(ctx, c, func(s *server) http.Handler { return (&queue{s}).routes() })
}

func run(ctx context.Context, c kit.Config, routes func(*server) http.Handler) error {
	s, err := open(c)
	if err != nil {
		return err
	}
	defer s.db.Close()
	defer s.push.close()
	if c.Files != "" {
		if err := os.RemoveAll(filepath.Join(c.Files, "public")); err != nil {
			return err
		}
		if err := os.CopyFS(c.Files, public); err != nil {
			return err
		}
	}
	ln, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	c.Ready(ln.Addr().String())
	srv := &http.Server{Handler: s.logged(routes(s)), ErrorLog: log.New(c.Log, "", log.LstdFlags),
		ReadHeaderTimeout: 10 * time.Second}
	return process.Serve(ctx, srv, ln)
}

// portal are the paths of contestants, the audience and the staff.
func (s *server) portal() http.Handler {
	mux, ask := http.NewServeMux(), &questions{s}
	for path, do := range map[string]func(r *http.Request) (any, error){
		"POST /initialize":                        s.initialize,
		"POST /api/signup":                        s.signUp,
		"POST /api/login":                         s.logIn,
		"GET /api/session":                        s.session,
		"POST /api/registration/team":             s.makeTeam,
		"POST /api/registration/contestant":       s.joinTeam,
		"GET /api/audience/teams":                 s.listTeams,
		"GET /api/contestant/benchmark_jobs":      s.ofTeam(s.listJobs),
		"POST /api/contestant/benchmark_jobs":     s.ofTeam(s.enqueue),
		"GET /api/contestant/benchmark_jobs/{id}": s.ofTeam(s.oneJob),
		"GET /api/contestant/clarifications":      s.ofTeam(ask.listClarifications),
		"POST /api/contestant/clarifications":     s.ofTeam(ask.askQuestion),
		"GET /api/contestant/notifications":       s.ofTeam(s.listNotifications),
		"POST /api/contestant/push_subscriptions": s.ofTeam(s.subscribe),
		"GET /api/admin/clarifications":           s.ofStaff(ask.openQuestions),
		"PUT /api/admin/clarifications/{id}":      s.ofStaff(ask.answerQuestion),
	} {
		mux.HandleFunc(path, s.answer(do))
	}
	mux.HandleFunc("GET /api/audience/dashboard", func(w http.ResponseWriter, r *http.Request) { s.dashboard(w, r, 0) })
	mux.HandleFunc("GET /api/contestant/dashboard", func(w http.ResponseWriter, r *http.Request) {
		who, err := s.contestant(r)
		if err != nil {
			s.fail(w, err)
			return
		}
		s.dashboard(w, r, who.team)
	})
	mux.HandleFunc("GET /debug/vars", kit.ShowPool(s.db))
	return mux
}

// routes are the paths of benchmarkers.
func (s *queue) routes() http.Handler {
	mux := http.NewServeMux()
	const service = "POST /xsuportal.proto.services.bench."
	mux.HandleFunc(service+"BenchmarkQueue/ReceiveBenchmarkJob", s.answer(s.receive))
	mux.HandleFunc(service+"BenchmarkReport/ReportBenchmarkResult", s.answer(s.report))
	mux.HandleFunc("GET /debug/vars", kit.ShowPool(s.db))
	return mux
}

// logged logs requests where APP-01 is seeded.
func (s *server) logged(h http.Handler) http.Handler {
	if !s.d.Has("APP-01") {
		return h
	}
	return kit.Chatty(s.log, h)
}

// A refusal is an answer that is no failure of the service.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

var (
	errStranger = &refusal{http.StatusUnauthorized, "not logged in"}
	errNoTeam   = &refusal{http.StatusForbidden, "no team"}
	errNone     = &refusal{http.StatusNotFound, "not found"}
	errBody     = &refusal{http.StatusBadRequest, "bad request body"}
)

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
	var known *refusal
	switch {
	case errors.As(err, &known):
		http.Error(w, known.text, known.status)
	case errors.Is(err, sql.ErrNoRows):
		http.Error(w, errNone.text, errNone.status)
	default:
		fmt.Fprintln(s.log, "error:", err)
		http.Error(w, "Internal Server Error", http.StatusInternalServerError)
	}
}

// largestBody bounds what is read of a request.
const largestBody = 64 << 10

func read(r *http.Request, into any) error {
	if err := json.NewDecoder(io.LimitReader(r.Body, largestBody)).Decode(into); err != nil {
		return errBody
	}
	return nil
}

// Times of the contest.
type times struct {
	mu                          sync.Mutex
	Open, Starts, Freezes, Ends time.Time
	known                       bool
}

// contest returns the times, which a process reads once after they were set.
func (s *server) contest(ctx context.Context) (open, starts, freezes, ends time.Time, err error) {
	t := &s.times
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.known || s.d.Has("QRY-07") { // the contest's own service asks each time
		err = s.db.QueryRowContext(ctx,
			"SELECT registration_open_at, contest_starts_at, contest_freezes_at, contest_ends_at "+
				"FROM contest_config LIMIT 1").Scan(&t.Open, &t.Starts, &t.Freezes, &t.Ends)
		t.known = err == nil
	}
	return t.Open, t.Starts, t.Freezes, t.Ends, err
}

// initialize makes all anew and sets the times of the contest, in milliseconds of Unix time.
func (s *server) initialize(r *http.Request) (any, error) {
	var asked struct {
		Contest struct {
			Opens   int64 `json:"registration_open_at"`
			Starts  int64 `json:"contest_starts_at"`
			Freezes int64 `json:"contest_freezes_at"`
			Ends    int64 `json:"contest_ends_at"`
		} `json:"contest"`
	}
	if err := read(r, &asked); err != nil {
		return nil, err
	}
	ctx := r.Context()
	if err := fillTables(ctx, s.db, s.d); err != nil {
		return nil, err
	}
	at := func(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
	c := &asked.Contest
	if _, err := s.db.ExecContext(ctx, "INSERT INTO contest_config VALUES (?, ?, ?, ?)", at(c.Opens), at(c.Starts),
		at(c.Freezes),
		at(c.Ends)); err != nil {
		return nil, err
	}
	s.sessions.Clear()
	s.board.forget()
	s.times.mu.Lock()
	s.times.known = false
	s.times.mu.Unlock()
	return map[string]string{"language": "go"}, nil
}
