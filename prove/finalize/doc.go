// Package finalize walks the end of a tuning contest, after which nothing can be
// repaired: are the collectors and logs off, does the service come back after a
// restart, are indexes and caches still there after initialize, and does the last
// run reach what runs before it reached?
//
// Its one idea: the end is played through instead of read off a list. [Walk]
// calls initialize, stops and starts the units in the right and in the wrong
// order, and takes a [diagnose.Probe] of the data after each: row counts, indexes, answers
// of endpoints. What differs, what grows and what does not come up is an [Item]
// of the checklist with what was seen and what to do.
//
// The units are left running whatever happens, also when the context ends early.
// Nothing else is put back: initialize does what it does. Only [Options.Skip]
// leaves a part out; what a part needs and does not have is said as skipped.
//
// Durations are wall time on the monotonic clock, sizes bytes.
package finalize
