// Package bounds holds the tests that every parser owes: each one is fuzzed, and takes
// about ten times as much for ten times the input, however hostile that is.
//
// The one idea: what is counted are allocated bytes and the bytes that were read, which
// do not depend on the machine or its load. A deadline, far longer than any parser that
// is linear takes, ends what is quadratic without allocating.
package bounds
