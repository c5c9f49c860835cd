package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/localhttp"
	"github.com/kasoku/kasoku/wire/prometheus"
)

// A Server shows a page as /metrics.
type Server struct {
	http     *http.Server
	listener net.Listener
	done     chan error
}

// scrapeWithin bounds a scrape, and how long the end waits for one.
const scrapeWithin = 10 * time.Second

// mostConnections is how many the page has at once. A Prometheus uses one.
const mostConnections = 64

// headerWithin bounds how slowly a header drips in.
const headerWithin = 5 * time.Second

// Serve listens at an address; port 0 is a free one. The server is to be closed.
func Serve(address string, page http.Handler, a localhttp.Access) (*Server, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("metrics page: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if bug := contain.Run(pagePart, func() { page.ServeHTTP(w, r) }); bug != nil {
			http.Error(w, bug.Error(), http.StatusInternalServerError) // of one whose head was sent, the rest is missing
		}
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintln(w, "kasoku export: /metrics")
	})
	s := &Server{listener: l, done: make(chan error, 1), http: &http.Server{
		Handler: a.Guard(l.Addr(), mux), ReadHeaderTimeout: headerWithin, ReadTimeout: scrapeWithin,
		WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 14,
	}}
	go func() { s.done <- s.http.Serve(localhttp.Bound(l, mostConnections)) }()
	return s, nil
}

// pagePart names a page where it fails: the next scrape may be answered.
var pagePart = contain.Part{Kind: contain.Output, Name: "page of metrics"}

// URL is where the page is.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/metrics" }

// Close ends the server when the scrapes that are under way are answered.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeWithin)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("metrics page: %w", err)
	}
	return nil
}

// A RunPage shows a whole run, each value with its time. Prometheus takes what is no
// older than its newest block, about an hour; for older runs see [OpenMetrics].
type RunPage struct{ text []byte }

// NewRunPage writes the page.
func NewRunPage(rec *kasoku.Recording, only Selection) (*RunPage, error) {
	var b bytes.Buffer
	if err := OpenMetrics(&b, rec, only); err != nil {
		return nil, err
	}
	return &RunPage{b.Bytes()}, nil
}

// ServeHTTP answers with the run, always as OpenMetrics.
func (p *RunPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", prometheus.OpenMetrics.ContentType())
	w.Header().Set("Content-Length", strconv.Itoa(len(p.text)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(p.text) // a scraper that has gone away is its own matter
	}
}

// Flushed returns an output that calls flush after each Write, and end at Close.
func Flushed(out Output, flush, end func() error) Output { return &flushed{out, flush, end} }

type flushed struct {
	Output
	flush, end func() error
}

// Write hands on at once what the output wrote.
func (f *flushed) Write(ctx context.Context, values []Value) error {
	return errors.Join(f.Output.Write(ctx, values), f.flush())
}

// Close ends the output, then what is below it.
func (f *flushed) Close(ctx context.Context) error {
	return errors.Join(f.Output.Close(ctx), f.end())
}
