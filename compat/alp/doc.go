// Package alp does what the program alp 1.0.21 does: it reads an access log in
// LTSV, JSON or by a regular expression, groups the requests by method and path,
// and prints a table. [Run] takes alp's arguments.
//
// The one idea: the output is alp's to the byte wherever that is right, even the
// order of rows that tie. alp sorts the classes, in the order of their first
// lines, with Go's sort.Slice, so the same is done here; and though blocks of the
// log are read side by side, sums are added up in the order of the lines.
//
// Times are seconds as the log has them, sizes are bytes. What is different on
// purpose is listed in docs/compat.md.
//
// Source: the behaviour and the help of alp 1.0.21, https://github.com/tkuchiki/alp.
package alp
