package main

import (
	"errors"
	"fmt"

	"github.com/kasoku/kasoku/observe/procfile"
)

// maxCPUs bounds what is kept: the kernel's largest NR_CPUS.
const maxCPUs = 8192

// The columns of a CPU in /proc/stat; guest and guest_nice, after them, are in user
// and nice already.
const (
	user = iota
	nice
	system
	idle
	iowait
	irq
	softirq
	steal
	columns
)

// ticks are the columns of one CPU, in 1/100 s since boot. There is one of all zeros
// for a CPU that is not there.
type ticks [columns]uint64

// counters are what /proc/stat says of the CPUs.
type counters struct {
	All  ticks
	CPUs []ticks // by number
}

// parseStat reads the lines of /proc/stat that begin with cpu.
func parseStat(text []byte) (counters, error) {
	var c counters
	found := false
	for line, rest, ok := procfile.Line(text); ok; line, rest, ok = procfile.Line(rest) {
		word, numbers := procfile.Word(line)
		if len(word) < 3 || string(word[:3]) != "cpu" {
			break // they come first
		}
		var t ticks
		if procfile.Uints(t[:], numbers) < iowait {
			return counters{}, fmt.Errorf("bad line %q", line)
		}
		if len(word) == 3 {
			c.All, found = t, true
			continue
		}
		cpu, ok := procfile.Uint(word[3:])
		if !ok || cpu >= maxCPUs {
			return counters{}, fmt.Errorf("bad CPU %q", word)
		}
		for uint64(len(c.CPUs)) <= cpu {
			c.CPUs = append(c.CPUs, ticks{})
		}
		c.CPUs[cpu] = t
	}
	if !found {
		return counters{}, errors.New("no line of all CPUs")
	}
	return c, nil
}

// usage returns what part of the time since before the CPU was in use, in percent.
// ok is false when no time has passed.
//
// A column may go back a little (iowait, by proc(5)); that counts as no time.
func (t ticks) usage(before ticks) (percent float64, ok bool) {
	var d ticks
	var all uint64
	for i := range t {
		if t[i] > before[i] {
			d[i] = t[i] - before[i]
		}
		all += d[i]
	}
	if all == 0 {
		return 0, false
	}
	part := float64(d[user]+d[system]+d[iowait]+d[softirq]+d[steal]) / float64(all)
	return 100 * part, true
}

// since returns how many ticks have passed since before.
func (t ticks) since(before ticks) int64 {
	all := int64(0)
	for i := range t {
		if t[i] > before[i] {
			all += int64(t[i] - before[i])
		}
	}
	return all
}

// statReader returns a function that reads /proc/stat again and again, and one that
// ends it.
func statReader() (read func() (counters, error), end func() error, err error) {
	f, err := procfile.Open("/proc/stat")
	if err != nil {
		return nil, nil, err
	}
	var buf []byte
	read = func() (counters, error) {
		var err error
		if buf, err = f.Append(buf[:0]); err != nil {
			return counters{}, err
		}
		c, err := parseStat(buf)
		if err != nil {
			return counters{}, fmt.Errorf("/proc/stat: %w", err)
		}
		return c, nil
	}
	return read, f.Close, nil
}
