package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/kasoku/kasoku/internal/contain"
)

// A piece of news is that the runs are others than they were, or that one of them has got further.
type piece struct {
	id   uint64
	kind string // runs, second
	Run  string `json:"run,omitempty"`
	// Second is how far the run is.
	Second int `json:"second,omitempty"`
}

// news looks at the directories once a second while someone wants to know.
type news struct {
	runs    *library
	starter Starter // nil: none

	mu      sync.Mutex
	readers map[chan piece]bool
	last    uint64
	looking bool
}

func newNews(runs *library, starter Starter) *news {
	return &news{runs: runs, starter: starter, readers: map[chan piece]bool{}}
}

const (
	lookEvery = time.Second
	// mostReaders bounds those who wait at once.
	mostReaders = 128
	// unread is how many pieces wait for a reader; one that is later misses some, and each says the whole state.
	unread = 8
	// aliveEvery is how often a reader that there is no news for gets a comment, so that proxies keep the line.
	aliveEvery = 15 * time.Second
)

// join gives a reader its pieces until leave is called; ok is false where too many wait.
func (n *news) join() (pieces <-chan piece, leave func(), ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.readers) >= mostReaders {
		return nil, nil, false
	}
	c := make(chan piece, unread)
	n.readers[c] = true
	if !n.looking {
		n.looking = true
		before := n.state() // what the reader has seen by now
		contain.Go(contain.Part{Kind: contain.Source, Name: "runs of a directory"}, func() { n.look(before) })
	}
	return c, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.readers, c)
	}, true
}

// look reports what changes until no one wants to know.
func (n *news) look(before map[string]seen) {
	every := time.NewTicker(lookEvery)
	defer every.Stop()
	ended := false
	defer func() { // where a look panics the next reader begins another
		n.mu.Lock()
		defer n.mu.Unlock()
		if !ended {
			n.looking = false
		}
	}()
	for range every.C {
		if ended = !n.wanted(); ended {
			return
		}
		now := n.state()
		for name, v := range now {
			old, known := before[name]
			if name != startKey && known && old.running && v.running && (old.version != v.version || n.runs.unread(v.path, v.version)) {
				n.report(piece{kind: "second", Run: name, Second: v.second})
			}
		}
		if others(before, now) {
			n.report(piece{kind: "runs"})
		}
		before = now
	}
}

// wanted reports whether there is a reader; where there is none the look ends, so that the next one begins another.
func (n *news) wanted() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.looking = len(n.readers) > 0
	return n.looking
}

// A seen is a run as a look found it.
type seen struct {
	path    string
	version version
	running bool
	second  int
}

func (n *news) state() map[string]seen {
	out := map[string]seen{}
	infos, err := n.runs.list()
	if err != nil {
		return out
	}
	if n.starter != nil {
		busy, ended := n.starter.State()
		out[startKey] = seen{running: busy, path: ended}
	}
	for _, i := range infos {
		v, _ := versionOf(i.Path)
		x := seen{path: i.Path, version: v, running: changes(i)}
		if x.running {
			x.second = int(n.runs.now().Sub(i.Started) / time.Second)
		}
		out[NameOf(i.Path)] = x
	}
	return out
}

// startKey is where the state of a run that a page begins stands; no file is called so.
const startKey = "/"

// digest is a sum of the state of one run, of all where the name is empty: another state has another.
func (n *news) digest(name string) string {
	state := n.state()
	sum := sha256.New()
	for _, k := range slices.Sorted(maps.Keys(state)) {
		if v := state[k]; name == "" || name == k {
			// How far a run is, is news of its own.
			fmt.Fprintf(sum, "%q %t", k, v.running)
			if k == startKey {
				fmt.Fprintf(sum, " %q", v.path)
			}
			if !v.running || name != "" {
				fmt.Fprintf(sum, " %d %d %d %d", v.version.size, v.version.time.UnixNano(), v.version.wal,
					v.version.moved.UnixNano())
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// others reports whether a run came, went, began, ended or was edited.
func others(before, now map[string]seen) bool {
	if len(before) != len(now) {
		return true
	}
	for name, v := range now {
		old, known := before[name]
		if !known || old.running != v.running || name == startKey && old.path != v.path || (!v.running && old.version != v.version) {
			return true
		}
	}
	return false
}

func (n *news) report(p piece) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last++
	p.id = n.last
	for c := range n.readers {
		select {
		case c <- p:
		default:
		}
	}
}

// events sends news as they come (HTML Living Standard, 9.2). A piece says that there is something to ask for, not
// what: a reader that slept misses nothing, it asks for what is there now.
func (s *Server) events(w http.ResponseWriter, r *http.Request) error {
	pieces, leave, ok := s.news.join()
	if !ok {
		return &askedError{"too many pages wait for news", "close some"}
	}
	defer leave()
	line := http.NewResponseController(w)
	for _, set := range []func(time.Time) error{line.SetReadDeadline, line.SetWriteDeadline} {
		if err := set(time.Time{}); err != nil {
			return fmt.Errorf("events: %w", err)
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	// What came between the page and this, or while the line was down, is seen by the state.
	if _, err := fmt.Fprintf(w, "retry: 1000\nevent: state\ndata: %q\n\n",
		s.news.digest(r.FormValue("run"))); err != nil {
		return nil
	}
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	for {
		if err := line.Flush(); err != nil {
			return nil // the reader has gone away
		}
		text := ": alive\n\n"
		select {
		case <-r.Context().Done():
			return nil
		case <-alive.C:
		case p := <-pieces:
			data, err := json.Marshal(p)
			if err != nil {
				return fmt.Errorf("events: %w", err)
			}
			text = "id: " + strconv.FormatUint(p.id, 10) + "\nevent: " + p.kind + "\ndata: " + string(data) + "\n\n"
		}
		if err := line.SetWriteDeadline(time.Now().Add(askedWithin)); err != nil {
			return fmt.Errorf("events: %w", err)
		}
		if _, err := fmt.Fprint(w, text); err != nil {
			return nil
		}
	}
}
