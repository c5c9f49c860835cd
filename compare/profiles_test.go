package compare

import (
	"math"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

func profiled(program string, seconds float64, flat map[string]float64) *kasoku.Recording {
	p := kasoku.Profile{Program: program, Kind: kasoku.ProfileCPU, Unit: "nanoseconds", Interval: kasoku.Interval{To: 10 * time.Second}, Total: int64(seconds * 1e9)}
	for name, share := range flat {
		v := int64(math.Round(share * seconds * 1e9))
		p.Functions = append(p.Functions, kasoku.ProfileFunction{Name: name, Flat: v, Cum: v})
	}
	return &kasoku.Recording{Profiles: []kasoku.Profile{p}}
}

// The runs of a side are added up, programs are matched by name, and what sampling
// alone explains is not shown.
func TestDiffProfiles(t *testing.T) {
	before := []*kasoku.Recording{profiled("shop", 4, map[string]float64{"hash": 0.5, "same": 0.31}), profiled("shop", 6, map[string]float64{"hash": 0.7, "same": 0.3})}
	after := []*kasoku.Recording{profiled("shop", 5, map[string]float64{"hash": 0.1, "same": 0.32, "new": 0.4}), profiled("cart", 5, nil)}
	got := diffProfiles(before, after)
	if len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	c := &got[0]
	if c.Program != "shop" || c.BeforeRuns != 2 || c.AfterRuns != 1 || c.Before != 10e9 || c.BeforeTime != 20*time.Second {
		t.Errorf("%+v", c)
	}
	shown := map[string]float64{}
	for _, m := range c.Functions {
		if c.Shown(m) {
			shown[m.Name] = m.BeforeFlat
		}
	}
	if len(shown) != 2 || shown["hash"] != 0.62 || shown["new"] != 0 {
		t.Errorf("shown %v of %+v", shown, c.Functions)
	}
	if got := diffProfiles(before, nil); got != nil {
		t.Errorf("%+v of one side", got)
	}
}

// A second of CPU is a hundred samples: ten points of a share are chance there, and
// are not in a hundred seconds.
func TestSampling(t *testing.T) {
	one := func(seconds float64) bool {
		c := diffProfiles([]*kasoku.Recording{profiled("shop", seconds, map[string]float64{"f": 0.5})}, []*kasoku.Recording{profiled("shop", seconds, map[string]float64{"f": 0.6})})
		return c[0].Shown(c[0].Functions[0])
	}
	if one(1) || !one(100) {
		t.Error("what is shown does not go with the number of samples")
	}
}
