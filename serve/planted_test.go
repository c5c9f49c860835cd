package serve

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/report"
)

// TestPlantedPage plants a panic in a page: it says so, the next one is answered.
func TestPlantedPage(t *testing.T) {
	defer contain.Forget()
	s := New(Options{Dirs: []string{t.TempDir()}, Now: time.Now,
		Open:   func(string) (*kasoku.Recording, error) { return &kasoku.Recording{}, nil },
		Report: func(string) report.Options { return report.Options{} }})
	get := func() (int, string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		s.Handler(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}).ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	remove := contain.Plant(pagePart)
	code, text := get()
	remove()
	if code != http.StatusInternalServerError || !strings.Contains(strings.ToLower(text), pagePart.String()) {
		t.Errorf("status %d, %q", code, text)
	}
	if code, text = get(); code != http.StatusOK {
		t.Errorf("the next page: status %d, %q", code, text)
	}
}
