package userapi

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/kasoku/kasoku/labs/process"
	"github.com/kasoku/kasoku/mysqlflags"
)

// Config defines where the service listens, which database it uses and how badly.
type Config struct {
	Listen    string // host:port; port 0 takes a free one
	DSN       string // of the database; interpolateParams is set by DRV-01
	Defects   Defects
	MaxIdle   int       // when above 0, the idle pool's size whatever the defects say
	AccessLog io.Writer // LTSV, one line an answer
	AppLog    io.Writer
	Ready     func(addr string) // called once, when requests are accepted
}

// Serve runs the service until the context ends, then lets requests in flight
// finish for at most two seconds.
func Serve(ctx context.Context, cfg Config) error {
	dsn := cfg.DSN
	if !cfg.Defects.Has("DRV-01") {
		dsn = mysqlflags.WithParam(dsn, "interpolateParams=true")
	}
	db, err := mysqlflags.OpenDSN(dsn)
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	defer db.Close()
	p := cfg.pool()
	db.SetMaxOpenConns(p.open)
	if p.idle >= 0 {
		db.SetMaxIdleConns(p.idle)
	}
	appLog := log.New(cfg.AppLog, "", log.LstdFlags)
	if cfg.Defects.Has("OPS-01") {
		err = db.PingContext(ctx)
	} else {
		err = process.Await(ctx, appLog, "reach database", db.PingContext)
	}
	if err != nil {
		return fmt.Errorf("reach database: %w", err)
	}
	st := &store{db: db, save: cfg.Defects.Has("DRV-04"), cached: cfg.Defects.Has("OPS-09")}
	if cfg.Defects.Has("DRV-05") {
		st.sqlLog = appLog
	}
	ln, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	srv := &http.Server{
		Handler:           accessLog(cfg.AccessLog, routes(st, cfg.Defects, appLog)),
		ErrorLog:          appLog,
		ReadHeaderTimeout: 10 * time.Second,
	}
	if cfg.Ready != nil {
		cfg.Ready(ln.Addr().String())
	}
	return process.Serve(ctx, srv, ln)
}

func routes(st *store, d Defects, appLog *log.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /users", func(w http.ResponseWriter, r *http.Request) {
		if err := st.add(r.Context(), newUser()); err != nil {
			appLog.Printf("error: add user: %v", err)
			answerJSON(w, http.StatusInternalServerError, `"Internal Server Error"`)
			return
		}
		answerJSON(w, http.StatusOK, `"OK"`)
	})
	mux.HandleFunc("POST /initialize", func(w http.ResponseWriter, r *http.Request) {
		if err := st.initialize(r.Context(), d); err != nil {
			appLog.Printf("error: initialize: %v", err)
			http.Error(w, "Internal Server Error", http.StatusInternalServerError)
			return
		}
		io.WriteString(w, "OK\n") // an error says that the client is gone
	})
	mux.HandleFunc("GET /users/count", func(w http.ResponseWriter, r *http.Request) {
		n, err := st.users(r.Context())
		if err != nil {
			appLog.Printf("error: %v", err)
			http.Error(w, "Internal Server Error", http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, n) // an error says that the client is gone
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "OK\n") // an error says that the client is gone
	})
	return mux
}

// answerJSON answers as the framework of the service's source does.
func answerJSON(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(code)
	io.WriteString(w, text+"\n") // an error says that the client is gone
}

// accessLog writes one LTSV line an answer, with the keys that alp reads.
func accessLog(out io.Writer, next http.Handler) http.Handler {
	var mu sync.Mutex // guards line and the write, so that lines never mix
	var line []byte
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		rec := &recorder{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(rec, r)
		end := time.Now()
		mu.Lock()
		defer mu.Unlock()
		line = fmt.Appendf(line[:0], "time:%s\tmethod:%s\turi:%s\tstatus:%d\tsize:%d\treqtime:%.6f\n",
			end.Format("2006-01-02T15:04:05.000000Z07:00"), r.Method, r.URL.RequestURI(), rec.status, rec.size,
			end.Sub(start).Seconds())
		out.Write(line) //nolint:errcheck // a full disk must not fail the request
	})
}

// recorder remembers what was answered.
type recorder struct {
	http.ResponseWriter
	status int
	size   int64
}

func (r *recorder) WriteHeader(code int) {
	r.status = code
	r.ResponseWriter.WriteHeader(code)
}

func (r *recorder) Write(b []byte) (int, error) {
	n, err := r.ResponseWriter.Write(b)
	r.size += int64(n)
	return n, err
}
