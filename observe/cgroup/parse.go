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
	form       form
	slow       bool // read every slowTicks, since making it costs the kernel much
}

// A form is how a file is written.
type form uint8

const (
	keyed    form = iota // KEY NUMBER, or one number
	pressure             // KEY avg10=… total=NUMBER
	devices              // DEVICE KEY=NUMBER KEY=NUMBER …, summed over devices
	services             // DEVICE KEY NUMBER, summed over devices
)

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
	{v2: true, controller: "pids", file: "pids.current", values: []value{{"", PIDsCurrent, "count", kasoku.Gauge,
		1}}},
	{v2: true, controller: "pids", file: "pids.events", values: []value{{"max", PIDsEventsMax, "count",
		kasoku.Counter, 1}}},
	{v2: true, controller: "cpu", file: "cpu.stat", values: []value{
		{"usage_usec", CPUUsage, "s", kasoku.Counter, 1e6},
		{"user_usec", CPUUser, "s", kasoku.Counter, 1e6},
		{"system_usec", CPUSystem, "s", kasoku.Counter, 1e6},
		{"nr_periods", CPUPeriods, "count", kasoku.Counter, 1},
		{"nr_throttled", CPUThrottledPeriods, "count", kasoku.Counter, 1},
		{"throttled_usec", CPUThrottled, "s", kasoku.Counter, 1e6},
	}},
	{v2: true, controller: "memory", file: "memory.current",
		values: []value{{"", MemoryCurrent, "bytes", kasoku.Gauge, 1}}},
	{v2: true, controller: "memory", file: "memory.events", values: []value{
		{"high", MemoryEventsHigh, "count", kasoku.Counter, 1},
		{"max", MemoryEventsMax, "count", kasoku.Counter, 1},
		{"oom", MemoryEventsOOM, "count", kasoku.Counter, 1},
		{"oom_kill", MemoryEventsOOMKill, "count", kasoku.Counter, 1},
	}},
	{v2: true, controller: "memory", file: "memory.peak", slow: true,
		values: []value{{"", MemoryPeak, "bytes", kasoku.Gauge, 1}}},
	{v2: true, controller: "memory", file: "memory.stat", slow: true, values: []value{
		{"anon", MemoryAnon, "bytes", kasoku.Gauge, 1},
		{"file", MemoryFile, "bytes", kasoku.Gauge, 1},
		{"kernel", MemoryKernel, "bytes", kasoku.Gauge, 1},
	}},
	{v2: true, controller: "io", file: "io.stat", form: devices, values: []value{
		{"rbytes", IOReadBytes, "bytes", kasoku.Counter, 1},
		{"wbytes", IOWriteBytes, "bytes", kasoku.Counter, 1},
		{"rios", IOReads, "count", kasoku.Counter, 1},
		{"wios", IOWrites, "count", kasoku.Counter, 1},
	}},
	{v2: true, controller: "pressure", file: "cpu.pressure", form: pressure, values: stalls("cpu")},
	{v2: true, controller: "pressure", file: "io.pressure", form: pressure, values: stalls("io")},
	{v2: true, controller: "pressure", file: "memory.pressure", form: pressure, values: stalls("memory")},

	{controller: "pids", file: "pids.current", values: []value{{"", PIDsCurrent, "count", kasoku.Gauge, 1}}},
	{controller: "pids", file: "pids.events", values: []value{{"max", PIDsEventsMax, "count", kasoku.Counter, 1}}},
	{controller: "cpuacct", file: "cpuacct.usage", values: []value{{"", CPUUsage, "s", kasoku.Counter, 1e9}}},
	{controller: "cpuacct", file: "cpuacct.stat", values: []value{
		{"user", CPUUser, "s", kasoku.Counter, 1e2},
		{"system", CPUSystem, "s", kasoku.Counter, 1e2},
	}},
	{controller: "cpu", file: "cpu.stat", values: []value{
		{"nr_periods", CPUPeriods, "count", kasoku.Counter, 1},
		{"nr_throttled", CPUThrottledPeriods, "count", kasoku.Counter, 1},
		{"throttled_time", CPUThrottled, "s", kasoku.Counter, 1e9},
	}},
	{controller: "memory", file: "memory.usage_in_bytes", values: []value{{"", MemoryCurrent, "bytes", kasoku.Gauge,
		1}}},
	{controller: "memory", file: "memory.max_usage_in_bytes", slow: true,
		values: []value{{"", MemoryPeak, "bytes", kasoku.Gauge, 1}}},
	{controller: "memory", file: "memory.stat", slow: true, values: []value{
		{"total_rss", MemoryAnon, "bytes", kasoku.Gauge, 1},
		{"total_cache", MemoryFile, "bytes", kasoku.Gauge, 1},
	}},
	{controller: "memory", file: "memory.failcnt", values: []value{{"", MemoryEventsMax, "count", kasoku.Counter,
		1}}},
	{controller: "blkio", file: "blkio.throttle.io_service_bytes", form: services, values: []value{
		{"Read", IOReadBytes, "bytes", kasoku.Counter, 1},
		{"Write", IOWriteBytes, "bytes", kasoku.Counter, 1},
	}},
	{controller: "blkio", file: "blkio.throttle.io_serviced", form: services, values: []value{
		{"Read", IOReads, "count", kasoku.Counter, 1},
		{"Write", IOWrites, "count", kasoku.Counter, 1},
	}},
	{controller: "memory", file: "memory.oom_control", values: []value{{"oom_kill", MemoryEventsOOMKill, "count",
		kasoku.Counter, 1}}},
}

// stalls are the values of a file of pressure: how long some, and all, processes of
// the group waited.
//
// Kernel: Documentation/accounting/psi.rst.
func stalls(what string) []value {
	return []value{
		{"some", "psi." + what + ".some", "s", kasoku.Counter, 1e6},
		{"full", "psi." + what + ".full", "s", kasoku.Counter, 1e6},
	}
}

// collect appends what the text of the file says. Lines that are not known, and
// values that are no numbers, have no sample.
func (p *part) collect(text []byte, instance string, f *kasoku.Frame) {
	if p.form == devices || p.form == services {
		p.sumUp(text, instance, f)
		return
	}
	for {
		line, rest, ok := procfile.Line(text)
		if !ok {
			return
		}
		text = rest
		key, line := procfile.Word(line)
		number, _ := procfile.Word(line)
		if p.form == pressure {
			_, number, _ = bytes.Cut(line, []byte("total="))
		}
		for i := range p.values {
			v := &p.values[i]
			switch {
			case v.key == "":
				number = key
			case string(key) != v.key:
				continue
			}
			if n, ok := procfile.Uint(number); ok {
				f.Samples = append(f.Samples, kasoku.Sample{Name: v.series, Instance: instance, Unit: v.unit,
					Kind: v.kind, Value: float64(n) / v.per})
			}
			break
		}
	}
}

// mostValues is how many values a file that is summed up has.
const mostValues = 4

// sumUp appends the sums over all devices; none when there is no device.
func (p *part) sumUp(text []byte, instance string, f *kasoku.Frame) {
	var sums [mostValues]uint64
	seen := false
	add := func(key, number []byte) {
		n, ok := procfile.Uint(number)
		for i := range p.values {
			if ok && string(key) == p.values[i].key {
				sums[i] += n
				seen = true
			}
		}
	}
	for {
		line, rest, ok := procfile.Line(text)
		if !ok {
			break
		}
		text = rest
		_, line = procfile.Word(line) // device
		if p.form == services {
			key, number := procfile.Word(line)
			number, _ = procfile.Word(number)
			add(key, number)
			continue
		}
		for {
			var word []byte
			if word, line = procfile.Word(line); len(word) == 0 {
				break
			}
			key, number, _ := bytes.Cut(word, []byte{'='})
			add(key, number)
		}
	}
	if !seen {
		return
	}
	for i, v := range p.values {
		f.Samples = append(f.Samples, kasoku.Sample{Name: v.series, Instance: instance, Unit: v.unit, Kind: v.kind,
			Value: float64(sums[i]) / v.per})
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
	{true, "pids", "pids.max", "", PIDsMax, "count", parseLimit},
	{true, "cpu", "cpu.max", "", CPUMax, "cores", parseQuota},
	{true, "memory", "memory.max", "", MemoryMax, "bytes", parseLimit},
	{true, "memory", "memory.high", "", MemoryHigh, "bytes", parseLimit},
	{false, "pids", "pids.max", "", PIDsMax, "count", parseLimit},
	{false, "cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us", CPUMax, "cores", parseLimit},
	{false, "memory", "memory.limit_in_bytes", "", MemoryMax, "bytes", parseLimit},
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
