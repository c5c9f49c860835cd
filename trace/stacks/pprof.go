package stacks

import (
	"path"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/kasoku/kasoku/trace/symbols"
)

// WaitFile stands for the file of what is not a function, but the reason of a wait: the
// outermost frame of its stack.
const WaitFile = "[wait]"

// Name returns the reason in words: "socket: mariadbd :3306".
func (w Wait) Name() string {
	if w.On == "" {
		return string(w.Reason)
	}
	return string(w.Reason) + ": " + w.On
}

// Of returns the samples of some processes.
func Of(all []Sample, pids []int) (out []Sample) {
	in := map[int]bool{}
	for _, pid := range pids {
		in[pid] = true
	}
	for _, s := range all {
		if in[s.PID] {
			out = append(out, s)
		}
	}
	return out
}

// Encode returns samples as a profile of pprof's, of a program by its path: of CPU time, or
// of waits, whose outermost frame is then their reason.
func (p *Profile) Encode(samples []Sample, waits bool, program string) *pprof.Profile {
	e := &encoding{functions: map[symbols.Frame]*pprof.Location{}}
	e.out.SampleType = []*pprof.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}
	if waits {
		e.out.SampleType = []*pprof.ValueType{{Type: "waits", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}}
	} else {
		e.out.PeriodType, e.out.Period = &pprof.ValueType{Type: "cpu", Unit: "nanoseconds"}, int64(sample)
	}
	e.out.DefaultSampleType = e.out.SampleType[1].Type
	e.out.TimeNanos, e.out.DurationNanos = p.Began.UnixNano(), int64(p.Length)
	e.mapping(program)
	for _, s := range samples {
		at := &pprof.Sample{Value: []int64{s.Count, int64(s.Time)}}
		for _, f := range s.Stack {
			at.Location = append(at.Location, e.location(f))
		}
		if waits {
			at.Location = append(at.Location, e.location(symbols.Frame{Name: s.Wait.Name(), File: WaitFile}))
		}
		if len(at.Location) > 0 {
			e.out.Sample = append(e.out.Sample, at)
		}
	}
	return &e.out
}

// An encoding is a profile of pprof's that is being made.
type encoding struct {
	out       pprof.Profile
	functions map[symbols.Frame]*pprof.Location
	mappings  map[string]*pprof.Mapping
}

// mapping returns the program or library of a path; the first is the program.
func (e *encoding) mapping(file string) *pprof.Mapping {
	if e.mappings == nil {
		e.mappings = map[string]*pprof.Mapping{}
	}
	m := e.mappings[file]
	if m == nil {
		m = &pprof.Mapping{ID: uint64(len(e.out.Mapping) + 1), File: file, HasFunctions: true, HasFilenames: true}
		e.mappings[file] = m
		e.out.Mapping = append(e.out.Mapping, m)
	}
	return m
}

func (e *encoding) location(f symbols.Frame) *pprof.Location {
	l := e.functions[f]
	if l == nil {
		fn := &pprof.Function{ID: uint64(len(e.out.Function) + 1), Name: f.Name, SystemName: f.Name, Filename: f.File, StartLine: int64(max(f.Line, 0))}
		l = &pprof.Location{ID: fn.ID, Line: []pprof.Line{{Function: fn, Line: fn.StartLine}}}
		if path.IsAbs(f.File) && path.Ext(f.File) != ".go" && path.Ext(f.File) != ".s" {
			l.Mapping = e.mapping(f.File)
		} else {
			l.Mapping = e.out.Mapping[0]
		}
		e.functions[f] = l
		e.out.Function, e.out.Location = append(e.out.Function, fn), append(e.out.Location, l)
	}
	return l
}

// Total returns what samples add up to.
func Total(samples []Sample) (sum time.Duration) {
	for _, s := range samples {
		sum += s.Time
	}
	return sum
}
