package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"syscall"

	"github.com/kasoku/kasoku/internal/procstat"
	"github.com/kasoku/kasoku/observe/procfile"
)

// cpuNow reads the counters of the process and of the machine.
func cpuNow(proc, dir string) (cpuState, error) {
	text, err := os.ReadFile(dir + "/stat")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return cpuState{}, fmt.Errorf("%s: %w", filepath.Base(dir), errGone)
	}
	if err != nil {
		return cpuState{}, err
	}
	used, start, err := parsePidStat(text)
	if errors.Is(err, errZombie) {
		return cpuState{}, fmt.Errorf("%s: %w: %w", filepath.Base(dir), errGone, err)
	}
	if err != nil {
		return cpuState{}, fmt.Errorf("%s/stat: %w", dir, err)
	}
	if text, err = os.ReadFile(proc + "/stat"); err != nil {
		return cpuState{}, err
	}
	all, err := parseStat(text)
	if err != nil {
		return cpuState{}, fmt.Errorf("%s/stat: %w", proc, err)
	}
	return cpuState{CPU: used, SysCPU: all, Start: start}, nil
}

// errZombie means that a process has ended and its parent has not yet heard of it.
var errZombie = errors.New("it is a zombie")

// parsePidStat returns user and system time, in seconds, and the start, in clock ticks
// since boot. The error is errZombie for what runs no more; a process whose first thread
// alone has ended still does.
func parsePidStat(text []byte) (cpu float64, start uint64, err error) {
	_, st, err := procstat.Parse(text)
	if err == nil && st.Dead() {
		err = errZombie
	}
	if err != nil {
		return 0, 0, err
	}
	return float64(st.CPU()) / procstat.UserHz, st.Start, nil
}

// parseStat reads the time of all CPUs: user, nice, system and idle, in seconds.
func parseStat(text []byte) (float64, error) {
	line, _, _ := procfile.Line(text)
	word, numbers := procfile.Word(line)
	var f [4]uint64
	if string(word) != "cpu" || procfile.Uints(f[:], numbers) < len(f) {
		return 0, fmt.Errorf("bad first line %q", line)
	}
	sum := 0.0
	for _, n := range f {
		sum += float64(n)
	}
	return sum / procstat.UserHz, nil
}

// parseMaxFiles reads the soft limit of open files in /proc/PID/limits; it is infinite
// when there is none.
func parseMaxFiles(text []byte) (float64, error) {
	const label = "Max open files "
	for line, rest, ok := procfile.Line(text); ok; line, rest, ok = procfile.Line(rest) {
		tail, found := bytes.CutPrefix(line, []byte(label))
		if !found {
			continue
		}
		word, _ := procfile.Word(tail)
		if string(word) == "unlimited" {
			return math.Inf(1), nil
		}
		n, ok := procfile.Uint(word)
		if !ok || n == 0 {
			return 0, fmt.Errorf("bad limit of open files %q", word)
		}
		return float64(n), nil
	}
	return 0, errors.New("no limit of open files")
}

// parseMemTotal reads the memory of the machine, in bytes.
func parseMemTotal(text []byte) (float64, error) {
	for line, rest, ok := procfile.Line(text); ok; line, rest, ok = procfile.Line(rest) {
		label, tail := procfile.Word(line)
		if string(label) != "MemTotal:" {
			continue
		}
		word, _ := procfile.Word(tail)
		n, ok := procfile.Uint(word)
		if !ok || n == 0 {
			return 0, fmt.Errorf("bad MemTotal %q", word)
		}
		return float64(n) * 1024, nil
	}
	return 0, errors.New("no MemTotal")
}
