package evidence

import (
	"math"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// Queued is what is known of how requests waited for CPU.
type Queued struct {
	// Part is the part of the requests' time that need not be a wait for CPU, 0..1; 1 where nothing
	// is known.
	Part float64
	Busy float64 // of the busiest CPU that the service runs on, 0..1, by whoever used it
}

// QueuedOf returns how much of the time that the application took for its answers, took in all, can
// be anything but a wait in the line for a core: the larger one of what it can be by what the service
// used and by how busy the host was.
//
// The service's programs cannot have worked longer than the CPU time that they used. What else the
// requests' time is, beside that wait, the counters do not say; a core that is shared in turns makes
// all that happens on it longer by 1/(1−ρ), and c cores by about 1/(1−ρ^c), so that the rest of the
// time can be work, or a wait for something else, for 1−ρ^c of it.
//
// Source: Sakasegawa, "An approximation formula L_q ≃ α·ρ^β/(1−ρ)", 1977, for the line of c servers.
func QueuedOf(c *diagnose.Case, took time.Duration) Queued {
	busy, cores := busiestOf(c)
	programs, err := WholeRun(c).Processes().Members()
	if cores <= 0 || took <= 0 || err != nil {
		return Queued{Part: 1, Busy: busy}
	}
	used := 0.0
	for _, p := range programs {
		if p.Role == diagnose.Other || p.Role == diagnose.Database {
			used += p.Cores
		}
	}
	worked := used * c.Whole().Len().Seconds() / took.Seconds()
	return Queued{Part: min(max(worked, 1-math.Pow(busy, max(cores, 1))), 1), Busy: busy}
}

// busiestOf returns how busy the busiest CPU was that members of the service may use, of so many
// cores, while the focus's load ran; without a service that of the busiest host. cores is 0 where it
// was not recorded.
func busiestOf(c *diagnose.Case) (busy, cores float64) {
	take := func(used, of float64, err error) {
		if err == nil && of > 0 && (cores == 0 || used/of > busy) {
			busy, cores = min(used/of, 1), of
		}
	}
	if c.Service != nil {
		for i := range c.Service.Members {
			if m := &c.Service.Members[i]; m.Role == kasoku.RoleApplication || m.Role == kasoku.RoleDatabase {
				a, err := c.Hosts().Allowed(m)
				take(a.Busy, a.Cores, err)
			}
		}
	}
	if cores > 0 {
		return busy, cores
	}
	for _, h := range hostsOf(c) {
		take(c.Hosts().BusyOn(h))
	}
	return busy, cores
}
