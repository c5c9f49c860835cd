package outside

import (
	"slices"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/profile"
	"github.com/kasoku/kasoku/trace/stacks"
	"github.com/kasoku/kasoku/trace/symbols"
)

// TestProfiles: what the processes of a member did, and those that they started, is one
// profile of each kind; reasons of waits are kept apart.
func TestProfiles(t *testing.T) {
	frame := func(name, file string) []symbols.Frame { return []symbols.Frame{{Name: name, File: file}} }
	p := &stacks.Profile{Length: time.Second, Processes: []stacks.Process{
		{PID: 1, Root: 1, Program: "/usr/bin/shop"}, {PID: 2, Root: 2}, {PID: 9, Root: 2}, {PID: 3, Root: 3},
	}, CPU: []stacks.Sample{
		{PID: 1, Count: 2, Time: 20, Stack: frame("render", "/usr/bin/shop")}, {PID: 9, Count: 1, Time: 10, Stack: frame("render", "/usr/bin/shop")},
		{PID: 3, Count: 5, Time: 50, Stack: frame("other", "/usr/bin/x")},
	}, Waits: []stacks.Sample{
		{PID: 2, Count: 1, Time: 70, Stack: frame("read", "/lib/libc.so.6"), Wait: stacks.Wait{Reason: stacks.Socket, On: "mariadbd :3306"}},
		{PID: 1, Count: 1, Time: 30, Stack: frame("nap", "/usr/bin/shop"), Wait: stacks.Wait{Reason: stacks.Sleep}},
	}}
	s := &kasoku.Service{Members: []kasoku.Member{{Program: "shop", Processes: []kasoku.MemberProcess{{PID: 1}, {PID: 2}, {PID: 8, Ended: 1}}}}}
	got, warnings := Profiles(p, Members(s), "lab1", 5*time.Second)
	if len(got) != 2 || len(warnings) > 0 {
		t.Fatalf("%+v, %v", got, warnings)
	}
	cpu, waits := got[0], got[1]
	if cpu.Kind != kasoku.ProfileCPU || cpu.Total != 30 || cpu.Program != "shop" || cpu.Address != "pid 1, 2" || cpu.Host != "lab1" ||
		cpu.Interval != (kasoku.Interval{From: 5 * time.Second, To: 6 * time.Second}) {
		t.Errorf("%+v", cpu)
	}
	var reasons []string
	for _, f := range profile.Reasons(&waits) {
		reasons = append(reasons, f.Name)
	}
	if waits.Total != 100 || !slices.Equal(reasons, []string{"socket: mariadbd :3306", "sleep"}) {
		t.Errorf("%d, %q", waits.Total, reasons)
	}
	// A program that reports its CPU time itself keeps that one, and its waits from outside.
	left := WithoutTwice(append(got, kasoku.Profile{Kind: kasoku.ProfileCPU, Program: "shop", Address: "http://127.0.0.1:6060/debug/pprof/"}))
	if len(left) != 2 || left[0].Kind != kasoku.ProfileWaiting || left[1].Address == "pid 1, 2" {
		t.Errorf("%+v", left)
	}
}
