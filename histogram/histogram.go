// Package histogram holds kasoku's one latency histogram.
package histogram

import "time"

// Histogram counts durations. (Contract stub: replaced by the real one.)
type Histogram struct{ n uint64 }

// New returns an empty histogram.
func New() *Histogram { return &Histogram{} }

// Record adds one duration.
func (h *Histogram) Record(d time.Duration) { h.n++ }

// Merge adds another histogram; nil is an empty one.
func (h *Histogram) Merge(o *Histogram) {}

// Count returns the number of durations.
func (h *Histogram) Count() uint64 { return h.n }

// Sum returns the exact sum.
func (h *Histogram) Sum() time.Duration { return 0 }

// Mean returns the exact mean, 0 when empty.
func (h *Histogram) Mean() time.Duration { return 0 }

// Min returns the exact least value, 0 when empty.
func (h *Histogram) Min() time.Duration { return 0 }

// Max returns the exact greatest value, 0 when empty.
func (h *Histogram) Max() time.Duration { return 0 }

// Quantile returns the nearest-rank quantile q in [0,1], within 0.8 %, clamped to [Min, Max].
func (h *Histogram) Quantile(q float64) time.Duration { return 0 }

// AppendBinary appends the compact encoding.
func (h *Histogram) AppendBinary(dst []byte) ([]byte, error) { return dst, nil }

// UnmarshalBinary replaces h by the decoded histogram.
func (h *Histogram) UnmarshalBinary(b []byte) error { return nil }
