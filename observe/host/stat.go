package host

import (
	"bytes"
	"errors"
	"fmt"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/procfile"
)

// userHZ is the number of clock ticks per second in /proc/stat. It is part of
// the kernel's interface and not its timer frequency; see USER_HZ in
// include/asm-generic/param.h and sysconf(3), _SC_CLK_TCK.
const userHZ = 100

// The columns of a cpu line, in the kernel's order. Guest time is in columns 9
// and 10 and is contained in user and nice, so it is not read.
//
// Kernel: Documentation/filesystems/proc.rst, 1.7 kernel/system statistics.
const (
	cpuUser = iota
	cpuNice
	cpuSystem
	cpuIdle
	cpuIOWait
	cpuIRQ
	cpuSoftIRQ
	cpuSteal
	cpuModes
)

// cpuNames are the series' names, by column.
var cpuNames = [cpuModes]string{
	CPUUser, CPUNice, CPUSystem, CPUIdle, CPUIowait, CPUIRQ, CPUSoftIRQ, CPUSteal,
}

// A cpu is one cpu line of /proc/stat: the time spent in each mode since boot,
// in ticks of 1/100 s.
type cpu struct {
	name  []byte // cpu0 …; empty for the line of the whole host
	ticks [cpuModes]uint64
}

// A cpuFloor holds the instance's name and the largest idle and iowait times
// that were seen.
type cpuFloor struct {
	instance     string
	idle, iowait uint64
}

// A stat is what is taken of /proc/stat beside the cpu lines.
type stat struct {
	contexts uint64 // ctxt: switches since boot
	forks    uint64 // processes: forks and clones since boot
	running  uint64 // procs_running: runnable threads now
	blocked  uint64 // procs_blocked: threads waiting for I/O now
	seen     int    // how many of the four were there

	interrupts uint64                 // intr, first column: served since boot
	softIRQs   [softIRQColumns]uint64 // softirq: its sum, then by kind
	hasIntr    bool
	hasSoftIRQ bool
}

// softIRQColumns are the columns of the line softirq: the sum and ten kinds.
const softIRQColumns = 11

// softIRQs are the kinds that are recorded, by their column. Which core serves them
// is in cpu.softirq of each core.
//
// Kernel: include/linux/interrupt.h, the enumeration that ends in NR_SOFTIRQS.
var softIRQs = []struct {
	column int
	series string
}{
	{2, SoftIRQTimer}, {3, SoftIRQNetTx}, {4, SoftIRQNetRx}, {5, SoftIRQBlock},
	{7, SoftIRQTasklet}, {8, SoftIRQSched}, {10, SoftIRQRCU},
}

// parseStat reads /proc/stat. The names of the CPUs point into text; cpus is
// reused.
func parseStat(text []byte, cpus []cpu) ([]cpu, stat, error) {
	var st stat
	cpus = cpus[:0]
	for {
		line, rest, ok := procfile.Line(text)
		if !ok {
			break
		}
		text = rest
		word, values := procfile.Word(line)
		if bytes.HasPrefix(word, []byte("cpu")) {
			c := cpu{name: word}
			if len(word) == len("cpu") {
				c.name = nil
			}
			// Old kernels have fewer columns: steal came with 2.6.11.
			if n := procfile.Uints(c.ticks[:], values); n < cpuIOWait {
				return cpus, st, fmt.Errorf("bad line %q", line)
			}
			cpus = append(cpus, c)
			continue
		}
		if err := st.set(word, values); err != nil {
			return cpus, st, err
		}
	}
	if len(cpus) == 0 {
		return cpus, st, errors.New("no cpu line")
	}
	return cpus, st, nil
}

func (st *stat) set(word, values []byte) error {
	var to *uint64
	switch string(word) {
	case "ctxt":
		to = &st.contexts
	case "processes":
		to = &st.forks
	case "procs_running":
		to = &st.running
	case "procs_blocked":
		to = &st.blocked
	case "intr":
		// Hundreds of columns follow, one for each line; only their sum is taken.
		sum, _ := procfile.Word(values)
		st.interrupts, st.hasIntr = procfile.Uint(sum)
		return nil
	case "softirq":
		st.hasSoftIRQ = procfile.Uints(st.softIRQs[:], values) == softIRQColumns
		return nil
	default:
		return nil
	}
	value, _ := procfile.Word(values)
	n, ok := procfile.Uint(value)
	if !ok {
		return fmt.Errorf("bad %s %q", word, value)
	}
	*to = n
	st.seen++
	return nil
}

func (s *Source) collectStat(text []byte, f *kasoku.Frame) error {
	cpus, st, err := parseStat(text, s.cpus)
	s.cpus = cpus
	if err != nil {
		return err
	}
	for i := range cpus {
		c := &cpus[i]
		floor := s.floor(c.name)
		floor.raise(c)
		for mode, name := range cpuNames {
			f.Counter(name, floor.instance, "s", float64(c.ticks[mode])/userHZ)
		}
	}
	if st.seen == 4 {
		f.Counter(ContextSwitches, "", "count", float64(st.contexts))
		f.Counter(Forks, "", "count", float64(st.forks))
		f.Gauge(ProcsRunning, "", "count", float64(st.running))
		f.Gauge(ProcsBlocked, "", "count", float64(st.blocked))
	}
	if st.hasIntr {
		f.Counter(Interrupts, "", "count", float64(st.interrupts))
	}
	if st.hasSoftIRQ {
		for _, k := range softIRQs {
			f.Counter(k.series, "", "count", float64(st.softIRQs[k.column]))
		}
	}
	return nil
}

func (s *Source) floor(name []byte) *cpuFloor {
	fl := s.floors[string(name)]
	if fl == nil {
		fl = &cpuFloor{instance: string(name)}
		s.floors[fl.instance] = fl
	}
	return fl
}

// raise keeps idle and iowait from falling: the kernel says that iowait "may
// decrease in certain conditions", and a reader takes the fall of a counter for
// a reset to zero.
func (fl *cpuFloor) raise(c *cpu) {
	fl.idle = max(fl.idle, c.ticks[cpuIdle])
	fl.iowait = max(fl.iowait, c.ticks[cpuIOWait])
	c.ticks[cpuIdle], c.ticks[cpuIOWait] = fl.idle, fl.iowait
}
