// Package kasoku holds the types that all parts of kasoku share: a run and its
// steps, what the load counted each second, the series that the sources gave,
// the tables that the logs were reduced to, and the findings drawn from them.
// They are data with small methods; nothing here does I/O.
//
// # Clock
//
// Every time inside a run is a [time.Duration] since the run's start, measured
// on the monotonic clock. Wall time is kept once, in [Run.Started]; a step of
// the wall clock is an [Event]. An [Interval] is half open.
//
// # Units
//
// Durations are time.Duration, sizes are bytes, ratios are 0..1, CPU is in
// cores (seconds of CPU per second). A plain number carries its unit in its
// name.
//
// Start at [Recording]: it is everything that one run file holds.
package kasoku
