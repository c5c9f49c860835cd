package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/localhttp"
	"github.com/kasoku/kasoku/report"
)

// Options say what a server shows, to whom, and what may be changed by it. All functions are called by several
// goroutines at once.
type Options struct {
	Dirs   []string // in which runs are looked for
	Access localhttp.Access

	// Open reads a run with its diagnosis.
	Open func(path string) (*kasoku.Recording, error)
	// Report are the options of a report of a file; empty of one of no file.
	Report func(path string) report.Options
	// Complete adds to a run what a comparison looks at.
	Complete func(rec *kasoku.Recording)
	// Note and Score write into a run file; nil where that is not allowed.
	Note  func(path, text string) error
	Score func(path string, value *float64) error // nil removes it
	// Marked is called when a finding was marked; nil where that is not allowed.
	Marked func(Mark)
	// Starter begins runs; nil where that is not allowed.
	Starter Starter
	Links   []config.Link // from each run

	Now func() time.Time
}

// A Server sends pages.
type Server struct {
	Options
	runs    *library
	news    *news
	marks   *marks
	pages   *http.ServeMux
	sending *http.Server
}

const (
	// mostConnections is how many are open at once: a browser takes six, and one that waits for news.
	mostConnections = 256
	headerWithin    = 5 * time.Second
	askedWithin     = 10 * time.Second
	answerWithin    = time.Minute // how long a reader may take for an answer; one that waits for news has no limit
	idleWithin      = 2 * time.Minute
	// mostAsked bounds what is sent to this server.
	mostAsked = 64 << 10
)

// New returns a server, which serves nothing yet.
func New(o Options) *Server {
	s := &Server{Options: o, runs: newLibrary(o.Dirs, o.Open, o.Now), marks: newMarks(o.Dirs), pages: http.NewServeMux()}
	s.news = newNews(s.runs, o.Starter)
	s.sending = &http.Server{ReadHeaderTimeout: headerWithin, ReadTimeout: askedWithin, WriteTimeout: answerWithin,
		IdleTimeout:    idleWithin,
		MaxHeaderBytes: 1 << 14}
	s.route("GET /{$}", s.home)
	s.route("GET /live", s.live)
	s.route("GET /runs/{name}", s.run)
	s.route("GET /runs/{name}/part", s.part)
	s.route("GET /runs/{name}/focus", s.focus)
	s.route("GET /compare", s.compare)
	s.route("GET /assets/{file}", s.asset)
	a := api{s}
	s.route("GET /api/v1/runs", a.listJSON)
	s.route("GET /api/v1/runs/{name}", a.runJSON)
	s.route("GET /api/v1/compare", a.compareJSON)
	s.route("GET /api/v1/events", s.events)
	s.route("GET /api/v1/openapi.json", a.openAPI)
	s.route("GET /api/v1/marks", a.marksJSON)
	s.route("POST /api/v1/marks", a.postMark)
	s.route("POST /api/v1/start", a.postStart)
	s.route("POST /api/v1/stop", a.postStop)
	s.route("GET /api/group/collect", a.collect)
	s.route("POST /api/v1/runs/{name}/note", a.postNote)
	s.route("POST /api/v1/runs/{name}/score", a.postScore)
	s.route("/", func(_ http.ResponseWriter, r *http.Request) error { return &noPageError{r.URL.Path} })
	return s
}

// route answers requests of a pattern; what a page cannot do is said by a page.
func (s *Server) route(pattern string, page func(w http.ResponseWriter, r *http.Request) error) {
	s.pages.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if err := contain.Do(pagePart, func() error { return page(w, r) }); err != nil {
			s.fail(w, r, err)
		}
	})
}

// pagePart names a page where it fails: the next one may be answered.
var pagePart = contain.Part{Kind: contain.Output, Name: "page of a server"}

// policy allows what the server itself sends, and nothing inline.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Handler returns what answers requests at an address.
func (s *Server) Handler(at net.Addr) http.Handler {
	var own http.CrossOriginProtection // refuses what another site's page sends (Sec-Fetch-Site, Origin)
	inner := own.Handler(compressed(s.pages))
	guarded := s.Access.Guard(at, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, mostAsked)
		inner.ServeHTTP(w, r)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		guarded.ServeHTTP(w, r)
	})
}

// Serve serves at a listener until the context ends, and closes it. With TLS it is around what is bounded:
// net/http speaks HTTP/2 on connections of crypto/tls alone.
func (s *Server) Serve(ctx context.Context, l net.Listener, secure *tls.Config) error {
	l = localhttp.Bound(l, mostConnections)
	if secure != nil {
		l = tls.NewListener(l, secure)
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	s.sending.Handler = s.Handler(l.Addr())
	s.sending.BaseContext = func(net.Listener) context.Context { return ctx } // who waits for news stops to
	s.stopAtEnd(ctx)
	served := errors.New("the server is lost")
	ended := contain.Go(contain.Part{Kind: contain.Output, Name: "server of pages"}, func() {
		served = s.sending.Serve(l)
	})
	every := time.NewTicker(keepOpen)
	defer every.Stop()
	for {
		select {
		case <-every.C:
			s.runs.sweep()
		case <-ended:
			return fmt.Errorf("serve pages: %w", served)
		case <-ctx.Done():
			end()
			within, stop := context.WithTimeout(context.Background(), time.Second)
			defer stop()
			err := s.sending.Shutdown(within)
			if errors.Is(err, context.DeadlineExceeded) { // who is slow has had his second
				err = s.sending.Close()
			}
			if s.Starter != nil { // what the run has changed is put back before this ends
				s.Starter.Wait()
			}
			if err != nil {
				return fmt.Errorf("serve pages: %w", err)
			}
			return nil
		}
	}
}
