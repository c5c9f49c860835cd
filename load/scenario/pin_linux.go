package scenario

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// pinToCPUs puts all threads of this process on the cores, and lets the runtime use as many
// at once. A thread is born on the cores of the one that makes it, so threads are
// looked for until there is none that was not put there.
//
// Source: sched_setaffinity(2), which knows threads only.
func pinToCPUs(cpus []int) (back func(), err error) {
	var before, want unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return nil, fmt.Errorf("ask for the cores of the process: %w", err)
	}
	for _, cpu := range cpus {
		want.Set(cpu)
	}
	if err := setAffinity(&want); err != nil {
		return nil, errors.Join(err, setAffinity(&before))
	}
	procs := runtime.GOMAXPROCS(want.Count())
	return func() {
		_ = setAffinity(&before) // it was so before
		runtime.GOMAXPROCS(procs)
	}, nil
}

func setAffinity(set *unix.CPUSet) error {
	done := map[int]bool{}
	for more := true; more; {
		more = false
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return fmt.Errorf("list threads: %w", err)
		}
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil || done[id] {
				continue
			}
			if err := unix.SchedSetaffinity(id, set); err != nil && !errors.Is(err, unix.ESRCH) { // ESRCH: it has ended
				return fmt.Errorf("put thread %d on cores: %w", id, err)
			}
			done[id], more = true, true
		}
	}
	return nil
}

// checkCPUs reports cores that this process may not use.
func checkCPUs(cpus []int) error {
	var may unix.CPUSet
	if err := unix.SchedGetaffinity(0, &may); err != nil {
		return fmt.Errorf("ask for the cores of the process: %w", err)
	}
	for _, cpu := range cpus {
		if cpu < 0 || !may.IsSet(cpu) {
			return fmt.Errorf("bad core %d: this process may not use it", cpu)
		}
	}
	return nil
}
