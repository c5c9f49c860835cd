// Package faults holds what a service of isuumo can do wrong: a proxy that spoils
// requests and answers, and a table of faults, each a rule of that proxy.
//
// The one idea: a benchmark is only as good as the faults that it catches. So each
// fault is a rule of a few lines, put before a service that does everything right;
// beside it stands what the lab's benchmark has to report, and what the contest's own
// one does. The table also has liberties: unusual answers that are right, of which
// neither benchmark may report anything.
//
// Only tests use it. Start at [Table] and [New].
//
// Source: the faults of the kind [Contest] are those with which the public benchmark
// of ISUCON10's qualifying round was tried.
package faults
