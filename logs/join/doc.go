// Package join finds out which endpoint issues which statements, from the times
// of both alone.
//
// The one idea: a statement that a request runs lies inside the request's time.
// Whose it is, when several requests are open, follows from all statements of its
// class together: expectation maximisation (the EM algorithm) finds the rates of the
// endpoints that make the statements most likely. What belongs together on one
// connection (a transaction; statements in quick succession, when the pool is not
// used up) counts as one. A pair is kept when the statements would be much less
// likely without it.
//
// Units: times are microseconds on one clock, of any beginning. The cost is
// bounded: at most Options.MaxEvents events of one window are looked at, and the
// open requests of an event count once for each endpoint.
package join
