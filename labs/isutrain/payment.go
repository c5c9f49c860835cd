package isutrain

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/kasoku/kasoku/internal/onehost"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/labs/process"
)

const (
	paymentTakes  = 50 * time.Millisecond
	paymentWithin = 10 * time.Second
)

// A payment is what was paid for a reservation.
type payment struct {
	ID          string `json:"payment_id"`
	Reservation int64  `json:"reservation_id"`
	Amount      int64  `json:"amount"`
	Cancelled   bool   `json:"is_canceled"`
}

// A ledger is the payment service. For one reservation it takes money once.
type ledger struct {
	takes time.Duration // a call

	mu  sync.Mutex
	all []*payment
}

// servePayments runs the payment service until the context ends.
func servePayments(ctx context.Context, c kit.Config) error {
	ln, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	c.Ready(ln.Addr().String())
	l := &ledger{takes: paymentTakes}
	return process.Serve(ctx, &http.Server{Handler: l.routes(), ErrorLog: log.New(c.Log, "", log.LstdFlags),
		ReadHeaderTimeout: 10 * time.Second}, ln)
}

func (l *ledger) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /initialize", func(w http.ResponseWriter, _ *http.Request) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = nil
		writeJSON(w, map[string]bool{"is_ok": true})
	})
	mux.HandleFunc("POST /payment", func(w http.ResponseWriter, r *http.Request) {
		var p payment
		if err := json.NewDecoder(r.Body).Decode(&p); err != nil || p.Amount <= 0 || p.Reservation <= 0 {
			http.Error(w, "want a reservation and an amount", http.StatusBadRequest)
			return
		}
		time.Sleep(l.takes) //nolint:forbidigo // so long it takes
		writeJSON(w, l.take(p))
	})
	mux.HandleFunc("DELETE /payment/{id}", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(l.takes) //nolint:forbidigo // likewise
		if !l.cancel(r.PathValue("id")) {
			http.Error(w, "no such payment", http.StatusNotFound)
			return
		}
		writeJSON(w, map[string]bool{"is_ok": true})
	})
	mux.HandleFunc("GET /payments", func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, l.list(r.URL.Query().Get("reservation_id")))
	})
	return mux
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v) //nolint:errcheck // the client is gone
}

// take takes the money, unless it was taken for that reservation.
func (l *ledger) take(p payment) payment {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, of := range l.all {
		if of.Reservation == p.Reservation && !of.Cancelled {
			return *of
		}
	}
	p.ID, p.Cancelled = fmt.Sprintf("p%d-%d", p.Reservation, len(l.all)+1), false
	l.all = append(l.all, &p)
	return p
}

func (l *ledger) cancel(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.all {
		if p.ID == id {
			p.Cancelled = true
			return true
		}
	}
	return false
}

// list returns the payments for a reservation, or all.
func (l *ledger) list(reservation string) []payment {
	id, err := strconv.ParseInt(reservation, 10, 64)
	l.mu.Lock()
	defer l.mu.Unlock()
	out := []payment{}
	for _, p := range l.all {
		if err != nil || p.Reservation == id {
			out = append(out, *p)
		}
	}
	return out
}

// payments asks the payment service.
type payments struct {
	base   string
	client *http.Client
}

func newPayments(base string) *payments {
	return &payments{base, onehost.NewClient(&http.Transport{MaxIdleConnsPerHost: openConnections}, paymentWithin)}
}

func (p *payments) initialize(ctx context.Context) error {
	return p.ask(ctx, http.MethodPost, "/initialize", nil, nil)
}

// make pays for a reservation and returns the id of the payment.
func (p *payments) make(ctx context.Context, card string, reservation, amount int64) (string, error) {
	var made payment
	err := p.ask(ctx, http.MethodPost, "/payment",
		map[string]any{"card_token": card, "reservation_id": reservation, "amount": amount}, &made)
	return made.ID, err
}

func (p *payments) cancel(ctx context.Context, id string) error {
	return p.ask(ctx, http.MethodDelete, "/payment/"+id, nil, nil)
}

func (p *payments) ask(ctx context.Context, method, path string, body, into any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, p.base+path, bytes.NewReader(b))
	if err != nil {
		return err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return fmt.Errorf("ask the payment service: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("payment service: %s %s: %s", method, path, resp.Status)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(into)
}
