// Package phases finds what a run's stretches of time were for, from its traffic:
// initialize, verify, load, idle, as the benchmarks of contests go about it.
//
// The one idea: the load is where the requests are. A second belongs to it when it
// has at least a fifth of the highest level that held for some seconds; short dips
// do not end it and short bursts elsewhere do not begin it. What little traffic
// there is outside of it is verify when an initialize came before, else idle.
//
// Times are those of a run; phases lie on whole seconds, as the counts do, but for
// an initialize, whose request says when it began. Phases are in order and never
// overlap; a run without requests has none.
//
// Start at [Find].
package phases
