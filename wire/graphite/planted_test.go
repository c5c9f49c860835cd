package graphite

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/contain"
)

// TestPlantedSender: a sender that is lost to a bug ends; what it had taken and what it is
// offered later is counted as dropped, and no call waits for it.
func TestPlantedSender(t *testing.T) {
	defer contain.Forget()
	remove := contain.Plant(senderPart)
	s := newSender(t, Options{Address: "127.0.0.1:1", Protocol: Line, Buffer: 2})
	<-s.done
	remove()
	ended := make(chan error, 2)
	go func() {
		ended <- s.Write(t.Context(), []Point{{"a", 0, 1}, {"a", 1, 1}, {"a", 2, 1}})
		s.Offer([]Point{{"a", 3, 1}, {"a", 4, 1}})
		ended <- s.Close(t.Context())
	}()
	for _, want := range []string{"the sender is closed", "2 points dropped, 0 sent"} {
		select {
		case err := <-ended:
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("a call waits for a sender that has ended")
		}
	}
	if st := s.Stats(); st.Sent != 0 || st.Dropped != 2 || !strings.Contains(st.LastError, contain.Phrase) {
		t.Errorf("%+v", st)
	}
}
