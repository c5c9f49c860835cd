package export

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/localhttp"
)

// TestPlantedPage plants a panic in the page of metrics: that scrape fails with words, the
// next is answered.
func TestPlantedPage(t *testing.T) {
	defer contain.Forget()
	s, err := Serve("127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = io.WriteString(w, "up 1")
	}), localhttp.Access{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	get := func() (int, string) {
		resp, err := http.Get(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	remove := contain.Plant(pagePart)
	code, text := get()
	remove()
	if code != http.StatusInternalServerError || !strings.Contains(text, pagePart.String()+": "+contain.Phrase) {
		t.Errorf("status %d, %q", code, text)
	}
	if code, text = get(); code != http.StatusOK || text != "up 1" {
		t.Errorf("the next scrape: status %d, %q", code, text)
	}
}
