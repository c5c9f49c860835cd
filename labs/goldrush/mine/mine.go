// Package mine is the game of package goldrush without a clock and without a network.
//
// The one idea: it is given the time. [Mine.Ask] hands in a request at a time, and the answer
// comes at the time at which the game gives it, in Ask or in a later [Mine.Advance]. So the
// same game runs under HTTP on the real clock, and in a simulation that does not wait.
//
// A game with a seed is the same each time: the map, the coins, and which calls fail are
// streams of numbers of their own. Without one they come from the system's generator, and
// no client can know what it has not asked for.
//
// Times are durations since the game was made, and never go back. A Mine is not safe for
// concurrent use.
package mine

import (
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
)

// Options configure a game.
type Options struct {
	Rules goldrush.Rules
	Seed  int64 // 0: no one knows the world
	// Lasts is how long the game goes on from its first request that is not [goldrush.Health]; 0:
	// for ever. What is not answered by then never is.
	Lasts time.Duration
}

// A Mine is one game.
type Mine struct {
	rules  goldrush.Rules
	lasts  time.Duration
	values []int

	now    time.Duration
	cpu    cpu
	timers timers
	limits [goldrush.Calls]limit

	world    *world
	bank     *bank
	licenses licenses
	cashed   map[place]bool
	seals    sealer

	coins, fails, digs *rand.Rand
	stats              Stats
}

// New makes a game.
func New(o Options) *Mine {
	s := newSource(o.Seed)
	m := &Mine{rules: o.Rules, lasts: o.Lasts, cashed: map[place]bool{}, seals: s.sealer(),
		coins: s.stream("coins"), fails: s.stream("fails"), digs: s.stream("digs")}
	m.values = m.rules.Values(s.bestDepth())
	m.world = newWorld(&m.rules, s.stream("map"))
	m.bank = newBank(&m.rules, m.values)
	for c := range m.limits {
		m.limits[c] = newLimit(m.rules.PerSec[c])
	}
	m.stats.Begun = -1
	return m
}

// A Ticket stands for a request that is not answered yet.
type Ticket struct{ job *job }

// Ask hands in a request at a time, which is not before that of an earlier call. Reply is
// called with the answer, once: before Ask returns, or by a later Advance. It may hand in
// another request, of the time that it is.
func (m *Mine) Ask(now time.Duration, r goldrush.Request, reply func(goldrush.Answer)) Ticket {
	m.Advance(now)
	if m.stats.Begun < 0 && r.Call != goldrush.Health {
		m.stats.Begun = now
	}
	j := &job{request: r, reply: reply}
	if m.Over() {
		j.over = true
		return Ticket{j}
	}
	m.stats.InFlight[r.Call]++
	if !m.limits[r.Call].allow(now) {
		m.answer(j, goldrush.Refuse(http.StatusTooManyRequests, 0, "too many requests"))
		return Ticket{j}
	}
	switch r.Call {
	case goldrush.Health:
		m.answer(j, goldrush.Answer{Status: http.StatusOK})
	case goldrush.Balance:
		m.answer(j, goldrush.Answer{Status: http.StatusOK, Balance: m.bank.balance, Coins: m.bank.newest()})
	case goldrush.Licenses, goldrush.Issue:
		m.callOffice(j)
	case goldrush.Cash:
		if m.chance(m.rules.CashFails) {
			m.answer(j, unavailable)
			return Ticket{j}
		}
		m.compute(j)
	default:
		m.compute(j)
	}
	return Ticket{j}
}

// Leave takes back a request whose client is gone: it no longer takes of the CPU. An answer
// that was given stays.
func (m *Mine) Leave(t Ticket) {
	if t.job.over {
		return
	}
	m.cpu.leave(t.job)
	m.stats.InFlight[t.job.request.Call]--
	t.job.over = true
}

var unavailable = goldrush.Refuse(http.StatusServiceUnavailable, 0, "service unavailable")

// chance draws whether something of a share comes to pass.
func (m *Mine) chance(share float64) bool { return share > 0 && m.fails.Float64() < share }

// compute lets a request wait for the CPU.
func (m *Mine) compute(j *job) {
	if m.cpu.begin(j, int(m.rules.Cost(&j.request)/tick)) {
		m.finish(j)
		return
	}
	if p := m.rules.Patience[j.request.Call]; p > 0 {
		m.timers.after(m.now+p, func() {
			if !j.over {
				m.cpu.leave(j)
				m.answer(j, unavailable)
			}
		})
	}
}

// callOffice asks who gives licences, which takes a while and mostly fails for those who do
// not pay.
func (m *Mine) callOffice(j *job) {
	wait := m.rules.Soon
	after := func() { m.answer(j, m.office(&j.request)) }
	switch {
	case len(j.request.Coins) > 0 || !m.chance(m.rules.IssueFails):
		if spread := m.rules.Latest - m.rules.Soon; spread > 0 {
			wait += time.Duration(m.fails.Int64N(int64(spread) + 1))
		}
	case m.chance(m.rules.FailsLate):
		wait = m.rules.Late
		after = func() { m.answer(j, goldrush.Refuse(http.StatusGatewayTimeout, 0, "RPC timed out")) }
	default:
		after = func() { m.answer(j, goldrush.Refuse(http.StatusBadGateway, 0, "RPC failed")) }
	}
	if wait == 0 {
		after()
		return
	}
	m.timers.after(m.now+wait, func() {
		if !j.over {
			after()
		}
	})
}

// office lists licences, or gives one.
func (m *Mine) office(r *goldrush.Request) goldrush.Answer {
	if r.Call == goldrush.Licenses {
		return goldrush.Answer{Status: http.StatusOK, Licenses: append([]goldrush.License{}, m.licenses.active...)}
	}
	if len(m.licenses.active) >= m.rules.Active {
		return goldrush.Refuse(http.StatusConflict, goldrush.CodeLicenseLimit, "no more active licenses allowed")
	}
	if refused := m.bank.spend(r.Coins); refused != nil {
		return *refused
	}
	digs, more := goldrush.Digs(len(r.Coins))
	if more > 0 {
		digs += m.digs.IntN(more + 1)
	}
	return goldrush.Answer{Status: http.StatusOK, Licenses: []goldrush.License{m.licenses.issue(digs)}}
}

// finish answers a request that has had its share of the CPU.
func (m *Mine) finish(j *job) {
	switch j.request.Call {
	case goldrush.Explore:
		m.answer(j, m.explore(j.request.Area))
	case goldrush.Dig:
		m.answer(j, m.dig(j.request.Hole))
	default:
		m.answer(j, m.cash(j.request.Treasure))
	}
}

func (m *Mine) explore(a goldrush.Area) goldrush.Answer {
	n, refused := m.world.explore(a)
	if refused != nil {
		return *refused
	}
	return goldrush.Answer{Status: http.StatusOK, Amount: n}
}

// dig uses a licence up, whatever comes of it.
func (m *Mine) dig(h goldrush.Hole) goldrush.Answer {
	if refused := m.licenses.use(h.LicenseID); refused != nil {
		return *refused
	}
	found, refused := m.world.dig(h)
	switch {
	case refused != nil:
		return *refused
	case !found:
		return goldrush.Refuse(http.StatusNotFound, 0, "no treasure")
	}
	return goldrush.Answer{Status: http.StatusOK, Treasure: m.seals.seal(place{h.PosX, h.PosY, h.Depth})}
}

func (m *Mine) cash(text string) goldrush.Answer {
	p, ok := m.seals.open(text)
	switch {
	case !ok:
		return goldrush.Refuse(http.StatusInternalServerError, 0, "internal error")
	case m.cashed[p]:
		return goldrush.Refuse(http.StatusNotFound, 0, "no treasure")
	case m.world.holds(p):
		return goldrush.Refuse(http.StatusConflict, goldrush.CodeNotDigged, "treasure is not digged")
	}
	m.cashed[p] = true
	v := m.values[p.depth-1]
	return goldrush.Answer{Status: http.StatusOK, Coins: m.bank.earn(v - v/4 + m.coins.IntN(2*(v/4)+1))}
}

// answer ends a request.
func (m *Mine) answer(j *job, a goldrush.Answer) {
	j.over = true
	m.stats.InFlight[j.request.Call]--
	m.stats.count(j.request.Call, a.Status)
	j.reply(a)
}

// Over reports whether the game has ended, at the time of the last call.
func (m *Mine) Over() bool {
	return m.lasts > 0 && m.stats.Begun >= 0 && m.now >= m.stats.Begun+m.lasts
}

// End returns when the game will be over; ok is false where it has not begun, or goes on for ever.
func (m *Mine) End() (at time.Duration, ok bool) {
	return m.stats.Begun + m.lasts, m.lasts > 0 && m.stats.Begun >= 0
}

// Next returns when the game goes on by itself, and whether anything waits.
func (m *Mine) Next() (time.Duration, bool) {
	if m.Over() {
		return 0, false
	}
	at, ok := m.timers.next()
	if ticks, busy := m.cpu.next(); busy && (!ok || ticks <= at) {
		return ticks, true
	}
	return at, ok
}

// Advance goes on to a time, and answers what is due until then, in the order of time.
func (m *Mine) Advance(now time.Duration) {
	if end, ok := m.End(); ok {
		now = min(now, end)
	}
	for {
		at, ok := m.Next()
		if !ok || at > now {
			break
		}
		if ticks, busy := m.cpu.next(); busy && ticks <= at {
			m.now = ticks
			m.cpu.step(m.finish)
			continue
		}
		if m.cpu.live == 0 {
			m.cpu.idle(at)
		}
		m.now = at
		m.timers.take().run()
	}
	if m.cpu.live == 0 {
		m.cpu.idle(now)
	}
	m.now = now
}
