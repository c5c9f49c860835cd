// Package evidence has what rules of several families measure of a case and quote:
// the time of statements and who runs them, commits, pools and locks over a whole run,
// who uses the CPU, initialize, and what changed between two runs.
package evidence
