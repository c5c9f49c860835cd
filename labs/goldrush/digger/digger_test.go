package digger_test

import (
	"slices"
	"testing"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
	"github.com/kasoku/kasoku/labs/goldrush/digger"
)

const ms = time.Millisecond

// A talk is a client whose answers a test gives.
type talk struct {
	*digger.Digger
	t   *testing.T
	now time.Duration
}

func newTalk(t *testing.T, change func(*digger.Params), name string) *talk {
	t.Helper()
	v, err := digger.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&v.Params)
	}
	return &talk{digger.New(v.Params, goldrush.Published()), t, 0}
}

// all returns what is sent now, by call.
func (k *talk) all() (out [goldrush.Calls][]digger.Sent) {
	k.t.Helper()
	for n := 0; ; n++ {
		s, ok := k.Next(k.now)
		if !ok {
			return out
		}
		out[s.Request.Call] = append(out[s.Request.Call], s)
		if n > 5000 {
			k.t.Fatal("there is no end to what is sent")
		}
	}
}

// one returns the only thing that is sent now.
func (k *talk) one(want goldrush.Call) digger.Sent {
	k.t.Helper()
	all := k.all()
	n := 0
	for _, of := range all {
		n += len(of)
	}
	if n != 1 || len(all[want]) != 1 {
		k.t.Fatalf("sent %+v, want one %s", all, want)
	}
	return all[want][0]
}

func (k *talk) answer(s digger.Sent, a goldrush.Answer) {
	if a.Status == 0 {
		a.Status = 200
	}
	k.Take(k.now, &s, &a)
}

func license(id, digs int) goldrush.Answer {
	return goldrush.Answer{Licenses: []goldrush.License{{ID: id, DigAllowed: digs}}}
}

// TestReference: one request at a time, in the published order: a column is asked for, a licence when
// a dig needs one, the column is dug until its treasure is found, which is cashed at once.
func TestReference(t *testing.T) {
	k := newTalk(t, nil, "reference")
	k.answer(k.one(goldrush.Explore), goldrush.Answer{Amount: 0})
	s := k.one(goldrush.Explore)
	if s.Request.Area != (goldrush.Area{PosX: 1, SizeX: 1, SizeY: 1}) {
		t.Errorf("asked for %+v", s.Request.Area)
	}
	k.answer(s, goldrush.Answer{Amount: 1})
	k.answer(k.one(goldrush.Issue), goldrush.Refuse(502, 0, ""))
	k.answer(k.one(goldrush.Issue), license(4, 3))
	for depth := 1; depth <= 3; depth++ {
		s := k.one(goldrush.Dig)
		if want := (goldrush.Hole{LicenseID: 4, PosX: 1, Depth: depth}); s.Request.Hole != want {
			t.Errorf("dug %+v, want %+v", s.Request.Hole, want)
		}
		k.answer(s, goldrush.Refuse(404, 0, ""))
	}
	k.answer(k.one(goldrush.Issue), license(5, 3))
	k.answer(k.one(goldrush.Dig), goldrush.Answer{Treasure: "x"})
	s = k.one(goldrush.Cash)
	if s.Request.Treasure != "x" {
		t.Errorf("cashed %q", s.Request.Treasure)
	}
	k.now = 2 * time.Second
	k.answer(s, goldrush.Answer{Coins: make([]goldrush.Coin, 19)})
	k.one(goldrush.Explore)
	c := k.Counts()
	if c.Coins() != 19 || c.Found != 1 || c.All() != 10 || c.Of(404) != 3 || c.MeanInFlight(2*time.Second) != 1 {
		t.Errorf("%+v", c)
	}
}

// TestBounds: what is in flight stays within the bounds: the CPU's time, the limits of requests,
// ten licences.
func TestBounds(t *testing.T) {
	k := newTalk(t, nil, "tuned")
	r := goldrush.Published()
	asked, explored, work := 0, 0, time.Duration(0)
	for k.now < 50*ms {
		sent := k.all()
		asked += len(sent[goldrush.Issue])
		for _, s := range sent[goldrush.Explore] {
			work += r.Cost(&s.Request)
			explored++
		}
		if asked > 1+int(352*k.now.Seconds())+7 || explored > 1+int(1000*k.now.Seconds())+20 {
			t.Fatalf("%d licences and %d strips are asked for within %s", asked, explored, k.now)
		}
		at, ok := k.Wake()
		if !ok || at <= k.now {
			t.Fatalf("wakes at %s, %t, after %s", at, ok, k.now)
		}
		k.now = at
	}
	if asked != 10 || work < 30*ms || work > 33*ms {
		t.Errorf("%d licences and %s of the CPU are asked for", asked, work)
	}
	if again := len(k.all()[goldrush.Issue]); k.now != 120*ms || again == 0 {
		t.Errorf("at %s %d licences are asked for in place of those that did not come", k.now, again)
	}
}

// TestLicenses: a dig that the server did not count may be sent again, and a licence that it does
// not know is not used any more.
func TestLicenses(t *testing.T) {
	k := newTalk(t, func(p *digger.Params) { p.Licenses, p.OneByOne = 1, true }, "author")
	k.answer(k.one(goldrush.Issue), license(0, 2))
	s := k.one(goldrush.Explore)
	k.answer(s, goldrush.Answer{Amount: 1})
	for s.Request.Call == goldrush.Explore { // halves: 7 of 15, 3 of 7, 1 of 3
		if s = k.either(); s.Request.Call == goldrush.Explore {
			k.answer(s, goldrush.Answer{Amount: 1})
		}
	}
	hole := s.Request.Hole
	for _, status := range []int{503, 429} {
		k.answer(s, goldrush.Refuse(status, 0, ""))
		k.now += 50 * ms // after a 429 the call rests
		if s = k.one(goldrush.Dig); s.Request.Hole != hole {
			t.Errorf("after %d dug %+v, want %+v", status, s.Request.Hole, hole)
		}
	}
	k.answer(s, goldrush.Refuse(403, 0, ""))
	k.answer(k.one(goldrush.Issue), license(8, 5))
	if s = k.one(goldrush.Dig); s.Request.Hole.LicenseID != 8 || s.Request.Hole.Depth != 1 {
		t.Errorf("dug %+v", s.Request.Hole)
	}
}

// either returns the only thing that is sent now.
func (k *talk) either() digger.Sent {
	k.t.Helper()
	s, ok := k.Next(k.now)
	if !ok {
		k.t.Fatal("nothing is sent")
	}
	return s
}

// TestVariants: names and ids, known and not.
func TestVariants(t *testing.T) {
	var names []string
	for _, v := range digger.Variants() {
		names = append(names, v.Name)
	}
	if want := []string{"reference", "pipelined", "free", "author", "tuned"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	if _, err := digger.Named("fast"); err == nil {
		t.Error("a variant that there is not")
	}
	tuned := digger.Tuned()
	for _, d := range digger.Defects() {
		if p, err := tuned.With(d.ID); err != nil || p == tuned {
			t.Errorf("%s changes nothing: %v", d.ID, err)
		}
	}
	if _, err := tuned.With("CLI-99"); err == nil || err.Error() != `unknown defect "CLI-99": want CLI-01,CLI-02,CLI-03,CLI-04,CLI-05,CLI-06,CLI-13` {
		t.Errorf("an unknown id: %v", err)
	}
}
