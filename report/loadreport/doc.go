// Package loadreport shows what a load came to that was made outside of a run, and the
// figures of steps and targets that a run shows alike.
package loadreport
