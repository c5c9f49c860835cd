package bench

import (
	"testing"
	"time"

	"github.com/kasoku/kasoku/load/scenario"
)

func TestGrade(t *testing.T) {
	from := origin
	conditions := func(each time.Duration, but ...int) (all []condition) {
		for at, n := from, 0; at.Before(from.Add(day)); at, n = at.Add(each), n+1 {
			if len(but) == 0 || n < but[0] || n >= but[1] {
				all = append(all, condition{Time: at})
			}
		}
		return all
	}
	for want, all := range map[scenario.Tag][]condition{
		"good":   conditions(10 * time.Minute),
		"normal": conditions(20 * time.Minute),
		"bad":    conditions(time.Hour),
		"worst":  conditions(10*time.Minute, 12, 18), // an hour of a day is missing
	} {
		if got := grade(all, from, from.Add(day)); got != want {
			t.Errorf("%d conditions: %s, want %s", len(all), got, want)
		}
	}
	if got := grade(conditions(10 * time.Minute)[:30], from, from.Add(5*time.Hour)); got != "good" {
		t.Errorf("the hours until now: %s", got)
	}
}

func TestAcks(t *testing.T) {
	a := acks{base: 7}
	now := time.Now()
	for _, s := range []int{3, 1, 2} {
		a.add(now.Add(time.Duration(s) * time.Second))
	}
	for s, want := range []int{7, 7, 8, 9, 10} {
		if got := a.until(now.Add(time.Duration(s) * time.Second)); got != want {
			t.Errorf("until %d s: %d, want %d", s, got, want)
		}
	}
}

func TestLevel(t *testing.T) {
	for state, want := range map[string]scenario.Tag{
		"is_dirty=false,is_overweight=false": "info", "is_dirty=true,is_overweight=false": "warning",
		"is_dirty=true,is_overweight=true": "critical",
	} {
		if got := (&condition{State: state}).level(); got != want {
			t.Errorf("%s: %s, want %s", state, got, want)
		}
	}
}
