package play_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
	"github.com/kasoku/kasoku/labs/goldrush/play"
)

// A slowEnd answers explorations in two parts: the head at once, and the body when the next request
// has come, after a while, or never when the client is gone.
type slowEnd struct {
	mu       sync.Mutex
	asked    int
	ended    int // answers that were written whole
	overlaps int // requests that came while the answer to the one before was not whole
	next     chan struct{}
	waits    time.Duration // for the next request
}

func (s *slowEnd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/explore" {
		http.NotFound(w, r) // it has no /metrics
		return
	}
	next := s.begin()
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	select {
	case <-next:
	case <-time.After(s.waits):
	case <-r.Context().Done():
		return
	}
	s.mu.Lock()
	s.ended++
	s.mu.Unlock()
	io.WriteString(w, `{"area":{"posX":0,"posY":0,"sizeX":1,"sizeY":1},"amount":0}`)
}

// begin notes a request, and returns what is closed when the next one has come.
func (s *slowEnd) begin() chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended < s.asked {
		s.overlaps++
	}
	s.asked++
	if s.next != nil {
		close(s.next)
	}
	s.next = make(chan struct{})
	return s.next
}

// TestFirstByte: a client of one request at a time sends the next one when the first byte of an answer
// has come, and only if it is to; it counts each answer once, when it is whole, and a request is in
// flight until then and no longer.
func TestFirstByte(t *testing.T) {
	play1 := func(s *slowEnd, firstByte bool) *play.Result {
		web := httptest.NewServer(s)
		defer web.Close()
		return play.Run(t.Context(), play.Played{Asker: newHTTP(t, web.URL, play.HTTPOptions{}), Rules: goldrush.Published(),
			Params: variant(t, "reference"), Lasts: 700 * time.Millisecond, FirstByte: firstByte})
	}
	early := &slowEnd{waits: time.Minute}
	r := play1(early, true)
	if early.overlaps != early.asked-1 || early.overlaps < 20 {
		t.Errorf("%d of %d requests came before the answer to the one before was whole", early.overlaps, early.asked)
	}
	checkCounted(t, early, r)
	late := &slowEnd{waits: 10 * time.Millisecond}
	r = play1(late, false)
	if late.overlaps > 0 || late.asked < 10 {
		t.Errorf("without it %d of %d requests came before the answer to the one before was whole", late.overlaps, late.asked)
	}
	checkCounted(t, late, r)
}

// checkCounted holds what a client has counted to what its server saw.
func checkCounted(t *testing.T, s *slowEnd, r *play.Result) {
	t.Helper()
	answers, inFlight := r.Counts.Answers[goldrush.Explore], 0
	for call, n := range r.Counts.InFlight {
		if inFlight += n; n < 0 {
			t.Errorf("%d of call %d are in flight", n, call)
		}
	}
	if whole := answers[200]; whole > int64(s.ended) || whole < int64(s.ended)-2 || r.Counts.All() != whole || inFlight > 1 {
		t.Errorf("the client counted %v and %d in flight, %d answers were whole", r.Counts.Answers, inFlight, s.ended)
	}
}
