// Package score reads from what a benchmark printed how much its run was worth,
// and whether it passed.
//
// The one idea: benchmarks print logs and then a result. So the last JSON value
// that has the path, or the last match of the regexp, is the result; whatever
// stands before it is not looked at. Without a pattern the output of ab, wrk,
// hey, oha, sysbench, k6 and vegeta, and the JSON of ISUCON's benchmarks, is known.
// The failures that they print come with the score, of all results in the output: a
// fast answer that is an error is no success.
//
// A score is a plain number, more is better; it carries no unit. The work is
// bounded: it grows with the length of the output, whatever is in it.
//
// Start at [Read]. Sources: output of ab 2.3, wrk 4.1.0, hey 0.1.4, sysbench
// 1.0.20 and vegeta 12, kept in testdata; RFC 8259 for JSON.
package score
