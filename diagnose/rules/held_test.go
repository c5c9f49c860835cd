package rules

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/host"
)

// eightCores puts step 3 on a host of eight cores, of which all else than the service use so
// many; used are the busy parts of its cores, by number.
func (b *build) eightCores(busy float64, used map[int]float64) *build {
	b.Run.Hosts[0].Cores = 8
	b.counts(kasoku.Key{Source: diagnose.Host, Name: "cpu.user"}, 0, 0, 10*busy)
	b.counts(kasoku.Key{Source: diagnose.Host, Name: "cpu.idle"}, 80, 80, 10*(8-busy))
	for cpu := range 8 {
		instance := "cpu" + strconv.Itoa(cpu)
		b.counts(kasoku.Key{Source: diagnose.Host, Name: "cpu.user", Instance: instance}, 0, 0, 10*used[cpu])
		b.counts(kasoku.Key{Source: diagnose.Host, Name: "cpu.idle", Instance: instance}, 10, 10, 10*(1-used[cpu]))
	}
	return b
}

// held holds the members of a role to some cores.
func (b *build) held(role kasoku.MemberRole, cpus string) *build {
	i := slices.IndexFunc(b.Service.Members, func(m kasoku.Member) bool { return m.Role == role })
	b.Service.Members[i].Limits.CPUs = cpus
	return b
}

// TestHeld: a program that taskset or a cpuset holds to one of eight cores is at its limit when
// that one is busy, and one that others keep busy is not its own.
func TestHeld(t *testing.T) {
	pinned := func(db, app float64) *build {
		return stackOn(db, app, 0.1).eightCores(db+app+0.1, map[int]float64{3: app, 5: db}).
			held(kasoku.RoleApplication, "3").held(kasoku.RoleDatabase, "5").slowed()
	}
	f := fires(t, host.AppCPU{}, pinned(0.3, 0.98), kasoku.High, "shop is held to core 3 of 8 cores, of which 98.0 % is used")
	if f.Severity != kasoku.Problem || !strings.Contains(f.Fixes[0].Text, "Let shop use more") || !strings.Contains(f.Fixes[0].Where, "taskset") ||
		strings.Contains(f.Cause, "mysqld") || strings.Contains(f.Cause, "The host is") || f.Evidence[0].Series[0].Instance != "cpu3" {
		t.Errorf("%s: %s\n%s\n%+v\n%+v", f.Severity, f.Title, f.Cause, f.Fixes, f.Evidence)
	}
	silent(t, host.AppCPU{}, pinned(0.3, 0.6), 0.8, 0.9, "what shop is held to was 60.0 % busy")
	silent(t, host.DBBound{}, pinned(0.3, 0.98), 0.4, 0.5, "what mysqld is held to was 30.0 % busy")
	fires(t, host.DBBound{}, pinned(0.95, 0.2), kasoku.High, "mysqld is held to core 5 of 8 cores, of which 95.0 % is used")
	// Each has a core of its own: they do not fight.
	blind(t, host.SharedCPU{}, pinned(0.95, 0.98), "no other process of the service was recorded beside mysqld")
	both := stackOn(0.5, 0.48, 0.1).eightCores(1.1, map[int]float64{3: 0.98}).held(kasoku.RoleApplication, "3").held(kasoku.RoleDatabase, "3").slowed()
	fires(t, host.SharedCPU{}, both, kasoku.High, "held to core 3 of 8 cores")
	silent(t, host.AppCPU{}, both, 0.7, 0.85, "of the service's CPU")
	// A neighbour keeps the core busy.
	crowded := stackOn(0.3, 0.3, 0.1).eightCores(1, map[int]float64{3: 1}).held(kasoku.RoleApplication, "3").held(kasoku.RoleDatabase, "5").slowed()
	silent(t, host.AppCPU{}, crowded, 0, 0, "programs outside of the service use")
	// All cores, or a list that is not known: the host counts.
	for _, cpus := range []string{"0-7", ""} {
		silent(t, host.AppCPU{}, stackOn(0.3, 0.98, 0.1).eightCores(1.4, nil).held(kasoku.RoleApplication, cpus), 0.2, 0.3, "the host was")
	}
	// Without the host's single cores nothing is said of one.
	silent(t, host.AppCPU{}, stackOn(0.3, 0.98, 0.1).eightCores(1.4, nil).held(kasoku.RoleApplication, "3").drop(diagnose.Host, "cpu.user", "cpu3").
		drop(diagnose.Host, "cpu.idle", "cpu3"), 0.2, 0.3, "the host was")
	if l, ok := pinned(0.3, 0.98).alone().Hosts().NearestLimit(); !ok || !strings.Contains(l.Text, "CPU of shop, which is held to core 3 of 8 cores, 98.0 % of that used") {
		t.Errorf("nearest limit %+v", l)
	}
}

// TestHeld_Quota: a quota that was seen when the member was found, and whose group was not
// recorded, is what it may use.
func TestHeld_Quota(t *testing.T) {
	b := stackOn(0.2, 0.49, 0.1).eightCores(0.8, nil).slowed()
	i := slices.IndexFunc(b.Service.Members, func(m kasoku.Member) bool { return m.Role == kasoku.RoleApplication })
	b.Service.Members[i].Limits.Cores = 0.5
	f := fires(t, host.AppCPU{}, b, kasoku.High, "shop is held to a quota of 0.50 of 8 cores, of which 98.0 % is used")
	if !strings.Contains(f.Fixes[0].Where, "CPUQuota=") || !strings.Contains(f.Cause, "shop uses 0.49 of 0.5 cores") {
		t.Errorf("%s, %+v", f.Cause, f.Fixes[0])
	}
}

// TestOneCore_Held: other cores are of use to a process that may run on them alone.
func TestOneCore_Held(t *testing.T) {
	b := func(cpus string, used map[int]float64) *build {
		return oneCore(0.97, 0.1).eightCores(1.1, used).held(kasoku.RoleApplication, cpus).latency(3, 100*time.Millisecond, 0)
	}
	r := host.OneCore{}
	silent(t, r, b("3", map[int]float64{3: 0.97}), 0, 0, "1 cores are all it may use")
	f := fires(t, r, b("2-3", map[int]float64{3: 0.97}), kasoku.High, "while 1.03 of 2 cores stood idle")
	if !strings.Contains(f.Fixes[0].Code, "workers 2") {
		t.Errorf("%+v", f.Fixes[0])
	}
	silent(t, r, b("2-3", map[int]float64{2: 0.9, 3: 0.97}), 0.2, 0.3, "of the other cores only 0.13 was left")
}
