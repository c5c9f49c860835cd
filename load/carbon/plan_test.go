package carbon

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestPlan: in one interval each series of each agent is due once, and at the same phase in
// each.
func TestPlan(t *testing.T) {
	for _, o := range []Options{
		{Agents: 1, Metrics: 1}, {Agents: 3, Metrics: 10}, {Agents: 4, Metrics: 100_003},
		{Agents: 7, Metrics: 100, Names: "m.{metric}"}, {Agents: 2000, Metrics: 2001},
	} {
		o.Interval = 10 * time.Second
		if o.Names == "" {
			o.Names = "{agent}.{metric}"
		}
		p := newPlan(&o)
		seen := map[[2]int]bool{}
		for a := range o.Agents {
			for j := range p.slots {
				s, later := p.slotOf(a, j, 0), p.slotOf(a, j+p.slots, 0)
				if s.due < 0 || s.due >= o.Interval || later.due-s.due != o.Interval || later.first != s.first ||
					later.n != s.n {
					t.Fatalf("%+v: slot %+v, an interval later %+v", o, s, later)
				}
				for i := range s.n {
					key := [2]int{a, s.first + i}
					if o.Names == "m.{metric}" {
						key[0] = 0
					}
					if seen[key] {
						t.Fatalf("%+v: series %v twice", o, key)
					}
					seen[key] = true
				}
			}
		}
		if len(seen) != o.Metrics {
			t.Errorf("%+v: %d series", o, len(seen))
		}
	}
}

// TestPlan_NewShare: each interval a tenth of the series is new, and as many are gone.
func TestPlan_NewShare(t *testing.T) {
	o := Options{Agents: 2, Metrics: 200, Interval: time.Second, Names: "{agent}.{metric}", NewShare: 0.1}
	p := newPlan(&o)
	for cycle := range 5 {
		if s := p.slotOf(1, cycle*p.slots, 0); s.first != 10*cycle {
			t.Errorf("interval %d begins with series %d", cycle, s.first)
		}
	}
}

// TestPlan_Ramp: half way up the ramp half of the series are due.
func TestPlan_Ramp(t *testing.T) {
	o := Options{Agents: 100, Metrics: 300, Interval: time.Second, Ramp: 10 * time.Second, Names: "{agent}.{metric}"}
	p := newPlan(&o)
	dueIn := func(cycle int) (n int) {
		for a := range o.Agents {
			for k := range p.slots {
				n += p.slotOf(a, cycle*p.slots+k, 0).n
			}
		}
		return n
	}
	if first, half, full := dueIn(0), dueIn(5), dueIn(10); first > 45 || half < 140 || half > 190 || full != 300 {
		t.Errorf("%d, %d and %d points in the first, the sixth and the eleventh second", first, half, full)
	}
}

// TestHaggarLaunches: the first after a millisecond; each within the jitter of its turn.
func TestHaggarLaunches(t *testing.T) {
	spawn, jitter := 10*time.Second, 4*time.Second
	all := HaggarLaunches(500, spawn, jitter, rand.New(rand.NewPCG(1, 2)))
	early, late := 0, 0
	for i, at := range all {
		turn := time.Millisecond + time.Duration(i)*spawn
		switch off := at - turn; {
		case i == 0 && off != 0, off < -jitter, off >= jitter:
			t.Fatalf("agent %d at %s, its turn is %s", i, at, turn)
		case off < 0:
			early++
		case off > 0:
			late++
		}
	}
	if early < 150 || late < 150 {
		t.Errorf("%d agents early, %d late", early, late)
	}
	if all := HaggarLaunches(3, time.Second, 0, nil); all[2] != 2*time.Second+time.Millisecond {
		t.Errorf("without jitter: %v", all)
	}
}
