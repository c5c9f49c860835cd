// Package writeup holds a write-up against a machine: what its author saw, changed and
// got, step by step, beside what the same steps give here.
//
// The one idea: figures of two machines differ, effects should not. A [Story] is a table
// of steps, each with the published figures and the steps that it is held against; an
// [Effect] is the ratio of two steps' figures, there and here, and [Effect.Verdict] says
// whether it has the same direction and is within [Factor] of the same size. Why
// one may differ, such as how long a disk takes for a commit, stands in the table before
// anything runs.
//
// The labs have the tables; the command `kasoku lab story` makes the runs.
package writeup
