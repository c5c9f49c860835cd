package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/procstat"
)

// clockTick is the unit of CPU times in /proc/PID/stat.
const clockTick = time.Second / procstat.UserHz

// cpuOf returns the CPU time of a process.
func cpuOf(pid int) (time.Duration, error) {
	st, err := procstat.Read(pid)
	return time.Duration(st.CPU()) * clockTick, err
}

// splitCores returns a core for servers and one for generators, and moves this process
// to that of the servers: it must not disturb a generator.
func splitCores() (server, client string, err error) {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return "", "", fmt.Errorf("cores: %w", err)
	}
	if allowed.Count() < 2 {
		return "", "", errors.New("two cores are needed: one for the server, one for the generator")
	}
	var both []int
	for i := 0; len(both) < 2; i++ {
		if allowed.IsSet(i) {
			both = append(both, i)
		}
	}
	allowed.Zero()
	allowed.Set(both[0])
	threads, err := os.ReadDir("/proc/self/task")
	for _, t := range threads {
		if id, e := strconv.Atoi(t.Name()); e == nil {
			err = errors.Join(err, unix.SchedSetaffinity(id, &allowed))
		}
	}
	if err != nil {
		return "", "", fmt.Errorf("move to core %d: %w", both[0], err)
	}
	return strconv.Itoa(both[0]), strconv.Itoa(both[1]), nil
}

// loadAverage returns that of the last minute.
func loadAverage() (float64, error) {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(b), " ")
	return strconv.ParseFloat(first, 64)
}

// memory is that of one process over time, in bytes.
type memory struct {
	readings []float64 // resident, each memoryEvery
	peak     float64
}

const memoryEvery = 250 * time.Millisecond

// watchMemory reads the memory of a process until done is closed: of the
// `kasoku attack` below it, or of itself when there is none.
func watchMemory(pid int, done <-chan struct{}) (m memory) {
	tick := time.NewTicker(memoryEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return m
		case <-tick.C:
		}
		rss, peak, err := command.Memory(attackBelow(pid))
		if err == nil { // it has not ended
			m.readings = append(m.readings, float64(rss))
			m.peak = max(m.peak, float64(peak))
		}
	}
}

// attackBelow returns the child that is a `kasoku attack`, else the process itself.
func attackBelow(pid int) int {
	for _, child := range command.Children(pid) {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child)) // it has ended: it is not the one
		if slices.Contains(strings.Split(string(b), "\x00"), "attack") {
			return child
		}
	}
	return pid
}
