package host

import (
	"bytes"
	"fmt"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/procfile"
)

// collectLoad takes the one-minute load average of /proc/loadavg: runnable and
// uninterruptible threads, damped exponentially. It lags a load test; the
// run queue and the pressure are quicker.
func (s *Source) collectLoad(text []byte, f *kasoku.Frame) error {
	v, err := parseLoad(text)
	if err != nil {
		return err
	}
	f.Gauge(Load1, "", "count", v)
	if n, ok := parseTasks(text); ok {
		f.Gauge(Tasks, "", "count", float64(n))
	}
	return nil
}

// parseTasks returns how many threads there are: what stands after the slash of
// the fourth word of /proc/loadavg.
//
//	6.40 2.13 0.82 7/317 22144
func parseTasks(text []byte) (n uint64, ok bool) {
	word, _ := procfile.Word(procfile.Skip(text, 3))
	_, all, _ := bytes.Cut(word, []byte{'/'})
	return procfile.Uint(all)
}

// single returns the collector of a file that holds one number.
func single(series string) func(*Source, []byte, *kasoku.Frame) error {
	return func(_ *Source, text []byte, f *kasoku.Frame) error {
		line, _, _ := procfile.Line(text)
		word, _ := procfile.Word(line)
		return gauge(f, series, word)
	}
}

func parseLoad(text []byte) (float64, error) {
	line, _, _ := procfile.Line(text)
	word, _ := procfile.Word(line)
	v, ok := procfile.Decimal(word)
	if !ok {
		return 0, fmt.Errorf("bad load %q", word)
	}
	return v, nil
}

// A stall is one file of /proc/pressure: how long some, and all, threads that
// wanted to run waited for the resource, in µs since boot.
//
//	some avg10=0.09 avg60=0.02 avg300=0.11 total=4191660
//	full avg10=0.09 avg60=0.02 avg300=0.09 total=3762285
//
// Only the totals are read: the shortest average covers 10 s and lags.
// Kernel: Documentation/accounting/psi.rst.
type stall struct {
	some, full       uint64 // µs
	hasSome, hasFull bool
}

func parsePressure(text []byte) (stall, error) {
	var st stall
	for {
		line, rest, ok := procfile.Line(text)
		if !ok {
			return st, nil
		}
		text = rest
		kind, _ := procfile.Word(line)
		i := bytes.Index(line, []byte("total="))
		if i < 0 {
			return stall{}, fmt.Errorf("no total in %q", line)
		}
		total, ok := procfile.Uint(line[i+len("total="):])
		if !ok {
			return stall{}, fmt.Errorf("bad total in %q", line)
		}
		switch string(kind) {
		case "some":
			st.some, st.hasSome = total, true
		case "full":
			st.full, st.hasFull = total, true
		}
	}
}

// pressure returns the collector of one pressure file. An empty name leaves the
// series out: "full" of the CPU is always zero for a whole host.
func pressure(some, full string) func(*Source, []byte, *kasoku.Frame) error {
	return func(_ *Source, text []byte, f *kasoku.Frame) error {
		st, err := parsePressure(text)
		if err != nil {
			return err
		}
		if st.hasSome && some != "" {
			f.Counter(some, "", "s", float64(st.some)/1e6)
		}
		if st.hasFull && full != "" {
			f.Counter(full, "", "s", float64(st.full)/1e6)
		}
		return nil
	}
}

// collectFiles takes the open file handles of the whole host and their limit
// from /proc/sys/fs/file-nr: allocated, free (0 since 2.6), maximum.
//
// Kernel: Documentation/admin-guide/sysctl/fs.rst.
func (s *Source) collectFiles(text []byte, f *kasoku.Frame) error {
	var n [3]uint64
	line, _, _ := procfile.Line(text)
	if procfile.Uints(n[:], line) < 3 || n[1] > n[0] {
		return fmt.Errorf("bad line %q", line)
	}
	f.Gauge(FilesOpen, "", "count", float64(n[0]-n[1]))
	f.Gauge(FilesMax, "", "count", float64(n[2]))
	return nil
}
