// Package report turns what a run holds into a [Document]: sections, tables,
// charts, findings and notes, with every number already printed. Its children
// terminal, html and export write a Document; none of them computes.
//
// The one idea: Go decides once what is said, in which order, words and digits,
// so that a terminal, a page and a file differ in form only. A table's cell holds
// the printed text and, for machines, the raw value; a chart holds points in
// seconds of the run's clock and the text of its peaks.
//
// The documents that are built here: [Show] reports one run, [Texts] its
// configuration, [Revert] the way back to that, [Compare] two sides of runs, [List] all runs of a
// tuning, and [Tell] the story of a demo, from a broken run over fixes tried alone to the fixed
// one. [Access] reports access logs that belong to no run, and [DiffAccess] two sides of those.
//
// What comes from logs is carried as it is: each output escapes it in its own way.
// A string of the types Prose may mark code with backticks; it holds text of
// kasoku's own, never of logs.
//
// Units: charts are in the unit that their title names, over seconds since the
// start of the run. There is no I/O here.
package report
