package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/limit"
	"github.com/kasoku/kasoku/observe/cgroup"
)

// quotaed puts a shop into a control group with a quota of so many cores, of which it uses some. In
// step 3 it is stopped in so many of 100 periods, for so many seconds in a second over all cores, and
// requests take 100 ms.
func quotaed(group string, cores, used, stopped, stops float64) *build {
	b := ladder().cpu(0.1, used).latency(3, 100*time.Millisecond, 0).program("20 shop", used, 1e8)
	b.Service.Members[0].Cgroup = "/system.slice/shop.service"
	return b.throttled(group, cores, used, stopped, stops)
}

// throttled puts the figures of a control group.
func (b *build) throttled(group string, cores, used, stopped, stops float64) *build {
	key := func(name string) kasoku.Key {
		return kasoku.Key{Source: diagnose.Cgroup, Name: name, Instance: group}
	}
	if cores > 0 {
		b.level(key(cgroup.CPUMax), cores)
	}
	return b.counts(key(cgroup.CPUUsage), 0, 0, 10*used).counts(key(cgroup.CPUThrottled), 0, 0, 10*stopped).
		counts(key(cgroup.CPUPeriods), 0, 0, 100).counts(key(cgroup.CPUThrottledPeriods), 0, 0, stops)
}

func TestCPUQuota(t *testing.T) {
	r := limit.CPUQuota{}
	const group = "shop.service"
	f := fires(t, r, quotaed(group, 0.5, 0.48, 0.5, 95), kasoku.High, "control group shop.service")
	if f.Severity != kasoku.Problem || f.Impact.Share < 0.49 || f.Impact.Share > 0.51 ||
		f.Impact.Of != "of the time at 1,000 req/s" {
		t.Errorf("%s, impact %+v", f.Severity, f.Impact)
	}
	if want := "At 1,000 req/s it had used its part of a period up in 95 of 100 periods, and the kernel stopped all of it until the " +
		"next one, for 52.6 ms on average. Requests waited meanwhile, and 1.42 of the host's 2 cores were idle."; !strings.Contains(f.Cause, want) {
		t.Error(f.Cause)
	}
	if x := f.Fixes[0]; len(f.Fixes) != 1 || x.Code != "[Service]\nCPUQuota=150%" || x.Lang != "ini" {
		t.Errorf("%+v", f.Fixes)
	}
	// Four threads use up in a fifth of each period what would last for it.
	f = fires(t, r, quotaed(group, 1, 0.5, 1.4, 20), kasoku.High, "On average it used 0.50")
	if f.Impact.Share != 0.2 || len(f.Fixes) != 2 || !strings.Contains(f.Fixes[1].Text, "no more cores at a time") {
		t.Errorf("impact %+v, %+v", f.Impact, f.Fixes)
	}
	// The host has no CPU left either: a larger quota is no gain, and the finding a remark.
	f = fires(t, r, quotaed(group, 0.5, 0.48, 0.5, 95).cpu(0.1, 1.85), kasoku.Medium, "the host had no CPU left either")
	if f.Severity != kasoku.Info || !strings.Contains(f.Cause, "a larger quota alone gains little") {
		t.Errorf("%s %s", f.Severity, f.Cause)
	}
	// What runs above a group with the quota is that of others for the most part.
	f = fires(t, r, quotaed("system.slice", 1, 0.2, 0, 0).throttled("system.slice", 1, 0.98, 0.5, 90), kasoku.Medium,
		"Of the 0.98 cores that the group used the service used 0.20.")
	if !strings.HasPrefix(f.Fixes[0].Code, "[Slice]\nCPUQuota=") {
		t.Errorf("%+v", f.Fixes)
	}
	b := quotaed(group, 0.5, 0.48, 0.5, 95)
	b.drop(diagnose.Process, "", "").drop(diagnose.Host, "", "")
	fires(t, r, b, kasoku.Medium, "the host's CPU was not recorded")

	silent(t, r, quotaed(group, 0.5, 0.48, 0.049, 95), 0.97, 0.99, "stopped it in 4.9 % of the time; the threshold is 5.0 %")
	silent(t, r, quotaed(group, 0.5, 0.48, 0.5, 4.5), 0.89, 0.91, "stopped it in 4.5 % of the time")
	silent(t, r, quotaed(group, 2, 0.48, 0, 0), 0, 0, "stopped it in 0 % of the time")
	silent(t, r, quotaed(group, 0, 0.48, 0, 0), 0, 0, "no control group of the service has a CPU quota")
	// Something beside what answers is stopped: no request waited as long as a halt is.
	silent(t, r, quotaed(group, 0.5, 0.48, 0.5, 95).latency(3, 10*time.Millisecond, 0), 0.5, 0.5,
		"requests did not wait for that: 75.0 % of them took less than")
	// What was stopped before the load.
	b = quotaed(group, 0.5, 0.1, 0, 0)
	b.counts(kasoku.Key{Source: diagnose.Cgroup, Name: cgroup.CPUThrottled, Instance: group}, 5, 5, 0)
	silent(t, r, b, 0, 0, "stopped it in 0 % of the time")
}

// TestCPUQuota_Neighbours: what stops a neighbour's group is not read, by whatever name.
func TestCPUQuota_Neighbours(t *testing.T) {
	r := limit.CPUQuota{}
	for _, theirs := range []string{"blog.service", "shop.service.d", "evil-shop.service", "/user.slice/shop.service", "xshop.service", "shop"} {
		blind(t, r, quotaed(theirs, 0.5, 0.48, 0.5, 95), "no control group of a member")
		silent(t, r, quotaed(theirs, 0.5, 0.48, 0.5, 95).throttled("shop.service", 0, 0.3, 0, 0), 0, 0, "has a CPU quota")
	}
	// The stranger's group was seen first, and so has the short name.
	silent(t, r, quotaed("shop.service", 0.5, 0.48, 0.5, 95).throttled("/system.slice/shop.service", 0, 0.3, 0, 0), 0, 0,
		"has a CPU quota")
	b := quotaed("docker-0123456789ab.scope", 0.5, 0.48, 0.5, 95)
	b.Service.Members[0].Cgroup = "/system.slice/docker-0123456789ab" + strings.Repeat("c", 52) + ".scope"
	b.Service.Members[0].Container = "0123456789ab"
	fires(t, r, b, kasoku.High, "docker-0123456789ab.scope")
	silent(t, r, b.throttled(b.Service.Members[0].Cgroup, 0, 0.3, 0, 0), 0, 0, "has a CPU quota")
	for _, theirs := range []string{"x-docker-0123456789ab.scope", "docker-0123456789ab.scope.d", "0123456789ab",
		"/user.slice/docker-0123456789ab" + strings.Repeat("c", 52) + ".scope"} {
		b := quotaed(theirs, 0.5, 0.48, 0.5, 95)
		b.Service.Members[0].Cgroup = "/system.slice/docker-0123456789ab" + strings.Repeat("c", 52) + ".scope"
		b.Service.Members[0].Container = "0123456789ab"
		blind(t, r, b, "no control group of a member")
	}
	b = quotaed("shop.service", 0.5, 0.48, 0.5, 95)
	b.Service = nil
	blind(t, r, b, "which processes are the service's is not known")
	b = quotaed("shop.service", 0.5, 0.48, 0.5, 95)
	b.Service.Members[0].Sure = kasoku.Low
	blind(t, r, b, "no control group of a member")
	b = quotaed("shop.service", 0.5, 0.48, 0.5, 95)
	b.Service.Members[0].Host = "another"
	blind(t, r, b, "no control group of a member")
	b = quotaed("shop.service", 0.5, 0.48, 0.5, 95).drop(diagnose.Cgroup, cgroup.CPUPeriods, "shop.service")
	blind(t, r, b, "cpu.periods was not recorded")
}

// TestCPUQuota_Fixes: the quota is raised where it was set.
func TestCPUQuota_Fixes(t *testing.T) {
	const id = "0123456789ab"
	whole := id + strings.Repeat("c", 52)
	for _, x := range []struct{ path, container, group, code, where string }{
		{"/system.slice/docker-" + whole + ".scope", id, "docker-" + id + ".scope", "docker update --cpus 1.5 " + id, "shell"},
		{"/docker/" + whole, id, id, "docker update --cpus 1.5 " + id, "shell"},
		{"/machine.slice/libpod-" + whole + ".scope", id, "libpod-" + id + ".scope", "podman update --cpus 1.5 " + id, "shell"},
		{"/kubepods.slice/kubepods-burstable.slice/cri-containerd-" + whole + ".scope", id, "cri-containerd-" + id + ".scope",
			"resources:\n  limits:\n    cpu: 1500m", "manifest"},
		{"/kubepods.slice/kubepods-burstable.slice/cri-containerd-" + whole + ".scope", id, "kubepods-burstable.slice",
			"resources:\n  limits:\n    cpu: 1500m", "manifest"},
		{"/system.slice/docker-" + whole + ".scope", id, "system.slice", "[Slice]\nCPUQuota=150%", "slice"},
		{"/", "", "/", "", "where the quota was set"},
		{"/shop", "", "shop", "", "where the quota was set"},
	} {
		b := quotaed(x.group, 0.5, 0.48, 0.5, 95)
		b.Service.Members[0].Cgroup, b.Service.Members[0].Container, b.Service.Members[0].Unit = x.path, x.container, ""
		f := fires(t, limit.CPUQuota{}, b, kasoku.High, "control group "+x.group)
		if len(f.Fixes) == 0 || f.Fixes[0].Code != x.code || !strings.Contains(f.Fixes[0].Where, x.where) ||
			!strings.Contains(f.Fixes[0].Text, "1.5 cores or more") {
			t.Errorf("%s: %+v", x.path, f.Fixes)
		}
	}
	// No more than the host has.
	f := fires(t, limit.CPUQuota{}, quotaed("shop.service", 1.9, 1.5, 1, 95).cpu(0.05, 1.5), kasoku.High, "shop.service")
	if f.Fixes[0].Code != "[Service]\nCPUQuota=200%" {
		t.Errorf("%+v", f.Fixes)
	}
}

// TestCPUQuota_Version2: the files of version 2, as the kernel writes them, give the finding too.
func TestCPUQuota_Version2(t *testing.T) {
	root := t.TempDir()
	put := func(path, text string) {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const dir = "/sys/fs/cgroup/system.slice/shop.service"
	put("/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n")
	put("/proc/20/cgroup", "0::/system.slice/shop.service\n")
	put(dir+"/cpu.max", "50000 100000\n")
	b := ladder().cpu(0.1, 0.48).latency(3, 100*time.Millisecond, 0).program("20 shop", 0.48, 1e8)
	series := map[kasoku.Key]*kasoku.Series{}
	src := cgroup.New(cgroup.Options{Proc: root + "/proc", Root: root, PIDs: func(dst []int) []int { return append(dst, 20) }})
	t.Cleanup(func() { _ = src.Close() })
	for s := 0; s <= 42; s++ {
		n := min(max(s-29, 0), 10) // of step 3
		text := fmt.Sprintf("usage_usec %d\nuser_usec %d\nsystem_usec %d\nnr_periods %d\nnr_throttled %d\nthrottled_usec %d\nnr_bursts 0\nburst_usec 0\n",
			9_000_000+490_000*n, 6_000_000+390_000*n, 3_000_000+100_000*n, 40+10*n, 3+10*n, 100_000+500_000*n)
		if put(dir+"/cpu.stat", text); s == 0 {
			continue
		}
		var f kasoku.Frame
		if err := src.Collect(t.Context(), &f); err != nil {
			t.Fatal(err)
		}
		for _, x := range f.Samples {
			k := kasoku.Key{Host: "h", Source: diagnose.Cgroup, Name: x.Name, Instance: x.Instance}
			if series[k] == nil {
				series[k] = &kasoku.Series{Key: k, Kind: x.Kind, Unit: x.Unit}
			}
			series[k].Points = append(series[k].Points, kasoku.Point{At: time.Duration(s) * time.Second, Value: x.Value})
		}
	}
	for _, s := range series {
		b.Series = append(b.Series, *s)
	}
	f := fires(t, limit.CPUQuota{}, b, kasoku.High, "in 100 of 100 periods")
	if f.Impact.Share < 0.49 || f.Impact.Share > 0.51 {
		t.Errorf("impact %+v", f.Impact)
	}
}
