// Package quota holds groups of processes to a share of the CPU, as if each group were a host of its own, or to so many
// writes of a disk a second, as if the disk were slow.
//
// The one idea: a [Group] is a cgroup with a limit; what is put into it, and all that this starts, shares the
// limit. It takes root.
package quota

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Where cgroups are mounted: cgroup-v1/cgroups.rst and cgroup-v2.rst of the kernel's
// Documentation/admin-guide.
const (
	cgroupRoot  = "/sys/fs/cgroup"
	period      = 100 * time.Millisecond
	removeLimit = 10 * time.Second
)

// A Group is a cgroup in the hierarchies that limit and account for CPU: two of version
// 1 (cpu, cpuacct), which may be one directory, or one of version 2. Its account has what
// every process in it ever used, and is so what other ways to count are held to.
type Group struct {
	unified bool
	dirs    []string // where a member is written into cgroup.procs
}

// New makes an empty group.
func New(name string) (*Group, error) {
	g := &Group{}
	parents := []string{filepath.Join(cgroupRoot, "cpu"), filepath.Join(cgroupRoot, "cpuacct")}
	if _, err := os.Stat(filepath.Join(parents[0], "cgroup.procs")); err != nil {
		g.unified, parents = true, []string{cgroupRoot}
		// The root hands its controllers down when it is asked to; where it has, that is no error.
		if err := os.WriteFile(filepath.Join(cgroupRoot, "cgroup.subtree_control"), []byte("+cpu"), 0o644); err != nil {
			return nil, fmt.Errorf("quota: a cgroup with a limit of CPU: %w", err)
		}
	}
	for _, parent := range parents {
		dir := filepath.Join(parent, "kasoku-"+name)
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) { // cpu and cpuacct may be one
			return nil, fmt.Errorf("quota: a cgroup: %w", errors.Join(err, g.Remove()))
		}
		g.dirs = append(g.dirs, dir)
	}
	return g, nil
}

// Limit holds the group to so many cores; 0: to none.
func (g *Group) Limit(cores float64) error {
	name, none, text := "cpu.cfs_quota_us", "-1", strconv.Itoa(int(cores*float64(period.Microseconds())))
	if g.unified {
		name, none = "cpu.max", "max"
		text += " " + strconv.Itoa(int(period.Microseconds()))
	}
	if cores == 0 {
		text = none
	}
	if err := os.WriteFile(filepath.Join(g.dirs[0], name), []byte(text), 0o644); err != nil {
		return fmt.Errorf("quota: limit: %w", err)
	}
	return nil
}

// Used returns the CPU time of all that was ever in the group.
func (g *Group) Used() (time.Duration, error) {
	last := g.dirs[len(g.dirs)-1]
	if !g.unified {
		text, err := os.ReadFile(filepath.Join(last, "cpuacct.usage"))
		if err != nil {
			return 0, err
		}
		ns, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		return time.Duration(ns), err
	}
	text, err := os.ReadFile(filepath.Join(last, "cpu.stat"))
	if err != nil {
		return 0, err
	}
	for _, line := range strings.Split(string(text), "\n") {
		if value, ok := strings.CutPrefix(line, "usage_usec "); ok {
			us, err := strconv.ParseInt(value, 10, 64)
			return time.Duration(us) * time.Microsecond, err
		}
	}
	return 0, fmt.Errorf("%s has no usage_usec", last)
}

// Take moves a process and all that it has started into the group; what they start from
// now on is in it. What they used before stays with the groups that they were in.
func (g *Group) Take(pid int) error {
	for _, dir := range g.dirs {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o644); err != nil {
			return fmt.Errorf("quota: into the group: %w", err)
		}
	}
	tasks, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	if err != nil {
		return err
	}
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue // a thread that has ended
		}
		for _, field := range strings.Fields(string(text)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				return err
			}
			if err := g.Take(child); err != nil && syscall.Kill(child, 0) == nil {
				return err
			}
		}
	}
	return nil
}

// Dirs returns the directories of the group, for [Enter] in another process.
func (g *Group) Dirs() []string { return g.dirs }

// Enter puts the calling process into the group with these directories.
func Enter(dirs []string) error {
	for _, dir := range dirs {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte("0"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Remove kills what is still in the group, and removes it.
func (g *Group) Remove() error {
	var errs []error
	for _, dir := range g.dirs {
		end := time.Now().Add(removeLimit)
		for {
			err := os.Remove(dir)
			if err == nil || errors.Is(err, os.ErrNotExist) {
				break
			}
			if time.Now().After(end) {
				errs = append(errs, err)
				break
			}
			Kill(dir)
			<-time.After(20 * time.Millisecond) // what is killed takes a moment to be gone, and nothing reports it
		}
	}
	return errors.Join(errs...)
}

// members lists the processes of a control group.
func members(dir string) []int {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return nil
	}
	var pids []int
	for _, field := range strings.Fields(string(text)) {
		if pid, err := strconv.Atoi(field); err == nil && pid > 1 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killMember kills a process of a control group. Its number may be another's since it was listed, so it is held
// first, and is to be in the group then.
//
// Source: pidfd_open(2).
func killMember(dir string, pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return // it is gone
	}
	defer func() { _ = unix.Close(fd) }() // only held
	if slices.Contains(members(dir), pid) {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) // it may be gone
	}
}

// Kill kills the processes that the control group of a directory has now, and returns how many it had. Those
// that they start meanwhile are left.
func Kill(dir string) (found int) {
	pids := members(dir)
	for _, pid := range pids {
		killMember(dir, pid)
	}
	return len(pids)
}
