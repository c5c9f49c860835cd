// Package outside makes profiles of the members of a service that were taken from outside, by
// the kernel, and keeps them as runs keep those that programs give of themselves.
//
// The one idea: a member is one program with all of its processes. What its processes, and
// those that they started, did is added up under its name, so that two runs can be compared
// although every process is another.
package outside

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/profile"
	"github.com/kasoku/kasoku/trace/stacks"
)

// A Group is the processes whose samples are added up.
type Group struct {
	Name string // of the program, for people
	PIDs []int
}

// Members returns the processes of a service that live, by member.
func Members(s *kasoku.Service) (out []Group) {
	for i := range s.Members {
		m := &s.Members[i]
		g := Group{Name: cmp.Or(m.Program, string(m.Role))}
		for _, p := range m.Processes {
			if p.Ended == 0 && p.PID > 0 {
				g.PIDs = append(g.PIDs, p.PID)
			}
		}
		if len(g.PIDs) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// Profiles returns what groups of processes did, in the form that runs keep: CPU time and
// waits of each. from is when it began on the clock of the run.
func Profiles(p *stacks.Profile, groups []Group, host string, from time.Duration) (out []kasoku.Profile, warnings []kasoku.Warning) {
	for _, g := range groups {
		pids := withStarted(p, g.PIDs)
		program := programOf(p, g)
		for _, kind := range []kasoku.ProfileKind{kasoku.ProfileCPU, kasoku.ProfileWaiting} {
			waits := kind == kasoku.ProfileWaiting
			samples := stacks.Of(p.CPU, pids)
			if waits {
				samples = stacks.Of(p.Waits, pids)
			}
			if len(samples) == 0 {
				continue
			}
			made, err := profile.Outside(kind, p.Encode(samples, waits, program))
			if err != nil {
				warnings = append(warnings, kasoku.Warning{Code: "profile", Text: fmt.Sprintf("no %s of %s: %v", profile.Title(kind), g.Name, err)})
				continue
			}
			made.Host, made.Program, made.Address = host, g.Name, Address(g.PIDs)
			made.Interval = kasoku.Interval{From: from, To: from + p.Length}
			out = append(out, made)
		}
	}
	return out, warnings
}

// pidPrefix begins the address of a profile that was taken from outside.
const pidPrefix = "pid "

// mostNamed is how many processes an address names.
const mostNamed = 3

// Address says of which processes a profile is.
func Address(pids []int) string {
	var words []string
	for _, pid := range pids[:min(len(pids), mostNamed)] {
		words = append(words, strconv.Itoa(pid))
	}
	s := pidPrefix + strings.Join(words, ", ")
	if n := len(pids) - mostNamed; n > 0 {
		s += " and " + strconv.Itoa(n) + " more"
	}
	return s
}

// withStarted returns processes and those that they started meanwhile.
func withStarted(p *stacks.Profile, pids []int) []int {
	out := slices.Clone(pids)
	for i := range p.Processes {
		if x := &p.Processes[i]; slices.Contains(pids, x.Root) && !slices.Contains(out, x.PID) {
			out = append(out, x.PID)
		}
	}
	return out
}

// programOf returns the path of a group's program, its name where that is hidden.
func programOf(p *stacks.Profile, g Group) string {
	for i := range p.Processes {
		if x := &p.Processes[i]; slices.Contains(g.PIDs, x.PID) && path.IsAbs(x.Program) {
			return x.Program
		}
	}
	return g.Name
}
