// Package exact counts durations as alp and kataribe do, which keep every one of them, but
// without keeping them: a [Tally] holds how often each value
// occurred, so percentiles are those of the sorted list, to the digit. A [Book] brings what
// several workers read back into the order of the lines, in which floating point sums have to
// be added up to end in the same digits as theirs.
package exact
