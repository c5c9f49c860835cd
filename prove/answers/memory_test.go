package answers

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
)

// TestRecord_Memory: what is held of answers is their bytes, not what they are compared by,
// which is fifty times as much: a list of empty objects takes more memory than any other body.
func TestRecord_Memory(t *testing.T) {
	turn.Wait(t)
	body := "[" + strings.Repeat("{},", maxKept/3-10) + "{}]"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}))
	defer srv.Close()
	var requests []Request
	for i := range 4 {
		requests = append(requests, Request{Endpoint: "GET /", Method: http.MethodGet, URL: srv.URL + fmt.Sprint("/", i)})
	}
	var most uint64
	a := Asker{Pause: time.Millisecond, Progress: func(what string, done, all int) {
		if done < all {
			return
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapAlloc)
	}}
	defer a.Close()
	out, err := a.Record(t.Context(), requests)
	if err != nil || len(out.Golden.Answers) != len(requests) {
		t.Fatalf("%d answers, left %v, %v", len(out.Golden.Answers), out.Left, err)
	}
	if most > 128<<20 {
		t.Errorf("%d MB are held of 16 answers of 1 MB", most>>20)
	}
	if c, err := a.Check(t.Context(), out.Golden); err != nil || len(c.Differences) > 0 {
		t.Errorf("%v, %v", c, err)
	}
}

// TestPanicWhileShaping: a panic at one body, which is contained, does not keep others waiting.
func TestPanicWhileShaping(t *testing.T) {
	var a Asker
	func() {
		defer func() { _ = recover() }()
		a.oneByOne(func() { panic("planted") })
	}()
	if !a.shaping.TryLock() {
		t.Error("it is locked still")
	}
}
