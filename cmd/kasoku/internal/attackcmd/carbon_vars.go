package attackcmd

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/load/carbon"
)

// A carbonVars shows what a load of carbon has sent, as package expvar does, under the names by
// which the source expvar knows who sends. Its methods are safe for concurrent use.
type carbonVars struct {
	mu    sync.Mutex // guards the following field
	total carbon.Second
}

// seen takes what is known.
func (v *carbonVars) seen(now *carbon.Result) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.total = now.Total
}

// ServeHTTP shows it.
func (v *carbonVars) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	v.mu.Lock()
	s := v.total
	v.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"sender": map[string]any{ // who is gone misses nothing
		"Due": s.Nominal, "Sent": s.Sent, "Acknowledged": s.Acked, "Outstanding": s.Outstanding,
		"Lost":    s.Lost + s.Skipped,
		"Blocked": s.Blocked, "Connections": s.Agents}})
}

// serve shows it at the address until close is called; at none, when the address is empty.
func (v *carbonVars) serve(address string) (end func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--vars: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /debug/vars", v)
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	done := contain.Go(contain.Part{Kind: contain.Goroutine, Name: "vars"}, func() {
		_ = srv.Serve(ln) // who reads it says what is missing
	})
	return func() {
		_ = srv.Close() // nothing is left to be shown
		<-done
	}, nil
}
