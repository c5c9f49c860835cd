package faults

import (
	"net/http"

	"github.com/kasoku/kasoku/labs/isuumo/request"
)

// A Kind is what is wrong.
type Kind string

// The kinds of faults. A Liberty is none.
const (
	Contest  Kind = "contest"
	Filter   Kind = "filter"
	Order    Kind = "order"
	Count    Kind = "count"
	Page     Kind = "page"
	Stale    Kind = "stale after a write"
	Oversell Kind = "oversell"
	Lost     Kind = "lost"
	Restart  Kind = "lost after a restart"
	Polygon  Kind = "polygon"
	Field    Kind = "field mix-up"
	Cut      Kind = "truncation"
	Number   Kind = "numeric"
	Status   Kind = "status"
	Liberty  Kind = "liberty"
)

// Kinds lists them in the order of the table.
func Kinds() []Kind {
	return []Kind{Contest, Filter, Order, Count, Page, Stale, Oversell, Lost, Restart, Polygon, Field, Cut, Number,
		Status, Liberty}
}

// A Verdict is what the contest's own benchmark makes of a fault.
type Verdict string

// The verdicts. With the last one it depends on which queries are drawn, or on the order
// in which requests come.
const (
	Overlooked Verdict = "overlooked" // the run passes without a message
	Reported   Verdict = "reported"   // the run passes, with messages
	Failed     Verdict = "failed"     // the run does not pass
	ByChance   Verdict = "by chance"
)

// A Fault is something that a service does wrong, or a [Liberty].
type Fault struct {
	Name string // what it does, in a few words
	Kind Kind
	// Strict is a regular expression of a message by which the lab's benchmark names
	// the fault; empty: it must not say a word.
	Strict  string
	Contest Verdict
	// Rule returns the rule anew: some remember what has passed.
	Rule func() Rule
}

// A Phase is a part of a run. The benchmark's user agents identify it.
type Phase uint8

// The phases, bits of [Rule.When].
const (
	Verifying  Phase = 1 << iota // from /initialize on
	Loading                      // from the first user on
	Validating                   // from the first request after that which verifies
)

// Users are who asks.
type Users uint8

// The users, of [Rule.Who].
const (
	Everybody Users = iota
	People
	Crawlers
)

// A Rule defines which exchanges of a request and an answer are spoiled, and how. Its
// functions are called by many goroutines at once.
type Rule struct {
	At   []request.Endpoint // empty: all
	When Phase              // some of them; 0: always
	Who  Users
	Skip int // so many of the exchanges that match are left alone
	Most int // so many of the following are spoiled; 0: all

	// Before changes a request. When it sets a status, that is the answer, and the
	// service never sees the request.
	Before func(*Exchange)
	// After changes the answer of the service.
	After func(*Exchange)
	// Lose returns statements of SQL that take from the database what a restart of the
	// service loses. Whoever restarts it runs them.
	Lose func() []string
}

// at returns a rule for one endpoint.
func at(what request.Endpoint, after func(*Exchange)) Rule {
	return Rule{At: []request.Endpoint{what}, After: after}
}

// within returns the rule for some phases only.
func (r Rule) within(when Phase) Rule {
	r.When = when
	return r
}

// only returns the rule for some users.
func (r Rule) only(who Users) Rule {
	r.Who = who
	return r
}

// same is for rules that remember nothing.
func same(r Rule) func() Rule { return func() Rule { return r } }

// editGood has an edit see answers with status 200.
func editGood(edit func(*Exchange)) func(*Exchange) {
	return func(x *Exchange) {
		if x.Status == http.StatusOK {
			edit(x)
		}
	}
}

// answerStatus answers with a status and no body.
func answerStatus(code int) func(*Exchange) {
	return func(x *Exchange) { x.Status, x.Body = code, nil }
}
