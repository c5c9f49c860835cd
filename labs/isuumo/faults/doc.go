// Package faults holds what a service of isuumo can do wrong: a proxy that spoils
// requests and answers, and a table of faults, each a rule of that proxy.
//
// The one idea: a benchmark is only as good as the faults that it catches. So each
// fault is a rule of a few lines, put before a service that does everything right;
// with it comes what the lab's benchmark has to say, and what the contest's own one
// makes of it. Beside the faults are liberties that a service may take, at which no
// benchmark may say a word.
//
// Only tests use it. Start at [Table] and [New].
//
// Source: the faults of the kind [Contest] are those with which the public benchmark
// of ISUCON10's qualifying round was tried.
package faults
