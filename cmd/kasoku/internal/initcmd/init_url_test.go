package initcmd

import (
	"testing"

	"github.com/kasoku/kasoku/record"
)

// TestRoot: what is written of a URL with a path and a query is an address of its host.
func TestRoot(t *testing.T) {
	f := func(url, want string) {
		t.Helper()
		s := Surveyed{of: &subject{named: record.Named{URL: url}}}
		if got := s.root(); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
	f("http://127.0.0.1:8080/shop/bills?id=1&x='", "http://127.0.0.1:8080/")
	f("https://app.example", "https://app.example/")
}
