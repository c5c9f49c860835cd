package vegeta

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// LastScrape is how long an [ExporterServer] waits, at the end of an attack, for
// the scrape that has all of it: as often as Prometheus scrapes in its sample configuration.
const LastScrape = 15 * time.Second

// An ExporterServer lets an exporter be scraped while an attack runs. Close it.
type ExporterServer struct {
	exporter *Exporter
	server   *http.Server
	addr     net.Addr
	ended    chan error
}

// ServeExporter listens on the address, such as 0.0.0.0:8880, and answers every
// request with the exporter's metrics.
func ServeExporter(addr string, e *Exporter) (*ExporterServer, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("prometheus exporter: %w", err)
	}
	s := &ExporterServer{
		exporter: e, addr: ln.Addr(), ended: make(chan error, 1),
		server: &http.Server{Handler: e, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second},
	}
	go func() { s.ended <- s.server.Serve(ln) }()
	return s, nil
}

// Addr returns the address that it listens on.
func (s *ExporterServer) Addr() net.Addr { return s.addr }

// Scraped reports whether anybody has come yet: whether it is worth waiting for
// the last scrape.
func (s *ExporterServer) Scraped() bool {
	s.exporter.mu.Lock()
	defer s.exporter.mu.Unlock()
	return s.exporter.scraped
}

// Last waits, when there has been a scrape, for one more, so that what came after
// the one before is not lost. It waits no longer than LastScrape and ctx.
func (s *ExporterServer) Last(ctx context.Context) {
	select {
	case <-s.exporter.scrapes: // it came before the end
	default:
	}
	if !s.Scraped() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, LastScrape)
	defer cancel()
	select {
	case <-s.exporter.scrapes:
	case <-ctx.Done():
	}
}

// Close lets answers under way end, and stops. A nil server is closed already.
func (s *ExporterServer) Close() error {
	if s == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := s.server.Shutdown(ctx); err != nil {
		_ = s.server.Close() // Serve returns what went wrong
	}
	if err := <-s.ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("prometheus exporter: %w", err)
	}
	return nil
}
