// Package prove makes the change that a finding proposes, measures before and after,
// and takes it back.
//
// The one idea: a change is kept for what it did, not for what was said of it. [Try]
// does so in small, on a database that may be changed: plans and times of the
// statements that the change is for. [Autopilot] does it whole: a run, the best finding
// that takes no programmer, its change, another run, and the comparison of both
// decides; again and again, and the story of it is what is left.
//
// Changes of a database are made through package guard: they are in a journal before
// they are made, so that they are taken back even when this process is killed.
//
// Times are wall times of single statements, each run several times; the median counts.
package prove
