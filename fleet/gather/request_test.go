package gather

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/fleet"
)

// sees has a member wait for the request, which it saw so long ago, and begin when it is asked to.
func sees(ago time.Duration) func(*member, *fleet.RecordingAnswer) {
	return func(m *member, a *fleet.RecordingAnswer) {
		if m.stop || m.begin == 0 {
			return
		}
		a.State, a.Began, a.Logs, a.Grown = fleet.Waiting, 0, 1, 100
		if ago > 0 {
			mono, _ := fleet.Monotonic()
			a.Seen, a.Path = mono+m.offset-ago, "a\x1b.log"
		}
		if m.cut != 0 {
			a.State, a.Began = fleet.Running, m.cut
		}
	}
}

func waiting(t *testing.T, b bus) *Gathering {
	t.Helper()
	var hosts []string
	for name, m := range b {
		hosts, m.file = append(hosts, name), []byte(name)
	}
	g, err := Prepare(t.Context(), b, Options{Hosts: hosts, Dir: t.TempDir(), On: "POST /initialize",
		Patience: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// await asks until there is a sighting, or none can be.
func await(t *testing.T, g *Gathering) (*Sighting, error) {
	t.Helper()
	for deadline := time.After(10 * time.Second); ; {
		if seen, err := g.Seen(); seen != nil || err != nil {
			return seen, err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-deadline:
			t.Fatal("nothing is seen")
		}
	}
}

// TestRequest: what one host saw, on its clock, is a moment of the own one, and all begin at the one that was
// decided, each by its own clock.
func TestRequest(t *testing.T) {
	web := &member{offset: 5 * time.Hour, say: sees(2 * time.Second)}
	db := &member{offset: -time.Minute, say: sees(0)}
	g := waiting(t, bus{"web": web, "db": db})
	if _, err := g.Begin(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	seen, err := await(t, g)
	if err != nil || seen.Host != "web" || strings.Contains(seen.Path, "\x1b") ||
		(now(t)-seen.At-2*time.Second).Abs() > 700*time.Millisecond || g.Logs() != 2 {
		t.Fatalf("%+v, %v, %d logs", seen, err, g.Logs())
	}
	at := time.Now().Add(-5 * time.Second)
	if err := g.Cut(at); err != nil {
		t.Fatal(err)
	}
	for _, h := range g.hosts {
		for deadline := time.Now().Add(5 * time.Second); ; {
			m := map[string]*member{"web": web, "db": db}[h.name]
			m.mu.Lock()
			cut := m.cut
			m.mu.Unlock()
			if cut != 0 {
				if off := now(t) - time.Since(at) - (cut - m.offset); off.Abs() > time.Millisecond {
					t.Errorf("%s begins %s off", h.name, off)
				}
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s was not asked to begin", h.name)
			}
			<-time.After(5 * time.Millisecond)
		}
	}
	if n, known := g.Grown(); n != 200 || !known {
		t.Errorf("grown by %d, %t", n, known)
	}
	for _, p := range g.Collect() {
		if p.Lost != "" || (p.Began-(now(t)-time.Since(at))).Abs() > time.Millisecond {
			t.Errorf("%+v", p)
		}
	}
}

// TestRequest_Liars: a request that cannot have been when a host says, and a beginning that no one decided,
// end the wait with that host's name. A host that says nothing is no word that requests have ended.
func TestRequest_Liars(t *testing.T) {
	f := func(want string, liar *member) {
		t.Helper()
		g := waiting(t, bus{"liar": liar, "good": {say: sees(0)}})
		_, err := g.Begin(t.Context(), time.Second) // it may lie from the beginning
		if err == nil {
			_, err = await(t, g)
		}
		if err == nil || !strings.Contains(err.Error(), "liar: "+want) {
			t.Errorf("%q: %v", want, err)
		}
		g.Cancel()
	}
	f("when it saw the request cannot be", &member{say: sees(longAgo + time.Second)})
	f("when it saw the request cannot be", &member{offset: time.Hour, say: func(m *member, a *fleet.RecordingAnswer) {
		if sees(time.Second)(m, a); a.Seen != 0 {
			a.Seen += time.Minute
		}
	}})
	begins := 0
	f("when its recording began cannot be", &member{say: func(m *member, a *fleet.RecordingAnswer) {
		if sees(0)(m, a); a.State == fleet.Waiting {
			if begins++; begins > 1 { // it waits at first
				a.State, a.Began = fleet.Running, m.begin
			}
		}
	}})
	quiet := &member{say: sees(0)}
	g := waiting(t, bus{"quiet": quiet})
	if _, err := g.Begin(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	quiet.mu.Lock()
	quiet.lost = 1000
	quiet.mu.Unlock()
	<-time.After(fresh + 100*time.Millisecond) // it is to be longer than that ago
	if n, known := g.Grown(); known && len(g.hosts[0].part.Lost) == 0 {
		t.Errorf("grown by %d is known of a host that is silent", n)
	}
	if seen, err := await(t, g); err == nil || !strings.Contains(err.Error(), "quiet: no answer for 2s") {
		t.Errorf("%+v, %v", seen, err)
	}
	g.Cancel()
}

// TestRequest_Drift: the clock of a host that waits is compared anew.
func TestRequest_Drift(t *testing.T) {
	m := &member{offset: time.Hour}
	h := newHost(&Gathering{bus: bus{"web": m}, hard: t.Context()}, "web")
	f := func(ago time.Duration, state string, want time.Duration) {
		t.Helper()
		h.compared = time.Now().Add(-ago)
		h.compare(&fleet.RecordingAnswer{State: state})
		if got, bound := h.clock.Offset(); (got - want).Abs() > max(bound, time.Millisecond) {
			t.Errorf("%s after %s: offset %s, want %s", state, ago, got, want)
		}
	}
	f(compareEvery, fleet.Waiting, time.Hour)
	m.offset += time.Second
	f(compareEvery, fleet.Running, time.Hour)
	f(compareEvery/2, fleet.Waiting, time.Hour)
	f(compareEvery, fleet.Waiting, time.Hour+time.Second)
}
