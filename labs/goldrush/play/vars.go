package play

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
	"github.com/kasoku/kasoku/labs/goldrush/digger"
)

// Vars shows, as package expvar does, what a client has counted, under the names by which
// a recording knows a client of a service with limits. Give it to [Played], and serve it.
type Vars struct {
	ask  chan chan shown
	over chan struct{}
	last shown // once over is closed
}

// exact are the bits that a JSON number keeps.
const exact = 1<<53 - 1

// shown is what a client has counted at a moment.
type shown struct {
	counts digger.Counts
	served served
	most   int // licences
}

// NewVars returns one that shows nothing until a game is played.
func NewVars() *Vars { return &Vars{ask: make(chan chan shown), over: make(chan struct{})} }

// ServeHTTP shows how the client stands.
func (v *Vars) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now, ok := v.look(r)
	if !ok {
		return
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{ // who is gone misses nothing
		"client": now.client(), "operations": now.operations(), "memstats": &memory,
		"goroutines": runtime.NumGoroutine(),
	})
}

// look asks the one who plays.
func (v *Vars) look(r *http.Request) (shown, bool) {
	reply := make(chan shown, 1)
	select {
	case v.ask <- reply:
		return <-reply, true
	case <-v.over:
		return v.last, true
	case <-r.Context().Done():
		return shown{}, false
	}
}

func (s *shown) client() map[string]any {
	c := &s.counts
	inFlight, inFlightTime := 0, time.Duration(0)
	for call, n := range c.InFlight {
		inFlight += n
		inFlightTime += c.Busy[call]
	}
	asked := c.Answers[goldrush.Issue]
	sum := int64(0)
	for _, n := range asked {
		sum += n
	}
	out := map[string]any{
		"InFlight": inFlight, "InFlightTime": inFlightTime, "Sent": c.All() + int64(inFlight), "Refused": c.Refused(),
		"Waiting": c.Columns + c.Strips + c.Finds, "Permits": c.Licenses + c.Asked, "PermitsMost": s.most,
		"PermitsAsked": sum, "PermitsFailed": sum - asked[http.StatusOK], "PermitWait": c.Starved, "Gained": c.Earned,
		"UseWait": c.Queued, "UsesMost": c.MostDigs,
	}
	if c.First.Complete() {
		out["QuestionsHash"], out["AnswersHash"] = c.First.Questions&exact, c.First.Answers&exact
	}
	return out
}

// operations are the calls, the explorations by how many columns they asked for, and what
// was cashed by depth; what was not paid is beside those.
func (s *shown) operations() map[string]any {
	out := map[string]any{}
	for call := range goldrush.Calls {
		n := int64(0)
		for _, of := range s.counts.Answers[call] {
			n += of
		}
		took, cpu := s.counts.Service[call], s.served.cpu[call]
		if call == goldrush.Cash {
			cpu = s.served.rest
			for _, of := range s.counts.Paid {
				n, took = n-of.N, took-of.Took
			}
		}
		if n > 0 {
			out[call.String()] = map[string]any{"Answers": n, "AnswerTime": took, "ServiceTime": cpu}
		}
	}
	for cells, of := range s.counts.Cells {
		out[fmt.Sprintf("%s %d", goldrush.Explore, cells)] = map[string]any{"Answers": of.N,
			"AnswerTime": of.Took, "Size": cells}
	}
	for depth, of := range s.counts.Paid {
		if of.N > 0 {
			out[fmt.Sprintf("%s of depth %d", goldrush.Cash, depth)] = map[string]any{"Answers": of.N,
				"AnswerTime": of.Took, "Gained": of.Coins, "ServiceTime": s.served.depths[depth]}
		}
	}
	return out
}
