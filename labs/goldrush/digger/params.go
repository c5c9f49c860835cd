package digger

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
)

// Params are how a client plays. All of its variants and mistakes are values of them.
type Params struct {
	OneByOne bool // one request at a time
	Forgets  bool // a treasure whose cashing failed is not cashed again

	// Licences: how many at a time, the coins that are paid for one once there are any, and
	// below how many digs in hand they are paid, above which licences are asked for nothing.
	Licenses int
	Coins    int
	PayBelow int
	// Late asks for a licence only when a column waits for one; otherwise there is always one
	// on the way.
	Late bool
	// Early counts a licence as used up when its last dig is sent, not when it is answered.
	Early bool
	// DigByDig sends a licence's next dig when the one before is answered.
	DigByDig bool
	// GiveUp is after which time a licence that was asked for is taken for one that will not
	// come, and another is asked for; 0: never.
	GiveUp time.Duration

	// Root is how many columns are asked for first; 0: as the plan has it.
	Root int
	// Planned looks, digs and cashes as a [Plan] has it. Otherwise strips are halved, every
	// treasure is dug for and cashed.
	Planned bool
	// CashAll cashes every treasure, whatever the plan has.
	CashAll bool
	// Halves splits strips in the middle, whatever the plan has.
	Halves bool

	// InFlight is how many requests of a call are sent at most at a time; 0: as many as the
	// other bounds let.
	InFlight [goldrush.Calls]int
	// Ahead is how much of the CPU's time may be in flight; 0: any.
	Ahead time.Duration
	// Waiting is how many columns may wait for a dig before no more are looked for.
	Waiting int
	// Share is how much of what the server lets in a second is used, 0 to 1; 0: all, and more.
	Share float64
}

// A Variant is a way to play with a name.
type Variant struct {
	Name, About string
	Params      Params
}

// many is a bound that is none.
const many = math.MaxInt32

// Variants returns the ways to play that have names, in the order of the story: from the
// published client to one that is planned.
func Variants() []Variant {
	reference := Params{OneByOne: true, Forgets: true, Licenses: 1, Late: true, Root: 1, Waiting: 1}
	stages := [goldrush.Calls]int{goldrush.Issue: 10, goldrush.Explore: 3, goldrush.Dig: 50, goldrush.Cash: 10}
	author := Params{Licenses: 10, Coins: 1, PayBelow: many, Early: true, Root: 15, InFlight: stages, Waiting: 10}
	free, pipelined := author, author
	free.Coins, free.PayBelow = 0, 0
	pipelined.Licenses, pipelined.Late, pipelined.Early = 1, true, false
	pipelined.InFlight = [goldrush.Calls]int{goldrush.Issue: 1, goldrush.Explore: 1, goldrush.Dig: 1, goldrush.Cash: 1}
	return []Variant{
		{"reference", "as published: one request at a time, one column, one licence for nothing", reference},
		{"pipelined", "each stage one request at a time, strips of 15, one licence", pipelined},
		{"free", "ten licences, for nothing", free},
		{"author", "ten licences of a coin each, the next asked for when the last dig is sent", author},
		{"tuned", "what earns most for its time of the CPU, licences for nothing as long as they last", Tuned()},
	}
}

// Tuned returns what the search found, with two differences for a real server: a licence has
// some milliseconds more until it is given up, and one is paid for when no dig is in hand. In
// simulated time a client that never pays earns 1 % more, with a quarter of its time spent
// waiting for licences.
func Tuned() Params {
	return Params{
		Licenses: 10, Coins: 1, PayBelow: 1, Early: true, GiveUp: 120 * time.Millisecond,
		Planned: true, Ahead: 30 * time.Millisecond, Waiting: 20, Share: 0.95,
	}
}

// Named returns the variant of that name.
func Named(name string) (Variant, error) {
	var names []string
	for _, v := range Variants() {
		if v.Name == name {
			return v, nil
		}
		names = append(names, v.Name)
	}
	return Variant{}, fmt.Errorf("unknown variant %q: want one of %s", name, strings.Join(names, ", "))
}

// A Defect is one mistake of a client, by its id in the catalogue.
type Defect struct {
	ID, About string
	seed      func(*Params)
}

// Defects returns the mistakes that a client can be given, each of them alone.
func Defects() []Defect {
	return []Defect{
		{"CLI-01", "one request at a time", func(p *Params) { p.OneByOne = true }},
		{"CLI-02", "one licence of ten", func(p *Params) { p.Licenses = 1 }},
		{"CLI-03", "licences for nothing, asked for when a dig waits", func(p *Params) {
			p.Coins, p.PayBelow, p.Late, p.GiveUp = 0, 0, true, 0
		}},
		{"CLI-04", "a licence's digs one after the other", func(p *Params) { p.DigByDig = true }},
		{"CLI-05", "strips of 16, 8, 4 and 2 columns, at the foot of each step", func(p *Params) {
			p.Halves, p.Root = true, 16
		}},
		{"CLI-06", "queues without bounds", func(p *Params) {
			p.Ahead, p.Waiting, p.Share, p.Licenses = 200*time.Millisecond, many, 0, 2*p.Licenses
		}},
		{"CLI-13", "cashes what earns less than its time", func(p *Params) { p.CashAll = true }},
	}
}

// With returns the parameters with a client's mistakes.
func (p Params) With(ids ...string) (Params, error) {
	all := Defects()
	for _, id := range ids {
		i := slices.IndexFunc(all, func(d Defect) bool { return d.ID == id })
		if i < 0 {
			var known []string
			for _, d := range all {
				known = append(known, d.ID)
			}
			return p, fmt.Errorf("unknown defect %q: want %s", id, strings.Join(known, ","))
		}
		all[i].seed(&p)
	}
	return p, nil
}
