package kernel

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// A Cost is how often a program of kasoku's ran, and for how long.
type Cost struct {
	Program string
	Runs    uint64
	Time    time.Duration
}

// CountCosts has the kernel count what programs cost, until it is closed; that costs as well.
func CountCosts() (io.Closer, error) {
	c, err := ebpf.EnableStats(unix.BPF_STATS_RUN_TIME)
	if err != nil {
		return nil, fmt.Errorf("count the times of programs: %w", err)
	}
	return c, nil
}

// Costs returns what was counted for the programs of kasoku that are loaded on this host.
func Costs() (out []Cost) {
	for id, err := ebpf.ProgramGetNextID(0); err == nil; id, err = ebpf.ProgramGetNextID(id) {
		p, err := ebpf.NewProgramFromID(id)
		if err != nil {
			continue // it is gone
		}
		info, infoErr := p.Info()
		stats, statsErr := p.Stats()
		if errors.Join(infoErr, statsErr, p.Close()) == nil && strings.HasPrefix(info.Name, "kasoku_") && stats.RunCount > 0 {
			out = append(out, Cost{Program: info.Name, Runs: stats.RunCount, Time: stats.Runtime})
		}
	}
	return out
}

// MapMemory returns what the maps of this process take in the kernel, in bytes, by what it says in
// /proc/self/fdinfo.
func MapMemory() (sum uint64) {
	names, _ := filepath.Glob("/proc/self/fdinfo/*") // the pattern is a good one
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(text), "map_type:") {
			continue // it was closed, or is no map
		}
		for line := range strings.Lines(string(text)) {
			if value, ok := strings.CutPrefix(line, "memlock:"); ok {
				n, _ := strconv.ParseUint(strings.TrimSpace(value), 10, 64) // 0 where it is none
				sum += n
			}
		}
	}
	return sum
}
