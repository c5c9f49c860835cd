package mine_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
	"github.com/kasoku/kasoku/labs/goldrush/mine"
)

const ms = time.Millisecond

// A game is one that is asked in simulated time.
type game struct {
	*mine.Mine
	t   *testing.T
	now time.Duration
}

func newGame(t *testing.T, change func(*goldrush.Rules)) *game {
	t.Helper()
	r := goldrush.Published()
	if change != nil {
		change(&r)
	}
	return &game{mine.New(mine.Options{Rules: r, Seed: 42}), t, 0}
}

// ask waits for the answer, and returns how long that took.
func (g *game) ask(r goldrush.Request) (a goldrush.Answer, took time.Duration) {
	g.t.Helper()
	asked, answered := g.now, false
	g.Ask(g.now, r, func(x goldrush.Answer) { a, answered = x, true })
	for !answered {
		at, ok := g.Next()
		if !ok {
			g.t.Fatalf("%s is never answered", r.Call)
		}
		g.now = at
		g.Advance(at)
	}
	return a, g.now - asked
}

func explore(x, y, sizeX, sizeY int) goldrush.Request {
	return goldrush.Request{Call: goldrush.Explore, Area: goldrush.Area{PosX: x, PosY: y, SizeX: sizeX, SizeY: sizeY}}
}

func dig(license, x, y, depth int) goldrush.Request {
	return goldrush.Request{Call: goldrush.Dig, Hole: goldrush.Hole{LicenseID: license, PosX: x, PosY: y, Depth: depth}}
}

// sure are rules by which nothing fails at random.
func sure(r *goldrush.Rules) { r.IssueFails, r.CashFails = 0, 0 }

// TestWorld: as many treasures as were placed, as dense as published, at all depths alike,
// and an area counts as the sum of its columns.
func TestWorld(t *testing.T) {
	g := newGame(t, nil)
	s := g.Stats()
	if lost := 490_000 - s.Placed; lost < 850 || lost > 1100 {
		t.Errorf("%d places were taken twice, want about 976", lost)
	}
	a, _ := g.ask(explore(0, 0, 3500, 3500))
	if a.Status != 200 || a.Amount != s.Placed {
		t.Errorf("the world has %+v, want %d", a, s.Placed)
	}
	for _, area := range [][4]int{{1, 0, 200, 3}, {63, 7, 1, 1}, {0, 5, 64, 1}, {3400, 3499, 100, 1}, {60, 60, 9, 2}} {
		whole, _ := g.ask(explore(area[0], area[1], area[2], area[3]))
		sum := 0
		for x := area[0]; x < area[0]+area[2]; x++ {
			for y := area[1]; y < area[1]+area[3]; y++ {
				one, _ := g.ask(explore(x, y, 1, 1))
				sum += one.Amount
			}
		}
		if whole.Amount != sum {
			t.Errorf("%v: %d, its columns have %d", area, whole.Amount, sum)
		}
	}
	if got, want := g.Values(), []int{4, 9, 15, 19, 22, 24, 26, 28, 29, 30}; !slices.Equal(got, want) {
		t.Errorf("seed 42 has values %v, want %v", got, want)
	}
}

// TestSeeds: a seed is a world; without one no two are alike.
func TestSeeds(t *testing.T) {
	row := func(seed int64) (out []int) {
		g := &game{mine.New(mine.Options{Rules: goldrush.Published(), Seed: seed}), t, 0}
		for x := range 50 {
			a, _ := g.ask(explore(70*x, 0, 70, 1))
			out = append(out, a.Amount)
		}
		return out
	}
	if !slices.Equal(row(7), row(7)) {
		t.Error("a seed has two worlds")
	}
	if slices.Equal(row(7), row(8)) || slices.Equal(row(0), row(0)) {
		t.Error("two worlds are alike")
	}
}

// TestCPU: what is used of the virtual CPU is what the rules say, and one that does not rest
// has a second a second, however many share it.
func TestCPU(t *testing.T) {
	for _, clients := range []int{1, 7, 40} {
		g := newGame(t, func(r *goldrush.Rules) { sure(r); r.Patience = [goldrush.Calls]time.Duration{} })
		answered := 0
		var again func(goldrush.Answer)
		again = func(goldrush.Answer) {
			answered++
			g.Ask(g.now, explore(0, 0, 15, 1), again)
		}
		for range clients {
			g.Ask(0, explore(0, 0, 15, 1), again)
		}
		for g.now < 10*time.Second {
			g.now, _ = g.Next()
			g.Advance(g.now)
		}
		if used := g.Stats().CPU[goldrush.Explore]; used < 10*time.Second-2*ms || used > 10*time.Second+2*ms {
			t.Errorf("%d clients use %s of 10s", clients, used)
		}
		if want := 10_000 / 1.5; math.Abs(float64(answered)-want) > float64(clients+2) {
			t.Errorf("%d clients got %d answers, want %.0f", clients, answered, want)
		}
	}
}

// TestCPU_Saved: who comes after a rest has two milliseconds at once, and waits for the rest.
func TestCPU_Saved(t *testing.T) {
	g := newGame(t, sure)
	g.now = time.Second
	if _, took := g.ask(explore(0, 0, 63, 1)); took != ms {
		t.Errorf("2.5 ms after a rest took %s, want 1ms", took)
	}
	g.now += time.Second
	if _, took := g.ask(explore(0, 0, 15, 1)); took != 0 {
		t.Errorf("1.5 ms after a rest took %s, want nothing", took)
	}
}

// TestCPU_Shared: a short request beside a long one does not wait for it.
func TestCPU_Shared(t *testing.T) {
	g := newGame(t, sure)
	var order []goldrush.Call
	note := func(c goldrush.Call) func(goldrush.Answer) {
		return func(goldrush.Answer) { order = append(order, c) }
	}
	g.Ask(0, goldrush.Request{Call: goldrush.Cash, Treasure: "x"}, note(goldrush.Cash))
	g.Ask(0, explore(0, 0, 1, 1), note(goldrush.Explore))
	g.Advance(time.Second)
	if !slices.Equal(order, []goldrush.Call{goldrush.Explore, goldrush.Cash}) {
		t.Errorf("answered in the order %v", order)
	}
}

// TestPatience: who waits for the CPU too long is turned away: an exploration after one
// second, a dig after two.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		request goldrush.Request
		after   time.Duration
	}{{explore(0, 0, 3500, 3500), time.Second}, {dig(0, 0, 0, 100), 2 * time.Second}} {
		g := newGame(t, sure)
		for range 290 { // 2.9 s of work, done in turns with the request
			g.Ask(0, goldrush.Request{Call: goldrush.Cash, Treasure: "x"}, func(goldrush.Answer) {})
		}
		a, took := g.ask(c.request)
		if a.Status != 503 || took != c.after {
			t.Errorf("%s: %d after %s, want 503 after %s", c.request.Call, a.Status, took, c.after)
		}
		g.Advance(10 * time.Second)
		if s := g.Stats(); s.Queue != 0 || s.CPU[goldrush.Cash] != 2900*ms {
			t.Errorf("%d wait, and cash took %s", s.Queue, s.CPU[goldrush.Cash])
		}
	}
}

// TestLimits: so many at once, and after that so many a second.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		request goldrush.Request
		perSec  int
	}{
		{explore(0, 0, 1, 1), 1000}, {dig(0, 0, 0, 1), 1000}, {goldrush.Request{Call: goldrush.Cash}, 300},
		{goldrush.Request{Call: goldrush.Issue}, 350}, {goldrush.Request{Call: goldrush.Licenses}, 100},
		{goldrush.Request{Call: goldrush.Balance}, 100},
	} {
		g := newGame(t, nil)
		refused := 0
		count := func(a goldrush.Answer) {
			if a.Status == 429 {
				refused++
			}
		}
		for range c.perSec + 5 {
			g.Ask(0, c.request, count)
		}
		if refused != 5 {
			t.Errorf("%s: %d of %d at once are refused, want 5", c.request.Call, refused, c.perSec+5)
		}
		for range c.perSec {
			g.Ask(500*ms, c.request, count)
		}
		if want := 5 + c.perSec/2; refused != want {
			t.Errorf("%s: %d refused half a second later, want %d", c.request.Call, refused, want)
		}
	}
}

// TestOffice: licences without coins fail as often, and as late, as published; those that
// are paid do not.
func TestOffice(t *testing.T) {
	g := newGame(t, func(r *goldrush.Rules) { r.Active = math.MaxInt })
	const n = 20_000
	got := map[int]int{}
	for range n {
		a, took := g.ask(goldrush.Request{Call: goldrush.Issue})
		got[a.Status]++
		switch {
		case a.Status == 200 && (took < 10*ms || took > 100*ms),
			a.Status == 502 && (took != 10*ms || a.Error.Message != "RPC failed"),
			a.Status == 504 && (took != time.Second || a.Error.Message != "RPC timed out"):
			t.Fatalf("%+v after %s", a, took)
		}
		g.now += 10 * ms // within the limit of requests
	}
	for status, want := range map[int]float64{200: 0.40, 502: 0.54, 504: 0.06} {
		if share := float64(got[status]) / n; math.Abs(share-want) > 0.012 {
			t.Errorf("%d: %.3f, want %.2f", status, share, want)
		}
	}
	if got[429] > 0 {
		t.Errorf("%d over the limit", got[429])
	}
}

// TestLicenses: ten at a time, also for coins; used up by digs, whatever comes of them.
func TestLicenses(t *testing.T) {
	g := newGame(t, sure)
	for i := range 10 {
		a, _ := g.ask(goldrush.Request{Call: goldrush.Issue})
		if a.Status != 200 || a.Licenses[0] != (goldrush.License{ID: i, DigAllowed: 3}) {
			t.Fatalf("licence %d: %+v", i, a)
		}
	}
	if a, _ := g.ask(goldrush.Request{Call: goldrush.Issue}); a.Status != 409 || a.Error.Code != 1002 {
		t.Errorf("the eleventh: %+v", a)
	}
	if a, _ := g.ask(goldrush.Request{Call: goldrush.Issue, Coins: []goldrush.Coin{1}}); a.Status != 409 {
		t.Errorf("the eleventh, for a coin: %+v", a)
	}
	for i, want := range []struct{ depth, status, code int }{{1, 404, 404}, {5, 422, 1001}, {11, 422, 1000}, {2, 403, 403}} {
		a, _ := g.ask(dig(4, g.empty(), 0, want.depth))
		if a.Status != want.status || a.Error.Code != want.code {
			t.Errorf("dig %d: %+v, want %+v", i, a, want)
		}
	}
	a, _ := g.ask(goldrush.Request{Call: goldrush.Licenses})
	if len(a.Licenses) != 9 || g.Stats().Active != 9 {
		t.Errorf("%+v are active", a.Licenses)
	}
	if a, _ := g.ask(goldrush.Request{Call: goldrush.Issue, Coins: []goldrush.Coin{7}}); a.Status != 402 {
		t.Errorf("for a coin that was not earned: %+v", a)
	}
}

// empty is a column of row 0 without treasures, always the same.
func (g *game) empty() int {
	for x := 0; ; x++ {
		if a, _ := g.ask(explore(x, 0, 1, 1)); a.Amount == 0 {
			return x
		}
	}
}

// find digs for a treasure, and returns it with its depth.
func (g *game) find() (treasure string, depth int) {
	g.t.Helper()
	license := goldrush.License{}
	for x := 0; x < 3500; x++ {
		if a, _ := g.ask(explore(x, 9, 1, 1)); a.Amount == 0 {
			continue
		}
		for depth := 1; depth <= 10; depth++ {
			if license.DigUsed == license.DigAllowed {
				a, _ := g.ask(goldrush.Request{Call: goldrush.Issue})
				license = a.Licenses[0]
			}
			license.DigUsed++
			a, _ := g.ask(dig(license.ID, x, 9, depth))
			if a.Status == 200 {
				return a.Treasure, depth
			}
		}
	}
	g.t.Fatal("no treasure")
	return "", 0
}

// TestCash: a treasure is paid once, within a quarter of its value; the coins buy licences.
func TestCash(t *testing.T) {
	g := newGame(t, sure)
	before, _ := g.ask(explore(0, 9, 3500, 1))
	treasure, depth := g.find()
	after, _ := g.ask(explore(0, 9, 3500, 1))
	if after.Amount != before.Amount-1 {
		t.Errorf("%d treasures after %d", after.Amount, before.Amount)
	}
	g.now = g.now.Truncate(ms) + time.Second
	a, took := g.ask(goldrush.Request{Call: goldrush.Cash, Treasure: treasure})
	v := g.Values()[depth-1]
	if a.Status != 200 || len(a.Coins) < v-v/4 || len(a.Coins) > v+v/4 || took != 8*ms {
		t.Errorf("%d coins (%d) after %s for a treasure of %d", len(a.Coins), a.Status, took, v)
	}
	if b, _ := g.ask(goldrush.Request{Call: goldrush.Cash, Treasure: treasure}); b.Status != 404 {
		t.Errorf("again: %+v", b)
	}
	b, _ := g.ask(goldrush.Request{Call: goldrush.Balance})
	slices.Reverse(b.Coins)
	if b.Balance != len(a.Coins) || !slices.Equal(b.Coins, a.Coins) {
		t.Errorf("balance %+v after %v", b, a.Coins)
	}
	pay := func(coins []goldrush.Coin, status, digs int) {
		t.Helper()
		l, _ := g.ask(goldrush.Request{Call: goldrush.Issue, Coins: coins})
		if l.Status != status || status == 200 && l.Licenses[0].DigAllowed != digs {
			t.Errorf("%d coins: %+v", len(coins), l)
		}
	}
	pay(a.Coins[:1], 200, 5)
	pay(a.Coins[:1], 402, 0)
	pay([]goldrush.Coin{a.Coins[1], a.Coins[0]}, 402, 0)
	pay(a.Coins[1:2], 200, 5)
	if s := g.Stats(); s.Balance != len(a.Coins)-2 || s.Earned != int64(len(a.Coins)) || s.Spent != 2 {
		t.Errorf("%+v", s)
	}
}

// TestBalance: the thousand coins that were issued last, whichever were spent; each of them once.
func TestBalance(t *testing.T) {
	g := newGame(t, func(r *goldrush.Rules) {
		sure(r)
		r.PerSec, r.Active = [goldrush.Calls]int{}, 1<<20
	})
	var held []goldrush.Coin // as they were issued
	for n := 0; len(held) < 1300; n++ {
		treasure, _ := g.find()
		a, _ := g.ask(goldrush.Request{Call: goldrush.Cash, Treasure: treasure})
		held = append(held, a.Coins...)
		if at := len(held) * 2 / 3; n%3 == 0 {
			g.ask(goldrush.Request{Call: goldrush.Issue, Coins: held[at : at+1]})
			held = slices.Delete(held, at, at+1)
		}
		b, _ := g.ask(goldrush.Request{Call: goldrush.Balance})
		want := slices.Clone(held[max(len(held)-1000, 0):])
		slices.Reverse(want)
		if b.Balance != len(held) || !slices.Equal(b.Coins, want) {
			t.Fatalf("%d coins, the newest of %d are %v, want %v", b.Balance, len(b.Coins), b.Coins, want)
		}
	}
	for _, c := range []struct{ coins, least, most int }{{5, 5, 5}, {6, 10, 10}, {11, 20, 29}, {21, 40, 49}} {
		a, _ := g.ask(goldrush.Request{Call: goldrush.Issue, Coins: held[:c.coins]})
		if held = held[c.coins:]; a.Status != 200 || a.Licenses[0].DigAllowed < c.least || a.Licenses[0].DigAllowed > c.most {
			t.Errorf("for %d coins: %+v, want %d to %d digs", c.coins, a, c.least, c.most)
		}
	}
}

// TestLasts: what is not answered when the game is over never is, and takes no more of the CPU; the
// score is that of its last moment.
func TestLasts(t *testing.T) {
	m := mine.New(mine.Options{Rules: goldrush.Published(), Seed: 42, Lasts: 900 * ms})
	m.Ask(ms, goldrush.Request{Call: goldrush.Health}, func(goldrush.Answer) {}) // which does not begin it
	m.Advance(5 * time.Second)
	if _, ok := m.End(); ok || m.Over() {
		t.Error("it is over before it began")
	}
	answers := 0
	for range 100 { // more than a second of the CPU, done in turns
		m.Ask(5*time.Second, explore(0, 0, 3500, 3500), func(goldrush.Answer) { answers++ })
		m.Ask(5*time.Second, explore(0, 0, 1, 1), func(goldrush.Answer) { answers++ })
	}
	if end, ok := m.End(); !ok || end != 5900*ms {
		t.Errorf("it ends at %s, %t", end, ok)
	}
	m.Advance(8 * time.Second)
	before := m.Stats()
	if _, due := m.Next(); due || !m.Over() || answers != 100 || before.CPU[goldrush.Explore] > 902*ms {
		t.Errorf("over %t, %d answers, CPU %s", m.Over(), answers, before.CPU[goldrush.Explore])
	}
	late := func(goldrush.Answer) { t.Error("answered after the end") }
	m.Ask(9*time.Second, goldrush.Request{Call: goldrush.Balance}, late)
	if after := m.Stats(); after.CPU != before.CPU || after.Balance != before.Balance {
		t.Errorf("%+v after %+v", after, before)
	}
}

// TestCash_Fails: one of twenty, at once and for nothing.
func TestCash_Fails(t *testing.T) {
	g := newGame(t, nil)
	failed := 0
	const n = 4000
	for range n {
		g.now += 20 * ms
		a, took := g.ask(goldrush.Request{Call: goldrush.Cash, Treasure: "forged"})
		switch a.Status {
		case 503:
			if failed++; took != 0 {
				t.Fatalf("503 after %s", took)
			}
		case 500:
		default:
			t.Fatalf("a forged treasure: %+v", a)
		}
	}
	if share := float64(failed) / n; math.Abs(share-0.05) > 0.012 {
		t.Errorf("%.3f fail, want 0.05", share)
	}
}

// TestLeave: a client that is gone takes no more of the CPU.
func TestLeave(t *testing.T) {
	g := newGame(t, sure)
	gone := g.Ask(0, goldrush.Request{Call: goldrush.Cash, Treasure: "x"}, func(goldrush.Answer) { t.Error("answered") })
	g.Advance(3 * ms)
	g.Leave(gone)
	g.Leave(gone)
	g.Advance(time.Second)
	if s := g.Stats(); s.CPU[goldrush.Cash] != 3*ms || s.Queue != 0 || s.InFlight[goldrush.Cash] != 0 {
		t.Errorf("%+v", s)
	}
}
