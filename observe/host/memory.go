package host

import (
	"bytes"
	"errors"
	"fmt"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/procfile"
)

// kiB is the unit of /proc/meminfo, which writes it as "kB".
const kiB = 1024

// A swap is the size of the swap space and its free part, in bytes.
type swap struct{ total, free uint64 }

// collectMemory takes the gauges of /proc/meminfo.
//
// Kernel: Documentation/filesystems/proc.rst, meminfo. MemAvailable is the
// kernel's estimate of what could be had without swapping (since 3.14); Cached
// is the page cache, in which shared memory is contained.
func (s *Source) collectMemory(text []byte, f *kasoku.Frame) error {
	s.swap = swap{}
	before := len(f.Samples)
	err := parsePairs(text, func(name, value []byte) error {
		series, swapped := memoryName(name, &s.swap)
		if series == "" && swapped == nil {
			return nil
		}
		n, ok := procfile.Uint(value)
		if !ok {
			return fmt.Errorf("bad %s %q", name, value)
		}
		if swapped != nil {
			*swapped = n * kiB
			return nil
		}
		f.Gauge(series, "", "bytes", float64(n)*kiB)
		return nil
	})
	if err != nil {
		return err
	}
	if len(f.Samples) == before {
		return errors.New("no known line")
	}
	if s.swap.total >= s.swap.free {
		f.Gauge(MemSwapUsed, "", "bytes", float64(s.swap.total-s.swap.free))
		f.Gauge(MemSwapTotal, "", "bytes", float64(s.swap.total))
	}
	return nil
}

// memoryName returns the series that a line of /proc/meminfo is for, or the
// field of the swap space that it sets, or nothing.
func memoryName(name []byte, sw *swap) (series string, swapped *uint64) {
	switch string(name) {
	case "MemTotal:":
		return MemTotal, nil
	case "MemFree:":
		return MemFree, nil
	case "MemAvailable:":
		return MemAvailable, nil
	case "Cached:":
		return MemCached, nil
	case "Buffers:":
		return MemBuffers, nil
	case "AnonPages:":
		return MemAnon, nil
	case "Shmem:":
		return MemShmem, nil
	case "Slab:":
		return MemSlab, nil
	case "Dirty:":
		return MemDirty, nil
	case "Writeback:":
		return MemWriteback, nil
	case "SwapTotal:":
		return "", &sw.total
	case "SwapFree:":
		return "", &sw.free
	}
	return "", nil
}

// vmSums are counters of /proc/vmstat that are one series together.
type vmSums struct {
	stalls, scanned uint64
	hasStalls       bool
	hasScanned      bool
}

// collectVM takes the counters of /proc/vmstat that show trouble: faults, and
// those that had to wait for a disk; pages swapped in and out; pages looked at to
// find some to free, and those that a process in need had to look at itself; file
// pages that were thrown out and read again; processes killed for want of memory
// (since 4.13); and how often a process had to free memory itself before it got
// some, over all zones.
//
// Kernel: include/linux/vm_event_item.h.
func (s *Source) collectVM(text []byte, f *kasoku.Frame) error {
	var sums vmSums
	err := parsePairs(text, func(name, value []byte) error {
		series, to := vmName(name, &sums)
		if series == "" && to == nil {
			return nil
		}
		n, ok := procfile.Uint(value)
		if !ok {
			return fmt.Errorf("bad %s %q", name, value)
		}
		if to != nil {
			*to += n
		}
		if series != "" {
			f.Counter(series, "", "count", float64(n))
		}
		return nil
	})
	if err == nil && sums.hasStalls {
		f.Counter(VMAllocStalls, "", "count", float64(sums.stalls))
	}
	if err == nil && sums.hasScanned {
		f.Counter(VMPagesScanned, "", "count", float64(sums.scanned))
	}
	return err
}

// vmName returns the series that a line of /proc/vmstat is, and the sum that it is
// part of.
func vmName(name []byte, sums *vmSums) (series string, to *uint64) {
	switch string(name) {
	case "pgfault":
		return VMPageFaults, nil
	case "pgmajfault":
		return VMMajorPageFaults, nil
	case "pswpin":
		return VMSwapIn, nil
	case "pswpout":
		return VMSwapOut, nil
	case "oom_kill":
		return VMOOMKill, nil
	case "workingset_refault_file":
		return VMRefaultFile, nil
	case "pgscan_direct":
		sums.hasScanned = true
		return VMPagesScannedDirect, &sums.scanned
	case "pgscan_kswapd", "pgscan_khugepaged":
		sums.hasScanned = true
		return "", &sums.scanned
	}
	if bytes.HasPrefix(name, []byte("allocstall_")) {
		sums.hasStalls = true
		return "", &sums.stalls
	}
	return "", nil
}

// parsePairs calls each with the first two words of every line that is not
// blank, and stops at the first error.
func parsePairs(text []byte, each func(name, value []byte) error) error {
	for {
		line, rest, ok := procfile.Line(text)
		if !ok {
			return nil
		}
		text = rest
		name, line := procfile.Word(line)
		if len(name) == 0 {
			continue
		}
		value, _ := procfile.Word(line)
		if err := each(name, value); err != nil {
			return err
		}
	}
}
