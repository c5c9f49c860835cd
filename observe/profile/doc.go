// Package profile takes profiles of programs in Go while they are under load, and
// reads them: which functions, which stacks, and what became of them from one run
// to the next.
//
// The one idea: all that is reported of a program counts over the same stretch. Where
// the runtime adds up since the program's start (allocations, waiting for locks and
// channels) it is asked before and after the CPU profile, and the difference is
// kept: exact, with any version of net/http/pprof, and with nothing else under way
// while CPU is sampled. Memory in use and goroutines are those at the end.
//
// A profile comes from a program that may be broken or hostile. Its size, the
// number of its parts and their text are bounded before anything is built of them;
// labels, which may hold values of requests, are dropped.
//
// # Units and clock
//
// Values are in the profile's unit: nanoseconds, bytes or a count. Times are
// offsets of the run's clock.
//
// Sources: net/http/pprof and runtime/pprof of Go, and profile.proto of
// github.com/google/pprof.
package profile
