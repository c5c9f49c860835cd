// Package watch shows on a terminal what is sampled at this moment, or what a run
// file holds, second by second.
//
// The one idea: a screen is a function of a recording and a moment. What is live is
// a [Window], a recording of the last minutes that grows and forgets; what is
// replayed is a run file. Both are drawn by the same [Model], so going back in time
// is the same in both, and a screen is tested without a terminal.
//
// Units and clock are those of package kasoku: a column of a sparkline is one or
// several whole seconds of the recording's clock and shows the greatest value in
// them; a rate belongs to the second at whose end it was read. A second without a
// value is a gap, drawn as a dot, never a zero. Rules look at the last minute as if
// it were a run, see [Findings].
//
// Start at [Run]. What comes from servers and logs is stripped of what a terminal
// would obey before it is drawn.
package watch
