// Package merge makes one run of recordings that were made on several hosts at
// the same time, each by its own kasoku.
//
// The one idea: every host wrote down the same traffic, each by its own clock.
// What one sends another receives; requests at one are statements at the other.
// The shift at which two such series fit best is how far the clocks are apart,
// and how much that shift moves when parts of the series are left out is its
// error. Where the traffic says nothing, the kernels' own estimates of their
// clocks are taken, and the result says so.
//
// Times: the merged run's clock is that of one recording, the reference: the one
// that made the load, else the first. An offset is another host's wall clock
// minus the reference's; it is positive where that clock is ahead.
//
// Start at [Merge].
//
// Sources: adjtimex(2) for the kernel's estimate; the error is a delete-a-group
// jackknife (B. Efron, R. Tibshirani, "An Introduction to the Bootstrap", 1993,
// chapter 11).
package merge
