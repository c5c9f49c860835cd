package main

import (
	"context"
	"math"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/neighbours"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/observe/cgroup"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/sandbox/quota"
)

// The most that the CPU of members may differ from the account of the kernel.
const accountWithin = 0.03

// TestMemberCPU: beside neighbours, what is added up for the members of a service is what
// the kernel has in the account of the cgroup in which they alone run, though their page
// starts programs and their workers end after ten requests; from the first tick on, however
// late it is known who the members are.
func TestMemberCPU(t *testing.T) {
	turn.Wait(t)
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("makes cgroups: root alone, not in short mode")
	}
	bed, err := neighbours.Start(t.Context(), neighbours.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bed.Stop(); err != nil {
			t.Error(err)
		}
	})
	shop, group := groupedProject(t)
	s, err := process.New(process.Options{PIDs: []int{os.Getpid()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	leaders := []int{shop.DB.Pid(), shop.PHP.Pid(), shop.Web.Pid()}
	sum := func() (cpu float64) {
		f := kasoku.Frame{}
		if err := s.Collect(t.Context(), &f); err != nil {
			t.Fatal(err)
		}
		for _, x := range f.Samples {
			if x.Name == process.TreeCPU {
				cpu += x.Value
			}
		}
		return cpu
	}
	sum()
	before := accountOf(t, group)
	stop := askedBy(t, shop, 3)
	second := time.NewTicker(time.Second)
	defer second.Stop()
	used := 0.0
	// The kernel rounds each process to 10 ms: on a busy host ten seconds are too little work.
	for tick := 0; tick < 10 || used < 3 && tick < 60; tick++ {
		<-second.C
		if tick == 2 {
			for _, pid := range leaders {
				s.AddTree(pid)
			}
		}
		sum()
		used = accountOf(t, group) - before
	}
	stop()
	counted := sum()
	used = accountOf(t, group) - before
	t.Logf("counted %.3f s, the kernel's account %.3f s: %+.2f %%", counted, used, 100*(counted/used-1))
	if used < 1 || math.Abs(counted-used) > accountWithin*used {
		t.Errorf("the members used %.3f s by what was counted, %.3f s by the kernel's account", counted, used)
	}
}

// groupedProject starts a project with a page that starts programs, in a cgroup of its own.
func groupedProject(t *testing.T) (*neighbours.Project, *quota.Group) {
	t.Helper()
	shop, err := neighbours.StartForking(t.Context(), t.TempDir(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(shop.Stop)
	group, err := quota.New("members-" + strconv.Itoa(os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := group.Remove(); err != nil {
			t.Error(err)
		}
	})
	for _, pid := range []int{shop.DB.Pid(), shop.PHP.Pid(), shop.Web.Pid()} {
		if err := group.Take(pid); err != nil {
			t.Fatal(err)
		}
	}
	return shop, group
}

// sameAccount fails where the CPU of members in a run is not what the control group has
// that they alone are in, between the first tick that has both and the last.
func sameAccount(t *testing.T, rec *kasoku.Recording) {
	t.Helper()
	usage := rec.FindAll(cgroup.Name, cgroup.CPUUsage)
	trees := process.MemberTrees(rec)
	if len(usage) != 1 || len(trees) != len(rec.Service.Members) {
		t.Fatalf("%d control groups and %d trees of %d members", len(usage), len(trees), len(rec.Service.Members))
	}
	from := usage[0].Points[0].At
	for i := range trees {
		from = max(from, trees[i].Series.Points[1].At) // the first is the beginning of all
	}
	account, counted := grownSince(usage[0], from), 0.0
	for i := range trees {
		counted += grownSince(&trees[i].Series, from)
	}
	t.Logf("counted %.3f s, the kernel's account %.3f s: %+.2f %%", counted, account, 100*(counted/account-1))
	if account < 1 || math.Abs(counted-account) > accountWithin*account {
		t.Errorf("the members used %.3f s by what was counted, %.3f s by the kernel's account", counted, account)
	}
}

// grownSince returns how much a counter grew from the tick at a time to its last one.
func grownSince(s *kasoku.Series, at time.Duration) float64 {
	const sameTick = 500 * time.Millisecond
	i := slices.IndexFunc(s.Points, func(p kasoku.Point) bool { return p.At > at-sameTick })
	return s.Points[len(s.Points)-1].Value - s.Points[i].Value
}

// accountOf returns what a cgroup has used, in s.
func accountOf(t *testing.T, g *quota.Group) float64 {
	t.Helper()
	used, err := g.Used()
	if err != nil {
		t.Fatal(err)
	}
	return used.Seconds()
}

// askedBy has some clients ask for a project's page until it is stopped; what is asked by
// then is answered.
func askedBy(t *testing.T, p *neighbours.Project, clients int) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() {
			for i := n; ctx.Err() == nil; i += clients {
				if err := p.Ask(t.Context(), i); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	return func() { cancel(); all.Wait() }
}
