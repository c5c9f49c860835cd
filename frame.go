package kasoku

import "time"

// A Sample is one raw value of one series at one tick.
type Sample struct {
	Name     string
	Instance string
	Unit     string
	Kind     Kind
	Value    float64
}

// A Frame is all that one source read at one tick.
//
// A Frame that is passed to a function stays the caller's: the function copies the
// samples that it keeps after it returns.
type Frame struct {
	Host    string
	Source  string
	At      time.Duration // when the read was complete
	Cost    time.Duration // CPU time that the read took
	Samples []Sample
}

// Counter appends the raw value of a counter.
func (f *Frame) Counter(name, instance, unit string, value float64) {
	f.Samples = append(f.Samples, Sample{name, instance, unit, Counter, value})
}

// Gauge appends the value of a gauge.
func (f *Frame) Gauge(name, instance, unit string, value float64) {
	f.Samples = append(f.Samples, Sample{name, instance, unit, Gauge, value})
}

// Reset empties the frame and keeps its memory.
func (f *Frame) Reset() {
	f.At, f.Cost, f.Samples = 0, 0, f.Samples[:0]
}
