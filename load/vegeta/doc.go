// Package vegeta speaks Vegeta's formats: it reads its targets, reads and
// writes its results as gob, JSON and CSV, and prints its reports byte for
// byte, so that files and scripts made for Vegeta go on working.
//
// The one idea is to be compatible with the files and kinder with mistakes:
// what Vegeta accepts means the same here, and what it swallows (a request line
// taken for a header, a result file cut short) is an error with file and line.
//
// Start at [ReadTargets], [NewDecoder], [NewWriter], or at [Attack], [Report],
// [Encode] and [Plot], which do all that a command line needs; an [Exporter] lets
// Prometheus see an attack. The latency in a result is counted from the due time,
// and so is its timestamp; Vegeta counts from the send.
//
// Sources: Vegeta 12.13, lib/targets.go, lib/results.go, lib/metrics.go and
// lib/reporters.go, and its answers under testdata. Percentiles come from
// influxdata/tdigest with compression 100, fed in the order of the files, as
// Vegeta's do; kasoku's own come from its histogram.
package vegeta
