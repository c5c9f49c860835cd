// Package histogram counts durations: how many, how long, and at which
// percentile. It is the only latency histogram of kasoku.
//
// Buckets are log-linear with 7 bits of mantissa: each is at most 1/128 of its
// lower end wide, and a quantile is read at the middle of its bucket, so it is
// within 0.4 % of the recorded duration, from 0 ns to 292 years. Count, sum, mean,
// minimum and maximum are exact. Percentiles must never be averaged; histograms
// of several seconds, targets or hosts are merged instead, and merging loses
// nothing.
//
// A histogram made by [NewExact] counts each multiple of a unit for itself, such
// as the milliseconds of an access log, and its quantiles are exact. It falls
// back to buckets when something between two multiples is recorded or 16 KiB do
// not suffice, and [Histogram.Exact] says so. The form depends on what was
// recorded alone, not on its order nor on the way it was split and merged.
//
// Memory is taken in pages of 32 buckets, 128 bytes, when a duration first falls
// into one: an empty histogram takes 352 bytes, one of a second's traffic a few
// KiB. Recording into pages that exist takes no memory. Exact counts take a byte
// each, and one more for every factor of 256 that a count is greater. One that was
// decoded keeps its encoding until something is added to it: a byte or two for
// each bucket that is filled.
//
// Units: nanoseconds, as [time.Duration]. There is no clock here.
//
// Sources: Gil Tene's HdrHistogram for the shape of the buckets; nearest rank is
// sorted[⌈q·n⌉−1], as in ISO 3534-1.
package histogram
