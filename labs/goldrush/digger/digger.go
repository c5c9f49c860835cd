// Package digger is a client of the game of package goldrush without a clock and without a
// network: what it asks next, and what it makes of the answers.
//
// The one idea: it is given the time, as the game of package mine is. [Digger.Next] returns
// what to ask at a time, until there is nothing more; [Digger.Take] hands in an answer;
// [Digger.Wake] is when to ask again although no answer came. So the same client plays on the
// real clock against a server, and in a simulation that does not wait. For the same answers
// at the same times it asks the same.
//
// All ways to play are [Params] of the one client, from the published one that asks for one
// thing at a time to one that follows a [Plan]. Package play lets it play.
//
// A Digger is not safe for concurrent use.
package digger

import (
	"net/http"
	"slices"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
)

// A Digger is one client.
type Digger struct {
	p      Params
	rules  goldrush.Rules
	plan   *Plan
	learnt learnt

	now     time.Duration
	wake    time.Duration // 0: only an answer changes anything
	stock   stock
	permits permits
	quotas  [goldrush.Calls]quota
	sent    [goldrush.Calls]int // that are in flight
	work    time.Duration       // of the CPU, in flight
	choices []func() (Sent, bool)
	counts  Counts
}

// New returns a client that knows the rules. What treasures are worth it learns from those that
// it cashes; until then it takes the published table.
func New(p Params, r goldrush.Rules) *Digger {
	d := &Digger{p: p, rules: r, learnt: newLearnt(&r)}
	if p.Planned {
		d.makePlan()
	}
	for c := range d.quotas {
		d.quotas[c] = newQuota(p.Share * float64(r.PerSec[c]))
	}
	d.choices = []func() (Sent, bool){d.cash, d.dig, d.issue, d.split, d.explore}
	return d
}

// Plan returns the plan that the client follows now; nil: it has none.
func (d *Digger) Plan() *Plan { return d.plan }

// makePlan makes a plan of what is known now.
func (d *Digger) makePlan() {
	perDig := 0.0
	if d.p.Coins > 0 {
		least, more := goldrush.Digs(d.p.Coins)
		perDig = float64(d.p.Coins) / (float64(least) + float64(more)/2)
	}
	d.plan = NewPlan(&d.rules, d.learnt.values(), perDig)
}

// A Sent is a request that was sent, to be handed back with its answer.
type Sent struct {
	Request goldrush.Request
	At      time.Duration
	// Freed says that its answer has begun to come, of which [Digger.Answering] has heard.
	Freed  bool
	cost   time.Duration
	strip  strip  // of Explore
	ask    int    // columns of it that are asked for
	column column // of Dig
	find   find   // of Cash
}

// Next returns what is to be sent at a time, which is not before that of an earlier call; ok
// is false where there is nothing until an answer comes, or until [Digger.Wake].
func (d *Digger) Next(now time.Duration) (s Sent, ok bool) {
	d.moveTo(now)
	d.wake = d.permits.giveUp(now, d.p.GiveUp)
	if d.p.OneByOne && d.InFlight() > 0 {
		return s, false
	}
	for _, choose := range d.choices {
		if s, ok = choose(); ok {
			d.send(&s)
			return s, true
		}
	}
	return s, false
}

// Wake returns when Next may have something although no answer came; ok is false where only
// an answer changes anything.
func (d *Digger) Wake() (at time.Duration, ok bool) { return d.wake, d.wake > 0 }

// Pass notes that a time has come at which nothing happened, so that what is counted over time
// is counted until then.
func (d *Digger) Pass(now time.Duration) { d.moveTo(now) }

// moveTo notes how things stood until now.
func (d *Digger) moveTo(now time.Duration) {
	past := now - d.now
	for c, n := range d.sent {
		d.counts.Busy[c] += past * time.Duration(n)
	}
	switch {
	case d.stock.columns.Len() == 0:
	case d.permits.digs() == 0:
		d.counts.Starved += past
	case d.permits.busy():
		d.counts.Queued += past
	}
	d.now = now
}

// InFlight returns how many requests were sent and not answered.
func (d *Digger) InFlight() (n int) {
	for _, of := range d.sent {
		n += of
	}
	return n
}

// may reports whether a call may be sent, by its bound and by what the server lets in.
func (d *Digger) may(c goldrush.Call) bool {
	if most := d.p.InFlight[c]; most > 0 && d.sent[c] >= most {
		return false
	}
	if c != goldrush.Issue && d.p.Ahead > 0 && d.work >= d.p.Ahead {
		return false
	}
	at, ok := d.quotas[c].have(d.now)
	if !ok && (d.wake == 0 || at < d.wake) {
		d.wake = at
	}
	return ok
}

// send notes what is sent.
func (d *Digger) send(s *Sent) {
	c := s.Request.Call
	s.At, s.cost = d.now, d.rules.Cost(&s.Request)
	d.quotas[c].take()
	d.sent[c]++
	d.work += s.cost
}

func (d *Digger) cash() (s Sent, ok bool) {
	if d.stock.waiting == 0 || !d.may(goldrush.Cash) {
		return s, false
	}
	s.find = d.stock.takeFind()
	s.Request = goldrush.Request{Call: goldrush.Cash, Treasure: s.find.text}
	return s, true
}

func (d *Digger) dig() (s Sent, ok bool) {
	if d.stock.columns.Len() == 0 || !d.may(goldrush.Dig) {
		return s, false
	}
	id, ok := d.permits.use(d.p.DigByDig)
	if !ok {
		return s, false
	}
	s.column = d.stock.columns.take()
	s.Request = goldrush.Request{Call: goldrush.Dig, Hole: goldrush.Hole{LicenseID: id, PosX: s.column.x, PosY: s.column.y,
		Depth: s.column.depth + 1}}
	return s, true
}

func (d *Digger) issue() (s Sent, ok bool) {
	waits := d.stock.columns.Len() > 0 && d.permits.digs() == 0
	if d.p.Late && !waits || d.permits.taken(d.p.Early) >= d.p.Licenses || !d.may(goldrush.Issue) {
		return s, false
	}
	s.Request = goldrush.Request{Call: goldrush.Issue}
	if d.p.Coins > 0 && len(d.permits.wallet) >= d.p.Coins && d.permits.digs() < d.p.PayBelow {
		s.Request.Coins = d.permits.pay(d.p.Coins)
	}
	d.permits.asked = append(d.permits.asked, d.now)
	return s, true
}

// split asks for a part of a strip in which there are treasures.
func (d *Digger) split() (s Sent, ok bool) {
	for { // a plan may have raised the price since a strip was kept: it is not worth asking for then
		last := len(d.stock.strips) - 1
		if last < 0 || d.full() {
			return s, false
		}
		s.strip = d.stock.strips[last]
		if s.ask = d.part(s.strip); s.ask > 0 {
			break
		}
		d.stock.strips = d.stock.strips[:last]
	}
	if !d.may(goldrush.Explore) {
		return s, false
	}
	d.stock.strips = d.stock.strips[:len(d.stock.strips)-1]
	s.Request = goldrush.Request{Call: goldrush.Explore, Area: s.strip.area(s.ask)}
	return s, true
}

// explore asks for a strip of which nothing is known.
func (d *Digger) explore() (s Sent, ok bool) {
	if d.full() || !d.may(goldrush.Explore) {
		return s, false
	}
	root := d.p.Root
	if root == 0 {
		root = d.plan.Root
	}
	if s.strip = d.stock.nextStrip(root, d.rules.SizeX, d.rules.SizeY); s.strip.n == 0 {
		return s, false
	}
	s.strip.k = unknown
	s.ask = s.strip.n
	s.Request = goldrush.Request{Call: goldrush.Explore, Area: s.strip.area(s.ask)}
	return s, true
}

// full reports whether enough is known.
func (d *Digger) full() bool { return d.stock.columns.Len() >= d.p.Waiting }

// part is how many columns of a strip are asked for; 0: none, it is not worth it.
func (d *Digger) part(s strip) int {
	switch {
	case s.k == unknown:
		return s.n
	case d.plan == nil || d.p.Halves:
		return s.n / 2
	}
	return d.plan.split[min(s.n, longest)][min(s.k, richest)]
}

// Take hands in the answer to a request at a time. One that never came has the status 0.
func (d *Digger) Take(now time.Duration, s *Sent, a *goldrush.Answer) {
	d.moveTo(now)
	c := s.Request.Call
	if !s.Freed {
		d.free(s)
	}
	d.counts.note(s, a.Status, now)
	if a.Status == http.StatusTooManyRequests {
		d.quotas[c].refused(now)
	}
	switch c {
	case goldrush.Explore:
		d.tookExplore(s, a)
	case goldrush.Dig:
		d.tookDig(s, a)
	case goldrush.Issue:
		d.tookLicense(s, a)
	case goldrush.Cash:
		d.tookCash(s, a)
	}
}

// Answering notes that the answer to a request begins to come, so that another may be sent for it.
func (d *Digger) Answering(now time.Duration, s *Sent) {
	d.moveTo(now)
	d.free(s)
}

// free takes a request out of what is in flight.
func (d *Digger) free(s *Sent) {
	d.sent[s.Request.Call]--
	d.work -= s.cost
}

// again reports whether a call was turned away for now.
func again(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

func (d *Digger) tookExplore(s *Sent, a *goldrush.Answer) {
	switch {
	case again(a.Status):
		d.stock.strips = append(d.stock.strips, s.strip)
	case a.Status != http.StatusOK:
	case s.ask == s.strip.n:
		if s.strip.k == unknown {
			d.counts.First.note(s.strip, a.Amount)
		}
		d.addStrip(strip{s.strip.x, s.strip.y, s.ask, a.Amount})
	default:
		d.addStrip(strip{s.strip.x + s.ask, s.strip.y, s.strip.n - s.ask, s.strip.k - a.Amount})
		d.addStrip(strip{s.strip.x, s.strip.y, s.ask, a.Amount})
	}
}

// addStrip keeps what was found out of a strip.
func (d *Digger) addStrip(s strip) {
	switch {
	case s.k == 0:
	case s.n == 1:
		d.addColumn(column{x: s.x, y: s.y, left: s.k})
	case d.part(s) > 0:
		d.stock.strips = append(d.stock.strips, s)
	}
}

// addColumn lets a column wait for its next dig, where that is worth it.
func (d *Digger) addColumn(c column) {
	if c.left <= 0 || c.depth >= d.rules.Depth {
		return
	}
	c.worth = float64(c.depth)
	if d.plan != nil {
		c.worth = d.plan.column[c.depth][min(c.left, richest)]
		if c.worth <= 0 {
			return
		}
	}
	d.stock.order++
	c.order = d.stock.order
	d.stock.columns.add(c)
}

func (d *Digger) tookDig(s *Sent, a *goldrush.Answer) {
	c := s.column
	d.permits.dug(s.Request.Hole.LicenseID, again(a.Status))
	switch {
	case a.Status == http.StatusOK:
		c.depth++
		c.left--
		d.counts.Found++
		if d.plan == nil || d.p.CashAll || d.plan.cashed[c.depth] {
			d.stock.addFind(find{a.Treasure, c.depth})
		}
	case a.Status == http.StatusNotFound:
		c.depth++
	case a.Status == http.StatusForbidden:
		d.permits.lost(s.Request.Hole.LicenseID)
	case !again(a.Status):
		return // how deep the column is now is not known
	}
	d.addColumn(c)
}

func (d *Digger) tookLicense(s *Sent, a *goldrush.Answer) {
	d.permits.answered(s.At)
	if a.Status == http.StatusOK && len(a.Licenses) == 1 {
		d.permits.held = append(d.permits.held, permit{id: a.Licenses[0].ID, left: a.Licenses[0].DigAllowed})
		d.counts.Spent += len(s.Request.Coins)
		return
	}
	if a.Status != 0 && a.Status != http.StatusPaymentRequired { // they were not taken
		d.permits.wallet = append(d.permits.wallet, s.Request.Coins...)
	}
}

func (d *Digger) tookCash(s *Sent, a *goldrush.Answer) {
	switch {
	case a.Status == http.StatusOK:
		d.permits.wallet = append(d.permits.wallet, a.Coins...)
		d.counts.Earned += len(a.Coins)
		paid := &d.counts.Paid[s.find.depth]
		paid.N, paid.Took, paid.Coins = paid.N+1, paid.Took+d.now-s.At, paid.Coins+int64(len(a.Coins))
		if d.learnt.note(s.find.depth, len(a.Coins)) && d.plan != nil {
			d.makePlan()
		}
	case again(a.Status) && !d.p.Forgets:
		d.stock.addFind(s.find)
	}
}

// Counts returns what the client has counted.
func (d *Digger) Counts() Counts {
	out := d.counts.clone()
	out.Columns, out.Strips, out.Finds = d.stock.columns.Len(), len(d.stock.strips), d.stock.waiting
	out.Licenses, out.Asked, out.Digs = len(d.permits.held), len(d.permits.asked), d.permits.digs()
	out.MostDigs = d.permits.most
	out.InFlight = slices.Clone(d.sent[:])
	return out
}
