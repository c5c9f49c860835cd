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
// Memory is taken in pages of 32 buckets, 128 bytes, when a duration first falls
// into one: an empty histogram takes 320 bytes, one of a second's traffic a few
// KiB. Recording into pages that exist takes no memory.
//
// Units: nanoseconds, as [time.Duration]. There is no clock here.
//
// Sources: Gil Tene's HdrHistogram for the shape of the buckets; nearest rank is
// sorted[⌈q·n⌉−1], as in ISO 3534-1.
package histogram
