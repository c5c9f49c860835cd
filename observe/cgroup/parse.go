package cgroup

import (
	"bytes"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/procfile"
)

// A part is a file of a group and what is taken of it.
type part struct {
	v2         bool
	controller string
	file       string
	values     []value
}

// A value is one number of a file: that of the line with the key, or with an
// empty key the only one.
type value struct {
	key    string
	series string
	unit   string
	kind   kasoku.Kind
	per    float64 // how many of it are one base unit
}

// parts are the files that are read at each tick. Times of version 2 are in µs;
// those of version 1 in ns, in cpuacct.stat in 1/100 s.
var parts = []part{
	{true, "pids", "pids.current", []value{{"", "pids.current", "count", kasoku.Gauge, 1}}},
	{true, "pids", "pids.events", []value{{"max", "pids.events.max", "count", kasoku.Counter, 1}}},
	{true, "cpu", "cpu.stat", []value{
		{"usage_usec", "cpu.usage", "s", kasoku.Counter, 1e6},
		{"user_usec", "cpu.user", "s", kasoku.Counter, 1e6},
		{"system_usec", "cpu.system", "s", kasoku.Counter, 1e6},
		{"nr_periods", "cpu.periods", "count", kasoku.Counter, 1},
		{"nr_throttled", "cpu.throttled_periods", "count", kasoku.Counter, 1},
		{"throttled_usec", "cpu.throttled", "s", kasoku.Counter, 1e6},
	}},
	{true, "memory", "memory.current", []value{{"", "memory.current", "bytes", kasoku.Gauge, 1}}},
	{true, "memory", "memory.events", []value{
		{"high", "memory.events.high", "count", kasoku.Counter, 1},
		{"max", "memory.events.max", "count", kasoku.Counter, 1},
		{"oom", "memory.events.oom", "count", kasoku.Counter, 1},
		{"oom_kill", "memory.events.oom_kill", "count", kasoku.Counter, 1},
	}},

	{false, "pids", "pids.current", []value{{"", "pids.current", "count", kasoku.Gauge, 1}}},
	{false, "pids", "pids.events", []value{{"max", "pids.events.max", "count", kasoku.Counter, 1}}},
	{false, "cpuacct", "cpuacct.usage", []value{{"", "cpu.usage", "s", kasoku.Counter, 1e9}}},
	{false, "cpuacct", "cpuacct.stat", []value{
		{"user", "cpu.user", "s", kasoku.Counter, 1e2},
		{"system", "cpu.system", "s", kasoku.Counter, 1e2},
	}},
	{false, "cpu", "cpu.stat", []value{
		{"nr_periods", "cpu.periods", "count", kasoku.Counter, 1},
		{"nr_throttled", "cpu.throttled_periods", "count", kasoku.Counter, 1},
		{"throttled_time", "cpu.throttled", "s", kasoku.Counter, 1e9},
	}},
	{false, "memory", "memory.usage_in_bytes", []value{{"", "memory.current", "bytes", kasoku.Gauge, 1}}},
	{false, "memory", "memory.failcnt", []value{{"", "memory.events.max", "count", kasoku.Counter, 1}}},
	{false, "memory", "memory.oom_control", []value{{"oom_kill", "memory.events.oom_kill", "count", kasoku.Counter, 1}}},
}

// collect appends what the text of the file says. Lines that are not known, and
// values that are no numbers, have no sample.
func (p *part) collect(text []byte, instance string, f *kasoku.Frame) {
	for {
		line, rest, ok := procfile.Line(text)
		if !ok {
			return
		}
		text = rest
		key, line := procfile.Word(line)
		number, _ := procfile.Word(line)
		for i := range p.values {
			v := &p.values[i]
			switch {
			case v.key == "":
				number = key
			case string(key) != v.key:
				continue
			}
			if n, ok := procfile.Uint(number); ok {
				f.Samples = append(f.Samples, kasoku.Sample{Name: v.series, Instance: instance, Unit: v.unit, Kind: v.kind, Value: float64(n) / v.per})
			}
			break
		}
	}
}

// A limitFile holds one limit.
type limitFile struct {
	v2         bool
	controller string
	file       string
	per        string // file with the period that it is for, empty when there is none
	series     string
	unit       string
	parse      func(text []byte) (float64, bool)
}

var limitFiles = []limitFile{
	{true, "pids", "pids.max", "", "pids.max", "count", parseLimit},
	{true, "cpu", "cpu.max", "", "cpu.max", "cores", parseQuota},
	{true, "memory", "memory.max", "", "memory.max", "bytes", parseLimit},
	{false, "pids", "pids.max", "", "pids.max", "count", parseLimit},
	{false, "cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.max", "cores", parseLimit},
	{false, "memory", "memory.limit_in_bytes", "", "memory.max", "bytes", parseLimit},
}

// unlimited is above what version 1 writes for memory without a limit, the
// largest number of whole pages: no machine has that much.
const unlimited = 1 << 60

// parseLimit reads a number. ok is false for "max", -1 and what is so large that
// it is none.
func parseLimit(text []byte) (float64, bool) {
	n, ok := procfile.Uint(text)
	return float64(n), ok && n < unlimited
}

// parseQuota reads cpu.max, in cores: µs of CPU time in a period of so many µs.
//
//	150000 100000
func parseQuota(text []byte) (float64, bool) {
	quota, rest := procfile.Word(text)
	period, _ := procfile.Word(bytes.TrimSpace(rest))
	q, ok := procfile.Uint(quota)
	p, ok2 := procfile.Uint(period)
	if !ok || !ok2 || p == 0 {
		return 0, false
	}
	return float64(q) / float64(p), true
}
