// Package report is a [Document]: sections, tables, charts, findings and notes, with every
// number already printed. The packages below it that are named after a subject build one of
// what a run or a log holds; terminal, html and encode write it; those compute nothing.
//
// The one idea: Go decides once what is said, in which order, words and digits,
// so that a terminal, a page and a file differ in form only. A table's cell holds
// the printed text and, for machines, the raw value; a chart holds points in
// seconds of the run's clock and the text of its peaks.
//
// Where to start: recording shows one run, comparison two sides of runs, runlist all runs
// of a tuning, story a demo from a broken run to the fixed one, logfile logs that belong to
// no run, loadreport a load, statements what servers and probes say of SQL. They share
// recorded, timeline, machine, findings, profiles and cell.
//
// What comes from logs is carried as it is: each output escapes it in its own way.
// A string of the types Prose may mark code with backticks; it holds text of
// kasoku's own, never of logs.
//
// Units: charts are in the unit that their title names, over seconds since the
// start of the run. There is no I/O here.
package report
