// Package goldrush is the words of the game Gold Rush of the HighLoad Cup 2021, in which a
// client is tuned and not a server: the calls, what they carry, the rules.
//
// The one idea: a server of limits that a client has to find out. It has one second of a
// virtual CPU a second, which all calls share; it counts what is asked of each call and
// refuses what is too much; it gives licences for digging, ten at a time, and fails to give
// most of those that cost nothing. Its score is the coins that a client holds at the end.
//
// Package mine is the game without a clock and without a network, package server puts it on
// HTTP.
package goldrush

import (
	"net/http"
	"time"
)

// A Call is one of the calls of the API.
type Call uint8

// The calls.
const (
	Health   Call = iota
	Balance       // coins that are held
	Licenses      // those that are active
	Issue         // a new licence, for coins or for nothing
	Explore       // how many treasures are in an area
	Dig           // one level deeper at a place
	Cash          // a treasure becomes coins
	Calls         // how many there are
)

// routes are method, path and name of each call.
var routes = [Calls]struct{ method, path, name string }{
	Health:   {http.MethodGet, "/health-check", "health"},
	Balance:  {http.MethodGet, "/balance", "balance"},
	Licenses: {http.MethodGet, "/licenses", "licenses"},
	Issue:    {http.MethodPost, "/licenses", "issue"},
	Explore:  {http.MethodPost, "/explore", "explore"},
	Dig:      {http.MethodPost, "/dig", "dig"},
	Cash:     {http.MethodPost, "/cash", "cash"},
}

// String is the call's name in metrics.
func (c Call) String() string { return routes[c].name }

// Route returns method and path of the call.
func (c Call) Route() (method, path string) { return routes[c].method, routes[c].path }

// Expects reports whether a status that is not 200 answers what a call asks: a dig asks whether there
// is a treasure.
func (c Call) Expects(status int) bool { return c == Dig && status == http.StatusNotFound }

// An Area is a rectangle of columns. Places count from 0.
type Area struct {
	PosX  int `json:"posX"`
	PosY  int `json:"posY"`
	SizeX int `json:"sizeX,omitempty"`
	SizeY int `json:"sizeY,omitempty"`
}

// Cells returns how many columns the area has.
func (a Area) Cells() int { return a.SizeX * a.SizeY }

// A Hole is what is dug, and with which licence.
type Hole struct {
	LicenseID int `json:"licenseID"`
	PosX      int `json:"posX"`
	PosY      int `json:"posY"`
	Depth     int `json:"depth"` // from 1
}

// A License allows so many digs.
type License struct {
	ID         int `json:"id"`
	DigAllowed int `json:"digAllowed"`
	DigUsed    int `json:"digUsed"`
}

// A Coin is one of which each can be spent once.
type Coin uint32

// A Request is one call with what it carries.
type Request struct {
	Call     Call
	Coins    []Coin // of Issue; none: a licence that costs nothing
	Area     Area   // of Explore
	Hole     Hole   // of Dig
	Treasure string // of Cash
}

// An Answer is what a call returns. What is in it depends on the call and the status.
type Answer struct {
	Status   int // of HTTP
	Error    Error
	Balance  int
	Coins    []Coin    // of Balance the newest thousand, of Cash those that were earned
	Licenses []License // of Issue one
	Amount   int       // of Explore
	Treasure string    // of Dig
}

// An Error is the body of a refusal.
type Error struct {
	Code    int    `json:"code"` // the status, or finer
	Message string `json:"message"`
}

// Codes that say more than their status.
const (
	CodeWrongCoord   = 1000 // 422
	CodeWrongDepth   = 1001 // 422
	CodeLicenseLimit = 1002 // 409
	CodeNotDigged    = 1003 // 409
)

// Refuse returns a refusal; code 0 stands for the status.
func Refuse(status, code int, message string) Answer {
	if code == 0 {
		code = status
	}
	return Answer{Status: status, Error: Error{code, message}}
}

// Rules are the figures of a game.
type Rules struct {
	SizeX, SizeY int
	Depth        int // at most 10
	Treasures    int // placed at random; where one is already, the place is lost
	Active       int // licences at a time

	// PerSec is how many requests of a call are let in each second, and at once; 0: all.
	PerSec [Calls]int

	// What the calls take of the virtual CPU: an exploration for each doubling of its
	// cells, a dig at the surface, and more for each level below it.
	ExploreCost, DigCost, DeeperCost, CashCost time.Duration
	// Patience is how long a call waits for the CPU; 0: for ever.
	Patience [Calls]time.Duration

	IssueFails   float64       // share of Licenses, and of Issue without coins, 0 to 1
	FailsLate    float64       // share of those that fail after Late, the others after Soon
	CashFails    float64       // share
	Soon, Latest time.Duration // between them comes what does not fail
	Late         time.Duration
}

// Published returns the rules of the published server.
func Published() Rules {
	return Rules{
		SizeX: 3500, SizeY: 3500, Depth: 10, Treasures: 490_000, Active: 10,
		PerSec:      [Calls]int{Balance: 100, Licenses: 100, Issue: 350, Explore: 1000, Dig: 1000, Cash: 300},
		ExploreCost: 500 * time.Microsecond, DigCost: time.Millisecond, DeeperCost: 100 * time.Microsecond,
		CashCost:   10 * time.Millisecond,
		Patience:   [Calls]time.Duration{Explore: time.Second, Dig: 2 * time.Second},
		IssueFails: 0.60, FailsLate: 0.10, CashFails: 0.05,
		Soon: 10 * time.Millisecond, Latest: 100 * time.Millisecond, Late: time.Second,
	}
}

// Unlimited returns the published rules with nothing that makes a request wait or fail, by
// which the server itself is measured.
func Unlimited() Rules {
	r := Published()
	return Rules{SizeX: r.SizeX, SizeY: r.SizeY, Depth: r.Depth, Treasures: r.Treasures, Active: r.Active}
}

// Cost returns what a request takes of the virtual CPU.
func (r *Rules) Cost(q *Request) time.Duration {
	switch q.Call {
	case Explore:
		return r.ExploreCost * time.Duration(max(1, doublings(q.Area.Cells())))
	case Dig:
		return r.DigCost + r.DeeperCost*time.Duration(q.Hole.Depth-1)
	case Cash:
		return r.CashCost
	}
	return 0
}

// doublings is the whole part of the binary logarithm, 0 for no cells.
func doublings(cells int) (n int) {
	for ; cells > 1; cells >>= 1 {
		n++
	}
	return n
}

// Digs returns how many digs a licence for so many coins allows: at least, and up to how
// many more, which are drawn.
func Digs(coins int) (least, more int) {
	switch {
	case coins == 0:
		return 3, 0
	case coins <= 5:
		return 5, 0
	case coins <= 10:
		return 10, 0
	case coins <= 20:
		return 20, 9
	}
	return 40, 9
}

// Values returns what a treasure is worth at each depth, from 1. Up to the best depth, which
// is from 3 to 7, a dig that finds one earns a tenth more for its time than one level above,
// below it as much less; whole coins count. Of what it returns, cash pays from a quarter
// less to a quarter more.
func (r *Rules) Values(best int) []int {
	out := []int{4}
	taken := r.digTime(1)
	for depth := 2; depth <= r.Depth; depth++ {
		perSec := float64(out[len(out)-1]) / taken.Seconds()
		if depth <= best {
			perSec *= 1.1
		} else {
			perSec /= 1.1
		}
		taken += r.digTime(depth)
		out = append(out, int(perSec*taken.Seconds()))
	}
	return out
}

// digTime is what a dig takes at a depth, by the published rules: values do not change when
// the costs do.
func (r *Rules) digTime(depth int) time.Duration {
	return time.Millisecond + 100*time.Microsecond*time.Duration(depth-1)
}
