package initcmd

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli/clitest"
)

// TestWake_BadAnswer: who is turned away asks once, and looks once; after a bad answer among
// those that follow no more are sent.
func TestWake_BadAnswer(t *testing.T) {
	for _, x := range []struct {
		good   int64 // answers before the bad ones
		status int
		asked  int64
		says   string
	}{
		{0, http.StatusUnauthorized, 1, "401 Unauthorized: no more are sent"},
		{0, http.StatusForbidden, 1, "403 Forbidden: no more are sent"},
		{0, http.StatusTooManyRequests, 1, "429 Too Many Requests: no more are sent"},
		{0, http.StatusBadGateway, 1, "502 Bad Gateway: no more are sent"},
		{3, http.StatusTooManyRequests, 4, "none stayed open"},
		{awakeGets + 1, http.StatusOK, awakeGets + 1, "none stayed open"},
	} {
		var asked atomic.Int64
		sent := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			n := asked.Add(1)
			if n > x.good {
				w.WriteHeader(x.status)
			}
			if n == x.good+1 || n == awakeGets+1 {
				close(sent)
			}
		}))
		e, _, stderr := clitest.New()
		looks := 0
		_, err := wake(e, t.Context(), server.URL, kasoku.Service{}, func(context.Context) (kasoku.Service, error) {
			if looks++; looks > 1 {
				<-sent
				<-time.After(20 * time.Millisecond) // in which another would come
			}
			return kasoku.Service{}, nil
		})
		server.Close()
		if got := asked.Load(); err != nil || got != x.asked || !strings.Contains(stderr.String(), x.says) {
			t.Errorf("%d after %d: %d requests, %v: %s", x.status, x.good, got, err, stderr)
		}
		if x.good == 0 && looks != 1 {
			t.Errorf("%d: %d looks", x.status, looks)
		}
	}
}

// TestWake_NoAnswer: without an answer the service is as it was.
func TestWake_NoAnswer(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	e, _, stderr := clitest.New()
	was := kasoku.Service{Unknown: []kasoku.Unseen{{What: "it"}}}
	s, err := wake(e, t.Context(), server.URL, was, func(context.Context) (kasoku.Service, error) {
		return kasoku.Service{}, errors.New("looked")
	})
	if err != nil || len(s.Unknown) != 1 || !strings.Contains(stderr.String(), "it was not answered") {
		t.Errorf("%+v, %v: %s", s, err, stderr)
	}
}
